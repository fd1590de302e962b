/* Makes Cap'n Proto messages of one segment, word by word, with every defect wanted; shares no line with the reader.
 * Places are numbers of words in the stream, whose first word is its header. */
#ifndef TESTS_CAPNPROTO_MAKER_H
#define TESTS_CAPNPROTO_MAKER_H

#undef NDEBUG
#include <assert.h>

#include "base/grow.h"

static inline size_t cpm_words(struct grow *g, size_t n) {
    uint8_t *room = grow_take(g, n * 8);
    assert(room);
    memset(room, 0, n * 8);
    return g->size / 8 - n;
}
static inline void cpm_set(struct grow *g, size_t byte, uint64_t value, unsigned size) {
    assert(byte + size <= g->size);
    for (unsigned i = 0; i < size; i++) {
        g->data[byte + i] = (uint8_t)(value >> 8 * i);
    }
}
static inline void cpm_begin(struct grow *g) {
    cpm_words(g, 2); /* the header and the root's pointer, which is word 1 */
}
static inline void cpm_end(struct grow *g) {
    cpm_set(g, 4, g->size / 8 - 1, 4);
}
static inline uint64_t cpm_offset(size_t pointer, size_t target) {
    return (uint64_t)((target - pointer - 1) << 2) & 0xffffffff;
}
/* A new struct; its pointers begin behind its data. */
static inline size_t cpm_struct(struct grow *g, size_t pointer, unsigned data, unsigned pointers) {
    size_t at = cpm_words(g, data + pointers);
    cpm_set(g, pointer * 8, cpm_offset(pointer, at) | (uint64_t)data << 32 | (uint64_t)pointers << 48, 8);
    return at;
}
static inline size_t cpm_list(struct grow *g, size_t pointer, unsigned size, size_t n, size_t words) {
    size_t at = cpm_words(g, words);
    cpm_set(g, pointer * 8, (cpm_offset(pointer, at) | 1) | (uint64_t)size << 32 | (uint64_t)n << 35, 8);
    return at;
}
/* A new list of structs; returns the first. */
static inline size_t cpm_structs(struct grow *g, size_t pointer, size_t n, unsigned data, unsigned pointers) {
    size_t words = n * (data + pointers), at = cpm_list(g, pointer, 7, words, words + 1);
    cpm_set(g, at * 8, n << 2 | (uint64_t)data << 32 | (uint64_t)pointers << 48, 8);
    return at + 1;
}
static inline void cpm_text(struct grow *g, size_t pointer, const char *text) {
    size_t size = strlen(text) + 1, at = cpm_list(g, pointer, 2, size, (size + 7) / 8);
    memcpy(g->data + at * 8, text, size);
}

/* ---- a schema: CodeGeneratorRequest */

enum { CPM_NODE = 11, CPM_NODE_DATA = 5, CPM_FIELD = 7, CPM_FIELD_DATA = 3 };
/* The nodes of a new request, CPM_NODE words each. */
static inline size_t cpm_request(struct grow *g, size_t n) {
    cpm_begin(g);
    return cpm_structs(g, cpm_struct(g, 1, 0, 4), n, CPM_NODE_DATA, 6);
}
/* A struct's node; returns its fields, CPM_FIELD words each. */
static inline size_t cpm_node(struct grow *g, size_t node, uint64_t id, const char *name, size_t n_fields) {
    cpm_set(g, node * 8, id, 8);
    cpm_set(g, node * 8 + 12, 1, 2);
    cpm_text(g, node + CPM_NODE_DATA, name);
    return cpm_structs(g, node + CPM_NODE_DATA + 3, n_fields, CPM_FIELD_DATA, 4);
}
/* A field of a type; `lists` of it; `id` of a struct. */
static inline void cpm_field(struct grow *g, size_t field, const char *name, unsigned position, unsigned kind,
                             unsigned lists, uint64_t id) {
    cpm_set(g, field * 8 + 4, position, 4);
    cpm_text(g, field + CPM_FIELD_DATA, name);
    size_t type = cpm_struct(g, field + CPM_FIELD_DATA + 2, 3, 1);
    for (; lists > 0; lists--) {
        cpm_set(g, type * 8, 14, 2);
        type = cpm_struct(g, type + 3, 3, 1);
    }
    cpm_set(g, type * 8, kind, 2);
    cpm_set(g, type * 8 + 8, id, 8);
}

#endif
