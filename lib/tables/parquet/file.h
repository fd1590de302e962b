/* A Parquet file that is written once, from its begin to its end: rows, a row group at a time, then the footer. */
#ifndef REEL_TABLES_PARQUET_FILE_H
#define REEL_TABLES_PARQUET_FILE_H

#include "tables/parquet/parquet.h"
#include "tables/table.h"

struct parquet_file_group { /* for the footer */
    struct parquet_group at;
    struct parquet_chunk *chunks;
    struct parquet_page *pages;
};
struct parquet_file {
    const struct columns *columns;
    const struct reel_text_sink *sink;
    struct parquet_encoder encoder;
    struct parquet_leaf *leaves;
    uint32_t n_leaves;
    struct parquet_file_group *groups;
    size_t n_groups, room;
    uint64_t written;
};
/* Columns and sink are borrowed. parquet_file_done() in any case. */
bool parquet_file_begin(struct parquet_file *f, const struct columns *columns, const struct reel_text_sink *sink,
                        struct reel_error *err);
/* Writes the rows as a group, and clears them. */
bool parquet_file_group(struct parquet_file *f, struct columns_fill *fill, struct reel_error *err);
bool parquet_file_end(struct parquet_file *f, const struct columns_about *about, uint32_t n_about,
                      struct reel_error *err);
void parquet_file_done(struct parquet_file *f);

#endif
