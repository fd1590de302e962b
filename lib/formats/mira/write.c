/* Writes MIRA tapes: the header, message blocks with each channel's info before its first message, then the index
 * tables (write_index.c). Field contents are defined once, in functions that both count and render. Values that precede
 * what they describe (counts, sums, links) come from planning. */
#include "formats/mira/write.h"
#include "base/bytes.h"
#include "base/glob.h"
#include "base/limits.h"
#include "chunks/codec.h"

#include <stdlib.h>

/* ---- a run ---- */

static void *keep_by_channel(struct reel_write *w, size_t item, struct reel_error *err) {
    return reel_write_keep(w, ((size_t)w->stream->n_channels + 1) * item, err);
}

static bool keep_totals(struct reel_write *w, struct reel_error *err) {
    struct mira_totals *t = w->totals;
    t->first_group = keep_by_channel(w, sizeof *t->first_group, err);
    t->info_at = keep_by_channel(w, sizeof *t->info_at, err);
    t->messages = keep_by_channel(w, sizeof *t->messages, err);
    t->stored = keep_by_channel(w, sizeof *t->stored, err);
    t->first = keep_by_channel(w, sizeof *t->first, err);
    t->last = keep_by_channel(w, sizeof *t->last, err);
    t->position = keep_by_channel(w, sizeof *t->position, err);
    t->order = keep_by_channel(w, sizeof *t->order, err);
    return t->first_group && t->info_at && t->messages && t->stored && t->first && t->last && t->position && t->order;
}

/* Channels that compress_topic leaves out. */
static void choose_topics(struct reel_write *w) {
    const struct mira_run *run = w->run;
    const char *glob;
    for (uint32_t i = 0; (glob = reel_write_option_text(w, "compress_topic", i)) != NULL; i++) {
        for (uint32_t c = 0; c < w->stream->n_channels; c++) {
            run->plain[c] = (i == 0 || run->plain[c]) && !reel_topic_match(glob, w->stream->channels[c]->name);
        }
    }
}

static bool mira_open(struct reel_write *w, struct reel_error *err) {
    struct mira_run *run = w->run;
    const char *compression = w->options->compression ? w->options->compression : "";
    size_t n = (size_t)w->stream->n_channels + 1;
    run->zlib = strcmp(compression, "zlib") == 0;
    run->again = compression[0] == '\0';
    if (!run->zlib && !run->again && strcmp(compression, "none") != 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "MIRA tapes support compression zlib and none, not \"%s\"",
                         compression);
    }
    run->compress_from = reel_write_option_u64(w, "compress_from");
    run->block_max = reel_write_option_u64(w, "block_size");
    run->seen = arena_alloc(&run->arena, n * sizeof *run->seen);
    run->counts = arena_alloc(&run->arena, n * sizeof *run->counts);
    run->touched = arena_alloc(&run->arena, n * sizeof *run->touched);
    run->plain = arena_alloc(&run->arena, n * sizeof *run->plain);
    if (!run->seen || !run->counts || !run->touched || !run->plain) {
        return reel_fail_memory(err);
    }
    choose_topics(w);
    return mira_out_channels(&run->arena, w->stream, &run->channels, err) &&
           (w->planning ? keep_totals(w, err) : mira_position_tables(w, err));
}

static void mira_close(struct reel_write *w) {
    struct mira_run *run = w->run;
    arena_free(&run->arena);
    free(run->note.data);
    free(run->sizes.data);
    free(run->packed.data);
}

/* ---- the header ---- */

static bool all_relative(const struct reel_stream *stream) {
    for (uint32_t i = 0; i < stream->n_sources; i++) {
        if (stream->clocks[i] != REEL_CLOCK_RELATIVE) {
            return false;
        }
    }
    return true;
}

/* The start of the tape: that of a whole tape is kept, other recordings start at their first message, relative clocks
 * at 0. */
static int64_t start_of(const struct reel_write *w, int64_t first_ns) {
    const char *known =
        w->options->is_cut || w->stream->n_sources > 1 ? NULL : mira_metadata(w->stream, MIRA_START_KEY);
    uint64_t start = known ? strtoull(known, NULL, 10) : 0;
    if (all_relative(w->stream)) {
        return 0;
    }
    start = start >= MIRA_WALL_MIN_NS ? start : first_ns > 0 ? (uint64_t)first_ns : 0;
    return start < MIRA_WALL_MAX_NS ? (int64_t)start : 0;
}

void mira_put_tape_head(struct reel_sink *out, const struct mira_tape_head *head) {
    reel_sink_u32le(out, head->version);
    reel_sink_u64le(out, (uint64_t)head->start_ns);
    reel_sink_u64le(out, (uint64_t)head->utc_ns);
    reel_sink_u32le(out, head->blocks);
    reel_sink_u64le(out, head->first_info);
}

static bool mira_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    const struct mira_totals *t = w->totals;
    const char *version = mira_metadata(w->stream, MIRA_VERSION_KEY), *utc = mira_metadata(w->stream, MIRA_UTC_KEY);
    uint64_t number = version ? strtoull(version, NULL, 16) : 0;
    int64_t utc_ns = utc ? strtoll(utc, NULL, 10) : 0;
    mira_put_tape_head(
        out, &(struct mira_tape_head){
                 .version = number > 0 && number < 1 << 24 ? (uint32_t)number : MIRA_VERSION_DEFAULT,
                 .start_ns = t->started ? t->start_ns : start_of(w, w->options->is_cut ? w->options->start_ns : 0),
                 .utc_ns = utc_ns <= MIRA_UTC_MAX_NS && utc_ns >= -MIRA_UTC_MAX_NS ? utc_ns : 0,
                 .blocks = (uint32_t)reel_write_groups(w),
                 .first_info = t->n_order > 0 ? t->info_at[t->order[0]] : 0});
    return true;
}

/* ---- channel infos ---- */

uint64_t mira_info_size(const struct mira_out *c) {
    return MIRA_FIELD_HEAD + MIRA_INFO_FIXED + c->name.size + c->type.size + c->meta.size;
}

void mira_put_info_field(struct reel_sink *out, const struct mira_out *c, const struct mira_info_links *links) {
    reel_sink_u8(out, MIRA_INFO);
    reel_sink_u32le(out, (uint32_t)(mira_info_size(c) - MIRA_FIELD_HEAD));
    reel_sink_u64le(out, links->next);
    reel_sink_u64le(out, (uint64_t)links->first);
    reel_sink_u64le(out, (uint64_t)links->last);
    reel_sink_string32(out, c->name);
    reel_sink_string32(out, c->type);
    reel_sink_u64le(out, c->meta.size);
    reel_sink_put_bytes(out, c->meta);
    reel_sink_u64le(out, links->stored);
    reel_sink_u64le(out, links->index);
}

bool mira_is_first(struct reel_write *w, uint32_t channel, uint64_t group) {
    struct mira_run *run = w->run;
    struct mira_totals *t = w->totals;
    if (run->seen[channel] == run->pass) {
        return false;
    }
    run->seen[channel] = run->pass;
    if (w->planning && t->first_group[channel] == 0) {
        t->first_group[channel] = group + 1;
    }
    return t->first_group[channel] == group + 1;
}

void mira_put_info(struct reel_write *w, uint32_t channel, struct reel_sink *out) {
    const struct mira_run *run = w->run;
    struct mira_totals *t = w->totals;
    const struct mira_out *c = &run->channels[channel];
    if (w->planning) {
        t->info_at[channel] = out->pos;
        t->position[channel] = t->n_order;
        t->order[t->n_order++] = channel;
    }
    uint32_t next = t->position[channel] + 1;
    mira_put_info_field(out, c,
                        &(struct mira_info_links){.next = next < t->n_order ? t->info_at[t->order[next]] : 0,
                                                  .first = t->first[channel],
                                                  .last = t->last[channel],
                                                  .stored = t->stored[channel],
                                                  .index = w->planning ? 0 : run->index_at[channel]});
}

/* ---- messages ---- */

/* A message of a tape with unknown compression: its stored bytes are copied. */
static bool is_stored(const struct reel_write *w, const struct reel_message *m) {
    const struct mira_run *run = w->run;
    return !m->owned && run->channels[m->channel].native && (m->entry.extra[1] & MIRA_STORED_FLAG) != 0;
}

/* The compression of the message in the tape that it comes from. */
static enum reel_codec tape_codec(const struct reel_write *w, const struct reel_message *m) {
    const struct mira_run *run = w->run;
    bool native = !m->owned && run->channels[m->channel].native;
    return native ? (enum reel_codec)(m->entry.extra[1] >> MIRA_CODEC_SHIFT) : REEL_CODEC_NONE;
}

bool mira_may_compress(const struct reel_write *w, const struct reel_message *m) {
    const struct mira_run *run = w->run;
    bool wanted = run->zlib ? m->size >= run->compress_from : run->again && tape_codec(w, m) != REEL_CODEC_NONE;
    return wanted && !run->plain[m->channel] && m->size <= REEL_CHUNK_MEMORY_MAX && !is_stored(w, m);
}

static struct reel_bytes mira_out_frame(const struct reel_write *w, const struct reel_message *m) {
    const struct mira_run *run = w->run;
    const struct mira_out *c = &run->channels[m->channel];
    if (m->owned || !c->native) {
        return c->frame;
    }
    struct reel_description d = {.frame_id = NULL};
    reel_format_mira.describe(bytes_of("", 0), &m->entry, w->stream->channels[m->channel], &d);
    return bytes_text(d.frame_id ? d.frame_id : "");
}

bool mira_out_time(const struct reel_write *w, const struct reel_message *m, int64_t *time, struct reel_error *err) {
    const struct mira_totals *t = w->totals;
    return !__builtin_sub_overflow(m->time_ns, t->start_ns, time) ||
           reel_fail(err, REEL_UNSUPPORTED, "topic %s: a message at %lld ns is too far from the start of the tape",
                     w->stream->channels[m->channel]->name, (long long)m->time_ns);
}

static bool mira_is_packed(const struct reel_write *w, const struct reel_message *m, uint32_t stored) {
    return is_stored(w, m) || stored < m->size;
}

uint64_t mira_message_size(const struct reel_write *w, const struct reel_message *m, uint32_t stored) {
    const struct mira_run *run = w->run;
    return MIRA_FIELD_HEAD + MIRA_MESSAGE_FIXED + run->channels[m->channel].name.size + mira_out_frame(w, m).size +
           (mira_is_packed(w, m, stored) ? 4 : 0) + stored;
}

/* If *stored is less than the size, run->packed has the compressed payload. */
static bool compress(struct reel_write *w, const struct reel_message *m, uint32_t *stored, struct reel_error *err) {
    struct mira_run *run = w->run;
    struct reel_bytes raw;
    *stored = m->size;
    if (!mira_may_compress(w, m)) {
        return true;
    }
    run->packed.size = 0;
    if (!reel_stream_payload(w->stream, m, &raw, err) ||
        !codec_encode(run->zlib ? REEL_CODEC_ZLIB : tape_codec(w, m), raw.data, raw.size, &run->packed, err)) {
        return false;
    }
    *stored = run->packed.size < m->size ? (uint32_t)run->packed.size : m->size;
    return true;
}

static bool sequence_of(struct reel_write *w, const struct reel_message *m, uint32_t *sequence,
                        struct reel_error *err) {
    const struct mira_run *run = w->run;
    const struct mira_out *c = &run->channels[m->channel];
    struct reel_description d = {.sequence = 0};
    if (!m->owned && c->native) {
        d.sequence = (uint32_t)m->entry.extra[0];
    } else if (!w->planning && c->described && !stream_describe(w->stream, m, &d, err)) {
        return false;
    }
    *sequence = d.sequence;
    return true;
}

static bool mira_write_put_message(struct reel_write *w, const struct reel_message *m, uint32_t stored,
                                   struct reel_sink *out, struct reel_error *err) {
    const struct mira_run *run = w->run;
    uint64_t size = mira_message_size(w, m, stored) - MIRA_FIELD_HEAD;
    uint32_t sequence;
    int64_t time;
    if (!mira_out_time(w, m, &time, err) || !sequence_of(w, m, &sequence, err)) {
        return false;
    }
    reel_sink_u8(out, MIRA_MESSAGE);
    reel_sink_u32le(out, (uint32_t)size);
    reel_sink_u64le(out, (uint64_t)time);
    reel_sink_string32(out, run->channels[m->channel].name);
    reel_sink_string32(out, mira_out_frame(w, m));
    reel_sink_u32le(out, sequence);
    reel_sink_u32le(out, stored);
    bool packed = mira_is_packed(w, m, stored);
    reel_sink_u8(out, packed);
    if (packed) {
        reel_sink_u32le(out, is_stored(w, m) ? (uint32_t)(m->entry.extra[0] >> 32) : m->size);
    }
    if (stored < m->size) {
        reel_sink_put(out, run->packed.data, stored);
        return true;
    }
    return reel_write_payload(w, m, out, err);
}

/* ---- blocks ---- */

struct mira_note mira_note_of(const struct reel_group *group) {
    struct mira_note n = {.first = (int64_t)load_u64le(group->note),
                          .last = (int64_t)load_u64le(group->note + 8),
                          .n_rows = load_u32le(group->note + 16)};
    n.rows = group->note + MIRA_NOTE_HEAD;
    n.sizes = n.rows + (size_t)n.n_rows * MIRA_NOTE_ROW;
    n.n_sizes = (group->note_size - MIRA_NOTE_HEAD - n.n_rows * MIRA_NOTE_ROW) / 4;
    return n;
}

static void put_block_head(struct reel_write *w, struct reel_sink *out) {
    struct mira_note note = {.first = 0};
    uint32_t count = 0, bytes = 0;
    if (!w->planning) {
        const struct reel_group *group = reel_write_group(w, w->group);
        note = mira_note_of(group);
        count = group->count;
        bytes = (uint32_t)(group->size - MIRA_FIELD_HEAD - MIRA_BLOCK_HEAD);
    }
    reel_sink_u8(out, MIRA_BLOCK);
    reel_sink_u32le(out, MIRA_BLOCK_HEAD);
    reel_sink_u32le(out, count);
    reel_sink_u32le(out, bytes);
    reel_sink_u64le(out, (uint64_t)note.first);
    reel_sink_u64le(out, (uint64_t)note.last);
}

/* Counts a message while planning. */
static bool mira_write_count_message(struct reel_write *w, const struct reel_message *m, uint32_t stored,
                                     struct mira_note *note, struct reel_error *err) {
    struct mira_run *run = w->run;
    struct mira_totals *t = w->totals;
    uint32_t c = m->channel;
    int64_t time;
    if (!mira_out_time(w, m, &time, err)) {
        return false;
    }
    note->first = time < note->first ? time : note->first;
    note->last = time > note->last ? time : note->last;
    t->first[c] = t->messages[c] == 0 || time < t->first[c] ? time : t->first[c];
    t->last[c] = t->messages[c] == 0 || time > t->last[c] ? time : t->last[c];
    t->messages[c]++;
    t->stored[c] += stored;
    if (run->counts[c]++ == 0) {
        run->touched[run->n_touched++] = c;
    }
    if (mira_may_compress(w, m)) {
        grow_u32(&run->sizes, stored);
    }
    return !run->sizes.failed || reel_fail_memory(err);
}

static bool leave_note(struct reel_write *w, const struct mira_note *note, struct reel_error *err) {
    struct mira_run *run = w->run;
    run->note.size = 0;
    grow_u64(&run->note, (uint64_t)note->first);
    grow_u64(&run->note, (uint64_t)note->last);
    grow_u32(&run->note, run->n_touched);
    for (uint32_t i = 0; i < run->n_touched; i++) {
        grow_u32(&run->note, run->touched[i]);
        grow_u32(&run->note, run->counts[run->touched[i]]);
        run->counts[run->touched[i]] = 0;
    }
    grow_put(&run->note, run->sizes.data, run->sizes.size);
    run->n_touched = 0;
    run->sizes.size = 0;
    return run->note.failed ? reel_fail_memory(err) : reel_write_note(w, run->note.data, run->note.size, err);
}

/* *size: bytes that the message adds to the block being planned. REEL_UNSUPPORTED if it is too large for a field. */
static bool added_size(struct reel_write *w, const struct reel_message *m, uint32_t stored, uint64_t *size,
                       struct reel_error *err) {
    const struct mira_run *run = w->run;
    const struct mira_totals *t = w->totals;
    *size = mira_message_size(w, m, stored) +
            (t->first_group[m->channel] == 0 ? mira_info_size(&run->channels[m->channel]) : 0);
    return *size <= UINT32_MAX ||
           reel_fail(err, REEL_UNSUPPORTED, "topic %s: a message of %u bytes is too large for a tape",
                     w->stream->channels[m->channel]->name, m->size);
}

static bool mira_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct mira_run *run = w->run;
    struct mira_totals *t = w->totals;
    struct mira_note note = {.first = INT64_MAX, .last = INT64_MIN};
    struct reel_message m;
    enum reel_step step;
    uint32_t stored;
    put_block_head(w, out);
    uint64_t from = out->pos, added;
    run->pass++;
    for (bool more = false; (step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE; more = true) {
        if (w->planning && !t->started) {
            t->started = true;
            t->start_ns = start_of(w, m.time_ns);
        }
        if (!compress(w, &m, &stored, err) || (w->planning && !added_size(w, &m, stored, &added, err))) {
            return false;
        }
        if (w->planning && more && out->pos - from + added > run->block_max) {
            reel_write_unget(w, &m);
            break;
        }
        if (mira_is_first(w, m.channel, w->group)) {
            mira_put_info(w, m.channel, out);
        }
        if (!mira_write_put_message(w, &m, stored, out, err) ||
            (w->planning && !mira_write_count_message(w, &m, stored, &note, err))) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR && (!w->planning || leave_note(w, &note, err));
}

static const struct reel_write_option options[] = {
    {.name = "block_size",
     .type = REEL_OPTION_BYTES,
     .least = 1024,
     .most = 1 << 30,
     .initial = "262144",
     .help = "the size of a block at most, in bytes"},
    {.name = "compress_from",
     .type = REEL_OPTION_BYTES,
     .least = 1,
     .initial = "1024",
     .help = "messages of fewer bytes are not compressed"},
    {.name = "compress_topic",
     .type = REEL_OPTION_GLOBS,
     .most = 64,
     .help = "only these topics are compressed; may be repeated"},
    {0},
};

const struct reel_writer reel_writer_mira = {
    .name = "mira",
    .extension = ".tape",
    .media_type = "application/x-mira-tape",
    .options = options,
    .compressions = "zlib",
    .needs = REEL_COMPRESSES,
    .version = 3,
    .totals_size = sizeof(struct mira_totals),
    .run_size = sizeof(struct mira_run),
    .accepts = mira_accepts,
    .accepts_all = mira_accepts_all,
    .open = mira_open,
    .close = mira_close,
    .head = mira_head,
    .messages = mira_messages,
    .tail_parts = mira_tail_parts,
    .tail = mira_tail,
    .recorder = &mira_recorder,
};
