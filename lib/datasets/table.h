/* Parquet files of a dataset: columns that are known before the rows, none of them with nulls. */
#ifndef REEL_DATASETS_TABLE_H
#define REEL_DATASETS_TABLE_H

#include "tables/columns/messages.h"
#include "tables/parquet/file.h"

enum dataset_column_kind { DATASET_FLOAT, DATASET_DOUBLE, DATASET_INTEGER, DATASET_TEXT };
struct dataset_column {
    const char *name; /* unique whatever the case, as dataset_spec_check() has it */
    enum dataset_column_kind kind;
    bool is_list; /* of such values */
};
struct dataset_table {
    struct arena arena;
    struct columns columns;
    struct columns_fill fill;
    struct parquet_file file;
};
/* The sink is borrowed. dataset_table_done() in any case. */
bool dataset_table_begin(struct dataset_table *t, const struct dataset_column *columns, uint32_t n,
                         const struct reel_text_sink *sink, struct reel_error *err);
/* The visitor of a row's values, each after its key. */
struct reel_visitor *dataset_table_row(struct dataset_table *t);
bool dataset_table_row_end(struct dataset_table *t, struct reel_error *err);
bool dataset_table_end(struct dataset_table *t, const struct columns_about *about, uint32_t n_about,
                       struct reel_error *err);
void dataset_table_done(struct dataset_table *t);

/* meta/tasks.parquet: the text of a task is its index in pandas, its number the only column. */
bool dataset_write_tasks(const char *const *tasks, uint32_t n, const struct reel_text_sink *sink,
                         struct reel_error *err);

#endif
