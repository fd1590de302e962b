/* The index inside the core: segments and chunk rows, read on demand and checked on every read. */
#ifndef REEL_INDEX_INDEX_H
#define REEL_INDEX_INDEX_H

#include <stdatomic.h>

#include "index/format.h"
#include "index/pack_model.h"
#include "reel/open.h"

/* Makes the pack of a corrupted index again, in place of its file, which has been removed. Any thread that reads may
 * call it, several at once. done(), which may be NULL, ends `context` with the index. */
struct index_remake {
    bool (*make)(void *context, struct reel_error *err);
    void (*done)(void *context);
    void *context;
};

struct reel_index {
    struct pack_model model;
    struct reel_index_info info;
    uint64_t pack_bytes;   /* size of the pack file */
    uint64_t memory;       /* bytes of the opened index, for caches */
    size_t *first_segment; /* of each channel, n_channels + 1 items; segments of a channel are consecutive, sorted by
                              first key */
    int fd;
    uint8_t *recent; /* what is at offsets from INDEX_RECENT on; NULL: the file has all */
    size_t recent_size;
    char *path;
    atomic_bool *corrupted; /* set by any thread that reads */
    struct index_remake remake;
};

/* REEL_NOT_FOUND: no such file. REEL_CHANGED: an older version, another program's, or a checksum that does not hold:
 * rebuild it. */
struct reel_index *reel_index_open(const char *pack_path, struct reel_error *err);
/* The same of an open file, which it takes over, also on failure; pack_path NULL: it has no name. */
struct reel_index *index_of_pack(int fd, const char *pack_path, struct reel_error *err);
/* The same of a pack that another version of its format's reader may have made: it says what was in the recording, but
 * no messages can be read by it. */
struct reel_index *index_of_any_reader(int fd, struct reel_error *err);
/* About the bytes that opening the pack in this file takes; 0: it is none. */
uint64_t index_opening_memory(int fd);
/* Whether the open pack is whole, but made by another version of the pack or of its format's reader. */
bool index_is_of_another_version(int fd);
/* Closes the file; from now on it is open only while it is read, so that one may have a thousand indexes. Before other
 * threads have it. */
void reel_index_rest(struct reel_index *index);

/* Times count as a user says. Before other threads have it. */
#define INDEX_CLOCK_SET "set by a user"
void reel_index_set_clock(struct reel_index *index, enum reel_clock clock);

/* Reads the whole pack and checks its checksums; opening checks only those of the directory, and reading only those of
 * what is read. */
bool reel_index_verify(const struct reel_index *index, struct reel_error *err);
/* From now on reads of a corrupted pack make it again and go on. Takes over the context. Before other threads have the
 * index. */
void index_set_remake(struct reel_index *index, struct index_remake remake);
/* Bytes read from the pack did not match their checksum: it has to be discarded, and rebuilt. */
bool reel_index_is_corrupted(const struct reel_index *index);
/* Removes the file of a corrupted pack, unless another pack has replaced it. Does nothing to a pack that is not known
 * to be corrupted. */
void reel_index_discard(const struct reel_index *index);
/* As arrays, what programs get one by one. */
const struct reel_attachment *reel_index_attachments(const struct reel_index *index, size_t *count);
const struct reel_finding *reel_index_findings(const struct reel_index *index, size_t *count);
uint64_t reel_index_part_size(const struct reel_index *index, uint32_t part);
/* All chunks but the parts themselves, in the order of their ids; visit() false ends it. */
bool reel_index_chunks(const struct reel_index *index, bool (*visit)(void *context, const struct reel_chunk *chunk),
                       void *context, struct reel_error *err);

#define INDEX_RECENT (UINT64_C(1) << 62)
/* An index whose directory is given, of a pack that is still being written. Takes over `fd` and `recent`, also on
 * failure. */
struct reel_index *index_of_growing(int fd, struct reel_bytes directory, uint8_t *recent, size_t recent_size,
                                    struct reel_error *err);

/* Segment bytes into `buffer` (segment->size bytes), CRC checked. */
bool index_read_segment(const struct reel_index *index, const struct pack_segment *segment, uint8_t *buffer,
                        struct reel_error *err);

/* As reel_index_coverage(), of the messages whose payloads have at least `least` bytes (0: all). A summary does not
 * know the sizes: of all. */
bool index_coverage_from(const struct reel_index *index, uint32_t channel, uint32_t least, int64_t start_ns,
                         uint64_t width_ns, struct reel_span *spans, uint32_t n, struct reel_error *err);
/* The statistics of these messages. */
bool index_stats_from(const struct reel_index *index, uint32_t channel, uint32_t least, struct reel_channel_stats *out,
                      struct reel_error *err);

/* For each finding (reel_index_findings()) the times of the messages that are stored before and after a loss; count 0:
 * it is no loss, or its place is not known. Reads the whole index. */
bool index_loss_times(const struct reel_index *index, struct reel_span *out, struct reel_error *err);

/* How many chunk rows the largest segment of them has, at least 1. */
size_t index_chunk_rows(const struct reel_index *index);

/* The segment of chunk rows with chunk `id` into `rows`, which has room for index_chunk_rows(); *first is the id of
 * rows[0]. */
bool index_read_chunks(const struct reel_index *index, uint32_t id, struct reel_chunk *rows, uint32_t *first,
                       uint32_t *count, struct reel_error *err);

#endif
