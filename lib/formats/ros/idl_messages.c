/* See idl_messages.h. */
#include "formats/ros/idl_messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "formats/ros/definition_idl.h"
#include "formats/ros/definition_link.h"

struct idl_messages {
    const struct ros_definition *def;
    struct grow out;
    struct reel_error *err;
};

static bool refuse(const struct idl_messages *m, const struct ros_definition_type *t, const char *what) {
    return reel_fail(m->err, REEL_UNSUPPORTED, "%.128s has %s, which messages in ROS do not have", t->name, what);
}

static const char *number_word(uint8_t kind) {
    static const char *const words[] = {
        [REEL_BOOL] = "bool",  [REEL_I8] = "int8",     [REEL_U8] = "uint8",   [REEL_I16] = "int16",
        [REEL_U16] = "uint16", [REEL_I32] = "int32",   [REEL_U32] = "uint32", [REEL_I64] = "int64",
        [REEL_U64] = "uint64", [REEL_F32] = "float32", [REEL_F64] = "float64"};
    return words[kind];
}

/* Replaces an alias or an enum by what it stands for. */
static bool resolve(const struct idl_messages *m, const struct ros_definition_type *owner,
                    struct ros_definition_step *s) {
    const char *scope = owner->name;
    uint32_t type;
    for (uint32_t depth = 0; s->kind == ROS_VALUE_TYPE && ros_definition_find_near(m->def, scope, s->word, &type);
         depth++) {
        const struct ros_definition_type *t = &m->def->types[type];
        const struct ros_definition_step *is = &m->def->steps[t->first];
        if (t->form == ROS_ENUM) {
            s->kind = t->number;
        } else if (t->form != ROS_ALIAS) {
            return t->form == ROS_STRUCT || refuse(m, owner, t->form == ROS_MAP ? "a map" : "a union");
        } else if (depth == REEL_DEPTH_MAX || (s->many != ROS_ONE && is->many != ROS_ONE)) {
            return refuse(m, owner, "a list of lists");
        } else {
            s->many = s->many == ROS_ONE ? is->many : s->many;
            s->count = is->many == ROS_ONE ? s->count : is->count;
            s->kind = is->kind;
            s->word = is->word;
            s->bound = is->bound;
            scope = t->name;
        }
    }
    return true;
}

static bool put_word(struct idl_messages *m, const struct ros_definition_type *owner,
                     const struct ros_definition_step *s) {
    char text[ROS_NAME_ROOM + 64], name[ROS_NAME_ROOM];
    if (s->kind == ROS_VALUE_LONG_DOUBLE || s->optional) {
        return refuse(m, owner, s->optional ? "an optional member" : "a long double");
    }
    if (s->kind == ROS_VALUE_TYPE && !ros_type_name(bytes_text(s->word), false, name)) {
        return refuse(m, owner, "a member of an unknown type");
    }
    grow_text(&m->out, ros_definition_is_number(s) ? number_word(s->kind) : s->kind == ROS_VALUE_TYPE ? name : s->word);
    size_t n = s->bound > 0 ? (size_t)snprintf(text, sizeof text, "<=%u", s->bound) : 0;
    if (s->many == ROS_ARRAY || (s->many == ROS_LIST && s->count != UINT32_MAX)) {
        snprintf(text + n, sizeof text - n, s->many == ROS_ARRAY ? "[%u]" : "[<=%u]", s->count);
    } else {
        snprintf(text + n, sizeof text - n, "%s", s->many == ROS_LIST ? "[]" : "");
    }
    grow_text(&m->out, text);
    return true;
}

static bool put_struct(struct idl_messages *m, const struct ros_definition_type *t) {
    if (t->base || t->extensibility == ROS_MUTABLE) {
        return refuse(m, t, t->base ? "a base" : "members with numbers");
    }
    for (uint32_t i = 0; i < t->count; i++) {
        struct ros_definition_step s = m->def->steps[t->first + i];
        if (s.hidden) {
            continue;
        }
        if (!resolve(m, t, &s) || !put_word(m, t, &s)) {
            return false;
        }
        grow_text(&m->out, " ");
        grow_put(&m->out, s.key.data, s.key.size);
        grow_text(&m->out, "\n");
    }
    return true;
}

/* "pkg/msg/Type" → "pkg/Type"; false: the type is no struct, or none of the messages. */
static bool message_name(const struct ros_definition_type *t, char name[ROS_NAME_ROOM]) {
    return t->form == ROS_STRUCT && ros_type_name(bytes_text(t->name), false, name);
}

/* NULL with err. */
static const struct ros_definition_type *find_struct(const struct idl_messages *m, const char *name) {
    char own[ROS_NAME_ROOM];
    for (size_t i = 0; i < m->def->n_types; i++) {
        if (message_name(&m->def->types[i], own) && strcmp(own, name) == 0) {
            return &m->def->types[i];
        }
    }
    reel_fail(m->err, REEL_UNSUPPORTED, "the .idl file does not define the struct %.128s", name);
    return NULL;
}

static bool put_structs(struct idl_messages *m, const char *top) {
    const struct ros_definition *d = m->def;
    const struct ros_definition_type *first = find_struct(m, top);
    char name[ROS_NAME_ROOM];
    bool good = first && put_struct(m, first);
    for (size_t i = 0; good && i < d->n_types; i++) {
        if (&d->types[i] != first && message_name(&d->types[i], name)) {
            grow_text(&m->out,
                      "================================================================================\nMSG: ");
            grow_text(&m->out, name);
            grow_text(&m->out, "\n");
            good = put_struct(m, &d->types[i]);
        }
    }
    return good;
}

static bool put_interface(struct idl_messages *m, const char *name) {
    static const char *const parts[][3] = {{"_Request", "_Response", NULL}, {"_Goal", "_Result", "_Feedback"}};
    bool is_action = strstr(name, "/action/"), good = true;
    char brief[ROS_NAME_ROOM], whole[ROS_NAME_ROOM + 16];
    if (!ros_type_name(bytes_text(name), false, brief)) {
        return reel_fail(m->err, REEL_UNSUPPORTED, "\"%.128s\" is not the name of a type", name);
    }
    for (int i = 0; i < 2 + is_action && good; i++) {
        snprintf(whole, sizeof whole, "%s%s", brief, parts[is_action][i]);
        const struct ros_definition_type *t = find_struct(m, whole);
        grow_text(&m->out, i > 0 ? "---\n" : "");
        good = t && put_struct(m, t);
    }
    return good;
}

static bool convert(struct arena *arena, const char *name, struct reel_bytes text,
                    bool (*put)(struct idl_messages *m, const char *name), struct reel_bytes *out,
                    struct reel_error *err) {
    AUTO(ros_definition_free) struct ros_definition *d = calloc(1, sizeof *d);
    if (!d) {
        return reel_fail_memory(err);
    }
    struct idl_messages m = {.def = d, .err = err};
    d->dialect = ROS_2;
    bool good = ros_definition_read_idl(d, text, err) && ros_definition_sort(d, err) && put(&m, name);
    const uint8_t *kept =
        good && !m.out.failed ? arena_copy(arena, m.out.size > 0 ? (const char *)m.out.data : "", m.out.size) : NULL;
    *out = bytes_of(kept, m.out.size);
    grow_done(&m.out);
    return kept || (good && reel_fail_memory(err));
}

bool ros_idl_to_messages(struct arena *arena, const char *name, struct reel_bytes text, struct reel_bytes *out,
                         struct reel_error *err) {
    return convert(arena, name, text, put_structs, out, err);
}

bool ros_idl_to_interface(struct arena *arena, const char *name, struct reel_bytes text, struct reel_bytes *out,
                          struct reel_error *err) {
    return convert(arena, name, text, put_interface, out, err);
}
