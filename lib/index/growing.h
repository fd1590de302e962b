/* The index of a file that is still being written: what is appended is scanned once, and at any moment there is an
 * index of what has been read so far. */
#ifndef REEL_INDEX_GROWING_H
#define REEL_INDEX_GROWING_H

#include "index/index.h"
#include "index/scan.h"

/* One thread at a time. */
struct reel_growing;

/* Opens the file and reads nothing. The pack grows in a temporary file beside `pack_path`. REEL_UNSUPPORTED: files of
 * this format cannot be read while they grow. */
struct reel_growing *reel_growing_open(const char *path, const struct reel_format *format, const char *pack_path,
                                       struct reel_error *err);
/* Reads what was appended since the last call, up to `size` bytes of the file, where a record must end. */
bool reel_growing_read(struct reel_growing *growing, uint64_t size, const struct reel_progress *progress,
                       struct reel_error *err);
/* An index of what was read. It does not change when more is read. Free with reel_index_free(). */
struct reel_index *reel_growing_index(struct reel_growing *growing, struct reel_error *err);
/* The file is complete, with `size` bytes: reads the rest and puts the pack in place. */
bool reel_growing_finish(struct reel_growing *growing, uint64_t size, struct reel_error *err);
/* Removes the unfinished pack; NULL is fine. */
void reel_growing_free(struct reel_growing *growing);
REEL_DEFINE_AUTO(struct reel_growing, reel_growing_free);

/* What a format implements: struct reel_format.growth. `state` has state_size zeroed bytes; the scan's only part grows
 * between calls. */
struct reel_growth_ops {
    size_t state_size;
    bool (*open)(void *state, struct reel_scan *scan, struct reel_error *err);
    bool (*read)(void *state, struct reel_error *err); /* to the end of the part */
    bool (*finish)(void *state, struct reel_error *err);
    void (*close)(void *state); /* also after a failed open() */
};

#endif
