/* What the NanoVer writer sees of a stream: messages of the older form as those of today, and entries by the contract of nanover.h whatever
 * file they come from. Rule: the index of a .traj or .state knows what each message becomes, so nothing is converted until its bytes are
 * wanted; messages that travelled in a container of another format are read to know it. */
#include "formats/formats.h"
#include "formats/nanover_legacy/nanover_legacy.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { VIEW_VERSION = 1 }; /* part of every ETag: raise it when one byte that the view makes changes */

enum legacy_kind legacy_channel_kind(const struct reel_channel *channel) {
    return strcmp(channel->encoding, NANOVER_LEGACY_ENCODING) != 0 ? LEGACY_NONE
           : strcmp(channel->type, "GetFrameResponse") == 0        ? LEGACY_FRAME
           : strcmp(channel->type, "StateUpdate") == 0             ? LEGACY_STATE
                                                                   : LEGACY_NONE;
}

struct mapping { /* of one channel below */
    enum legacy_kind kind;
    bool foreign; /* its entries are those of another format */
};

struct view {
    struct reel_stream base;
    struct reel_stream *below;
    struct arena arena; /* channels */
    const struct reel_channel **channels;
    struct mapping *mappings;
    struct legacy_converter converter;
    bool holds; /* `held` is the message at `place` */
    struct reel_mark place;
    struct reel_bytes held;
};

static bool same_place(const struct reel_mark *a, const struct reel_mark *b) {
    return a->source == b->source && a->chunk == b->chunk && a->offset == b->offset;
}

/* The message as one of today. What a front holds is one already. */
static bool load_message(struct view *v, const struct reel_message *m, struct reel_bytes *out, struct reel_error *err) {
    enum legacy_kind kind = v->mappings[m->channel].kind;
    if (kind == LEGACY_NONE || m->owned) {
        return reel_stream_payload(v->below, m, out, err);
    }
    struct reel_mark place = reel_mark_of(m);
    if (!v->holds || !same_place(&v->place, &place)) {
        struct reel_message raw = *m; /* as it is below */
        struct reel_bytes bytes;
        raw.size = m->entry.size;
        v->holds = false;
        if (!reel_stream_payload(v->below, &raw, &bytes, err) || !legacy_convert(&v->converter, kind, bytes, &v->held, err)) {
            return reel_error_at(err, "message at %llu", (unsigned long long)m->entry.offset);
        }
        v->holds = true;
        v->place = place;
    }
    *out = v->held;
    return true;
}

/* What the scan of a NanoVer file leaves in the entry. A message that is none is the writer's to pass on as it is. */
static void fill_entry(struct reel_bytes message, struct reel_entry *entry) {
    struct nanover_message facts;
    const char *why;
    struct cursor c = cursor_of(message);
    bool has_index = nanover_message_read(&c, &facts, NULL, &why) == MSGPACK_OK && facts.has_frame_index;
    entry->extra[0] = has_index && facts.frame_index == 0;
    entry->extra[1] = has_index ? facts.frame_index + 1 : 0;
}

static bool read_entry(struct view *v, struct reel_message *m, struct reel_error *err) {
    struct reel_bytes message;
    if (!load_message(v, m, &message, err)) {
        return false;
    }
    fill_entry(message, &m->entry);
    m->size = (uint32_t)message.size;
    return true;
}

static enum reel_step view_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct view *v = (struct view *)base;
    enum reel_step step = reel_stream_next(v->below, m, err);
    if (step != REEL_STEP_MESSAGE || m->owned) {
        return step;
    }
    if (v->mappings[m->channel].foreign) {
        return read_entry(v, m, err) ? step : REEL_STEP_ERROR;
    }
    if (v->mappings[m->channel].kind != LEGACY_NONE) {
        m->size = legacy_converted_size(&m->entry);
    }
    return step;
}

static bool view_seek(struct reel_stream *base, const struct reel_mark *mark, struct reel_error *err) {
    return reel_stream_seek(((struct view *)base)->below, mark, err);
}

static bool view_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out, struct reel_error *err) {
    return load_message((struct view *)base, m, out, err) &&
           (out->size == m->size ||
            reel_fail(err, REEL_CHANGED, "message at %llu is not the one that was scanned", (unsigned long long)m->entry.offset));
}

static void view_free(struct reel_stream *base) {
    struct view *v = (struct view *)base;
    reel_stream_free(v->below);
    arena_free(&v->arena);
    legacy_converter_done(&v->converter);
    free(v->channels);
    free(v->mappings);
    free(v);
}

static const struct reel_stream_ops view_ops = {.next = view_next, .seek = view_seek, .free = view_free, .payload = view_payload};

/* --- channels --- */

static bool is_nanover(const struct reel_channel *channel) {
    return strcmp(channel->encoding, "nanover") == 0 || legacy_channel_kind(channel) != LEGACY_NONE;
}
static bool is_own(const struct reel_index *index) {
    const struct reel_format *format = reel_index_info(index)->format;
    return format == &reel_format_nanover || format == &reel_format_nanover_legacy;
}

static struct mapping mapping_of(const struct reel_stream *stream, uint32_t channel) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(stream->readers[stream->channel_source[channel]]));
    const struct reel_channel *c = stream->channels[channel];
    return (struct mapping){.kind = legacy_channel_kind(c), .foreign = is_nanover(c) && !is_own(index)};
}

/* The channel of today, under the number that the old one has. */
static const struct reel_channel *map_channel(struct view *v, const struct reel_channel *old, enum legacy_kind kind) {
    struct reel_channel *channel = arena_alloc(&v->arena, sizeof *channel);
    struct reel_bytes type = bytes_text(kind == LEGACY_FRAME ? "frame" : "state");
    if (!channel || !nanover_channel(&v->arena, &type, 1, channel)) {
        return NULL;
    }
    channel->id = old->id;
    return channel;
}

static bool map_channels(struct view *v, struct reel_error *err) {
    const struct reel_stream *below = v->below;
    v->channels = calloc((size_t)below->n_channels + 1, sizeof *v->channels);
    v->mappings = calloc((size_t)below->n_channels + 1, sizeof *v->mappings);
    if (!v->channels || !v->mappings) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < below->n_channels; i++) {
        v->mappings[i] = mapping_of(below, i);
        enum legacy_kind kind = v->mappings[i].kind;
        v->channels[i] = kind == LEGACY_NONE ? below->channels[i] : map_channel(v, below->channels[i], kind);
        if (!v->channels[i]) {
            return reel_fail_memory(err);
        }
    }
    v->base.channels = v->channels;
    return true;
}

struct reel_stream *nanover_view(struct reel_stream *source, struct reel_error *err) {
    bool any = false;
    for (uint32_t i = 0; i < source->n_channels; i++) {
        struct mapping m = mapping_of(source, i);
        any |= m.kind != LEGACY_NONE || m.foreign;
    }
    if (!any) {
        return source;
    }
    struct view *v = calloc(1, sizeof *v);
    if (!v) {
        reel_stream_free(source);
        reel_fail_memory(err);
        return NULL;
    }
    v->base = *source; /* sources, readers and the front are those below */
    v->base.ops = &view_ops;
    v->base.view_version = source->view_version * 16 + VIEW_VERSION;
    v->below = source;
    if (!map_channels(v, err)) {
        view_free(&v->base);
        return NULL;
    }
    return &v->base;
}

/* --- what messages add up to, in whatever file they are --- */

static bool load_entry(void *context, struct reel_reader *reader, const struct reel_entry *entry, struct reel_bytes *out,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    enum legacy_kind kind = legacy_channel_kind(reel_index_channel(index, entry->channel));
    struct reel_bytes raw;
    if (kind == LEGACY_NONE) {
        return reel_reader_payload(reader, entry, out, err);
    }
    return reel_reader_payload(reader, entry, &raw, err) && legacy_convert(context, kind, raw, out, err);
}

bool legacy_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front, struct reel_error *err) {
    AUTO(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    return nanover_state_by(load_entry, &converter, reader, time_ns, wanted, front, err);
}

static bool learn_entry(void *context, struct reel_reader *reader, struct reel_entry *entry, struct reel_error *err) {
    struct reel_bytes message;
    if (!load_entry(context, reader, entry, &message, err)) {
        return false;
    }
    fill_entry(message, entry);
    return true;
}

bool nanover_is_there(const struct reel_index *index) {
    bool any = is_own(index);
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && !any; i++) {
        any = is_nanover(reel_index_channel(index, i));
    }
    return any;
}

bool nanover_foreign_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front,
                              struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    uint32_t n = reel_index_info(index)->n_channels;
    AUTO(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    AUTO_MEM bool *ours = calloc(n ? n : 1, sizeof *ours);
    bool any = false;
    if (!ours) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        ours[i] = wanted[i] && is_nanover(reel_index_channel(index, i));
        any |= ours[i];
    }
    struct nanover_sum sum = {
        .frame = true, .state = true, .as_run = true, .load = load_entry, .learn = learn_entry, .context = &converter};
    return !any || nanover_sum_in_front(&sum, reader, time_ns, ours, front, err);
}

bool nanover_moment(struct reel_reader *reader, int64_t time_ns, bool frame, uint8_t **data, size_t *size, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    uint32_t n = reel_index_info(index)->n_channels;
    AUTO(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    AUTO_MEM bool *wanted = calloc(n ? n : 1, sizeof *wanted);
    if (!wanted) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        wanted[i] = is_nanover(reel_index_channel(index, i));
    }
    struct nanover_sum sum = {
        .frame = frame, .state = !frame, .load = load_entry, .learn = is_own(index) ? NULL : learn_entry, .context = &converter};
    bool good = nanover_sum_at(&sum, reader, time_ns, wanted, err);
    *data = good ? sum.data : NULL;
    *size = good ? sum.size : 0;
    if (!good) {
        free(sum.data);
    }
    return good;
}
