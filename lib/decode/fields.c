/* See fields.h. Values on no path are skipped without decoding them. */
#include "decode/fields.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "syntax/visitor.h"

struct slot {
    bool is_prefix; /* a longer path begins with this one */
    int64_t column; /* -1: no column of its own */
};
struct field_set {
    struct hash_table paths; /* → struct slot */
    struct arena arena;      /* paths and slots */
    char **names;            /* by column */
    size_t cap_names;
    uint32_t columns;
};

/* What is known of a path; NULL: nothing. */
static struct slot *fields_slot_of(const struct field_set *set, const char *path, size_t size) {
    return (struct slot *)hash_table_get(&set->paths, hash_key_bytes(bytes_of(path, size)));
}

static struct slot *fields_add(struct field_set *set, const char *path, size_t size) {
    struct slot *known = fields_slot_of(set, path, size);
    if (known) {
        return known;
    }
    struct slot *s = arena_alloc(&set->arena, sizeof *s);
    const char *copy = s ? arena_copy(&set->arena, path, size) : NULL;
    if (!copy || !hash_table_set(&set->paths, hash_key_bytes(bytes_of(copy, size)), (uintptr_t)s, NULL)) {
        return NULL;
    }
    *s = (struct slot){.column = -1};
    return s;
}

bool field_path_normal(const char *path, char out[FIELD_PATH_MAX]) {
    size_t n = 0;
    bool named = false; /* "[a.b]" is a name where one begins: an extension of protobuf */
    for (; *path && n < FIELD_PATH_MAX - 1; path++) {
        bool begins = *path == '[' && (n == 0 || out[n - 1] == '.');
        named = named || begins;
        if (named || (*path != '[' && *path != ']')) {
            out[n++] = *path;
        } else if (*path == '[') {
            out[n++] = '.';
        }
        named = named && *path != ']';
    }
    out[n] = '\0';
    return *path == '\0';
}

bool field_set_add(struct field_set *set, const char *path, struct reel_error *err) {
    char normal[FIELD_PATH_MAX];
    if (!field_path_normal(path, normal)) {
        return reel_fail(err, REEL_ARGUMENT, "\"%.64s\" is not a field", path);
    }
    for (const char *dot = strchr(normal, '.'); dot; dot = strchr(dot + 1, '.')) {
        struct slot *s = fields_add(set, normal, (size_t)(dot - normal));
        if (!s) {
            return reel_fail_memory(err);
        }
        s->is_prefix = true;
    }
    struct slot *s = fields_add(set, normal, strlen(normal));
    if (s && s->column >= 0) {
        return true;
    }
    if (set->columns == FIELDS_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d fields: select fewer", FIELDS_MAX);
    }
    if (!s || !GROW_ARRAY(set->names, set->columns, set->cap_names) || !(set->names[set->columns] = strdup(path))) {
        return reel_fail_memory(err);
    }
    s->column = set->columns++;
    return true;
}

struct field_set *field_set_new(const char *const *paths, uint32_t n, struct reel_error *err) {
    AUTO(field_set_free) struct field_set *set = calloc(1, sizeof *set);
    if (!set) {
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!field_set_add(set, paths[i], err)) {
            return NULL;
        }
    }
    return TAKE(set);
}

void field_set_free(struct field_set *set) {
    if (!set) {
        return;
    }
    for (uint32_t i = 0; i < set->columns; i++) {
        free(set->names[i]);
    }
    hash_table_free(&set->paths);
    arena_free(&set->arena);
    free(set->names);
    free(set);
}

uint32_t field_set_count(const struct field_set *set) {
    return set->columns;
}
const char *field_set_name(const struct field_set *set, uint32_t column) {
    return set->names[column];
}

/* ---- the picker */

static struct field_picker *fields_self(struct reel_visitor *v) {
    return (struct field_picker *)v;
}

static void fields_append(struct field_picker *p, const void *name, size_t size) {
    size_t dot = p->length > 0;
    if (p->length + dot + size >= FIELD_PATH_MAX) {
        p->length = FIELD_PATH_MAX; /* not selected */
        return;
    }
    if (dot) {
        p->path[p->length] = '.';
    }
    if (size > 0) {
        memcpy(p->path + p->length + dot, name, size);
    }
    p->length += (uint32_t)(dot + size);
}

static void append_index(struct field_picker *p, uint32_t index) {
    char text[12];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    fields_append(p, text + at, sizeof text - at);
}

/* In a list every value advances the index. In a map fields_key() has set the path. */
static void arrive(struct field_picker *p) {
    struct field_level *level = &p->levels[p->depth];
    if (level->list) {
        p->length = level->length;
        append_index(p, level->next++);
    }
}

static const struct slot *slot_here(const struct field_picker *p) {
    return p->length >= FIELD_PATH_MAX ? NULL : fields_slot_of(p->set, p->path, p->length);
}

/* By the path, or by that of its members. */
static const struct slot *selected_slot(struct field_picker *p) {
    const struct slot *s = slot_here(p);
    for (uint32_t i = 0; i < p->n_members && (!s || s->column < 0); i++) {
        uint32_t length = p->length;
        fields_append(p, p->members[i].data, p->members[i].size);
        const struct slot *inner = slot_here(p);
        s = inner ? inner : s;
        p->length = inner ? p->length : length;
    }
    p->n_members = 0;
    return s;
}

static bool begin_value(struct field_picker *p, const struct slot *s) {
    p->column = (uint32_t)s->column;
    p->inner = p->open(p->context, p->column);
    return p->inner;
}
static bool end_value(struct field_picker *p) {
    p->inner = NULL;
    p->found++;
    p->done = p->found == p->set->columns;
    return p->close(p->context, p->column) && !p->done;
}

/* All visitor functions for single values. */
#define SINGLE(name, declared, ...)                                                                                    \
    static bool name declared {                                                                                        \
        struct field_picker *p = fields_self(v);                                                                       \
        if (p->skipped_depth > 0) {                                                                                    \
            return true;                                                                                               \
        }                                                                                                              \
        if (p->value_depth > 0) {                                                                                      \
            return visit_##name(p->inner __VA_ARGS__);                                                                 \
        }                                                                                                              \
        arrive(p);                                                                                                     \
        const struct slot *s = selected_slot(p);                                                                       \
        return !s || s->column < 0 || !begin_value(p, s) || (visit_##name(p->inner __VA_ARGS__) && end_value(p));      \
    }
SINGLE(null, (struct reel_visitor * v), )
SINGLE(boolean, (struct reel_visitor * v, bool value), , value)
SINGLE(integer, (struct reel_visitor * v, int64_t value), , value)
SINGLE(natural, (struct reel_visitor * v, uint64_t value), , value)
SINGLE(real, (struct reel_visitor * v, double value), , value)
SINGLE(real32, (struct reel_visitor * v, float value), , value)
SINGLE(text, (struct reel_visitor * v, struct reel_bytes value), , value)
SINGLE(binary, (struct reel_visitor * v, struct reel_bytes value), , value)

static bool fields_begin(struct reel_visitor *v, bool list) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth > 0) {
        p->skipped_depth++;
        return true;
    }
    if (p->value_depth > 0) {
        p->value_depth++;
        return list ? visit_begin_list(p->inner) : visit_begin_map(p->inner);
    }
    bool root = p->depth == 0;
    if (!root) {
        arrive(p);
    }
    const struct slot *s = root && p->n_members == 0 ? NULL : selected_slot(p);
    if (s && s->column >= 0 && begin_value(p, s)) {
        p->value_depth = 1;
        return list ? visit_begin_list(p->inner) : visit_begin_map(p->inner);
    }
    if ((!root && (!s || !s->is_prefix)) || p->depth == FIELD_DEPTH_MAX) {
        p->skipped_depth = 1;
        return true;
    }
    p->levels[++p->depth] = (struct field_level){.length = p->length, .list = list};
    return true;
}
static bool fields_end(struct reel_visitor *v, bool list) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth > 0) {
        p->skipped_depth--;
        return true;
    }
    if (p->value_depth > 0) {
        bool goes_on = list ? visit_end_list(p->inner) : visit_end_map(p->inner);
        return goes_on && (--p->value_depth > 0 || end_value(p));
    }
    p->depth -= p->depth > 0;
    return true;
}
static bool fields_begin_map(struct reel_visitor *v) {
    return fields_begin(v, false);
}
static bool fields_end_map(struct reel_visitor *v) {
    return fields_end(v, false);
}
static bool fields_begin_list(struct reel_visitor *v) {
    return fields_begin(v, true);
}
static bool end_list(struct reel_visitor *v) {
    return fields_end(v, true);
}

static bool fields_key(struct reel_visitor *v, struct reel_bytes name) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth > 0) {
        return true;
    }
    if (p->value_depth > 0) {
        return visit_key(p->inner, name);
    }
    p->length = p->levels[p->depth].length;
    fields_append(p, name.data, name.size);
    return true;
}

/* Passed on as an array, or value by value if some of them are selected. */
static bool fields_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth > 0) {
        return true;
    }
    if (p->value_depth > 0) {
        return visit_numbers(p->inner, type, data, columns);
    }
    struct field_level before = p->levels[p->depth];
    if (p->depth > 0) {
        arrive(p);
    }
    const struct slot *s = p->depth > 0 ? selected_slot(p) : NULL;
    if (s && s->column >= 0 && begin_value(p, s)) {
        return visit_numbers(p->inner, type, data, columns) && end_value(p);
    }
    if (p->depth > 0 && (!s || !s->is_prefix)) {
        return true;
    }
    p->levels[p->depth] = before; /* it arrives again, by itself */
    return reel_numbers_expand(v, type, data, columns);
}

/* Passed on as one value, or as a map if a part of it is selected. */
static bool stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth > 0) {
        return true;
    }
    if (p->value_depth > 0) {
        return visit_stamp(p->inner, value);
    }
    struct field_level before = p->levels[p->depth];
    if (p->depth > 0) {
        arrive(p);
    }
    const struct slot *s = p->depth > 0 ? selected_slot(p) : NULL;
    if (s && s->column >= 0 && begin_value(p, s)) {
        return visit_stamp(p->inner, value) && end_value(p);
    }
    p->levels[p->depth] = before; /* it arrives again, as a map */
    return reel_stamp_expand(v, value);
}

static bool inside(struct reel_visitor *v, struct reel_bytes member) {
    struct field_picker *p = fields_self(v);
    if (p->skipped_depth == 0 && p->value_depth == 0 && p->n_members < sizeof p->members / sizeof *p->members) {
        p->members[p->n_members++] = member;
    }
    return true;
}

static const struct reel_visitor_ops ops = {
    .begin_map = fields_begin_map,
    .key = fields_key,
    .end_map = fields_end_map,
    .begin_list = fields_begin_list,
    .end_list = end_list,
    .null = null,
    .boolean = boolean,
    .integer = integer,
    .natural = natural,
    .real = real,
    .real32 = real32,
    .text = text,
    .binary = binary,
    .numbers = fields_numbers,
    .stamp = stamp,
    .inside = inside,
};

void field_picker_start(struct field_picker *p) {
    p->visitor.ops = &ops;
    p->found = p->value_depth = p->skipped_depth = p->depth = p->length = p->n_members = 0;
    p->done = p->set->columns == 0;
    p->inner = NULL;
    p->levels[0] = (struct field_level){0};
}
