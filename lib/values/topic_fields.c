/* The fields of a topic (values/series.h), from the schema, or from the first message when there is no schema. */
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "decode/decoder.h"
#include "decode/fields.h"
#include "reel/values.h"
#include "stream/stream.h"
#include "values/undecoded.h"

/* ---- the leaves of one payload */

struct leaves {
    struct reel_visitor visitor; /* must be the first member */
    reel_field_visit visit;
    void *context;
    uint32_t depth, list_depth, length;
    uint32_t lengths[FIELD_DEPTH_MAX + 1];
    char path[FIELD_PATH_MAX];
};

static struct leaves *topic_fields_self(struct reel_visitor *v) {
    return (struct leaves *)v;
}

static bool leaf(struct reel_visitor *v, const char *type, bool numeric) {
    struct leaves *l = topic_fields_self(v);
    if (l->list_depth > 0 || l->length == 0 || l->length >= FIELD_PATH_MAX) {
        return true;
    }
    l->path[l->length] = '\0';
    return l->visit(l->context, &(struct reel_field){.path = l->path, .type = type, .unit = "", .numeric = numeric});
}

static bool topic_fields_begin_map(struct reel_visitor *v) {
    struct leaves *l = topic_fields_self(v);
    if (l->list_depth > 0 || l->depth == FIELD_DEPTH_MAX) {
        l->list_depth++;
        return true;
    }
    l->lengths[++l->depth] = l->length;
    return true;
}
static bool topic_fields_end_map(struct reel_visitor *v) {
    struct leaves *l = topic_fields_self(v);
    if (l->list_depth > 0) {
        l->list_depth--;
    } else if (l->depth > 0) {
        l->length = l->lengths[l->depth--];
    }
    return true;
}
static bool topic_fields_key(struct reel_visitor *v, struct reel_bytes name) {
    struct leaves *l = topic_fields_self(v);
    if (l->list_depth > 0) {
        return true;
    }
    uint32_t base = l->lengths[l->depth], dot = base > 0;
    if (base >= FIELD_PATH_MAX || base + dot + name.size >= FIELD_PATH_MAX) {
        l->length = FIELD_PATH_MAX;
        return true;
    }
    if (dot) {
        l->path[base] = '.';
    }
    if (name.size > 0) {
        memcpy(l->path + base + dot, name.data, name.size);
    }
    l->length = base + dot + (uint32_t)name.size;
    return true;
}
static bool topic_fields_begin_list(struct reel_visitor *v) {
    bool goes_on = leaf(v, "list", false);
    topic_fields_self(v)->list_depth++;
    return goes_on;
}
static bool topic_fields_null(struct reel_visitor *v) {
    return leaf(v, "null", false);
}
static bool topic_fields_boolean(struct reel_visitor *v, bool value) {
    (void)value;
    return leaf(v, "bool", true);
}
static bool topic_fields_integer(struct reel_visitor *v, int64_t value) {
    (void)value;
    return leaf(v, "int64", true);
}
static bool topic_fields_natural(struct reel_visitor *v, uint64_t value) {
    (void)value;
    return leaf(v, "uint64", true);
}
static bool topic_fields_real(struct reel_visitor *v, double value) {
    (void)value;
    return leaf(v, "float64", true);
}
static bool topic_fields_real32(struct reel_visitor *v, float value) {
    (void)value;
    return leaf(v, "float32", true);
}
static bool topic_fields_text(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    return leaf(v, "string", false);
}
static bool topic_fields_binary(struct reel_visitor *v, struct reel_bytes value) {
    (void)value;
    return leaf(v, "bytes", false);
}
static bool topic_fields_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                 unsigned columns) {
    static const char *const names[] = {"bool[]",   "int8[]",  "uint8[]",  "int16[]",   "uint16[]", "int32[]",
                                        "uint32[]", "int64[]", "uint64[]", "float32[]", "float64[]"};
    (void)data;
    (void)columns;
    return leaf(v, names[type], false);
}
static bool topic_fields_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return leaf(v, value->is_duration ? "duration" : "time", false);
}
static const struct reel_visitor_ops ops = {
    .begin_map = topic_fields_begin_map,
    .key = topic_fields_key,
    .end_map = topic_fields_end_map,
    .begin_list = topic_fields_begin_list,
    .end_list = topic_fields_end_map,
    .null = topic_fields_null,
    .boolean = topic_fields_boolean,
    .integer = topic_fields_integer,
    .natural = topic_fields_natural,
    .real = topic_fields_real,
    .real32 = topic_fields_real32,
    .text = topic_fields_text,
    .binary = topic_fields_binary,
    .numbers = topic_fields_numbers,
    .stamp = topic_fields_stamp,
};

/* ---- the topic */

struct field_reports { /* each path is reported once */
    reel_field_visit visit;
    void *context;
    struct field_set *reported;
    bool any;                  /* the current channel has fields */
    struct reel_error failure; /* of an allocation, while fields are visited */
};

static bool report_field(void *context, const struct reel_field *field) {
    struct field_reports *t = context;
    uint32_t before = field_set_count(t->reported);
    t->any = true;
    return cancel_check(&t->failure) && field_set_add(t->reported, field->path, &t->failure) &&
           (field_set_count(t->reported) == before || t->visit(t->context, field));
}

static bool report_first_message(struct reel_recording *recording, uint32_t channel, const struct reel_decoder *decoder,
                                 struct field_reports *t, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = stream_of_channel(recording, &channel, err);
    struct reel_message m;
    struct reel_bytes payload;
    enum reel_step step = stream ? stream_next(stream, &m, err) : REEL_STEP_ERROR;
    if (step != REEL_STEP_MESSAGE) {
        return step == REEL_STEP_END;
    }
    if (!stream_decodable(stream, &m, &payload, err)) {
        return false;
    }
    struct leaves l = {.visitor.ops = &ops, .visit = report_field, .context = t};
    return decode_try(decoder, payload, &l.visitor, NULL, err);
}

bool reel_topic_fields(struct reel_recording *recording, const char *topic, reel_field_visit visit, void *context,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    struct reel_error why = {0};
    AUTO(field_set_free) struct field_set *reported = field_set_new(NULL, 0, err);
    struct field_reports t = {.visit = visit, .context = context, .reported = reported};
    bool found = false, decoded = false;
    for (uint32_t i = 0; reported && i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        if (!channel_has_topic(c, topic)) {
            continue;
        }
        found = true;
        t.any = false;
        AUTO(reel_decoder_free) struct reel_decoder *decoder = reel_decoder_open(c, &why);
        if (!decoder && !reel_error_ignore(err, &why)) {
            return false;
        }
        decoded = decoded || decoder;
        if (decoder) {
            reel_decoder_fields(decoder, report_field, &t);
        }
        if (decoder && !t.any && !report_first_message(recording, i, decoder, &t, err)) {
            return false;
        }
        if (!reel_error_ignore(err, &t.failure)) {
            return false;
        }
    }
    if (found && !decoded) {
        return reel_error_pass(err, &why);
    }
    return decoded || (reported && reel_fail(err, REEL_NOT_FOUND, "there is no topic \"%.200s\"", topic));
}
