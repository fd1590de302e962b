/* See idl_types.h. */
#include "formats/ros/idl_types.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/limits.h"

/* ---- plain types */

/* Reads a plain type, which may have several words ("unsigned long"). Returns its ROS name; NULL: something else. */
static const char *idl_plain_word(struct idl_lexer *l) {
    static const struct {
        const char *idl, *ros;
    } words[] = {{"boolean", "bool"},  {"octet", "uint8"},    {"byte", "uint8"},    {"char", "uint8"},
                 {"wchar", "uint16"},  {"short", "int16"},    {"float", "float32"}, {"double", "float64"},
                 {"int8", "int8"},     {"uint8", "uint8"},    {"int16", "int16"},   {"uint16", "uint16"},
                 {"int32", "int32"},   {"uint32", "uint32"},  {"int64", "int64"},   {"uint64", "uint64"},
                 {"string", "string"}, {"wstring", "wstring"}};
    bool natural = idl_accept(l, "unsigned");
    if (idl_accept(l, "long")) {
        return idl_accept(l, "long")                 ? natural ? "uint64" : "int64"
               : !natural && idl_accept(l, "double") ? "float128"
               : natural                             ? "uint32"
                                                     : "int32";
    }
    if (natural) {
        return idl_accept(l, "short") ? "uint16" : NULL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (idl_accept(l, words[i].idl)) {
            return words[i].ros;
        }
    }
    return NULL;
}

/* A length: of an array, a list or a text. */
static bool idl_length(struct idl *p, bool is_bound, uint32_t *out, struct reel_error *err) {
    const struct idl_place place = {.scope = p->scope, .is_bound = is_bound};
    struct idl_lexer before = p->l;
    int64_t value;
    if (!idl_expression(&p->constants, &p->l, &place, &value, err)) {
        return false;
    }
    *out = (uint32_t)value;
    return (value >= 0 && value <= UINT32_MAX) || idl_refuse(&before, REEL_DAMAGED, "this is not a length", err);
}

/* ---- types in types */

/* Makes `type` one value: of a type that stands for it. */
static bool idl_enclose(struct idl *p, const struct idl_nameless *nameless, struct idl_type *type,
                        struct reel_error *err) {
    char number[24];
    if (p->n_nameless == REEL_DEFINITION_TYPES_MAX) {
        return reel_fail(err, REEL_LIMIT, "a definition of more than %d types", REEL_DEFINITION_TYPES_MAX);
    }
    snprintf(number, sizeof number, "%zu", p->n_nameless);
    const char *word = arena_text(&p->arena, number);
    if (!word || !GROW_ARRAY(p->nameless, p->n_nameless, p->nameless_room)) {
        return reel_fail_memory(err);
    }
    p->nameless[p->n_nameless++] = *nameless;
    *type = (struct idl_type){.word = word, .is_named = true, .many = ROS_ONE, .count = UINT32_MAX};
    return true;
}

/* Makes a list one value. */
static bool idl_enclose_list(struct idl *p, struct idl_type *type, struct reel_error *err) {
    const struct idl_nameless nameless = {.types = {*type}};
    return type->many == ROS_ONE || idl_enclose(p, &nameless, type, err);
}

static bool idl_type_at(struct idl *p, uint32_t depth, struct idl_type *out, struct reel_error *err);

/* Behind `map`: <key, value> or <key, value, bound>. */
static bool idl_map(struct idl *p, uint32_t depth, struct idl_type *out, struct reel_error *err) {
    struct idl_nameless map = {.is_map = true};
    uint32_t bound;
    return idl_need(&p->l, "<", err) && idl_type_at(p, depth + 1, &map.types[0], err) &&
           (map.types[0].many == ROS_ONE ||
            idl_refuse(&p->l, REEL_UNSUPPORTED, "this key of a map is not read", err)) &&
           idl_need(&p->l, ",", err) && idl_type_at(p, depth + 1, &map.types[1], err) &&
           (!idl_accept(&p->l, ",") || idl_length(p, true, &bound, err)) && idl_need(&p->l, ">", err) &&
           idl_enclose(p, &map, out, err);
}

/* Behind `sequence`: <type> or <type, bound>. */
static bool idl_sequence(struct idl *p, uint32_t depth, struct idl_type *out, struct reel_error *err) {
    uint32_t bound = UINT32_MAX;
    if (!idl_need(&p->l, "<", err) || !idl_type_at(p, depth + 1, out, err) ||
        (idl_accept(&p->l, ",") && !idl_length(p, true, &bound, err)) || !idl_need(&p->l, ">", err) ||
        !idl_enclose_list(p, out, err)) {
        return false;
    }
    out->many = ROS_LIST;
    out->count = bound;
    return true;
}

static bool idl_type_at(struct idl *p, uint32_t depth, struct idl_type *out, struct reel_error *err) {
    static const char *const unread[] = {"unsigned", "fixed",  "any",     "struct", "union",
                                         "enum",     "bitset", "bitmask", "Object", "ValueBase"};
    char name[ROS_NAME_ROOM];
    struct idl_annotations ignored = {0};
    *out = (struct idl_type){.many = ROS_ONE, .count = UINT32_MAX};
    if (depth > REEL_DEPTH_MAX) {
        return idl_refuse(&p->l, REEL_LIMIT, "types nest too deep", err);
    }
    if (!idl_annotations_read(&p->constants, &p->l, p->scope, &ignored, err)) {
        return false;
    }
    if (idl_accept(&p->l, "sequence")) {
        return idl_sequence(p, depth, out, err);
    }
    if (idl_accept(&p->l, "map")) {
        return idl_map(p, depth, out, err);
    }
    if ((out->word = idl_plain_word(&p->l))) {
        bool text = strcmp(out->word, "string") == 0 || strcmp(out->word, "wstring") == 0;
        return !text || !idl_accept(&p->l, "<") || (idl_length(p, true, &out->bound, err) && idl_need(&p->l, ">", err));
    }
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        if (idl_is(&p->l, unread[i])) {
            return idl_refuse(&p->l, REEL_UNSUPPORTED, "this type is not read", err);
        }
    }
    if (!ros_type_name(p->l.token, true, name) || (name[0] >= '0' && name[0] <= '9')) {
        return idl_refuse(&p->l, REEL_DAMAGED, "a type is missing", err);
    }
    idl_next(&p->l);
    out->is_named = true;
    out->word = arena_text(&p->arena, name);
    return out->word || reel_fail_memory(err);
}

bool idl_type_read(struct idl *p, struct idl_type *out, struct reel_error *err) {
    return idl_type_at(p, 0, out, err);
}

bool idl_dimensions(struct idl *p, struct idl_type *type, struct reel_error *err) {
    uint32_t lengths[REEL_DEPTH_MAX], n = 0;
    while (idl_accept(&p->l, "[")) {
        if (n == REEL_DEPTH_MAX) {
            return idl_refuse(&p->l, REEL_LIMIT, "types nest too deep", err);
        }
        if (!idl_length(p, false, &lengths[n++], err) || !idl_need(&p->l, "]", err)) {
            return false;
        }
    }
    for (uint32_t i = n; i-- > 0;) { /* the last one is of the innermost array */
        if (!idl_enclose_list(p, type, err)) {
            return false;
        }
        type->many = ROS_ARRAY;
        type->count = lengths[i];
        type->inner = i > 0;
    }
    return true;
}

/* ---- in the definition */

bool idl_add_member(struct idl *p, const struct idl_type *type, struct reel_bytes name, struct reel_error *err) {
    struct ros_definition_step *s = ros_definition_add_step(p->def, name, err);
    if (!s) {
        return false;
    }
    s->many = type->many;
    s->count = type->count;
    s->inner = type->inner;
    s->bound = type->bound;
    if (type->is_named) {
        return ros_definition_set_type(p->def, s, bytes_text(type->word), err);
    }
    if (strcmp(type->word, "float128") == 0) {
        s->kind = ROS_VALUE_LONG_DOUBLE;
        s->word = "float128";
        return true;
    }
    return ros_definition_set_word(p->def, s, bytes_text(type->word), err);
}

struct ros_definition_type *idl_add_type(struct idl *p, struct reel_bytes name, enum ros_form form,
                                         struct reel_error *err) {
    char path[2 * ROS_NAME_ROOM];
    int n = snprintf(path, sizeof path, "%s%s%.*s", p->scope, p->scope[0] ? "/" : "",
                     (int)(name.size < ROS_NAME_ROOM ? name.size : ROS_NAME_ROOM), (const char *)name.data);
    struct ros_definition_type *t = ros_definition_add_type(p->def, bytes_of(path, (size_t)n), err);
    if (t) {
        t->form = (uint8_t)form;
    }
    return t;
}

bool idl_add_nameless(struct idl *p, struct reel_error *err) {
    for (; p->n_added < p->n_nameless; p->n_added++) {
        const struct idl_nameless *n = &p->nameless[p->n_added];
        char number[24];
        snprintf(number, sizeof number, "%zu", p->n_added);
        if (!idl_add_type(p, bytes_text(number), n->is_map ? ROS_MAP : ROS_ALIAS, err) ||
            !idl_add_member(p, &n->types[0], bytes_text(n->is_map ? "key" : "element"), err) ||
            (n->is_map && !idl_add_member(p, &n->types[1], bytes_text("value"), err))) {
            return false;
        }
    }
    return true;
}
