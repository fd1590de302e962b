/* See where.h. A condition is about the messages of one topic; those of other topics are not touched by it. */
#include "stream/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "decode/condition.h"
#include "decode/decoder.h"
#include "decode/fields.h"
#include "reel/series.h"
#include "stream/stream.h"

struct filter {
    struct reel_stream base;
    struct reel_stream *below;
    struct condition conditions[CONDITIONS_MAX];
    struct field_set *paths[CONDITIONS_MAX]; /* one path each */
    uint32_t n;
    uint32_t *masks; /* by channel: its conditions */
    struct reel_decoder **decoders;
};

static struct reel_visitor *open_value(void *context, uint32_t column) {
    (void)column;
    return &((struct value *)context)->visitor;
}
static bool close_value(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

/* ---- the stream */

static bool holds(struct filter *f, const struct reel_message *m, bool *out, struct reel_error *err) {
    uint32_t mask = f->masks[m->channel];
    struct reel_bytes payload;
    *out = true;
    if (mask == 0 || m->initial > 0) {
        return true;
    }
    if (m->size > REEL_DECODED_MAX) {
        *out = false;
        return true;
    }
    if (!reel_stream_payload(f->below, m, &payload, err)) {
        return false;
    }
    for (uint32_t i = 0; i < f->n && *out; i++) {
        if (!(mask & UINT32_C(1) << i)) {
            continue;
        }
        struct value found;
        struct field_picker picker = {.set = f->paths[i], .open = open_value, .close = close_value, .context = &found};
        value_start(&found);
        field_picker_start(&picker);
        if (!decode_try(f->decoders[m->channel], payload, &picker.visitor, NULL,
                        err)) { /* what is damaged has what was found before */
            return false;
        }
        *out = condition_holds(&f->conditions[i], &found);
    }
    return true;
}

static enum reel_step filter_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct filter *f = (struct filter *)base;
    for (;;) {
        bool yes;
        enum reel_step step = reel_stream_next(f->below, m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step;
        }
        if (!holds(f, m, &yes, err)) {
            return REEL_STEP_ERROR;
        }
        if (yes) {
            return step;
        }
    }
}

static bool filter_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    return reel_stream_seek(((struct filter *)base)->below, mark, err);
}

static void filter_free(struct reel_stream *base) {
    struct filter *f = (struct filter *)base;
    for (uint32_t i = 0; f->decoders && i < f->base.n_channels; i++) {
        reel_decoder_free(f->decoders[i]);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        field_set_free(f->paths[i]);
        condition_done(&f->conditions[i]);
    }
    free(f->decoders);
    free(f->masks);
    reel_stream_free(f->below);
    free(f);
}

static const struct reel_stream_ops filter_ops = {.next = filter_next, .seek = filter_seek, .free = filter_free};

bool where_selects(struct reel_stream *base, const struct reel_message *m, bool *selects, struct reel_error *err) {
    struct filter *f = (struct filter *)base;
    return stream_selects(f->below, m, selects, err) && (!*selects || holds(f, m, selects, err));
}

/* ---- opening */

/* The channels that a condition's topic means, in the recording of `source`; the name is the recording's own, before
 * renames. */
static bool mark_channels(struct filter *f, uint32_t source, const char *topic, uint32_t bit, struct reel_error *err) {
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
        if (is) {
            f->masks[i] |= bit;
            if (!f->decoders[i] && !(f->decoders[i] = reel_decoder_open(own, err))) {
                return reel_error_at(err, "where: %s", topic);
            }
        }
    }
    return true;
}

static bool add_condition(struct filter *f, const char *text, struct reel_error *err) {
    struct condition *c = &f->conditions[f->n];
    struct field_set **path = &f->paths[f->n];
    if (!condition_parse(text, c, err)) {
        return false;
    }
    uint32_t bit = UINT32_C(1) << f->n++;
    bool any = false;
    for (uint32_t s = 0; s < f->below->n_sources; s++) {
        const char *topic, *name;
        if (!reel_series_split(reel_reader_recording(f->below->readers[s]), c->field, &topic, &name, NULL)) {
            continue;
        }
        any = true;
        if ((!*path && !(*path = field_set_new(&name, 1, err))) || !mark_channels(f, s, topic, bit, err)) {
            return false;
        }
    }
    return any || reel_fail(err, REEL_ARGUMENT, "where: \"%.200s\" begins with no topic of this recording", c->field);
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
    f->masks = calloc((size_t)below->n_channels + 1, sizeof *f->masks);
    f->decoders = calloc((size_t)below->n_channels + 1, sizeof(struct reel_decoder *));
    bool good = (f->masks && f->decoders) || reel_fail_memory(err);
    good = good && (q->n_where <= CONDITIONS_MAX ||
                    reel_fail(err, REEL_ARGUMENT, "where: at most %d conditions", CONDITIONS_MAX));
    for (uint32_t i = 0; good && i < q->n_where; i++) {
        good = add_condition(f, q->where[i], err);
    }
    if (!good) {
        filter_free(&f->base);
        return NULL;
    }
    return &f->base;
}
