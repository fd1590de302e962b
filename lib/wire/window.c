/* A moving window on a source. Bytes already held are kept, so a walk from front to back reads every byte once. */
#include "wire/window.h"

#include <stdlib.h>
#include <string.h>

bool window_open(struct window *w, struct reel_source *source, size_t capacity, struct reel_error *err) {
    *w = (struct window){.source = source, .capacity = capacity > 0 ? capacity : 1};
    w->buffer = (uint8_t *)malloc(w->capacity);
    return w->buffer ? true : reel_fail_memory(err);
}

void window_close(struct window *w) {
    free(w->buffer);
    *w = (struct window){0};
}

static bool window_grow(struct window *w, size_t size, struct reel_error *err) {
    size_t capacity = size < w->capacity * 2 ? w->capacity * 2 : size;
    uint8_t *buffer = (uint8_t *)realloc(w->buffer, capacity);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    w->buffer = buffer;
    w->capacity = capacity;
    return true;
}

bool window_fill(struct window *w, uint64_t offset, size_t size, struct reel_error *err) {
    uint64_t end = w->source->size;
    if (offset > end || size > end - offset) {
        return reel_source_read(w->source, offset, w->buffer, size, err); /* fails with the right error */
    }
    if (size > w->capacity && !window_grow(w, size, err)) {
        return false;
    }
    size_t kept = window_held(w, offset);
    if (kept > 0) {
        memmove(w->buffer, w->buffer + (offset - w->offset), kept);
    }
    w->offset = offset;
    w->size = kept; /* true also when the read below fails */
    size_t length = end - offset < w->capacity ? (size_t)(end - offset) : w->capacity;
    if (!reel_source_read(w->source, offset + kept, w->buffer + kept, length - kept, err)) {
        return false;
    }
    w->size = length;
    return true;
}
