/* Writes CARLA recorder files from CARLA recordings. A whole recording is written byte for byte. A cut can be replayed:
 * its frames start at number 1 and 0 s, the header's date is adjusted, and its first frame also holds the state before
 * it (state.c). A frame is written if one of its packets is selected, always with start and end; elapsed +
 * duration is the elapsed time of the next frame.
 *
 * The packets may be those of a log that was converted: in another container frames are told by their start packets,
 * and the header is in the metadata of that channel. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "formats/carla/container.h"
#include "stream/stream.h"

#include <math.h>

enum { GROUP_BYTES = 1 << 20 };

struct totals {
    bool whole;    /* all messages in order: copied unchanged */
    int64_t shift; /* seconds to add to the date of the header */
};

/* A frame of the group whose duration differs from its source; stored in the group's note. */
struct changed {
    uint64_t frame; /* of the group, from 0 */
    double duration;
};
struct note {
    uint64_t number; /* of the group's first frame in the output */
    double elapsed;
};

struct packet_channel {
    uint8_t id;
    enum carla_kind kind;
    struct carla_layout layout;
};

struct run {
    struct packet_channel *channels; /* by channel of the stream */
    bool converted;                  /* the source is no CARLA log */
    uint64_t frames;                 /* converted: starts met in this group */
    struct reel_message *fronts;     /* the state at the cut, in the order of packets in a frame */
    size_t n_fronts, cap_fronts, fronts_done;
    bool open;        /* a frame has begun in this group */
    uint64_t ordinal; /* that frame, in the source */
    struct carla_frame source;
    struct reel_message end; /* its end packet, if that has content */
    uint64_t number;         /* of that frame, in the output */
    double elapsed;
    double duration;
    uint64_t in_group; /* frames begun in this group */
    struct note note;
    struct grow changed; /* planning: of this group */
    size_t changed_at;   /* rendering: in the note */
    bool resolved;       /* planning: the frame after the last one is known */
};

/* --- the header --- */

static bool carla_is_whole(struct reel_write *w, bool *whole, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(w->stream->readers[0]));
    uint64_t count = 0;
    *whole = stream_can_count(w->stream);
    if (*whole && !stream_count(w->stream, REEL_TIME_MAX, &count, err)) {
        return false;
    }
    *whole = *whole && count == reel_index_info(index)->messages;
    return true;
}

static bool write_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *t = w->totals;
    AUTO_MEM uint8_t *head = NULL;
    struct carla_header header;
    if (!carla_header_load(w->stream->readers[0], &head, &header, err) ||
        (w->planning && !carla_is_whole(w, &t->whole, err))) {
        return false;
    }
    store_u64le(head + CARLA_DATE_AT, (uint64_t)header.date + (uint64_t)t->shift);
    reel_sink_put(out, head, header.size);
    return true;
}

/* The date has whole seconds; fractions are lost. */
static bool shift_date(struct reel_write *w, int64_t first_ns, struct reel_error *err) {
    struct totals *t = w->totals;
    AUTO_MEM uint8_t *head = NULL;
    struct carla_header header;
    if (!w->planning || !w->options->is_cut) {
        return true;
    }
    if (!carla_header_load(w->stream->readers[0], &head, &header, err)) {
        return false;
    }
    bool wall = carla_date_believed(header.date);
    t->shift = wall && first_ns > header.date * CARLA_NS_PER_SEC ? first_ns / CARLA_NS_PER_SEC - header.date : 0;
    return true;
}

/* --- packets --- */

static bool put_packet(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                       struct reel_error *err) {
    const struct run *run = w->run;
    reel_sink_u8(out, run->channels[m->channel].id);
    reel_sink_u32le(out, m->size);
    return reel_write_payload(w, m, out, err);
}

static void put_start(const struct run *run, struct reel_sink *out) {
    uint8_t data[CARLA_PACKET_HEAD + CARLA_START_SIZE] = {0};
    uint64_t duration, elapsed;
    memcpy(&duration, &run->duration, sizeof duration);
    memcpy(&elapsed, &run->elapsed, sizeof elapsed);
    store_u32le(data + 1, CARLA_START_SIZE);
    store_u64le(data + 5, run->number);
    store_u64le(data + 13, duration);
    store_u64le(data + 21, elapsed);
    reel_sink_put(out, data, sizeof data);
}

/* Writes the part of the state that precedes packets of `kind`. */
static bool put_fronts_before(struct reel_write *w, enum carla_kind kind, struct reel_sink *out,
                              struct reel_error *err) {
    struct run *run = w->run;
    for (; run->fronts_done < run->n_fronts; run->fronts_done++) {
        const struct reel_message *initial = &run->fronts[run->fronts_done];
        if (run->channels[initial->channel].kind >= kind) {
            break;
        }
        if (!put_packet(w, initial, out, err)) {
            return false;
        }
    }
    return true;
}

/* Writes a packet of the first frame, joined with the state of its kind. */
static bool put_joined(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                       struct reel_error *err) {
    struct run *run = w->run;
    const struct packet_channel *channel = &run->channels[m->channel];
    bool done = false;
    for (; run->fronts_done < run->n_fronts && !done; run->fronts_done++) {
        const struct reel_message *initial = &run->fronts[run->fronts_done];
        struct reel_bytes own, all;
        bool joined;
        if (run->channels[initial->channel].kind != channel->kind) {
            break;
        }
        if (carla_facts[channel->kind].initial == CARLA_FRONT_LATEST) {
            continue; /* the frame has its own */
        }
        if (!reel_stream_payload(w->stream, m, &own, err) ||
            !carla_join(channel->kind, &channel->layout, bytes_of(initial->owned, initial->size), own, &all, &joined,
                        err)) {
            return false;
        }
        if (joined) {
            reel_sink_u8(out, channel->id);
            reel_sink_u32le(out, (uint32_t)all.size);
            reel_sink_put_bytes(out, all);
            free((void *)all.data);
            done = true;
        } else if (!put_packet(w, initial, out, err)) {
            return false;
        }
    }
    return done || put_packet(w, m, out, err);
}

/* --- frames --- */

static bool read_start(struct reel_write *w, const struct reel_message *m, struct carla_frame *frame,
                       struct reel_error *err) {
    struct reel_reader *reader = w->stream->readers[m->source];
    struct reel_bytes b;
    uint64_t at = m->entry.offset - m->entry.extra[1];
    *frame = (struct carla_frame){.duration = -1, .elapsed = NAN};
    if (((const struct run *)w->run)->converted) {
        if (m->size < CARLA_START_SIZE) {
            return true;
        }
        if (!reel_stream_payload(w->stream, m, &b, err)) {
            return false;
        }
        *frame = carla_frame_read(b.data);
        return true;
    }
    if (!reel_reader_view(reader, m->entry.chunk, at, CARLA_PACKET_HEAD, &b, err)) {
        return false;
    }
    if (load_u32le(b.data + 1) < CARLA_START_SIZE) { /* the scan has reported it */
        return true;
    }
    if (!reel_reader_view(reader, m->entry.chunk, at, CARLA_PACKET_HEAD + CARLA_START_SIZE, &b, err)) {
        return false;
    }
    *frame = carla_frame_read(b.data + CARLA_PACKET_HEAD);
    return true;
}

/* The duration of the last frame if `next` follows it in the output. */
static double duration_until(const struct run *run, uint64_t ordinal, const struct carla_frame *next) {
    const struct carla_frame *last = &run->source;
    bool follows = ordinal == run->ordinal + 1;
    double gap = next->elapsed - last->elapsed;
    if (follows && last->elapsed + last->duration == next->elapsed) {
        return last->duration;
    }
    if (gap >= 0 && gap <= (follows ? CARLA_JUMP_MAX : CARLA_ELAPSED_MAX)) {
        return gap;
    }
    return last->duration > 0 && last->duration <= CARLA_JUMP_MAX ? last->duration : 0;
}

/* Planning: records the duration of the last frame, which is now known. */
static bool carla_resolve(struct run *run, double duration, struct reel_error *err) {
    if (memcmp(&duration, &run->source.duration, sizeof duration) != 0) {
        struct changed changed = {.frame = run->in_group - 1, .duration = duration};
        grow_put(&run->changed, &changed, sizeof changed);
    }
    run->duration = duration;
    run->resolved = true;
    return !run->changed.failed || reel_fail_memory(err);
}

static bool close_frame(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    if (!run->open) {
        return true;
    }
    run->open = false;
    if (!put_fronts_before(w, CARLA_FRAME_END, out, err)) {
        return false;
    }
    reel_sink_u8(out, carla_facts[CARLA_FRAME_END].id);
    reel_sink_u32le(out, run->end.size);
    return run->end.size == 0 || reel_write_payload(w, &run->end, out, err);
}

/* Rendering: the planned duration of the current frame. */
static double planned_duration(const struct reel_write *w, struct run *run) {
    const struct reel_group *group = reel_write_group(w, w->group);
    struct changed changed;
    if (run->changed_at + sizeof changed <= group->note_size) {
        memcpy(&changed, group->note + run->changed_at, sizeof changed);
        if (changed.frame == run->in_group) {
            run->changed_at += sizeof changed;
            return changed.duration;
        }
    }
    return run->source.duration;
}

static bool begin_frame(struct reel_write *w, const struct carla_frame *source, uint64_t ordinal,
                        struct reel_sink *out) {
    struct run *run = w->run;
    bool first = run->number == 0;
    double origin =
        w->options->is_cut || !(source->elapsed >= 0 && source->elapsed <= CARLA_ELAPSED_MAX) ? 0 : source->elapsed;
    run->elapsed = first ? origin : run->elapsed + run->duration;
    run->number++;
    run->source = *source;
    run->ordinal = ordinal;
    run->open = true;
    run->resolved = false;
    run->end = (struct reel_message){.size = 0};
    if (run->in_group == 0 && w->planning) {
        run->note = (struct note){.number = run->number, .elapsed = run->elapsed};
    } else if (run->in_group == 0) {
        run->number = run->note.number;
        run->elapsed = run->note.elapsed;
    }
    run->duration = w->planning ? source->duration : planned_duration(w, run);
    run->in_group++;
    put_start(run, out);
    return first;
}

static bool put_in_frame(struct reel_write *w, const struct reel_message *m, struct reel_sink *out,
                         struct reel_error *err) {
    struct run *run = w->run;
    enum carla_kind kind = run->channels[m->channel].kind;
    if (kind == CARLA_FRAME_START) { /* is written */
        return true;
    }
    if (kind == CARLA_FRAME_END) { /* written last, even if packets follow it */
        run->end = m->size > 0 ? *m : run->end;
        return true;
    }
    if (kind == CARLA_UNKNOWN || run->fronts_done == run->n_fronts) {
        return put_packet(w, m, out, err);
    }
    return put_fronts_before(w, kind, out, err) && put_joined(w, m, out, err);
}

/* --- a cut or a part --- */

static void begin_group(struct reel_write *w) {
    struct run *run = w->run;
    run->open = false;
    run->frames = 0;
    run->in_group = 0;
    run->n_fronts = run->fronts_done = 0;
    run->changed.size = 0;
    if (!w->planning) {
        const struct reel_group *group = reel_write_group(w, w->group);
        if (group->note_size >= sizeof run->note) {
            memcpy(&run->note, group->note, sizeof run->note);
        }
        run->changed_at = sizeof run->note;
    }
}

static bool end_group(struct reel_write *w, struct reel_error *err) {
    struct run *run = w->run;
    return reel_write_note(w, &run->note, sizeof run->note, err) &&
           reel_write_note(w, run->changed.data, run->changed.size, err);
}

/* Only messages of state.c; the last messages of topics, which a selection may include, are not part of the
 * state. */
static bool take_initial_state(struct run *run, const struct reel_message *m, struct reel_error *err) {
    if (!m->owned) {
        return true;
    }
    if (!GROW_ARRAY(run->fronts, run->n_fronts, run->cap_fronts)) {
        return reel_fail_memory(err);
    }
    run->fronts[run->n_fronts++] = *m;
    return true;
}

/* The number of the message's frame, from 1; 0: before the first. */
static uint64_t frame_of(struct run *run, const struct reel_message *m) {
    if (!run->converted) {
        return m->entry.extra[0];
    }
    run->frames += run->channels[m->channel].kind == CARLA_FRAME_START;
    return run->frames;
}

/* The first message of a frame; *full: it belongs to the next group. */
static bool next_frame(struct reel_write *w, const struct reel_message *m, uint64_t ordinal, uint64_t group_at,
                       bool *full, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    struct carla_frame source;
    *full = false;
    if (!read_start(w, m, &source, err)) {
        return false;
    }
    if (w->planning && run->number > 0 && !run->resolved &&
        !carla_resolve(run, duration_until(run, ordinal, &source), err)) {
        return false;
    }
    *full = w->planning && run->open && out->pos - group_at > GROUP_BYTES;
    if (!close_frame(w, out, err)) {
        return false;
    }
    return *full || !begin_frame(w, &source, ordinal, out) || shift_date(w, m->time_ns, err);
}

/* Only the state: a log of one frame. */
static bool write_state_only(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct carla_frame source = {.duration = -1};
    begin_frame(w, &source, 0, out);
    return shift_date(w, w->options->start_ns, err) && close_frame(w, out, err);
}

static bool write_part(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct run *run = w->run;
    struct reel_message m;
    enum reel_step step;
    uint64_t group_at = out->pos;
    begin_group(w);
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
        bool good, full = false;
        uint64_t ordinal = m.initial > 0 ? 0 : frame_of(run, &m);
        if (m.initial > 0) {
            good = take_initial_state(run, &m, err);
        } else if (ordinal == 0) { /* before the first frame: unchanged */
            good = put_packet(w, &m, out, err);
        } else {
            good = (run->open && run->ordinal == ordinal) || next_frame(w, &m, ordinal, group_at, &full, out, err);
            good = good && (full || put_in_frame(w, &m, out, err));
        }
        if (!good) {
            return false;
        }
        if (full) {
            reel_write_unget(w, &m);
            return end_group(w, err);
        }
    }
    if (step == REEL_STEP_ERROR) {
        return false;
    }
    if (run->n_fronts > 0 && run->in_group == 0 && !write_state_only(w, out, err)) {
        return false;
    }
    if (w->planning && run->open && !carla_resolve(run, -1, err)) {
        return false;
    }
    return close_frame(w, out, err) && end_group(w, err);
}

/* --- a whole recording --- */

static bool write_whole(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct reel_message m;
    enum reel_step step;
    uint64_t group_at = out->pos, ordinal = 0;
    ((struct run *)w->run)->frames = 0;
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
        uint64_t frame = frame_of(w->run, &m);
        if (w->planning && out->pos - group_at > GROUP_BYTES && frame != ordinal) {
            reel_write_unget(w, &m);
            return true;
        }
        ordinal = frame;
        if (!put_packet(w, &m, out, err)) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR;
}

static bool write_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct totals *t = w->totals;
    return t->whole ? write_whole(w, out, err) : write_part(w, out, err);
}

/* --- the writer --- */

static const struct reel_format *carla_format_of(const struct reel_stream *stream) {
    return reel_index_info(reel_recording_index(reel_reader_recording(stream->readers[0])))->format;
}

static bool carla_open_run(struct reel_write *w, struct reel_error *err) {
    struct run *run = w->run;
    uint32_t n = w->stream->n_channels;
    run->converted = carla_format_of(w->stream) != &reel_format_carla;
    if (!(run->channels = calloc(n ? n : 1, sizeof *run->channels))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct packet_channel *t = &run->channels[i];
        if (!carla_channel_read(w->stream->channels[i], &t->id, &t->kind, &t->layout)) {
            return reel_fail(err, REEL_UNSUPPORTED, "%s is not a channel of CARLA packets",
                             w->stream->channels[i]->name);
        }
    }
    return true;
}

static void carla_close_run(struct reel_write *w) {
    struct run *run = w->run;
    free(run->channels);
    free(run->fronts);
    free(run->changed.data);
}

const struct reel_writer reel_writer_carla = {
    .name = "carla",
    .extension = ".log",
    .media_type = "application/x-carla-recorder",
    .needs = REEL_NEEDS_STATE_AT_CUT | REEL_REBASES_CUT,
    .version = 2,
    .totals_size = sizeof(struct totals),
    .run_size = sizeof(struct run),
    .accepts = carla_accepts,
    .accepts_all = carla_accepts_all,
    .open = carla_open_run,
    .close = carla_close_run,
    .head = write_head,
    .messages = write_messages,
};
