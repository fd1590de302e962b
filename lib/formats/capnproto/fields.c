/* Lists the fields of a struct, and its nested shape (decode/encoding.h), from the schema. Structs and groups are
 * listed field by field, but one inside itself is not; a list is one field. */
#include <stdio.h>

#include "decode/fields.h"
#include "formats/capnproto/schema.h"

static const char *cp_type_name(const struct cp_type *t) {
    static const char *const names[CP_TYPES] = {"void",   "bool",   "int8",   "int16",     "int32",   "int64",  "uint8",
                                                "uint16", "uint32", "uint64", "float32",   "float64", "string", "bytes",
                                                "list",   "enum",   "struct", "interface", "any"};
    return t->node && t->node->name[0] ? t->node->name : names[t->kind];
}

/* ---- fields */

struct listing {
    reel_field_visit visit;
    void *context;
    uint32_t left; /* fields that may still be visited: nesting can multiply them exponentially */
    const struct cp_node *inside[FIELD_DEPTH_MAX];
    unsigned depth;
    char path[FIELD_PATH_MAX];
};

static bool cp_list_one(struct listing *l, const struct cp_type *of) {
    char type[FIELD_PATH_MAX];
    enum reel_number number;
    const struct cp_type *t = of;
    unsigned lists = 0;
    for (; t->kind == CP_TYPE_LIST; t = t->element) {
        lists++;
    }
    size_t size = (size_t)snprintf(type, sizeof type - 64, "%s", cp_type_name(t));
    for (size = size < sizeof type - 64 ? size : sizeof type - 65; lists > 0; lists--, size += 2) {
        memcpy(type + size, "[]", 3);
    }
    return l->visit(
        l->context,
        &(struct reel_field){.path = l->path, .type = type, .unit = "", .numeric = cp_number_of(of->kind, &number)});
}

static bool cp_can_enter(const struct listing *l, const struct cp_field *f) {
    bool enters = f->type.kind == CP_TYPE_STRUCT && f->type.node && l->depth < FIELD_DEPTH_MAX;
    for (unsigned i = 0; enters && i < l->depth; i++) {
        enters = l->inside[i] != f->type.node;
    }
    return enters;
}

static bool cp_list_all(struct listing *l, const struct cp_node *node, size_t length) {
    bool goes_on = true;
    l->inside[l->depth++] = node;
    for (uint32_t i = 0; goes_on && i < node->n && l->left > 0; i++) {
        const struct cp_field *f = &node->fields[i];
        size_t dot = length > 0, size = length + dot + f->name.size;
        l->left--;
        if (size >= sizeof l->path || memchr(f->name.data, 0, f->name.size)) {
            continue;
        }
        l->path[length] = '.';
        memcpy(l->path + length + dot, f->name.data, f->name.size);
        l->path[size] = '\0';
        goes_on = cp_can_enter(l, f) ? cp_list_all(l, f->type.node, size) : cp_list_one(l, &f->type);
    }
    l->depth--;
    return goes_on;
}

bool cp_fields(const void *p, reel_field_visit visit, void *context) {
    const struct cp_schema *schema = p;
    struct listing l = {.visit = visit, .context = context, .left = FIELDS_MAX};
    return cp_list_all(&l, schema->root, 0);
}

/* ---- shape */

struct shaping {
    reel_shape_visit visit;
    void *context;
    const struct cp_node *inside[FIELD_DEPTH_MAX];
    unsigned depth;
};

static enum reel_shape_next cp_open_part(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    part.kind = kind;
    return s->visit(s->context, &part);
}
static bool cp_put(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    return cp_open_part(s, kind, part) != REEL_SHAPE_STOP;
}

static bool cp_put_struct(struct shaping *s, const struct cp_node *node, struct reel_shape part);

static bool cp_put_value(struct shaping *s, const struct cp_type *t, struct reel_shape part) {
    switch (t->kind) {
    case CP_TYPE_TEXT:
    case CP_TYPE_ENUM:
        return cp_put(s, REEL_SHAPE_TEXT, part);
    case CP_TYPE_DATA:
        return cp_put(s, REEL_SHAPE_BYTES, part);
    case CP_TYPE_LIST: {
        if (t->element->kind == CP_TYPE_UINT8) {
            return cp_put(s, REEL_SHAPE_BYTES, part);
        }
        enum reel_shape_next next = cp_open_part(s, REEL_SHAPE_LIST, part);
        return next == REEL_SHAPE_ENTER ? cp_put_value(s, t->element, (struct reel_shape){0}) : next != REEL_SHAPE_STOP;
    }
    case CP_TYPE_STRUCT:
        return t->node ? cp_put_struct(s, t->node, part) : cp_put(s, REEL_SHAPE_ANY, part);
    default:
        return cp_put(s, cp_number_of(t->kind, &part.number) ? REEL_SHAPE_NUMBER : REEL_SHAPE_ANY, part);
    }
}

static bool cp_put_field(struct shaping *s, const struct cp_field *f) {
    bool fixed = f->of_union == CP_NO_UNION && (f->is_group || cp_type_bits(f->type.kind) > 0);
    return cp_put_value(s, &f->type, (struct reel_shape){.name = f->name, .optional = !fixed});
}

static bool cp_put_struct(struct shaping *s, const struct cp_node *node, struct reel_shape part) {
    bool any = s->depth == FIELD_DEPTH_MAX;
    for (unsigned i = 0; i < s->depth && !any; i++) {
        any = s->inside[i] == node;
    }
    if (any) {
        return cp_put(s, REEL_SHAPE_ANY, part);
    }
    enum reel_shape_next next = cp_open_part(s, REEL_SHAPE_STRUCT, part);
    if (next != REEL_SHAPE_ENTER) {
        return next != REEL_SHAPE_STOP;
    }
    s->inside[s->depth++] = node;
    bool more = true;
    for (uint32_t i = 0; more && i < node->n; i++) {
        more = cp_put_field(s, &node->fields[i]);
    }
    s->depth--;
    return more && cp_put(s, REEL_SHAPE_END, (struct reel_shape){.name = part.name});
}

bool cp_shape(const void *p, reel_shape_visit visit, void *context) {
    const struct cp_schema *schema = p;
    struct shaping s = {.visit = visit, .context = context};
    return cp_put_struct(&s, schema->root, (struct reel_shape){0});
}
