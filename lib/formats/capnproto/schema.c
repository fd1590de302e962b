/* See schema.h. All nodes have their place first, so that types may refer to each other in any order. Pointers may
 * share what they lead to: the memory of all tables has a limit, and with it the work. */
#include "formats/capnproto/schema.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/capnproto/message.h"

/* Positions in the structs of schema.capnp, in units of the number's size; p: of pointers. */
enum {
    REQUEST_P_NODES = 0,
    NODE_ID_64 = 0,
    NODE_PREFIX_32 = 2,
    NODE_WHICH_16 = 6,
    NODE_UNION_COUNT_16 = 15,
    NODE_UNION_OFFSET_32 = 8,
    NODE_P_NAME = 0,
    NODE_P_FIELDS = 3,
    NODE_P_ENUMERANTS = 3,
    NODE_IS_STRUCT = 1, /* values of NODE_WHICH */
    NODE_IS_ENUM = 2,
    FIELD_UNION_16 = 1, /* mixed with 0xffff */
    FIELD_OFFSET_32 = 1,
    FIELD_WHICH_16 = 4,
    FIELD_GROUP_64 = 2,
    FIELD_P_NAME = 0,
    FIELD_P_TYPE = 2,
    FIELD_P_DEFAULT = 3,
    FIELD_IS_GROUP = 1, /* value of FIELD_WHICH */
    TYPE_WHICH_16 = 0,
    TYPE_ID_64 = 1,
    TYPE_P_ELEMENT = 0,
    ENUMERANT_P_NAME = 0,

    NODES_MAX = 1 << 16,
    LISTS_MAX = 16, /* lists of lists */
    NAME_MAX = 512,
};

struct cp_reading {
    struct cp_message m;
    struct cp_schema *schema;
    struct reel_error *err;
};

static bool cp_damaged(struct cp_reading *r, const char *what) {
    return reel_fail(r->err, REEL_DAMAGED, "the Cap'n Proto schema is damaged: %s", what);
}
static bool no_room(struct cp_reading *r) {
    return r->schema->arena.no_memory ? reel_fail_memory(r->err)
                                      : reel_fail(r->err, REEL_LIMIT, "the Cap'n Proto schema is too large");
}
static bool cp_fits(struct cp_reading *r) {
    return !r->m.failed || cp_damaged(r, "it refers to bytes that are not there");
}

static struct cp_struct struct_in(struct cp_reading *r, const struct cp_struct *s, uint32_t pointer) {
    struct cp_place at;
    return cp_pointer(s, pointer, &at) ? cp_struct_at(&r->m, at) : (struct cp_struct){.data = bytes_of("", 0)};
}
static struct cp_list list_in(struct cp_reading *r, const struct cp_struct *s, uint32_t pointer) {
    struct cp_place at;
    return cp_pointer(s, pointer, &at) ? cp_list_at(&r->m, at) : (struct cp_list){.data = bytes_of("", 0)};
}
static struct reel_bytes text_in(struct cp_reading *r, const struct cp_struct *s, uint32_t pointer) {
    struct cp_list l = list_in(r, s, pointer);
    return cp_bytes(&l, true);
}

/* A list of structs; of those without a byte there could be any number. */
static bool structs_in(struct cp_reading *r, const struct cp_struct *s, uint32_t pointer, struct cp_list *list) {
    *list = list_in(r, s, pointer);
    return cp_fits(r) && (list->n <= list->data.size / 8 || cp_damaged(r, "a list of nothing"));
}

/* ---- types */

unsigned cp_type_bits(enum cp_type_kind kind) {
    static const uint8_t bits[CP_TYPES] = {
        [CP_TYPE_BOOL] = 1,    [CP_TYPE_INT8] = 8,     [CP_TYPE_INT16] = 16,   [CP_TYPE_INT32] = 32,
        [CP_TYPE_INT64] = 64,  [CP_TYPE_UINT8] = 8,    [CP_TYPE_UINT16] = 16,  [CP_TYPE_UINT32] = 32,
        [CP_TYPE_UINT64] = 64, [CP_TYPE_FLOAT32] = 32, [CP_TYPE_FLOAT64] = 64, [CP_TYPE_ENUM] = 16};
    return bits[kind];
}

bool cp_number_of(enum cp_type_kind kind, enum reel_number *number) {
    static const uint8_t numbers[CP_TYPES] = {
        [CP_TYPE_BOOL] = REEL_BOOL,   [CP_TYPE_INT8] = REEL_I8,     [CP_TYPE_INT16] = REEL_I16,
        [CP_TYPE_INT32] = REEL_I32,   [CP_TYPE_INT64] = REEL_I64,   [CP_TYPE_UINT8] = REEL_U8,
        [CP_TYPE_UINT16] = REEL_U16,  [CP_TYPE_UINT32] = REEL_U32,  [CP_TYPE_UINT64] = REEL_U64,
        [CP_TYPE_FLOAT32] = REEL_F32, [CP_TYPE_FLOAT64] = REEL_F64,
    };
    *number = (enum reel_number)numbers[kind];
    return kind >= CP_TYPE_BOOL && kind <= CP_TYPE_FLOAT64;
}

static int compare_id(const void *id, const void *node) {
    uint64_t x = *(const uint64_t *)id, y = ((const struct cp_node *)node)->id;
    return (x > y) - (x < y);
}
static const struct cp_node *find_node(const struct cp_schema *s, uint64_t id) {
    return s->n > 0 ? bsearch(&id, s->nodes, s->n, sizeof *s->nodes, compare_id) : NULL;
}

static bool read_type(struct cp_reading *r, struct cp_struct s, struct cp_type *out) {
    for (unsigned left = LISTS_MAX; left > 0; left--) {
        uint64_t kind = cp_number(&s, TYPE_WHICH_16, 16);
        *out = (struct cp_type){.kind = kind < CP_TYPES ? (enum cp_type_kind)kind : CP_TYPE_ANY};
        if (out->kind == CP_TYPE_ENUM || out->kind == CP_TYPE_STRUCT) {
            const struct cp_node *node = find_node(r->schema, cp_number(&s, TYPE_ID_64, 64));
            out->node = node && (out->kind == CP_TYPE_ENUM ? node->is_enum : node->is_struct) ? node : NULL;
        }
        if (out->kind != CP_TYPE_LIST) {
            return cp_fits(r);
        }
        struct cp_type *element = arena_alloc(&r->schema->arena, sizeof *element);
        if (!element) {
            return no_room(r);
        }
        out->element = element;
        s = struct_in(r, &s, TYPE_P_ELEMENT);
        out = element;
    }
    return reel_fail(r->err, REEL_LIMIT, "the Cap'n Proto schema has lists of lists of lists");
}

/* ---- nodes */

/* A default is a Value: u16 which type, then the number in its own size, at the first place that fits. */
static uint64_t read_default(struct cp_reading *r, const struct cp_struct *field, enum cp_type_kind kind) {
    struct cp_struct value = struct_in(r, field, FIELD_P_DEFAULT);
    unsigned bits = cp_type_bits(kind);
    return bits == 0 ? 0 : cp_number(&value, bits < 16 ? 16 / bits : 1, bits);
}

static bool cp_read_field(struct cp_reading *r, struct cp_struct s, struct cp_field *f) {
    f->name = text_in(r, &s, FIELD_P_NAME);
    f->of_union = (uint16_t)(cp_number(&s, FIELD_UNION_16, 16) ^ CP_NO_UNION);
    f->is_group = cp_number(&s, FIELD_WHICH_16, 16) == FIELD_IS_GROUP;
    if (f->name.size == 0) {
        return cp_fits(r) && cp_damaged(r, "a field has no name");
    }
    if (f->is_group) {
        const struct cp_node *node = find_node(r->schema, cp_number(&s, FIELD_GROUP_64, 64));
        f->type = (struct cp_type){.kind = CP_TYPE_STRUCT, .node = node};
        return (node && node->is_struct) || cp_damaged(r, "a group that is not there");
    }
    f->position = (uint32_t)cp_number(&s, FIELD_OFFSET_32, 32);
    if (!read_type(r, struct_in(r, &s, FIELD_P_TYPE), &f->type)) {
        return false;
    }
    f->fallback = read_default(r, &s, f->type.kind);
    return cp_fits(r);
}

static bool read_struct(struct cp_reading *r, const struct cp_struct *s, struct cp_node *node) {
    struct cp_list list;
    if (!structs_in(r, s, NODE_P_FIELDS, &list)) {
        return false;
    }
    struct cp_field *fields = arena_alloc(&r->schema->arena, (size_t)list.n * sizeof *fields);
    if (!fields) {
        return no_room(r);
    }
    for (uint32_t i = 0; i < list.n; i++) {
        if (!cp_read_field(r, cp_element(&list, i), &fields[i])) {
            return reel_error_at(r->err, "%.128s", node->name);
        }
    }
    node->fields = fields;
    node->n = list.n;
    node->has_union = cp_number(s, NODE_UNION_COUNT_16, 16) > 0;
    node->discriminant = (uint32_t)cp_number(s, NODE_UNION_OFFSET_32, 32);
    return cp_fits(r);
}

static bool cp_read_enum(struct cp_reading *r, const struct cp_struct *s, struct cp_node *node) {
    struct cp_list list;
    if (!structs_in(r, s, NODE_P_ENUMERANTS, &list)) {
        return false;
    }
    struct reel_bytes *names = arena_alloc(&r->schema->arena, (size_t)list.n * sizeof *names);
    if (!names) {
        return no_room(r);
    }
    for (uint32_t i = 0; i < list.n; i++) {
        struct cp_struct one = cp_element(&list, i);
        names[i] = text_in(r, &one, ENUMERANT_P_NAME);
    }
    node->names = names;
    node->n = list.n;
    return cp_fits(r);
}

/* "demo.capnp:Outer.Inner" without its file. */
static bool read_name(struct cp_reading *r, const struct cp_struct *s, struct cp_node *node) {
    struct reel_bytes name = text_in(r, s, NODE_P_NAME);
    node->whole_name = name.size <= NAME_MAX ? arena_utf8(&r->schema->arena, name) : "";
    if (!node->whole_name) {
        return no_room(r);
    }
    const char *colon = strrchr(node->whole_name, ':');
    node->name = colon ? colon + 1 : node->whole_name;
    return true;
}

static int by_id(const void *a, const void *b) {
    uint64_t x = ((const struct cp_node *)a)->id, y = ((const struct cp_node *)b)->id;
    return (x > y) - (x < y);
}

static bool place_nodes(struct cp_reading *r, const struct cp_list *list) {
    struct cp_schema *schema = r->schema;
    schema->nodes = list->n <= NODES_MAX ? arena_alloc(&schema->arena, list->n * sizeof *schema->nodes) : NULL;
    if (!schema->nodes) {
        return no_room(r);
    }
    for (uint32_t i = 0; i < list->n; i++) {
        struct cp_struct s = cp_element(list, i);
        struct cp_node *node = &schema->nodes[i];
        uint64_t which = cp_number(&s, NODE_WHICH_16, 16);
        node->id = cp_number(&s, NODE_ID_64, 64);
        node->is_struct = which == NODE_IS_STRUCT;
        node->is_enum = which == NODE_IS_ENUM;
        node->n = i; /* its place in the list, until its content is read */
        if (!read_name(r, &s, node)) {
            return false;
        }
    }
    schema->n = list->n;
    if (list->n > 0) {
        qsort(schema->nodes, list->n, sizeof *schema->nodes, by_id);
    }
    for (uint32_t i = 1; i < schema->n; i++) {
        if (schema->nodes[i].id == schema->nodes[i - 1].id) {
            return cp_damaged(r, "two nodes have one number");
        }
    }
    return cp_fits(r);
}

static const struct cp_node *find_root(const struct cp_schema *s, const char *name) {
    const struct cp_node *short_name = NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct cp_node *node = &s->nodes[i];
        if (node->is_struct && strcmp(node->whole_name, name) == 0) {
            return node;
        }
        if (node->is_struct && strcmp(node->name, name) == 0) {
            short_name = node;
        }
    }
    return short_name;
}

static bool read_all(struct cp_reading *r, const char *name) {
    struct cp_struct request = cp_struct_at(&r->m, cp_root());
    struct cp_list nodes;
    if (!structs_in(r, &request, REQUEST_P_NODES, &nodes) || !place_nodes(r, &nodes)) {
        return false;
    }
    for (uint32_t i = 0; i < r->schema->n; i++) {
        struct cp_node *node = &r->schema->nodes[i];
        struct cp_struct s = cp_element(&nodes, node->n);
        node->n = 0;
        if (!(node->is_struct ? read_struct(r, &s, node) : !node->is_enum || cp_read_enum(r, &s, node))) {
            return false;
        }
    }
    r->schema->root = find_root(r->schema, name);
    return r->schema->root || reel_fail(r->err, REEL_DAMAGED, "the Cap'n Proto schema has no struct \"%.128s\"", name);
}

bool cp_schema_read(struct cp_schema *schema, struct reel_bytes data, const char *name, struct reel_error *err) {
    struct cp_reading *r = calloc(1, sizeof *r);
    if (!r) {
        return reel_fail_memory(err);
    }
    r->schema = schema;
    r->err = err;
    schema->arena.max = REEL_DEFINITION_TABLES_MAX;
    bool good = cp_message_open(&r->m, data) ? read_all(r, name) : cp_damaged(r, "it is no stream of segments");
    free(r);
    return good;
}
