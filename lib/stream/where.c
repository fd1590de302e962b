/* See where.h. A condition is about the messages of one topic; those of other topics are not touched by it. */
#include "stream/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "decode/condition.h"
#include "decode/decoder.h"
#include "decode/fields.h"
#include "reel/values.h"
#include "stream/stream.h"

struct filter {
    struct reel_stream base;
    struct reel_stream *below;
    struct conditions conditions;
    struct condition_reader *readers; /* by channel */
};

/* ---- the stream */

static bool where_holds(struct filter *f, const struct reel_message *m, bool *out, struct reel_error *err) {
    const struct condition_reader *reader = &f->readers[m->channel];
    struct value values[CONDITIONS_MAX];
    enum truth each[CONDITIONS_MAX];
    struct reel_bytes payload;
    *out = true;
    if (reader->conditions == 0 || m->initial > 0) {
        return true;
    }
    bool decodes = m->size <= REEL_DECODED_MAX;
    if (decodes && !reel_stream_payload(f->below, m, &payload, err)) {
        return false;
    }
    for (uint32_t i = 0; i < f->conditions.n; i++) {
        each[i] = TRUTH_NONE;
    }
    if (!condition_reader_read(reader, &f->conditions, decodes ? &payload : NULL, values, err)) {
        return false;
    }
    condition_reader_truths(reader, &f->conditions, values, each);
    *out = conditions_truth(&f->conditions, each) == TRUTH_YES;
    return true;
}

static enum reel_step filter_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct filter *f = (struct filter *)base;
    for (;;) {
        bool yes;
        enum reel_step step = stream_next(f->below, m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step;
        }
        if (!where_holds(f, m, &yes, err)) {
            return REEL_STEP_ERROR;
        }
        if (yes) {
            return step;
        }
    }
}

static bool filter_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    return stream_seek(((struct filter *)base)->below, mark, err);
}

static void filter_free(struct reel_stream *base) {
    struct filter *f = (struct filter *)base;
    for (uint32_t i = 0; f->readers && i < f->base.n_channels; i++) {
        condition_reader_done(&f->readers[i]);
    }
    conditions_done(&f->conditions);
    free(f->readers);
    reel_stream_free(f->below);
    free(f);
}

static const struct reel_stream_ops filter_ops = {.next = filter_next, .seek = filter_seek, .free = filter_free};

bool where_selects(struct reel_stream *base, const struct reel_message *m, bool *selects, struct reel_error *err) {
    struct filter *f = (struct filter *)base;
    return stream_selects(f->below, m, selects, err) && (!*selects || where_holds(f, m, selects, err));
}

/* ---- opening */

/* Adds a condition to the channels that its topic means, in the recording of `source`; the name is the recording's own,
 * before renames. */
static bool add_to_channels(struct filter *f, uint32_t condition, uint32_t source, const char *topic, const char *path,
                            struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(f->below->readers[source]));
    for (uint32_t i = 0; i < f->base.n_channels; i++) {
        const struct reel_channel *c = f->base.channels[i], *own;
        if (f->base.channel_source[i] != source || c->id >= reel_index_info(index)->n_channels) {
            continue;
        }
        own = reel_index_channel(index, c->id);
        bool is = false;
        for (uint32_t t = 0; t < own->n_topics && !is; t++) {
            is = strcmp(own->topics[t], topic) == 0;
        }
        struct condition_reader *reader = &f->readers[i];
        if (is && !reader->decoder && !(reader->decoder = reel_decoder_open(own, err))) {
            return reel_error_at(err, "where: %s", topic);
        }
        if (is && !condition_reader_add(reader, condition, path, err)) {
            return false;
        }
    }
    return true;
}

static bool bind(struct filter *f, uint32_t condition, struct reel_error *err) {
    const char *field = f->conditions.items[condition].field;
    bool any = false;
    for (uint32_t s = 0; s < f->below->n_sources; s++) {
        const char *topic, *path;
        if (!reel_series_split(reel_reader_recording(f->below->readers[s]), field, &topic, &path, NULL)) {
            continue;
        }
        any = true;
        if (!add_to_channels(f, condition, s, topic, path, err)) {
            return false;
        }
    }
    return any || reel_fail(err, REEL_ARGUMENT, "where: \"%.200s\" begins with no topic of this recording", field);
}

struct reel_stream *where_stream(struct reel_stream *below, const struct reel_selection *q, struct reel_error *err) {
    struct filter *f = calloc(1, sizeof *f);
    if (!f) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    f->base = *below;
    f->base.ops = &filter_ops;
    f->below = below;
    f->readers = calloc((size_t)below->n_channels + 1, sizeof *f->readers);
    bool good = f->readers ? conditions_parse(q->where, q->n_where, &f->conditions, err) : reel_fail_memory(err);
    for (uint32_t i = 0; good && i < f->conditions.n; i++) {
        good = bind(f, i, err);
    }
    if (!good) {
        filter_free(&f->base);
        return NULL;
    }
    return &f->base;
}
