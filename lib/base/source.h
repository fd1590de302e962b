/* A source answers positional reads of a fixed-size run of bytes: a file, memory, a slice of another source, and
 * anything else that implements these operations. Sources are immutable and may be read from
 * many threads. */
#ifndef REEL_BASE_SOURCE_H
#define REEL_BASE_SOURCE_H

#include "reel/bytes.h"
#include "reel/cleanup.h"
#include "reel/error.h"

struct reel_source;

struct reel_source_ops {
    /* Reads exactly `size` bytes at `offset`; the core has checked that they lie inside. */
    bool (*read)(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err);
    void (*free)(struct reel_source *source);
    int (*fd)(struct reel_source *source);               /* optional: see reel_source_fd() */
    const uint8_t *(*bytes)(struct reel_source *source); /* optional: see reel_source_bytes() */
};

/* Kinds of sources put this first in their own struct. */
struct reel_source {
    const struct reel_source_ops *ops;
    uint64_t size;
    const char *name; /* file name without folders, for messages, and for formats that are recognised by name; never
                         NULL */
    bool sparse;      /* only the bytes of the selected messages exist: do not read ahead */
};

/* Opens a file for reading; its size is fixed at this moment. `name` defaults to the last part of the path when NULL.
 */
struct reel_source *reel_source_open(const char *path, const char *name, struct reel_error *err);

/* Takes over `fd` (closed by reel_source_free, also when this fails). */
struct reel_source *reel_source_from_fd(int fd, const char *name, struct reel_error *err);

/* The bytes must outlive the source. */
struct reel_source *reel_source_from_memory(struct reel_bytes data, const char *name, struct reel_error *err);

/* A part of `base`, which must outlive the slice. Fails when the slice does not lie inside. */
struct reel_source *reel_source_slice(struct reel_source *base, uint64_t offset, uint64_t size, struct reel_error *err);

/* Reads exactly `size` bytes; bytes past the end are REEL_DAMAGED ("… exceeds the file"). */
bool reel_source_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size, struct reel_error *err);

/* A descriptor of a file that holds the same bytes at the same places while the source lives, or -1. For sendfile and
 * clones of files. */
int reel_source_fd(struct reel_source *source);

/* All its bytes, where they are in memory anyway, as long as the source lives; NULL where they are not. */
const uint8_t *reel_source_bytes(struct reel_source *source);

void reel_source_free(struct reel_source *source); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_source, reel_source_free);

#endif
