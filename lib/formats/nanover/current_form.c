/* See current_form.h. The index of a .traj or .state has the converted sizes, so a message is converted only when its
 * bytes are read; messages from a container of another format are read to determine their size. */
#include "formats/nanover/current_form.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/legacy.h"

#include <stdlib.h>
#include <string.h>

enum { VIEW_VERSION = 1 }; /* part of every ETag: raise it when any output byte of the view changes */

struct mapping { /* of one channel of the source stream */
    enum legacy_kind kind;
    bool foreign; /* its entries come from another format */
};

struct view {
    struct reel_stream base;
    struct reel_stream *below;
    struct arena arena; /* channels */
    const struct reel_channel **channels;
    struct mapping *mappings;
    struct legacy_converter converter;
    bool holds; /* `held` is the message at `position` */
    struct reel_position position;
    struct reel_bytes held;
};

static bool same_position(const struct reel_position *a, const struct reel_position *b) {
    return a->source == b->source && a->chunk == b->chunk && a->offset == b->offset;
}

/* The converted message. Messages of an initial state are converted already. */
static bool load_message(struct view *v, const struct reel_message *m, struct reel_bytes *out, struct reel_error *err) {
    enum legacy_kind kind = v->mappings[m->channel].kind;
    if (kind == LEGACY_NONE || m->owned) {
        return reel_stream_payload(v->below, m, out, err);
    }
    struct reel_position position = reel_position_of(m);
    if (!v->holds || !same_position(&v->position, &position)) {
        struct reel_message raw = *m; /* as in the source stream */
        struct reel_bytes bytes;
        raw.size = m->entry.size;
        v->holds = false;
        if (!reel_stream_payload(v->below, &raw, &bytes, err) ||
            !legacy_convert(&v->converter, kind, bytes, &v->held, err)) {
            return reel_error_at(err, "message at %llu", (unsigned long long)m->entry.offset);
        }
        v->holds = true;
        v->position = position;
    }
    *out = v->held;
    return true;
}

static bool nanover_current_form_read_entry(struct view *v, struct reel_message *m, struct reel_error *err) {
    struct reel_bytes message;
    if (!load_message(v, m, &message, err)) {
        return false;
    }
    nanover_fill_entry(message, &m->entry);
    m->size = (uint32_t)message.size;
    return true;
}

static enum reel_step view_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct view *v = (struct view *)base;
    enum reel_step step = stream_next(v->below, m, err);
    if (step != REEL_STEP_MESSAGE || m->owned) {
        return step;
    }
    if (v->mappings[m->channel].foreign) {
        return nanover_current_form_read_entry(v, m, err) ? step : REEL_STEP_ERROR;
    }
    if (v->mappings[m->channel].kind != LEGACY_NONE) {
        m->size = legacy_converted_size(&m->entry);
    }
    return step;
}

static bool view_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    return stream_seek(((struct view *)base)->below, mark, err);
}

static bool view_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err) {
    return load_message((struct view *)base, m, out, err) &&
           (out->size == m->size || reel_fail(err, REEL_CHANGED, "message at %llu is not the one that was scanned",
                                              (unsigned long long)m->entry.offset));
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

static const struct reel_stream_ops view_ops = {
    .next = view_next, .seek = view_seek, .free = view_free, .payload = view_payload};

/* --- channels --- */

bool nanover_holds(const struct reel_channel *channel) {
    return strcmp(channel->encoding, NANOVER_ENCODING) == 0 || legacy_channel_kind(channel) != LEGACY_NONE;
}
static struct mapping mapping_of(const struct reel_stream *stream, uint32_t channel) {
    const struct reel_index *index =
        reel_recording_index(reel_reader_recording(stream->readers[stream->channel_source[channel]]));
    const struct reel_channel *c = stream->channels[channel];
    return (struct mapping){.kind = legacy_channel_kind(c), .foreign = nanover_holds(c) && !nanover_is_own(index)};
}

/* The converted channel, with the number of the original one. */
static const struct reel_channel *map_channel(struct view *v, const struct reel_channel *old, enum legacy_kind kind) {
    struct reel_channel *channel = arena_alloc(&v->arena, sizeof *channel);
    struct reel_bytes type = bytes_text(kind == LEGACY_STATE ? "state" : "frame");
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
    v->base = *source; /* sources, readers and the initial state belong to the source stream */
    v->base.ops = &view_ops;
    v->base.view_version = source->view_version * 16 + VIEW_VERSION;
    v->below = source;
    if (!map_channels(v, err)) {
        view_free(&v->base);
        return NULL;
    }
    return &v->base;
}
