/* See where.h. A condition is about the messages of one topic; those of other topics are not touched by it. */
#include "core/where.h"

#include <stdlib.h>
#include <string.h>

#include "core/fields.h"
#include "reel/series.h"
#include "wire/bytes.h"
#include "wire/cleanup.h"
#include "wire/limits.h"

enum { WHERE_MAX = 16, VALUE_TEXT = 256 };
enum comparison { IS_EQUAL, IS_NOT_EQUAL, IS_LESS, IS_MORE, IS_AT_MOST, IS_AT_LEAST };

struct condition {
    struct field_set *path; /* one path */
    char *value;
    double number;
    bool numeric;
    enum comparison comparison;
};

struct filter {
    struct reel_stream base;
    struct reel_stream *below;
    struct condition conditions[WHERE_MAX];
    uint32_t n;
    uint32_t *masks; /* by channel: its conditions */
    struct reel_decoder **decoders;
};

/* ---- one value */

struct found {
    struct reel_visitor visitor; /* must be first */
    enum { FOUND_NOTHING, FOUND_NUMBER, FOUND_TEXT } kind;
    double number;
    char text[VALUE_TEXT];
};
static bool on_number(struct reel_visitor *v, double value) {
    struct found *f = (struct found *)v;
    f->kind = FOUND_NUMBER;
    f->number = value;
    return true;
}
static bool on_boolean(struct reel_visitor *v, bool value) {
    return on_number(v, value);
}
static bool on_integer(struct reel_visitor *v, int64_t value) {
    return on_number(v, (double)value);
}
static bool on_natural(struct reel_visitor *v, uint64_t value) {
    return on_number(v, (double)value);
}
static bool on_real32(struct reel_visitor *v, float value) {
    return on_number(v, (double)value);
}
static bool on_text(struct reel_visitor *v, struct reel_bytes value) {
    struct found *f = (struct found *)v;
    size_t size = value.size < VALUE_TEXT - 1 ? value.size : VALUE_TEXT - 1;
    f->kind = FOUND_TEXT;
    if (size > 0) {
        memcpy(f->text, value.data, size);
    }
    f->text[size] = '\0';
    return true;
}
static const struct reel_visitor_ops found_ops = {
    .boolean = on_boolean, .integer = on_integer, .natural = on_natural, .real = on_number, .real32 = on_real32, .text = on_text};

static struct reel_visitor *open_value(void *context, uint32_t column) {
    (void)column;
    return &((struct found *)context)->visitor;
}
static bool close_value(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

static bool compare(const struct condition *c, const struct found *f) {
    int order;
    if (f->kind == FOUND_NUMBER && c->numeric) {
        if (f->number != f->number || c->number != c->number) { /* NaN is equal to nothing */
            return c->comparison == IS_NOT_EQUAL;
        }
        order = (f->number > c->number) - (f->number < c->number);
    } else if (f->kind == FOUND_TEXT) {
        order = strcmp(f->text, c->value);
    } else {
        return false;
    }
    switch (c->comparison) {
    case IS_EQUAL:
        return order == 0;
    case IS_NOT_EQUAL:
        return order != 0;
    case IS_LESS:
        return order < 0;
    case IS_MORE:
        return order > 0;
    case IS_AT_MOST:
        return order <= 0;
    case IS_AT_LEAST:
        return order >= 0;
    }
    return false;
}

/* ---- the stream */

static bool holds(struct filter *f, const struct reel_message *m, bool *out, struct reel_error *err) {
    uint32_t mask = f->masks[m->channel];
    struct reel_bytes payload;
    struct reel_error ignored;
    *out = true;
    if (mask == 0 || m->front > 0) {
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
        const struct condition *c = &f->conditions[i];
        if (!(mask & UINT32_C(1) << i)) {
            continue;
        }
        struct found found = {.visitor.ops = &found_ops};
        struct field_picker picker = {.set = c->path, .open = open_value, .close = close_value, .context = &found};
        field_picker_start(&picker);
        reel_decode(f->decoders[m->channel], payload, &picker.visitor, &ignored); /* what is damaged has what was found before */
        *out = compare(c, &found);
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

static bool filter_seek(struct reel_stream *base, const struct reel_mark *mark, struct reel_error *err) {
    return reel_stream_seek(((struct filter *)base)->below, mark, err);
}

static void filter_free(struct reel_stream *base) {
    struct filter *f = (struct filter *)base;
    for (uint32_t i = 0; f->decoders && i < f->base.n_channels; i++) {
        reel_decoder_free(f->decoders[i]);
    }
    for (uint32_t i = 0; i < f->n; i++) {
        field_set_free(f->conditions[i].path);
        free(f->conditions[i].value);
    }
    free(f->decoders);
    free(f->masks);
    reel_stream_free(f->below);
    free(f);
}

static const struct reel_stream_ops filter_ops = {.next = filter_next, .seek = filter_seek, .free = filter_free};

/* ---- opening */

/* Where the operator is in the text, and which. */
static const char *find_operator(const char *text, enum comparison *comparison, size_t *size) {
    static const struct {
        const char *sign;
        enum comparison comparison;
    } known[] = {{">=", IS_AT_LEAST}, {"<=", IS_AT_MOST}, {"!=", IS_NOT_EQUAL}, {"==", IS_EQUAL},
                 {"=", IS_EQUAL},     {">", IS_MORE},     {"<", IS_LESS}};
    const char *at = strpbrk(text, "<>=!");
    for (size_t i = 0; at && i < sizeof known / sizeof *known; i++) {
        if (strncmp(at, known[i].sign, strlen(known[i].sign)) == 0) {
            *comparison = known[i].comparison;
            *size = strlen(known[i].sign);
            return at;
        }
    }
    return NULL;
}

/* The channels that a condition's topic means, in the recording of `source`; the name is the recording's own, before renames. */
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
    size_t size = 0;
    const char *at = find_operator(text, &c->comparison, &size), *value = at ? at + size : NULL;
    if (!at || at == text) {
        return reel_fail(err, REEL_ARGUMENT, "where: \"%.200s\" is no condition: /topic.path>0.5 is one; also <, >=, <=, = and !=", text);
    }
    AUTO_MEM char *field = strndup(text, (size_t)(at - text));
    c->value = strdup(value);
    f->n++;
    if (!field || !c->value) {
        return reel_fail_memory(err);
    }
    char *end;
    c->number = strtod(value, &end);
    c->numeric = end != value && *end == '\0';
    bool any = false;
    for (uint32_t s = 0; s < f->below->n_sources; s++) {
        const char *topic, *path;
        if (!reel_series_split(reel_reader_recording(f->below->readers[s]), field, &topic, &path, NULL)) {
            continue;
        }
        any = true;
        if ((!c->path && !(c->path = field_set_new(&path, 1, err))) || !mark_channels(f, s, topic, UINT32_C(1) << (f->n - 1), err)) {
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
    f->masks = calloc((size_t)below->n_channels + 1, sizeof *f->masks);
    f->decoders = calloc((size_t)below->n_channels + 1, sizeof(struct reel_decoder *));
    bool good = (f->masks && f->decoders) || reel_fail_memory(err);
    good = good && (q->n_where <= WHERE_MAX || reel_fail(err, REEL_ARGUMENT, "where: at most %d conditions", WHERE_MAX));
    for (uint32_t i = 0; good && i < q->n_where; i++) {
        good = add_condition(f, q->where[i], err);
    }
    if (!good) {
        filter_free(&f->base);
        return NULL;
    }
    return &f->base;
}
