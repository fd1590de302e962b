/* Growing memory: a byte buffer with sticky failure, and arrays that double. */
#ifndef REEL_BASE_GROW_H
#define REEL_BASE_GROW_H

#include <stdlib.h>

#include "base/bytes.h"
#include "reel/bytes.h"
#include "reel/error.h"

struct grow {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};

/* Reserves `size` more bytes without counting them: the caller adds what it writes to g->size. NULL: no memory. */
static inline uint8_t *grow_room(struct grow *g, size_t size) {
    if (g->failed) {
        return NULL;
    }
    if (!g->data || g->capacity - g->size < size) {
        size_t new_capacity = g->capacity * 2 > g->size + size ? g->capacity * 2 : g->size + size + 256;
        uint8_t *data = realloc(g->data, new_capacity);
        if (!data) {
            g->failed = true;
            return NULL;
        }
        g->data = data;
        g->capacity = new_capacity;
    }
    return g->data + g->size;
}
/* The same, already counted in g->size. */
static inline uint8_t *grow_take(struct grow *g, size_t size) {
    uint8_t *room = grow_room(g, size);
    g->size += room ? size : 0;
    return room;
}
static inline void grow_u8(struct grow *g, uint8_t v) {
    uint8_t *p = grow_take(g, 1);
    if (p) {
        *p = v;
    }
}
static inline void grow_put(struct grow *g, const void *data, size_t size) {
    uint8_t *p = grow_take(g, size);
    if (p && size > 0) {
        memcpy(p, data, size);
    }
}
static inline void grow_text(struct grow *g, const char *text) {
    grow_put(g, text, strlen(text));
}
static inline void grow_u32(struct grow *g, uint32_t v) {
    uint8_t b[4];
    store_u32le(b, v);
    grow_put(g, b, sizeof b);
}
static inline void grow_u64(struct grow *g, uint64_t v) {
    uint8_t b[8];
    store_u64le(b, v);
    grow_put(g, b, sizeof b);
}

static inline void grow_done(struct grow *g) {
    free(g->data);
    *g = (struct grow){0};
}

/* Makes room for one more item in `array`, whose capacity is in a second variable; false: no memory. */
#define GROW_ARRAY(array, count, capacity)                                                                             \
    ((count) < (capacity) || grow_array_((void **)&(array), &(capacity), sizeof *(array)))
static inline bool grow_array_(void **array, size_t *capacity, size_t item) {
    size_t new_capacity = *capacity ? *capacity * 2 : 16;
    void *p = new_capacity > SIZE_MAX / item ? NULL : realloc(*array, new_capacity * item);
    if (p) {
        *array = p;
        *capacity = new_capacity;
    }
    return p != NULL;
}

#endif
