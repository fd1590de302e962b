/* Tables as Parquet and Arrow (tables/table.h). The rows are kept, in a temporary file if they are many, until all of
 * them have decided the types of the columns. */
#ifndef REEL_TABLES_TABLE_COLUMNS_H
#define REEL_TABLES_TABLE_COLUMNS_H

#include "tables/table.h"

struct table_columns;
struct table_columns *table_columns_new(enum reel_table_form form, const struct reel_text_sink *sink,
                                        struct reel_error *err);
void table_columns_free(struct table_columns *t); /* NULL is fine */
struct reel_table table_columns_table(struct table_columns *t);

#endif
