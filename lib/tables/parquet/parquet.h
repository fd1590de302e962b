/* Parquet: "PAR1", the row groups, column indexes, offset indexes, the footer, its length, "PAR1". A row group is the
 * chunks of its columns without gaps, a chunk a dictionary if that pays and the data pages. Pages hold no offsets, so a
 * row group can be written alone; what the footer needs to know of one is its note. Numbers are those of
 * parquet.thrift. */
#ifndef REEL_TABLES_PARQUET_PARQUET_H
#define REEL_TABLES_PARQUET_PARQUET_H

#include "base/sink.h"
#include "tables/columns/fill.h"

#define PARQUET_MAGIC "PAR1"

enum parquet_type {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE,
    PARQUET_BYTE_ARRAY
};
enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_DELTA = 5,
    PARQUET_RLE_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT
};
enum parquet_codec { PARQUET_UNCOMPRESSED = 0, PARQUET_ZSTD = 6, PARQUET_LZ4_RAW };
enum {
    PARQUET_PAGE_BYTES = 1 << 20, /* values of a page, and rows; its statistics tell readers what to skip */
    PARQUET_PAGE_ROWS = 20000,
    PARQUET_DICTIONARY_BYTES = 1 << 20,
    PARQUET_BOUND = 32, /* bytes of a minimum or maximum that are kept */
};

static inline enum parquet_type parquet_type_of(const struct column *column) {
    switch (column->kind) {
    case COLUMN_BOOL:
        return PARQUET_BOOLEAN;
    case COLUMN_INTEGER:
        return column->bits == 64 ? PARQUET_INT64 : PARQUET_INT32;
    case COLUMN_FLOAT:
        return PARQUET_FLOAT;
    case COLUMN_DOUBLE:
        return PARQUET_DOUBLE;
    case COLUMN_TIME:
    case COLUMN_DURATION:
        return PARQUET_INT64;
    default:
        return PARQUET_BYTE_ARRAY;
    }
}

/* The way from the table to a leaf. */
struct parquet_leaf {
    const struct column *path[REEL_COLUMN_DEPTH_MAX + 2]; /* the last one is the leaf */
    unsigned n;
    uint8_t max_repetition, max_definition;
};
/* Fills leaves[columns->n] with those of the table, in its order; returns how many there are. */
uint32_t parquet_leaves(const struct columns *columns, struct parquet_leaf *leaves);

/* The smallest and the largest value, as PLAIN has them. */
struct parquet_bounds {
    bool any;     /* there is a value that has an order */
    bool unknown; /* of texts: the largest could not be cut */
    bool exact[2];
    uint8_t size[2];
    uint8_t bytes[2][PARQUET_BOUND]; /* minimum, maximum */
};

/* What is noted of a page and of a chunk; of a group first the chunks of all leaves, then all their pages. */
struct parquet_page {
    uint32_t size; /* with its header */
    uint32_t row;  /* the first one, in the group */
    uint32_t nulls, values;
    struct parquet_bounds bounds;
};
struct parquet_chunk {
    uint64_t size, uncompressed; /* with the headers */
    uint64_t dictionary;         /* size of its page; 0: there is none */
    uint64_t entries, nulls;     /* pairs of levels; those without a value */
    uint32_t n_pages;
    uint32_t encoding;
    struct parquet_bounds bounds;
};

/* ---- levels.c: the entries of some rows of a leaf */

struct parquet_span { /* slots that have values */
    uint64_t from, to;
};
struct parquet_entries {
    struct grow repetition, definition; /* a byte an entry; only where the maximum is not 0 */
    struct parquet_span *spans;
    size_t n_spans, room;
    uint64_t entries, values;
    bool failed;
};
void parquet_entries_free(struct parquet_entries *e);
/* The slots of the leaf that belong to rows [from, to). */
struct parquet_span parquet_slots(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from,
                                  uint64_t to);
void parquet_entries_of(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from, uint64_t to,
                        struct parquet_entries *out);
static inline void parquet_put_varint(struct grow *out, uint64_t value) {
    for (; value > 127; value >>= 7) {
        grow_u8(out, (uint8_t)(value | 128));
    }
    grow_u8(out, (uint8_t)value);
}
/* Appends numbers of `width` bits as Parquet's mixture of runs and packed groups. */
void parquet_put_levels(const uint8_t *levels, uint64_t n, unsigned width, struct grow *out);
void parquet_put_indexes(const uint32_t *indexes, uint64_t n, unsigned width, struct grow *out);

/* ---- values.c */

/* Appends the values of the spans. */
void parquet_put_plain(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out);
void parquet_put_split(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out);
void parquet_put_delta(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out);
void parquet_bounds_add(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                        struct parquet_bounds *bounds);
/* Adds the bounds of a page to those of its chunk. */
void parquet_bounds_join(const struct column *column, struct parquet_bounds *chunk, const struct parquet_bounds *page);
/* Neither the minimum nor the maximum is smaller than that of the page before. */
bool parquet_bounds_follow(const struct column *column, const struct parquet_bounds *page,
                           const struct parquet_bounds *before);

/* ---- chunk.c */

struct parquet_encoder { /* memory that is used for one chunk after another */
    enum parquet_codec codec;
    void *zstd; /* ZSTD_CCtx */
    struct parquet_entries entries;
    struct grow body, scratch;
    struct grow pages; /* struct parquet_page of the last group */
};
void parquet_encoder_free(struct parquet_encoder *e);
/* Appends one leaf of a row group to `out`, and its pages to e->pages, and gives its values' memory back. */
bool parquet_put_leaf(struct parquet_encoder *e, const struct parquet_leaf *leaf, struct columns_fill *fill,
                      struct parquet_chunk *chunk, struct grow *out, struct reel_error *err);
/* Appends a row group to `out`, its chunks to chunks[n_leaves] and their pages to e->pages, and gives the values'
 * memory back. */
bool parquet_put_group(struct parquet_encoder *e, const struct parquet_leaf *leaves, uint32_t n_leaves,
                       struct columns_fill *fill, struct parquet_chunk *chunks, struct grow *out,
                       struct reel_error *err);

/* ---- footer.c */

struct parquet_group {
    uint64_t offset, size, rows;
    const struct parquet_chunk *chunks; /* by leaf */
    const struct parquet_page *pages;
};
struct parquet_footer {
    const struct columns *columns;
    const struct parquet_leaf *leaves;
    uint32_t n_leaves;
    enum parquet_codec codec;
    uint64_t n_groups;
    struct parquet_group (*group)(void *context, uint64_t group);
    void *context;
    const struct columns_about *about;
    uint32_t n_about;
};
/* Column indexes, offset indexes, the footer, its length and the magic. Any number of groups takes no memory. */
bool parquet_put_footer(const struct parquet_footer *f, struct reel_sink *out, struct reel_error *err);

#endif
