/* A moving window on a source. Bytes already held are kept, so a walk from front to back reads every byte once. */
#include "base/window.h"

#include "base/cancel.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for `size` bytes. */
static bool window_widen(struct window *w, size_t size, struct reel_error *err) {
    size = size > 0 ? size : 1;
    uint8_t *own = size > w->room ? (uint8_t *)realloc(w->own, size) : w->own;
    if (!own) {
        return reel_fail_memory(err);
    }
    w->buffer = w->own = own;
    w->room = size > w->room ? size : w->room;
    return true;
}

/* A source in memory needs no copy: the window shows all of it. False: it is not in memory. */
static bool show_memory(struct window *w) {
    const uint8_t *bytes = reel_source_bytes(w->source);
    if (bytes) {
        w->buffer = bytes;
        w->offset = 0;
        w->size = (size_t)w->source->size;
    }
    return bytes;
}

bool window_open(struct window *w, struct reel_source *source, size_t capacity, struct reel_error *err) {
    *w = (struct window){.source = source, .capacity = capacity > 0 ? capacity : 1};
    return !source || show_memory(w) || window_widen(w, source->size < capacity ? (size_t)source->size : capacity, err);
}

void window_close(struct window *w) {
    free(w->own);
    *w = (struct window){0};
}

bool window_fill(struct window *w, uint64_t offset, size_t size, struct reel_error *err) {
    uint64_t end = w->source->size;
    if (!cancel_check(err)) {
        return false;
    }
    if (offset > end || size > end - offset) {
        return reel_source_read(w->source, offset, w->own, size, err); /* fails with the right error */
    }
    if (show_memory(w)) {
        return true;
    }
    if (size > w->capacity) {
        w->capacity = size < w->capacity * 2 ? w->capacity * 2 : size;
    }
    size_t length = end - offset < w->capacity ? (size_t)(end - offset) : w->capacity;
    if (!window_widen(w, length, err)) {
        return false;
    }
    size_t kept = window_held(w, offset);
    if (kept > 0) {
        memmove(w->own, w->own + (offset - w->offset), kept);
    }
    w->offset = offset;
    w->size = kept; /* true also when the read below fails */
    if (!reel_source_read(w->source, offset + kept, w->own + kept, length - kept, err)) {
        return false;
    }
    w->size = length;
    return true;
}
