/* Decodes Cap'n Proto messages with the tables of their schema. Keys are emitted in the order of the schema's fields:
 *   - numbers, enums and groups are always there, of a union only the member that is set; what a null pointer stands
 * for is left out;
 *   - an enum is its name, or its number when it has none; a list of UInt8 is bytes, as Data is; void is null, and so
 * is what has no type: AnyPointer, a capability. Pointers may share what they lead to, so that few bytes describe a
 * huge tree: what is emitted is bounded by REEL_STEPS_PER_BYTE. */
#include "base/limits.h"
#include "formats/capnproto/message.h"
#include "formats/capnproto/schema.h"
#include "syntax/visitor.h"

#include <stdlib.h>

/* A step is a field of a struct, or an element of a list. Real messages need 1 or 2 for each byte. */
enum { BYTES_PER_STEP = 64 /* of a text or bytes, which are passed on as they are */ };

struct cp_walk {
    struct cp_message m;
    struct reel_visitor *v;
    struct reel_error *err;
    uint64_t steps; /* left */
    uint32_t empty; /* elements without bytes that may still come */
};

static bool cp_fail_at(struct cp_walk *w) {
    return reel_fail(w->err, REEL_DAMAGED,
                     "byte %zu of %zu: a Cap'n Proto message ends early, or refers to bytes that are not there",
                     w->m.failed_at, w->m.all.size);
}
static bool cp_spend(struct cp_walk *w, uint64_t steps) {
    if (w->m.failed) {
        return cp_fail_at(w);
    }
    if (steps > w->steps) {
        return reel_fail(w->err, REEL_LIMIT, "%zu bytes of Cap'n Proto that describe so many values are not decoded",
                         w->m.all.size);
    }
    w->steps -= steps;
    return true;
}
static bool spend_empty(struct cp_walk *w, uint32_t n) {
    if (n > w->empty) {
        return reel_fail(w->err, REEL_LIMIT,
                         "more than %d elements of Cap'n Proto that occupy no bytes are not decoded",
                         REEL_EMPTY_VALUES_MAX);
    }
    w->empty -= n;
    return true;
}
static bool cp_deeper(struct cp_walk *w, unsigned depth) {
    return depth > 0 || reel_fail(w->err, REEL_LIMIT, "structs are nested more than %d levels deep", REEL_DEPTH_MAX);
}

static bool emit_struct(struct cp_walk *w, const struct cp_node *node, const struct cp_struct *s, unsigned depth);

/* ---- single values */

static bool cp_emit_number(struct cp_walk *w, const struct cp_type *t, uint64_t raw) {
    unsigned unused = 64 - cp_type_bits(t->kind);
    switch (t->kind) {
    case CP_TYPE_BOOL:
        return visit_boolean(w->v, raw & 1);
    case CP_TYPE_FLOAT32:
        return visit_real32(w->v, f32_of((uint32_t)raw));
    case CP_TYPE_FLOAT64:
        return visit_real(w->v, f64_of(raw));
    case CP_TYPE_INT8:
    case CP_TYPE_INT16:
    case CP_TYPE_INT32:
    case CP_TYPE_INT64:
        return visit_integer(w->v, (int64_t)(raw << unused) >> unused);
    case CP_TYPE_ENUM:
        if (t->node && raw < t->node->n) {
            return visit_text(w->v, t->node->names[raw]);
        }
        return visit_natural(w->v, raw);
    default:
        return visit_natural(w->v, raw);
    }
}

/* ---- pointers */

static bool cp_emit_bytes(struct cp_walk *w, const struct cp_list *l, bool is_text) {
    struct reel_bytes bytes = cp_bytes(l, is_text);
    return cp_spend(w, 1 + bytes.size / BYTES_PER_STEP) &&
           (is_text ? visit_text(w->v, bytes) : visit_binary(w->v, bytes));
}

static bool emit_list(struct cp_walk *w, const struct cp_type *element, const struct cp_list *l, unsigned depth);

/* A value that a pointer leads to; one to another kind of thing has nothing in it. */
static bool emit_pointer(struct cp_walk *w, const struct cp_type *t, struct cp_place at, unsigned depth) {
    struct cp_struct s;
    struct cp_list l;
    enum cp_kind kind = cp_follow(&w->m, at, &s, &l);
    if (!cp_spend(w, 1)) {
        return false;
    }
    switch (t->kind) {
    case CP_TYPE_TEXT:
    case CP_TYPE_DATA:
        return cp_emit_bytes(w, &l, t->kind == CP_TYPE_TEXT);
    case CP_TYPE_LIST:
        return emit_list(w, t->element, &l, depth);
    case CP_TYPE_STRUCT:
        return kind == CP_NULL || !t->node ? visit_null(w->v) : emit_struct(w, t->node, &s, depth);
    default:
        return visit_null(w->v);
    }
}

/* An element may be a struct whose first field is the value: lists may grow into lists of structs. */
static bool emit_element(struct cp_walk *w, const struct cp_type *t, const struct cp_list *l, uint32_t i,
                         unsigned depth) {
    struct cp_struct s = cp_element(l, i);
    struct cp_place at;
    if (l->size == CP_BIT && t->kind == CP_TYPE_BOOL) {
        return visit_boolean(w->v, l->data.data[i / 8] >> i % 8 & 1);
    }
    if (t->kind == CP_TYPE_STRUCT && t->node && l->size != CP_BIT) {
        return emit_struct(w, t->node, &s, depth);
    }
    if (cp_type_bits(t->kind) > 0) {
        return cp_emit_number(w, t, cp_number(&s, 0, cp_type_bits(t->kind)));
    }
    return t->kind != CP_TYPE_VOID && cp_pointer(&s, 0, &at) ? emit_pointer(w, t, at, depth) : visit_null(w->v);
}

static bool emit_list(struct cp_walk *w, const struct cp_type *element, const struct cp_list *l, unsigned depth) {
    static const uint8_t bits[] = {
        [CP_1] = 8, [CP_2] = 16, [CP_4] = 32, [CP_8] = 64, [CP_POINTER] = 0, [CP_COMPOSITE] = 0};
    enum reel_number number;
    if (element->kind == CP_TYPE_UINT8 && l->size == CP_1) {
        return cp_emit_bytes(w, l, false);
    }
    if (cp_number_of(element->kind, &number) && bits[l->size] == cp_type_bits(element->kind)) {
        return cp_spend(w, l->n) &&
               visit_numbers(w->v, number, bytes_of(l->data.data, (size_t)l->n * (bits[l->size] / 8)), 1);
    }
    if (l->data.size == 0 && !spend_empty(w, l->n)) {
        return false;
    }
    bool goes_on = cp_deeper(w, depth) && visit_begin_list(w->v);
    for (uint32_t i = 0; goes_on && i < l->n; i++) {
        goes_on = cp_spend(w, 1) && emit_element(w, element, l, i, depth - 1);
    }
    return goes_on && visit_end_list(w->v);
}

/* ---- structs */

static bool cp_emit_field(struct cp_walk *w, const struct cp_field *f, const struct cp_struct *s, unsigned depth) {
    unsigned bits = cp_type_bits(f->type.kind);
    struct cp_place at;
    if (f->is_group) {
        return visit_key(w->v, f->name) && emit_struct(w, f->type.node, s, depth);
    }
    if (bits > 0) {
        return visit_key(w->v, f->name) && cp_emit_number(w, &f->type, cp_number(s, f->position, bits) ^ f->fallback);
    }
    if (f->type.kind == CP_TYPE_VOID) {
        return visit_key(w->v, f->name) && visit_null(w->v);
    }
    if (!cp_pointer(s, f->position, &at)) {
        return true;
    }
    struct cp_struct unused;
    struct cp_list list;
    return cp_follow(&w->m, at, &unused, &list) == CP_NULL ||
           (visit_key(w->v, f->name) && emit_pointer(w, &f->type, at, depth));
}

static bool emit_struct(struct cp_walk *w, const struct cp_node *node, const struct cp_struct *s, unsigned depth) {
    uint64_t which = node->has_union ? cp_number(s, node->discriminant, 16) : 0;
    bool goes_on = cp_deeper(w, depth) && visit_begin_map(w->v);
    for (uint32_t i = 0; goes_on && i < node->n; i++) {
        const struct cp_field *f = &node->fields[i];
        bool there = f->of_union == CP_NO_UNION || f->of_union == which;
        goes_on = cp_spend(w, 1) && (!there || cp_emit_field(w, f, s, depth - 1));
    }
    return goes_on && visit_end_map(w->v);
}

/* ---- the encoding */

static void cp_close(void *p) {
    struct cp_schema *schema = p;
    if (schema) {
        arena_free(&schema->arena);
        free(schema);
    }
}

static bool cp_open(const struct reel_channel *channel, void **out, struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(channel);
    if (!own || own->data.size == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "Cap'n Proto without a schema is not decoded");
    }
    struct cp_schema *schema = calloc(1, sizeof *schema);
    if (!schema) {
        return reel_fail_memory(err);
    }
    if (!cp_schema_read(schema, own->data, own->name, err)) {
        cp_close(schema);
        return false;
    }
    *out = schema;
    return true;
}

static bool cp_decode(const void *p, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct cp_schema *schema = p;
    struct cp_walk w = {.v = v,
                        .err = err,
                        .steps = (uint64_t)payload.size * REEL_STEPS_PER_BYTE + REEL_STEPS_LEAST,
                        .empty = REEL_EMPTY_VALUES_MAX};
    if (!cp_message_open(&w.m, payload)) {
        return cp_fail_at(&w);
    }
    struct cp_struct root = cp_struct_at(&w.m, cp_root());
    return cp_spend(&w, 1) && emit_struct(&w, schema->root, &root, REEL_DEPTH_MAX);
}

const struct reel_encoding reel_encoding_capnproto = {
    .name = "capnproto",
    .open = cp_open,
    .close = cp_close,
    .decode = cp_decode,
    .fields = cp_fields,
    .shape = cp_shape,
    .languages = (const char *const[]){"capnp", NULL},
    .version = 1,
};
