/* Field statistics on disk: of each channel with messages its fields, and of each block of its messages the range of
 * each field's values.
 *
 *   offset  size  what
 *   0       8     magic "REELSTAT"
 *   8       4     STATISTICS_VERSION
 *   12      4     statistics_version(): other decoders may emit other values
 *   16      4     size of the directory as stored (zstd)
 *   20      4     its raw size
 *   24      4     CRC-32 of the stored directory
 *   28      4     CRC-32 of the 28 bytes before
 *   32      …     directory, then one section for each channel that has blocks, each compressed by zstd
 *
 * Directory: u32 n, then for each channel: u32 id; u32 flags; u32 number of topics and as many texts (u32 size, bytes);
 * u32 number of fields, u32 number of blocks; i64 last time; for each field a text, u8 flags and a cell over all
 * blocks; then u64 offset of the section, u32 stored, u32 raw, u32 CRC-32.
 *
 * Section: columns, one value for each block: i64 first time, u32 chunk and u64 offset of its first message, u32
 * messages; then for each field f64 min, f64 max, u32 numbers, u32 NaNs, u8 has texts. All integers little-endian. */
#ifndef REEL_VALUES_STATISTICS_H
#define REEL_VALUES_STATISTICS_H

#include "base/arena.h"
#include "decode/condition.h"
#include "decode/encoding.h"
#include "index/pack.h"
#include "reel/values.h"

#define STATISTICS_MAGIC "REELSTAT"
enum {
    STATISTICS_VERSION = 1,
    STATISTICS_HEADER = 32,
    STATISTICS_BLOCK = 8 + 4 + 8 + 4,    /* bytes of a block … */
    STATISTICS_CELL = 8 + 8 + 4 + 4 + 1, /* … and of one field in it, in a section */
    STATISTICS_DIRECTORY_MAX = 64 << 20, /* raw */
};

/* `varies`: the recording's values depend on the definitions that users supply, which change more often than decoders;
 * the statistics of others stay. */
static inline uint32_t statistics_version(bool varies) {
    return varies ? reel_encodings_version() * 31 + 7 : reel_decoders_version();
}

enum {
    FIELD_TIMES = 1,
    FIELD_NUMBERS = 2,
    FIELD_OPAQUE = 4 /* is sometimes a list or a time with parts, which have no statistics */
};
enum { CHANNEL_DECODED = 1, CHANNEL_TRUNCATED = 2 /* it has more fields than are listed */ };

/* Of one field in one block, or in all of them. */
struct cell {
    double min, max;
    uint64_t numbers, nans;
    bool has_texts;
};
static inline void cell_join(struct cell *a, const struct cell *b) {
    bool first = a->numbers == 0;
    if (b->numbers > 0) {
        a->min = first || b->min < a->min ? b->min : a->min;
        a->max = first || b->max > a->max ? b->max : a->max;
    }
    a->numbers += b->numbers;
    a->nans += b->nans;
    a->has_texts |= b->has_texts;
}

struct field_statistics {
    struct reel_bytes path;
    uint8_t flags;
    struct cell all;
};
struct block {
    struct pack_key first; /* its first message */
    uint32_t messages;
};
struct channel_statistics {
    uint32_t id, flags, n_topics, n_fields, n_blocks;
    struct reel_bytes *topics;
    struct field_statistics *fields;
    int64_t last_ns;
    uint64_t messages;
    /* its section */
    uint64_t offset;
    uint32_t stored, raw, crc;
    uint8_t *section; /* NULL: not read yet */
};

struct reel_statistics {
    struct reel_source *source;
    uint8_t *directory; /* that the texts point into */
    struct channel_statistics *channels;
    uint32_t n_channels;
    struct arena arena;
};

/* Reads the channel's section, unless it was read before. REEL_CHANGED: it is damaged. */
bool statistics_load(struct reel_statistics *s, struct channel_statistics *c, struct reel_error *err);
/* After it. */
struct block statistics_block(const struct channel_statistics *c, uint32_t block);
struct cell statistics_cell(const struct channel_statistics *c, uint32_t field, uint32_t block);

#endif
