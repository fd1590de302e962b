/* A moving window on a source, for walking a file from front to back (or jumping): bytes are read in runs of
 * REEL_WINDOW_BYTES, so peeking at the next few hundred costs a compare. */
#ifndef REEL_BASE_WINDOW_H
#define REEL_BASE_WINDOW_H

#include "base/source.h"

struct window {
    struct reel_source *source; /* not owned */
    const uint8_t *buffer;      /* `own`, or the bytes of a source in memory: then it holds all of them */
    uint8_t *own;
    size_t capacity; /* bytes that one read fetches at most */
    size_t room;     /* of `own`; less than the capacity for a small source */
    uint64_t offset; /* of buffer[0] in the source */
    size_t size;     /* bytes held */
};

bool window_open(struct window *w, struct reel_source *source, size_t capacity, struct reel_error *err);
void window_close(struct window *w);
bool window_fill(struct window *w, uint64_t offset, size_t size, struct reel_error *err); /* slow path of window_at */

/* Bytes [offset, offset + size), valid until the next call; NULL with err when they exceed the source (REEL_DAMAGED) or
 * the read fails. A size above the capacity makes the buffer grow: the caller has checked it against a limit. */
static inline const uint8_t *window_at(struct window *w, uint64_t offset, size_t size, struct reel_error *err) {
    if (offset >= w->offset && offset - w->offset <= w->size && size <= w->size - (size_t)(offset - w->offset)) {
        return w->buffer + (offset - w->offset);
    }
    return window_fill(w, offset, size, err) ? w->buffer + (offset - w->offset) : NULL;
}
/* How many bytes from `offset` are held, without reading; for processing the buffered bytes at once. */
static inline size_t window_held(const struct window *w, uint64_t offset) {
    return offset >= w->offset && offset - w->offset <= w->size ? w->size - (size_t)(offset - w->offset) : 0;
}

#endif
