/* The index pack on disk: what is written once by the builder and read ever after.
 *
 *   offset      size  what
 *   0           8     magic "REELPACK"
 *   8           4     PACK_VERSION
 *   12          4     zero
 *   16          …     segments of entries and of chunk rows, of up to REEL_SEGMENT_ENTRIES rows, column by column
 *   dir         …     directory: the model (channels, findings …), then a row for each segment (pack_model.c)
 *   end - 32    8     offset of the directory
 *   end - 24    8     its size
 *   end - 16    4     its CRC-32
 *   end - 12    4     PACK_VERSION
 *   end - 8     8     magic again
 *
 * A segment holds entries of one channel sorted by (time, chunk, offset). Every segment and the directory carry a
 * CRC-32. All integers little-endian. */
#ifndef REEL_INDEX_PACK_H
#define REEL_INDEX_PACK_H

#include "index/entry.h"
#include "reel/error.h"

enum {
    PACK_VERSION = 4,
    PACK_HEADER_BYTES = 16,
    PACK_FOOTER_BYTES = 32,
    PACK_ENTRY_COLUMNS = 5 + REEL_ENTRY_EXTRAS,
    PACK_CHUNK_COLUMNS = 5,
    PACK_CODEC_DAMAGED = 1 << 7, /* flag in the codec column */
    PACK_DIRECTORY_MAX = 1 << 30
};
#define PACK_MAGIC "REELPACK"

/* Sort key of an entry in its recording. */
struct pack_key {
    int64_t time_ns;
    uint64_t offset;
    uint32_t chunk;
};
static inline struct pack_key pack_key_of(const struct reel_entry *e) {
    return (struct pack_key){.time_ns = e->time_ns, .chunk = e->chunk, .offset = e->offset};
}
static inline int pack_key_compare(const struct pack_key *a, const struct pack_key *b) {
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    if (a->chunk != b->chunk) {
        return a->chunk < b->chunk ? -1 : 1;
    }
    return a->offset == b->offset ? 0 : a->offset < b->offset ? -1 : 1;
}

struct pack_segment {
    uint32_t channel, count;
    struct pack_key first, last;
    uint64_t gap;    /* the longest time between two consecutive entries */
    uint64_t offset; /* in the pack */
    uint32_t size, crc;
};
struct pack_chunk_segment {
    uint64_t offset;
    uint32_t count, size, crc;
};

/* Worst-case bytes of a packed segment of n rows and c columns. */
#define PACK_BOUND(n, c) ((size_t)(c) * (11 + (size_t)(n)*10))

/* Packs n (>= 1) entries of one channel into `out`; returns the bytes used. */
size_t pack_entries(const struct reel_entry *entries, size_t n, uint8_t *out);
size_t pack_chunks(const struct reel_chunk *chunks, size_t n, uint8_t *out);

/* Unpacks a segment entry by entry, all columns in parallel. */
struct pack_column {
    const uint8_t *at, *end;
    uint64_t value, step;
    uint8_t mode;
};
struct pack_cursor {
    struct pack_column columns[PACK_ENTRY_COLUMNS];
    uint32_t left, channel;
};
/* `data` must stay valid while the cursor is used. False when the columns do not fit the bytes. */
bool pack_cursor_open(struct pack_cursor *c, struct reel_bytes data, uint32_t count, uint32_t channel);
/* Skips the entries before `time_ns`: other columns than that of the times are only summed up. */
void pack_cursor_skip(struct pack_cursor *c, int64_t time_ns);
/* The next entry; false at the end. Reads beyond the data yield zero; the CRC was checked before. */
bool pack_cursor_next(struct pack_cursor *c, struct reel_entry *out);

bool pack_unpack_chunks(struct reel_bytes data, uint32_t count, struct reel_chunk *out);

uint32_t pack_crc(const void *data, size_t size);

#endif
