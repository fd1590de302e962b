/* One column of a row group: a dictionary if it pays, and data pages of whole rows, each compressed with its levels. */
#include "tables/parquet/parquet.h"

#include <lz4.h>
#include <zstd.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "tables/parquet/thrift.h"

enum { ZSTD_LEVEL = 1, PAGE_DATA = 0, PAGE_DICTIONARY = 2, HEADER_ROOM = 96 };

struct dictionary {
    struct hash_table table; /* text → index + 1 */
    struct grow words;       /* as a PLAIN page */
    struct grow indexes;     /* u32, of each value */
    uint32_t count;
};
static void dictionary_done(struct dictionary *d) {
    hash_table_free(&d->table);
    free(d->words.data);
    free(d->indexes.data);
}

void parquet_encoder_free(struct parquet_encoder *e) {
    ZSTD_freeCCtx(e->zstd);
    parquet_entries_free(&e->entries);
    free(e->body.data);
    free(e->scratch.data);
    free(e->pages.data);
}

/* ---- pages */

/* Appends `raw` compressed; *size: what that takes. */
static bool put_compressed(struct parquet_encoder *e, struct reel_bytes raw, struct grow *out, struct reel_error *err) {
    size_t bound = e->codec == PARQUET_ZSTD ? ZSTD_compressBound(raw.size) : (size_t)LZ4_compressBound((int)raw.size);
    uint8_t *room = grow_room(out, bound);
    if (!room || (e->codec == PARQUET_ZSTD && !e->zstd && !(e->zstd = ZSTD_createCCtx()))) {
        return reel_fail_memory(err);
    }
    size_t size = 0;
    if (e->codec == PARQUET_ZSTD) {
        size = ZSTD_compressCCtx(e->zstd, room, bound, raw.data, raw.size, ZSTD_LEVEL);
        size = ZSTD_isError(size) ? 0 : size;
    } else {
        int written = LZ4_compress_default((const char *)raw.data, (char *)room, (int)raw.size, (int)bound);
        size = written > 0 ? (size_t)written : 0;
    }
    out->size += size;
    return size > 0 || reel_fail_memory(err); /* there is room for it, so memory is the only reason */
}

struct header {
    int kind;
    uint64_t entries;
    enum parquet_encoding encoding;
};

static size_t chunk_put_header(const struct header *h, size_t raw, size_t stored, uint8_t room[HEADER_ROOM]) {
    struct reel_sink sink = {.hi = HEADER_ROOM, .buffer = room};
    struct thrift t = thrift_to(&sink);
    thrift_i32(&t, 1, h->kind);
    thrift_i32(&t, 2, (int32_t)raw);
    thrift_i32(&t, 3, (int32_t)stored);
    thrift_begin(&t, h->kind == PAGE_DICTIONARY ? 7 : 5);
    thrift_i32(&t, 1, (int32_t)h->entries);
    thrift_i32(&t, 2, h->encoding);
    if (h->kind == PAGE_DATA) {
        thrift_i32(&t, 3, PARQUET_RLE);
        thrift_i32(&t, 4, PARQUET_RLE);
    }
    thrift_end(&t);
    reel_sink_u8(&sink, 0);
    return (size_t)sink.pos;
}

/* Appends a page; `out` gets the header once the size of what follows is known. */
static bool put_page(struct parquet_encoder *e, const struct header *h, struct reel_bytes raw,
                     struct parquet_chunk *chunk, struct grow *out, uint32_t *size, struct reel_error *err) {
    uint8_t head[HEADER_ROOM];
    struct reel_bytes stored = raw;
    if (raw.size > INT32_MAX / 2) {
        return reel_fail(err, REEL_LIMIT, "%zu bytes are too many for a page of a table", raw.size);
    }
    if (e->codec != PARQUET_UNCOMPRESSED) {
        e->scratch.size = 0;
        if (!put_compressed(e, raw, &e->scratch, err)) {
            return false;
        }
        stored = bytes_of(e->scratch.data, e->scratch.size);
    }
    size_t head_size = chunk_put_header(h, raw.size, stored.size, head);
    grow_put(out, head, head_size);
    grow_put(out, stored.data, stored.size);
    *size = (uint32_t)(head_size + stored.size);
    chunk->size += *size;
    chunk->uncompressed += head_size + raw.size;
    return !out->failed || reel_fail_memory(err);
}

/* ---- dictionaries */

/* Adds the values of the entries. *pays: there are few enough of them. False: no memory. */
static bool add_words(struct dictionary *d, const struct column_data *data, const struct parquet_entries *e,
                      uint64_t most, bool *pays) {
    for (size_t s = 0; s < e->n_spans; s++) {
        for (uint64_t i = e->spans[s].from; i < e->spans[s].to; i++) {
            uint64_t from = column_offset(data, i), to = load_u32le(data->offsets.data + i * 4);
            struct hash_key key = hash_key_bytes(bytes_of(data->values.data + from, to - from));
            uintptr_t found = hash_table_get(&d->table, key);
            if (!found) {
                found = (uintptr_t)++d->count;
                grow_u32(&d->words, (uint32_t)key.bytes.size);
                grow_put(&d->words, key.bytes.data, key.bytes.size);
                *pays = d->count <= most && d->words.size <= PARQUET_DICTIONARY_BYTES;
                if (!*pays) {
                    return true;
                }
                if (!hash_table_set(&d->table, key, found, NULL)) {
                    return false;
                }
            }
            grow_u32(&d->indexes, (uint32_t)found - 1);
        }
    }
    return !d->words.failed && !d->indexes.failed;
}

/* Texts of which most repeat are stored once. */
static bool make_dictionary(struct parquet_encoder *e, const struct parquet_leaf *leaf, const struct column_data *data,
                            uint64_t rows, struct dictionary *d, bool *pays, struct reel_error *err) {
    enum { SHARE = 4 };
    const struct column *column = leaf->path[leaf->n - 1];
    *pays = column->kind == COLUMN_TEXT || column->kind == COLUMN_JSON;
    if (!*pays) {
        return true;
    }
    parquet_entries_of(leaf, data, 0, rows, &e->entries);
    *pays = e->entries.values >= SHARE;
    return (!e->entries.failed &&
            (!*pays || add_words(d, &data[column->index], &e->entries, e->entries.values / SHARE, pays))) ||
           reel_fail_memory(err);
}

/* ---- a chunk */

static enum parquet_encoding chunk_encoding_of(const struct parquet_encoder *e, const struct parquet_leaf *leaf) {
    const struct column *column = leaf->path[leaf->n - 1];
    bool real = column->kind == COLUMN_FLOAT || column->kind == COLUMN_DOUBLE;
    bool whole = column->kind == COLUMN_TIME || (column->kind == COLUMN_INTEGER && column->bits >= 32);
    return real && e->codec != PARQUET_UNCOMPRESSED ? PARQUET_BYTE_STREAM_SPLIT
           : whole && leaf->max_definition == 0     ? PARQUET_DELTA /* readers fail on some optional ones */
                                                    : PARQUET_PLAIN;
}

/* About how many bytes rows [from, to) of the leaf take. */
static uint64_t bytes_of_rows(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from,
                              uint64_t to) {
    const struct column *column = leaf->path[leaf->n - 1];
    const struct column_data *values = &data[column->index];
    struct parquet_span slots = parquet_slots(leaf, data, from, to);
    uint64_t n = slots.to - slots.from;
    return !column_is_bytes(column) ? n * column_width(column)
                                    : n * 4 + column_offset(values, slots.to) - column_offset(values, slots.from);
}

/* The row at which a page that begins with row `from` ends: at least one row, and as many as fit. */
static uint64_t page_end(const struct parquet_leaf *leaf, const struct column_data *data, uint64_t from,
                         uint64_t rows) {
    uint64_t low = from + 1, high = rows - from < PARQUET_PAGE_ROWS ? rows : from + PARQUET_PAGE_ROWS;
    if (bytes_of_rows(leaf, data, from, high) <= PARQUET_PAGE_BYTES) {
        return high;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (bytes_of_rows(leaf, data, from, middle) <= PARQUET_PAGE_BYTES) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static unsigned chunk_width_of(uint64_t most) {
    return most == 0 ? 0 : 64 - (unsigned)__builtin_clzll(most);
}

static void put_levels(const struct grow *levels, uint8_t most, struct grow *body) {
    if (most == 0) {
        return;
    }
    size_t at = body->size;
    grow_u32(body, 0);
    parquet_put_levels(levels->data, levels->size, chunk_width_of(most), body);
    if (!body->failed) {
        store_u32le(body->data + at, (uint32_t)(body->size - at - 4));
    }
}

static void chunk_put_values(const struct parquet_leaf *leaf, const struct column_data *data,
                             const struct parquet_entries *e, enum parquet_encoding encoding,
                             const struct dictionary *d, uint64_t before, struct grow *body) {
    const struct column *column = leaf->path[leaf->n - 1];
    const struct column_data *values = &data[column->index];
    if (encoding == PARQUET_RLE_DICTIONARY) {
        unsigned width = d->count > 1 ? chunk_width_of(d->count - 1) : 1;
        grow_u8(body, (uint8_t)width);
        parquet_put_indexes((const uint32_t *)(const void *)d->indexes.data + before, e->values, width, body);
    } else if (encoding == PARQUET_DELTA) {
        parquet_put_delta(column, values, e, body);
    } else if (encoding == PARQUET_BYTE_STREAM_SPLIT) {
        parquet_put_split(column, values, e, body);
    } else {
        parquet_put_plain(column, values, e, body);
    }
}

static bool put_pages(struct parquet_encoder *e, const struct parquet_leaf *leaf, const struct column_data *data,
                      uint64_t rows, const struct dictionary *d, struct parquet_chunk *chunk, struct grow *out,
                      struct reel_error *err) {
    const struct column *column = leaf->path[leaf->n - 1];
    struct parquet_entries *entries = &e->entries;
    uint64_t values = 0;
    for (uint64_t from = 0, to; from < rows; from = to) {
        to = page_end(leaf, data, from, rows);
        parquet_entries_of(leaf, data, from, to, entries);
        e->body.size = 0;
        put_levels(&entries->repetition, leaf->max_repetition, &e->body);
        put_levels(&entries->definition, leaf->max_definition, &e->body);
        chunk_put_values(leaf, data, entries, (enum parquet_encoding)chunk->encoding, d, values, &e->body);
        if (entries->failed || e->body.failed) {
            return reel_fail_memory(err);
        }
        struct parquet_page page = {.row = (uint32_t)from,
                                    .nulls = (uint32_t)(entries->entries - entries->values),
                                    .values = (uint32_t)entries->values};
        const struct header h = {PAGE_DATA, entries->entries, (enum parquet_encoding)chunk->encoding};
        parquet_bounds_add(column, &data[column->index], entries, &page.bounds);
        if (!put_page(e, &h, bytes_of(e->body.data, e->body.size), chunk, out, &page.size, err)) {
            return false;
        }
        parquet_bounds_join(column, &chunk->bounds, &page.bounds);
        grow_put(&e->pages, &page, sizeof page);
        values += entries->values;
        chunk->entries += entries->entries;
        chunk->nulls += page.nulls;
        chunk->n_pages++;
    }
    return !e->pages.failed || reel_fail_memory(err);
}

static bool chunk_put_chunk(struct parquet_encoder *e, const struct parquet_leaf *leaf, const struct column_data *data,
                            uint64_t rows, struct parquet_chunk *chunk, struct grow *out, struct reel_error *err) {
    AUTO_STRUCT(dictionary_done) struct dictionary d = {0};
    uint32_t size = 0;
    memset(chunk, 0, sizeof *chunk); /* with its padding: notes are compared */
    chunk->encoding = chunk_encoding_of(e, leaf);
    bool pays;
    if (!make_dictionary(e, leaf, data, rows, &d, &pays, err)) {
        return false;
    }
    if (pays) {
        const struct header h = {PAGE_DICTIONARY, d.count, PARQUET_PLAIN};
        chunk->encoding = PARQUET_RLE_DICTIONARY;
        if (!put_page(e, &h, bytes_of(d.words.data, d.words.size), chunk, out, &size, err)) {
            return false;
        }
        chunk->dictionary = size;
    }
    return put_pages(e, leaf, data, rows, &d, chunk, out, err);
}

bool parquet_put_leaf(struct parquet_encoder *e, const struct parquet_leaf *leaf, struct columns_fill *fill,
                      struct parquet_chunk *chunk, struct grow *out, struct reel_error *err) {
    if (!cancel_check(err) || !chunk_put_chunk(e, leaf, fill->data, fill->rows, chunk, out, err)) {
        return false;
    }
    column_data_free(&fill->data[leaf->path[leaf->n - 1]->index]); /* what is encoded need not be held twice */
    return true;
}

bool parquet_put_group(struct parquet_encoder *e, const struct parquet_leaf *leaves, uint32_t n_leaves,
                       struct columns_fill *fill, struct parquet_chunk *chunks, struct grow *out,
                       struct reel_error *err) {
    e->pages.size = 0;
    for (uint32_t i = 0; i < n_leaves; i++) {
        if (!parquet_put_leaf(e, &leaves[i], fill, &chunks[i], out, err)) {
            return false;
        }
    }
    return true;
}
