/* Values of D messages. Their bytes and their definition are those of ROS 1; what ULog adds to that: char is text, and
 * padding is nothing. All has a fixed size. */
#include "base/bytes.h"
#include "base/limits.h"
#include "formats/ros/definition.h"
#include "formats/ulog/layout.h"
#include "syntax/visitor.h"

#include <stdio.h>

static bool is_padding(const struct ros_definition_step *s) {
    return bytes_start(s->key, bytes_text(ULOG_ROS_PADDING));
}
static bool is_text(const struct ros_definition_step *s) {
    return s->kind == REEL_U8 && strcmp(s->word, "char") == 0;
}
static const struct ros_definition_type *type_of(const struct ros_definition *def,
                                                 const struct ros_definition_step *s) {
    return s->kind == ROS_VALUE_TYPE ? &def->types[s->type] : NULL;
}

/* ---- opening */

/* Definitions by others, in a converted file, may have values without bytes, of which there could be any number. */
static bool has_bytes(const struct ros_definition *def, const struct ros_definition_type *type) {
    for (uint32_t i = 0; i < type->count; i++) {
        const struct ros_definition_step *s = &def->steps[type->first + i];
        if (s->least == 0 || (s->many == ROS_ARRAY && s->count == 0)) {
            return false;
        }
    }
    return type->count > 0;
}

static bool all_have_bytes(const struct ros_definition *def) {
    for (size_t i = 0; i < def->n_types; i++) { /* a type without depth is not used */
        if (def->types[i].depth > 0 && !has_bytes(def, &def->types[i])) {
            return false;
        }
    }
    return true;
}

static bool open_channel(const struct reel_channel *channel, void **state, struct reel_error *err) {
    struct ros_definition *def = ros_definition_open(channel, ROS_1, err);
    if (!def) {
        return false;
    }
    const struct ros_definition_type *top = &def->types[def->top];
    if (!top->fixed || top->least > ULOG_DATA_MAX || !all_have_bytes(def)) {
        ros_definition_free(def);
        return reel_fail(err, REEL_UNSUPPORTED, "this is no definition of a ULog message, which has a fixed size");
    }
    *state = def;
    return true;
}

static void close_channel(void *state) {
    ros_definition_free(state);
}

/* ---- one payload, which has all bytes */

static bool put_fields(const struct ros_definition *def, struct reel_visitor *v, const struct ros_definition_type *type,
                       const uint8_t *p);

static bool put_text(struct reel_visitor *v, const uint8_t *p, uint32_t count) {
    const uint8_t *end = count > 0 ? memchr(p, '\0', count) : NULL;
    return visit_text(v, bytes_of(p, end ? (size_t)(end - p) : count));
}

static uint64_t size_of(const struct ros_definition_step *s) {
    return s->many == ROS_ONE ? s->least : s->least * s->count;
}

static bool put_value(const struct ros_definition *def, struct reel_visitor *v, const struct ros_definition_step *s,
                      const uint8_t *p) {
    const struct ros_definition_type *nested = type_of(def, s);
    if (is_text(s)) {
        return put_text(v, p, (uint32_t)size_of(s));
    }
    if (!nested && !ros_definition_is_number(s)) {
        return visit_binary(v, bytes_of(p, size_of(s))); /* times are none of ULog's types */
    }
    if (s->many == ROS_ONE) {
        return nested ? put_fields(def, v, nested, p) : reel_number_visit(v, s->kind, p);
    }
    if (!nested) {
        return visit_numbers(v, s->kind, bytes_of(p, size_of(s)), 0);
    }
    bool more = visit_begin_list(v);
    for (uint32_t i = 0; more && i < s->count; i++) {
        more = put_fields(def, v, nested, p + i * s->least);
    }
    return more && visit_end_list(v);
}

static bool put_fields(const struct ros_definition *def, struct reel_visitor *v, const struct ros_definition_type *type,
                       const uint8_t *p) {
    bool more = visit_begin_map(v);
    for (uint32_t i = 0; more && i < type->count; i++) {
        const struct ros_definition_step *s = &def->steps[type->first + i];
        more = is_padding(s) || (visit_key(v, s->key) && put_value(def, v, s, p));
        p += size_of(s);
    }
    return more && visit_end_map(v);
}

static bool decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct ros_definition *def = state;
    const struct ros_definition_type *top = &def->types[def->top];
    if (payload.size != top->least) {
        return reel_fail(err, REEL_DAMAGED, "%zu bytes, where %s has %llu", payload.size, top->name,
                         (unsigned long long)top->least);
    }
    return put_fields(def, v, top, payload.data);
}

/* ---- fields */

enum { PATH_ROOM = 1024, SPREAD_MAX = 64 /* arrays up to this length are listed item by item */ };
struct listing {
    const struct ros_definition *def;
    reel_field_visit visit;
    void *context;
    uint32_t visited;
    char path[PATH_ROOM];
};

static bool list_fields(struct listing *l, const struct ros_definition_type *type, size_t length);

static bool list_one(struct listing *l, const struct ros_definition_step *s, bool one, size_t length) {
    const struct ros_definition_type *nested = type_of(l->def, s);
    if (nested && one) {
        return list_fields(l, nested, length);
    }
    char word[ROS_NAME_ROOM + 16];
    snprintf(word, sizeof word, one || is_text(s) ? "%s" : "%s[%u]", is_text(s) ? "string" : s->word, s->count);
    const struct reel_field f = {
        .path = l->path, .type = word, .unit = s->unit, .numeric = one && !is_text(s) && ros_definition_is_number(s)};
    return l->visit(l->context, &f);
}

/* A path that becomes too long is left out. */
static bool list_step(struct listing *l, const struct ros_definition_step *s, size_t length) {
    size_t dot = length > 0;
    if (is_padding(s) || length + dot + s->key.size + 16 >= PATH_ROOM) {
        return true;
    }
    length += (size_t)sprintf(l->path + length, "%s%.*s", dot ? "." : "", (int)s->key.size, (const char *)s->key.data);
    if (s->many == ROS_ONE || is_text(s) || s->count > SPREAD_MAX) {
        return list_one(l, s, s->many == ROS_ONE, length);
    }
    for (uint32_t i = 0; i < s->count && l->visited++ < REEL_FIELD_VISITS_MAX; i++) {
        size_t end = length + (size_t)sprintf(l->path + length, ".%u", i);
        if (!list_one(l, s, true, end)) {
            return false;
        }
    }
    return true;
}

static bool list_fields(struct listing *l, const struct ros_definition_type *type, size_t length) {
    for (uint32_t i = 0; i < type->count && l->visited++ < REEL_FIELD_VISITS_MAX; i++) {
        l->path[length] = '\0';
        if (!list_step(l, &l->def->steps[type->first + i], length)) {
            return false;
        }
    }
    return true;
}

static bool fields(const void *state, reel_field_visit visit, void *context) {
    const struct ros_definition *def = state;
    struct listing l = {.def = def, .visit = visit, .context = context};
    return list_fields(&l, &def->types[def->top], 0);
}

/* ---- shape */

struct shaping {
    const struct ros_definition *def;
    reel_shape_visit visit;
    void *context;
};

static enum reel_shape_next show(const struct shaping *s, enum reel_shape_kind kind, struct reel_bytes name,
                                 uint8_t number) {
    const struct reel_shape part = {.kind = kind, .name = name, .number = (enum reel_number)number};
    return s->visit(s->context, &part);
}

static bool show_type(const struct shaping *s, const struct ros_definition_type *type, struct reel_bytes name);

static bool show_one(const struct shaping *s, const struct ros_definition_step *step, struct reel_bytes name) {
    const struct ros_definition_type *nested = type_of(s->def, step);
    return nested ? show_type(s, nested, name) : show(s, REEL_SHAPE_NUMBER, name, step->kind) != REEL_SHAPE_STOP;
}

static bool show_step(const struct shaping *s, const struct ros_definition_step *step) {
    if (is_padding(step)) {
        return true;
    }
    if (is_text(step)) {
        return show(s, REEL_SHAPE_TEXT, step->key, 0) != REEL_SHAPE_STOP;
    }
    if (!ros_definition_is_number(step) && step->kind != ROS_VALUE_TYPE) {
        return show(s, REEL_SHAPE_BYTES, step->key, 0) != REEL_SHAPE_STOP;
    }
    if (step->many == ROS_ONE) {
        return show_one(s, step, step->key);
    }
    enum reel_shape_next next = show(s, REEL_SHAPE_LIST, step->key, 0);
    return next == REEL_SHAPE_ENTER ? show_one(s, step, (struct reel_bytes){0}) : next != REEL_SHAPE_STOP;
}

static bool show_type(const struct shaping *s, const struct ros_definition_type *type, struct reel_bytes name) {
    enum reel_shape_next next = show(s, REEL_SHAPE_STRUCT, name, 0);
    bool more = next != REEL_SHAPE_STOP;
    for (uint32_t i = 0; more && next == REEL_SHAPE_ENTER && i < type->count; i++) {
        more = show_step(s, &s->def->steps[type->first + i]);
    }
    return more && (next != REEL_SHAPE_ENTER || show(s, REEL_SHAPE_END, name, 0) != REEL_SHAPE_STOP);
}

static bool shape(const void *state, reel_shape_visit visit, void *context) {
    const struct ros_definition *def = state;
    const struct shaping s = {.def = def, .visit = visit, .context = context};
    return show_type(&s, &def->types[def->top], (struct reel_bytes){0});
}

const struct reel_encoding reel_encoding_ulog = {
    .name = ULOG_ENCODING,
    .open = open_channel,
    .close = close_channel,
    .decode = decode,
    .fields = fields,
    .shape = shape,
    .message_encoding = "ros1",
    .schema_encoding = "ros1msg",
    .profile = "ros1",
    .is_exact = true,
    .version = 1,
};
