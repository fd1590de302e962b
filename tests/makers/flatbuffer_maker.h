/* Makes FlatBuffers front to back, with every defect wanted; shares no line with the reader. What a reference leads to
 * is written after it. */
#ifndef TESTS_FLATBUFFER_MAKER_H
#define TESTS_FLATBUFFER_MAKER_H

#undef NDEBUG
#include <assert.h>

#include "base/grow.h"

static inline void fbm_zeros(struct grow *g, size_t n) {
    for (size_t i = 0; i < n; i++) {
        grow_u8(g, 0);
    }
}
static inline void fbm_set(struct grow *g, size_t at, uint64_t value, unsigned size) {
    assert(!g->failed && at + size <= g->size);
    for (unsigned i = 0; i < size; i++) {
        g->data[at + i] = (uint8_t)(value >> 8 * i);
    }
}
/* The reference at `at` leads to what is written next. */
static inline void fbm_link(struct grow *g, size_t at) {
    fbm_set(g, at, g->size - at, 4);
}
/* A table with its vtable before it: fields of these sizes, 0: absent. fields[] receives where they lie. */
static inline size_t fbm_table(struct grow *g, const uint8_t *sizes, unsigned n, size_t *fields, size_t reference) {
    size_t vtable = g->size, size = 4;
    fbm_zeros(g, 4 + 2 * n);
    size_t at = g->size;
    fbm_set(g, reference, at - reference, 4);
    for (unsigned i = 0; i < n; i++) {
        fbm_set(g, vtable + 4 + 2 * i, sizes[i] > 0 ? size : 0, 2);
        fields[i] = at + size;
        size += sizes[i];
    }
    fbm_zeros(g, size);
    fbm_set(g, vtable, 4 + 2 * n, 2);
    fbm_set(g, vtable + 2, size, 2);
    fbm_set(g, at, at - vtable, 4);
    return at;
}
/* A vector of zeros; returns where its first element lies. */
static inline size_t fbm_vector(struct grow *g, size_t n, size_t size, size_t reference) {
    fbm_link(g, reference);
    grow_u32(g, (uint32_t)n);
    fbm_zeros(g, n * size);
    return g->size - n * size;
}
static inline void fbm_string(struct grow *g, const char *text, size_t reference) {
    size_t at = fbm_vector(g, strlen(text) + 1, 1, reference);
    memcpy(g->data + at, text, strlen(text));
    fbm_set(g, at - 4, strlen(text), 4);
}

/* ---- a schema: reflection.fbs */

struct fbm_member {
    const char *name;
    unsigned base, element, place;
    int index;
};
static inline void fbm_member(struct grow *g, const struct fbm_member *m, unsigned id, size_t reference) {
    static const uint8_t member[] = {4, 4, 2, 2}, type[] = {1, 1, 4};
    size_t fields[4], types[3];
    fbm_table(g, member, 4, fields, reference);
    fbm_set(g, fields[2], id, 2);
    fbm_set(g, fields[3], m->place, 2);
    fbm_string(g, m->name, fields[0]);
    fbm_table(g, type, 3, types, fields[1]);
    fbm_set(g, types[0], m->base, 1);
    fbm_set(g, types[1], m->element, 1);
    fbm_set(g, types[2], (uint32_t)m->index, 4);
}
/* A table, or a struct of `size` bytes. */
static inline void fbm_object(struct grow *g, const char *name, const struct fbm_member *members, unsigned n,
                              unsigned size, size_t reference) {
    static const uint8_t object[] = {4, 4, 1, 4, 4};
    size_t fields[5];
    fbm_table(g, object, 5, fields, reference);
    fbm_set(g, fields[2], size > 0, 1);
    fbm_set(g, fields[4], size, 4);
    fbm_string(g, name, fields[0]);
    size_t first = fbm_vector(g, n, 4, fields[1]);
    for (unsigned i = 0; i < n; i++) {
        fbm_member(g, &members[i], i, first + 4 * i);
    }
}
/* A schema's beginning; returns where the references to its objects lie. */
static inline size_t fbm_schema(struct grow *g, unsigned n_objects) {
    static const uint8_t schema[] = {4};
    size_t objects;
    fbm_zeros(g, 4);
    fbm_table(g, schema, 1, &objects, 0);
    return fbm_vector(g, n_objects, 4, objects);
}

#endif
