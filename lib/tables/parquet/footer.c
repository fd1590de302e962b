/* What stands behind the row groups: for each chunk the bounds of its pages and their positions, then the footer. All
 * of it is computed again from the notes of the groups while it is written. */
#include "base/bytes.h"
#include "tables/columns/messages.h"
#include "tables/parquet/parquet.h"
#include "tables/parquet/thrift.h"

enum { REQUIRED, OPTIONAL, REPEATED };
enum { UNORDERED, ASCENDING };
enum {
    CONVERTED_UTF8 = 0,
    CONVERTED_LIST = 3,
    CONVERTED_UNSIGNED = 11,
    CONVERTED_SIGNED = 15
}; /* of 8 bits; 16, 32, 64 follow */
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10, UNIT_NANOS = 3 };

/* ---- the schema */

static int children_of(const struct column *column) {
    return (int)column->n_children;
}

static void put_logical(struct thrift *t, int kind) {
    thrift_begin(t, 10);
    thrift_begin(t, kind);
    thrift_end(t);
    thrift_end(t);
}

static void put_integer_type(struct thrift *t, unsigned bits, bool is_signed) {
    unsigned step = (unsigned)__builtin_ctz(bits) - 3;
    thrift_i32(t, 6, (int)(step + (is_signed ? CONVERTED_SIGNED : CONVERTED_UNSIGNED)));
    thrift_begin(t, 10);
    thrift_begin(t, LOGICAL_INTEGER);
    thrift_i8(t, 1, (int8_t)bits);
    thrift_bool(t, 2, is_signed);
    thrift_end(t);
    thrift_end(t);
}

static void put_time_type(struct thrift *t) {
    thrift_begin(t, 10);
    thrift_begin(t, LOGICAL_TIMESTAMP);
    thrift_bool(t, 1, true);
    thrift_begin(t, 2);
    thrift_begin(t, UNIT_NANOS);
    thrift_end(t);
    thrift_end(t);
    thrift_end(t);
    thrift_end(t);
}

static void footer_put_leaf(struct thrift *t, const struct column *column) {
    thrift_begin_item(t);
    thrift_i32(t, 1, parquet_type_of(column));
    thrift_i32(t, 3, column->optional ? OPTIONAL : REQUIRED);
    thrift_binary(t, 4, bytes_text(column->name));
    /* some readers fail on what is annotated as JSON */
    if (column->kind == COLUMN_TEXT || column->kind == COLUMN_JSON) {
        thrift_i32(t, 6, CONVERTED_UTF8);
        put_logical(t, LOGICAL_STRING);
    } else if (column->kind == COLUMN_INTEGER) {
        put_integer_type(t, column->bits, column->is_signed);
    } else if (column->kind == COLUMN_DURATION) {
        put_integer_type(t, 64, true);
    } else if (column->kind == COLUMN_TIME) {
        put_time_type(t);
    }
    thrift_end(t);
}

static void put_column(struct thrift *t, const struct column *column) {
    if (column_is_leaf(column)) {
        footer_put_leaf(t, column);
        return;
    }
    thrift_begin_item(t);
    thrift_i32(t, 3, column->optional ? OPTIONAL : REQUIRED);
    thrift_binary(t, 4, bytes_text(column->name));
    thrift_i32(t, 5, children_of(column));
    if (column->kind == COLUMN_LIST) {
        thrift_i32(t, 6, CONVERTED_LIST);
        put_logical(t, LOGICAL_LIST);
    }
    thrift_end(t);
    if (column->kind == COLUMN_LIST) {
        thrift_begin_item(t);
        thrift_i32(t, 3, REPEATED);
        thrift_binary(t, 4, bytes_text("list"));
        thrift_i32(t, 5, 1);
        thrift_end(t);
    }
    for (uint32_t i = 0; i < column->n_children; i++) {
        put_column(t, column->children[i]);
    }
}

static void put_schema(struct thrift *t, const struct columns *columns) {
    uint64_t elements = columns->n + 1;
    for (uint32_t i = 0; i < columns->n; i++) {
        elements += columns->all[i]->kind == COLUMN_LIST;
    }
    thrift_list(t, 2, THRIFT_STRUCT, elements);
    thrift_begin_item(t);
    thrift_binary(t, 4, bytes_text("schema"));
    thrift_i32(t, 5, children_of(columns->root));
    thrift_end(t);
    for (uint32_t i = 0; i < columns->root->n_children; i++) {
        put_column(t, columns->root->children[i]);
    }
}

/* ---- indexes of pages */

static struct reel_bytes bound(const struct parquet_bounds *b, int which) {
    return bytes_of(b->bytes[which], b->size[which]);
}

static bool is_indexed(const struct parquet_chunk *chunk, const struct parquet_page *pages) {
    bool indexed = true;
    for (uint32_t i = 0; i < chunk->n_pages; i++) {
        indexed = indexed && (pages[i].values == 0 || (pages[i].bounds.any && !pages[i].bounds.unknown));
    }
    return indexed;
}

/* Where the bounds of the pages that have values only grow, as those of log_time do, a reader finds a value by
 * bisection. */
static int order_of_pages(const struct column *column, const struct parquet_chunk *chunk,
                          const struct parquet_page *pages) {
    const struct parquet_bounds *before = NULL;
    for (uint32_t i = 0; i < chunk->n_pages; i++) {
        if (pages[i].values == 0) {
            continue;
        }
        if (before && !parquet_bounds_follow(column, &pages[i].bounds, before)) {
            return UNORDERED;
        }
        before = &pages[i].bounds;
    }
    return ASCENDING;
}

static void put_column_index(const struct column *column, const struct parquet_chunk *chunk,
                             const struct parquet_page *pages, struct reel_sink *out) {
    struct thrift t = thrift_to(out);
    if (!is_indexed(chunk, pages)) {
        return;
    }
    thrift_list(&t, 1, THRIFT_TRUE, chunk->n_pages);
    for (uint32_t i = 0; i < chunk->n_pages; i++) {
        reel_sink_u8(out, pages[i].values == 0 ? THRIFT_TRUE : THRIFT_FALSE);
    }
    for (int which = 0; which < 2; which++) {
        thrift_list(&t, 2 + which, THRIFT_BINARY, chunk->n_pages);
        for (uint32_t i = 0; i < chunk->n_pages; i++) {
            thrift_bytes(&t, bound(&pages[i].bounds, which));
        }
    }
    thrift_i32(&t, 4, order_of_pages(column, chunk, pages));
    thrift_list(&t, 5, THRIFT_I64, chunk->n_pages);
    for (uint32_t i = 0; i < chunk->n_pages; i++) {
        thrift_zigzag(&t, pages[i].nulls);
    }
    reel_sink_u8(out, 0);
}

static void put_offset_index(const struct parquet_chunk *chunk, const struct parquet_page *pages, uint64_t offset,
                             struct reel_sink *out) {
    struct thrift t = thrift_to(out);
    offset += chunk->dictionary;
    thrift_list(&t, 1, THRIFT_STRUCT, chunk->n_pages);
    for (uint32_t i = 0; i < chunk->n_pages; i++) {
        thrift_begin_item(&t);
        thrift_i64(&t, 1, (int64_t)offset);
        thrift_i32(&t, 2, (int32_t)pages[i].size);
        thrift_i64(&t, 3, pages[i].row);
        thrift_end(&t);
        offset += pages[i].size;
    }
    reel_sink_u8(out, 0);
}

static const struct column *leaf_column(const struct parquet_footer *f, uint32_t leaf) {
    return f->leaves[leaf].path[f->leaves[leaf].n - 1];
}

/* All of one kind, in the order of the chunks. */
static void put_indexes(const struct parquet_footer *f, bool offsets, struct reel_sink *out) {
    for (uint64_t g = 0; g < f->n_groups; g++) {
        struct parquet_group group = f->group(f->context, g);
        uint64_t offset = group.offset;
        for (uint32_t i = 0; i < f->n_leaves; i++) {
            if (offsets) {
                put_offset_index(&group.chunks[i], group.pages, offset, out);
            } else {
                put_column_index(leaf_column(f, i), &group.chunks[i], group.pages, out);
            }
            offset += group.chunks[i].size;
            group.pages += group.chunks[i].n_pages;
        }
    }
}

/* ---- row groups */

static void footer_put_statistics(struct thrift *t, const struct parquet_chunk *chunk) {
    const struct parquet_bounds *b = &chunk->bounds;
    thrift_begin(t, 12);
    thrift_i64(t, 3, (int64_t)chunk->nulls);
    if (b->any && !b->unknown) {
        thrift_binary(t, 5, bound(b, 1));
        thrift_binary(t, 6, bound(b, 0));
        thrift_bool(t, 7, b->exact[1]);
        thrift_bool(t, 8, b->exact[0]);
    }
    thrift_end(t);
}

static void footer_put_path(struct thrift *t, const struct parquet_leaf *leaf) {
    thrift_list(t, 3, THRIFT_BINARY, leaf->n + leaf->max_repetition);
    for (unsigned i = 0; i < leaf->n; i++) {
        thrift_bytes(t, bytes_text(leaf->path[i]->name));
        if (leaf->path[i]->kind == COLUMN_LIST) {
            thrift_bytes(t, bytes_text("list"));
        }
    }
}

static void put_metadata(struct thrift *t, const struct parquet_footer *f, const struct parquet_leaf *leaf,
                         const struct parquet_chunk *chunk, uint64_t offset) {
    bool dictionary = chunk->dictionary > 0, plain = chunk->encoding == PARQUET_PLAIN || dictionary;
    thrift_begin(t, 3);
    thrift_i32(t, 1, parquet_type_of(leaf->path[leaf->n - 1]));
    thrift_list(t, 2, THRIFT_I32, 1 + plain + (chunk->encoding != PARQUET_PLAIN));
    if (plain) {
        thrift_zigzag(t, PARQUET_PLAIN);
    }
    thrift_zigzag(t, PARQUET_RLE);
    if (chunk->encoding != PARQUET_PLAIN) {
        thrift_zigzag(t, chunk->encoding);
    }
    footer_put_path(t, leaf);
    thrift_i32(t, 4, f->codec);
    thrift_i64(t, 5, (int64_t)chunk->entries);
    thrift_i64(t, 6, (int64_t)chunk->uncompressed);
    thrift_i64(t, 7, (int64_t)chunk->size);
    thrift_i64(t, 9, (int64_t)(offset + chunk->dictionary));
    if (dictionary) {
        thrift_i64(t, 11, (int64_t)offset);
    }
    footer_put_statistics(t, chunk);
    thrift_end(t);
}

/* Where the indexes of the next chunk are. */
struct index_positions {
    uint64_t columns, offsets;
};

static void footer_put_chunk(struct thrift *t, const struct parquet_footer *f, uint32_t leaf,
                             const struct parquet_group *group, uint64_t offset, struct index_positions *at) {
    const struct parquet_chunk *chunk = &group->chunks[leaf];
    struct reel_sink columns = {0}, offsets = {0}; /* they only count */
    put_column_index(leaf_column(f, leaf), chunk, group->pages, &columns);
    put_offset_index(chunk, group->pages, offset, &offsets);
    thrift_begin_item(t);
    thrift_i64(t, 2, 0);
    put_metadata(t, f, &f->leaves[leaf], chunk, offset);
    thrift_i64(t, 4, (int64_t)at->offsets);
    thrift_i32(t, 5, (int32_t)offsets.pos);
    if (columns.pos > 0) {
        thrift_i64(t, 6, (int64_t)at->columns);
        thrift_i32(t, 7, (int32_t)columns.pos);
    }
    thrift_end(t);
    at->columns += columns.pos;
    at->offsets += offsets.pos;
}

static void put_groups(struct thrift *t, const struct parquet_footer *f, struct index_positions at) {
    thrift_list(t, 4, THRIFT_STRUCT, f->n_groups);
    for (uint64_t g = 0; g < f->n_groups; g++) {
        struct parquet_group group = f->group(f->context, g);
        uint64_t offset = group.offset, uncompressed = 0;
        thrift_begin_item(t);
        thrift_list(t, 1, THRIFT_STRUCT, f->n_leaves);
        for (uint32_t i = 0; i < f->n_leaves; i++) {
            footer_put_chunk(t, f, i, &group, offset, &at);
            offset += group.chunks[i].size;
            uncompressed += group.chunks[i].uncompressed;
            group.pages += group.chunks[i].n_pages;
        }
        thrift_i64(t, 2, (int64_t)uncompressed);
        thrift_i64(t, 3, (int64_t)group.rows);
        thrift_i64(t, 5, (int64_t)group.offset);
        thrift_i64(t, 6, (int64_t)group.size);
        thrift_end(t);
    }
}

/* ---- the footer */

static void put_about(struct thrift *t, const struct parquet_footer *f) {
    if (f->n_about == 0) {
        return;
    }
    thrift_list(t, 5, THRIFT_STRUCT, f->n_about);
    for (uint32_t i = 0; i < f->n_about; i++) {
        thrift_begin_item(t);
        thrift_binary(t, 1, bytes_text(f->about[i].key));
        thrift_binary(t, 2, bytes_text(f->about[i].value));
        thrift_end(t);
    }
}

static void footer_put_file(const struct parquet_footer *f, struct index_positions at, struct reel_sink *out) {
    struct thrift t = thrift_to(out);
    uint64_t rows = 0;
    for (uint64_t g = 0; g < f->n_groups; g++) {
        rows += f->group(f->context, g).rows;
    }
    thrift_i32(&t, 1, 1);
    put_schema(&t, f->columns);
    thrift_i64(&t, 3, (int64_t)rows);
    put_groups(&t, f, at);
    put_about(&t, f);
    thrift_binary(&t, 6, bytes_text("reel version " REEL_VERSION));
    thrift_list(&t, 7, THRIFT_STRUCT, f->n_leaves); /* the order of minimum and maximum: that of the type */
    for (uint32_t i = 0; i < f->n_leaves; i++) {
        thrift_begin_item(&t);
        thrift_begin(&t, 1);
        thrift_end(&t);
        thrift_end(&t);
    }
    reel_sink_u8(out, 0);
}

bool parquet_put_footer(const struct parquet_footer *f, struct reel_sink *out, struct reel_error *err) {
    struct index_positions at = {.columns = out->pos};
    put_indexes(f, false, out);
    at.offsets = out->pos;
    put_indexes(f, true, out);
    uint64_t begins = out->pos;
    footer_put_file(f, at, out);
    if (out->pos - begins > INT32_MAX) { /* which readers take for negative */
        return reel_fail(err, REEL_UNSUPPORTED,
                         "a table with a footer of %llu bytes: select fewer topics or a shorter time range",
                         (unsigned long long)(out->pos - begins));
    }
    reel_sink_u32le(out, (uint32_t)(out->pos - begins));
    reel_sink_put(out, PARQUET_MAGIC, 4);
    return true;
}
