/* Decodes FlatBuffers with the tables of their schema. Keys are emitted in the order of field ids:
 *   - a scalar that is absent has its default, unless it is optional; other fields are emitted only when present;
 *   - an enum is its name, or its number when it has none; a union is its type's name under "NAME_type" and its value;
 *   - a vector of ubyte is bytes, other vectors are lists; Time and Duration of seconds and nanoseconds are times.
 * Tables may share their parts, so that few bytes describe a huge tree: what is emitted is bounded by
 * REEL_STEPS_PER_BYTE.
 */
#include "base/limits.h"
#include "formats/flatbuffer/buffer.h"
#include "formats/flatbuffer/schema.h"
#include "syntax/visitor.h"

#include <stdlib.h>

/* A step is a field of a table, or an element of a vector. Real messages need 1 or 2 for each byte. */
enum { BYTES_PER_STEP = 64 /* of a text or bytes, which are passed on as they are */ };

struct fb_walk {
    struct fb_buffer b;
    struct reel_visitor *v;
    struct reel_error *err;
    uint64_t steps; /* left */
};

static bool fb_fail(struct fb_walk *w) {
    return reel_fail(w->err, REEL_DAMAGED,
                     "byte %zu of %zu: a FlatBuffer ends early, or refers to bytes that are not there", w->b.failed_at,
                     w->b.all.size);
}
static bool fb_spend(struct fb_walk *w, uint64_t steps) {
    if (w->b.failed) {
        return fb_fail(w);
    }
    if (steps > w->steps) {
        return reel_fail(w->err, REEL_LIMIT, "%zu bytes of FlatBuffers that describe so many values are not decoded",
                         w->b.all.size);
    }
    w->steps -= steps;
    return true;
}

static bool emit_object(struct fb_walk *w, const struct fb_object *o, size_t at, unsigned depth);

/* ---- single values */

static bool fb_emit_integer(struct fb_walk *w, const struct fb_type *t, enum fb_base base, uint64_t raw) {
    unsigned unused = 64 - 8 * (unsigned)fb_type_size(base, NULL);
    bool is_signed = base == FB_BYTE || base == FB_SHORT || base == FB_INT || base == FB_LONG;
    int64_t number = is_signed ? (int64_t)(raw << unused) >> unused : (int64_t)raw;
    const struct fb_name *name = t->names ? fb_name_find(t->names, number) : NULL;
    return name              ? visit_text(w->v, name->name)
           : base == FB_BOOL ? visit_boolean(w->v, raw != 0)
           : is_signed       ? visit_integer(w->v, number)
                             : visit_natural(w->v, raw);
}

static bool fb_emit_scalar(struct fb_walk *w, const struct fb_type *t, enum fb_base base, size_t at) {
    uint64_t raw = fb_load(&w->b, at, (unsigned)fb_type_size(base, NULL));
    if (!fb_spend(w, 1)) {
        return false;
    }
    return base == FB_FLOAT    ? visit_real32(w->v, f32_of((uint32_t)raw))
           : base == FB_DOUBLE ? visit_real(w->v, f64_of(raw))
                               : fb_emit_integer(w, t, base, raw);
}

static bool emit_string(struct fb_walk *w, size_t at) {
    struct reel_bytes text = fb_elements(&w->b, at, 1);
    return fb_spend(w, 1 + text.size / BYTES_PER_STEP) && visit_text(w->v, text);
}

/* ---- vectors and unions */

/* Elements that lie next to each other: of a vector or an array. `types`: of a vector of unions. */
static bool emit_elements(struct fb_walk *w, const struct fb_type *t, struct reel_bytes data, struct reel_bytes types,
                          unsigned depth);

static bool emit_union(struct fb_walk *w, const struct fb_type *t, uint8_t kind, size_t at, unsigned depth) {
    const struct fb_name *of = fb_name_find(t->names, kind);
    if (of && of->type.base == FB_STRING) {
        return emit_string(w, fb_follow(&w->b, at));
    }
    return of && of->type.base == FB_OBJECT ? emit_object(w, of->type.object, fb_follow(&w->b, at), depth)
                                            : visit_null(w->v);
}

static bool emit_element(struct fb_walk *w, const struct fb_type *t, size_t at, uint8_t kind, unsigned depth) {
    switch (t->element) {
    case FB_STRING:
        return emit_string(w, fb_follow(&w->b, at));
    case FB_OBJECT:
        return emit_object(w, t->object, t->object->is_struct ? at : fb_follow(&w->b, at), depth);
    case FB_UNION:
        return emit_union(w, t, kind, at, depth);
    default:
        return fb_emit_scalar(w, t, t->element, at);
    }
}

static bool emit_elements(struct fb_walk *w, const struct fb_type *t, struct reel_bytes data, struct reel_bytes types,
                          unsigned depth) {
    size_t size = fb_type_size(t->element, t->object), n = size > 0 ? data.size / size : 0;
    enum reel_number number;
    if (!fb_spend(w, 1)) {
        return false;
    }
    if (t->element == FB_UBYTE && !t->names && t->base == FB_VECTOR) {
        return fb_spend(w, n / BYTES_PER_STEP) && visit_binary(w->v, data);
    }
    if (fb_number_of(t->element, &number) && !t->names) {
        return fb_spend(w, n) && visit_numbers(w->v, number, data, 1);
    }
    if (depth == 0) {
        return reel_fail(w->err, REEL_LIMIT, "tables are nested more than %d levels deep", REEL_DEPTH_MAX);
    }
    size_t first = n > 0 ? (size_t)(data.data - w->b.all.data) : 0;
    bool goes_on = visit_begin_list(w->v);
    for (size_t i = 0; goes_on && i < n; i++) {
        goes_on = fb_spend(w, 1) && emit_element(w, t, first + i * size, i < types.size ? types.data[i] : 0, depth - 1);
    }
    return goes_on && visit_end_list(w->v);
}

static bool emit_vector(struct fb_walk *w, const struct fb_table *table, const struct fb_member *m, size_t at,
                        unsigned depth) {
    struct reel_bytes types = bytes_of("", 0);
    size_t of_types = m->type.element == FB_UNION ? fb_field(&w->b, table, m->place - 2U, 4) : 0;
    if (of_types > 0) { /* the field before it */
        types = fb_elements(&w->b, fb_follow(&w->b, of_types), 1);
    }
    struct reel_bytes data = fb_elements(&w->b, fb_follow(&w->b, at), fb_type_size(m->type.element, m->type.object));
    return emit_elements(w, &m->type, data, types, depth);
}

/* ---- tables and structs */

static bool emit_present(struct fb_walk *w, const struct fb_table *table, const struct fb_member *m, size_t at,
                         unsigned depth) {
    const struct fb_type *t = &m->type;
    switch (t->base) {
    case FB_STRING:
        return emit_string(w, fb_follow(&w->b, at));
    case FB_VECTOR:
        return emit_vector(w, table, m, at, depth);
    case FB_OBJECT:
        return emit_object(w, t->object, t->object->is_struct ? at : fb_follow(&w->b, at), depth);
    case FB_UNION: {
        size_t kind = fb_field(&w->b, table, m->place - 2U, 1);
        return emit_union(w, t, kind > 0 ? w->b.all.data[kind] : 0, at, depth);
    }
    default:
        return fb_emit_scalar(w, t, t->base, at);
    }
}

static bool emit_default(struct fb_walk *w, const struct fb_member *m) {
    return m->type.base == FB_FLOAT    ? visit_real32(w->v, (float)m->real)
           : m->type.base == FB_DOUBLE ? visit_real(w->v, m->real)
                                       : fb_emit_integer(w, &m->type, m->type.base, (uint64_t)m->integer);
}

static bool fb_emit_table(struct fb_walk *w, const struct fb_object *o, size_t at, unsigned depth) {
    struct fb_table t = fb_table_at(&w->b, at);
    bool goes_on = fb_spend(w, 1) && visit_begin_map(w->v);
    for (uint32_t i = 0; goes_on && i < o->n; i++) {
        const struct fb_member *m = &o->members[i];
        size_t field = fb_field(&w->b, &t, m->place, fb_type_size(m->type.base, m->type.object));
        enum reel_number number;
        bool has_default = fb_number_of(m->type.base, &number) && !m->optional && m->type.base != FB_UNION_TYPE;
        goes_on = fb_spend(w, 1) && (field > 0 ? visit_key(w->v, m->name) && emit_present(w, &t, m, field, depth - 1)
                                     : has_default ? visit_key(w->v, m->name) && emit_default(w, m)
                                                   : true);
    }
    return goes_on && visit_end_map(w->v);
}

static bool emit_part(struct fb_walk *w, const struct fb_type *t, size_t at, unsigned depth) {
    if (t->base == FB_ARRAY) {
        size_t size = fb_type_size(t->element, t->object) * t->length;
        return emit_elements(w, t, bytes_of(w->b.all.data + at, size), bytes_of("", 0), depth);
    }
    return t->base == FB_OBJECT ? emit_object(w, t->object, at, depth) : fb_emit_scalar(w, t, t->base, at);
}

static bool fb_emit_struct(struct fb_walk *w, const struct fb_object *o, size_t at, unsigned depth) {
    if (!fb_has(&w->b, at, o->size)) {
        return fb_fail(w);
    }
    if (o->form != FB_PLAIN) {
        const uint8_t *data = w->b.all.data + at;
        uint32_t seconds = load_u32le(data + o->members[0].place);
        struct reel_stamp stamp = {.seconds = o->members[0].type.base == FB_INT ? (int32_t)seconds : (int64_t)seconds,
                                   .nanoseconds = load_u32le(data + o->members[1].place),
                                   .nanoseconds_name = "nsec",
                                   .is_duration = o->form == FB_DURATION};
        return visit_stamp(w->v, &stamp);
    }
    bool goes_on = visit_begin_map(w->v);
    for (uint32_t i = 0; goes_on && i < o->n; i++) {
        const struct fb_member *m = &o->members[i];
        goes_on = fb_spend(w, 1) && visit_key(w->v, m->name) && emit_part(w, &m->type, at + m->place, depth - 1);
    }
    return goes_on && visit_end_map(w->v);
}

static bool emit_object(struct fb_walk *w, const struct fb_object *o, size_t at, unsigned depth) {
    if (w->b.failed) {
        return fb_fail(w);
    }
    if (depth == 0) {
        return reel_fail(w->err, REEL_LIMIT, "tables are nested more than %d levels deep", REEL_DEPTH_MAX);
    }
    return o->is_struct ? fb_emit_struct(w, o, at, depth) : fb_emit_table(w, o, at, depth);
}

/* ---- the encoding */

static void fb_close(void *p) {
    struct fb_schema *schema = p;
    if (schema) {
        arena_free(&schema->arena);
        free(schema);
    }
}

static bool fb_open(const struct reel_channel *channel, void **out, struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(channel);
    if (!own || own->data.size == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "FlatBuffers without a schema are not decoded");
    }
    struct fb_schema *schema = calloc(1, sizeof *schema);
    if (!schema) {
        return reel_fail_memory(err);
    }
    if (!fb_schema_read(schema, own->data, own->name, err)) {
        fb_close(schema);
        return false;
    }
    *out = schema;
    return true;
}

static bool fb_decode(const void *p, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct fb_schema *schema = p;
    struct fb_walk w = {.b = {.all = payload},
                        .v = v,
                        .err = err,
                        .steps = (uint64_t)payload.size * REEL_STEPS_PER_BYTE + REEL_STEPS_LEAST};
    return emit_object(&w, schema->root, fb_follow(&w.b, 0), REEL_DEPTH_MAX);
}

const struct reel_encoding reel_encoding_flatbuffer = {
    .name = "flatbuffer",
    .open = fb_open,
    .close = fb_close,
    .decode = fb_decode,
    .fields = fb_fields,
    .shape = fb_shape,
    .languages = (const char *const[]){"flatbuffer", NULL},
    .is_viewable = true,
    .version = 1,
};
