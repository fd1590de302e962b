/* See table.h. */
#include "datasets/table.h"

#include "reel/version.h"

void dataset_table_done(struct dataset_table *t) {
    columns_fill_close(&t->fill);
    parquet_file_done(&t->file);
    arena_free(&t->arena);
    *t = (struct dataset_table){0};
}

static void *take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

static uint32_t seen_of(const struct dataset_column *column) {
    static const uint32_t seen[] = {[DATASET_FLOAT] = 1u << REEL_F32,
                                    [DATASET_DOUBLE] = 1u << REEL_F64,
                                    [DATASET_INTEGER] = 1u << REEL_I64,
                                    [DATASET_TEXT] = SEEN_TEXT};
    return seen[column->kind];
}

static bool add_column(struct columns *c, const struct dataset_column *column) {
    uint32_t hint = c->payload->n_children;
    struct column *at = columns_child(c, c->payload, bytes_text(column->name), &hint);
    if (at && column->is_list) {
        at->seen = SEEN_LIST;
        at->declared = true;
        at = columns_element(c, at);
    }
    if (at) {
        at->seen = seen_of(column);
        at->declared = true;
    }
    return at;
}

bool dataset_table_begin(struct dataset_table *t, const struct dataset_column *columns, uint32_t n,
                         const struct reel_text_sink *sink, struct reel_error *err) {
    struct columns *c = &t->columns;
    *t = (struct dataset_table){0};
    bool good = columns_init(c, take, &t->arena);
    if (good) {
        c->payload->seen = SEEN_MAP;
        c->payload->declared = c->exact = true;
    }
    for (uint32_t i = 0; good && i < n; i++) {
        good = add_column(c, &columns[i]);
    }
    if (!good || !columns_settle(c, &(struct columns_fixed){0})) {
        return reel_fail_memory(err);
    }
    return columns_fill_open(&t->fill, c, err) && parquet_file_begin(&t->file, c, sink, err);
}

struct reel_visitor *dataset_table_row(struct dataset_table *t) {
    columns_fill_start(&t->fill);
    visit_begin_map(&t->fill.visitor);
    return &t->fill.visitor;
}

bool dataset_table_row_end(struct dataset_table *t, struct reel_error *err) {
    visit_end_map(&t->fill.visitor);
    columns_fill_end(&t->fill);
    return t->fill.bytes < REEL_ROW_GROUP_BYTES || parquet_file_group(&t->file, &t->fill, err);
}

bool dataset_table_end(struct dataset_table *t, const struct columns_about *about, uint32_t n_about,
                       struct reel_error *err) {
    return parquet_file_group(&t->file, &t->fill, err) && parquet_file_end(&t->file, about, n_about, err);
}

/* What pandas itself writes of a frame with the index "task". */
static const char pandas[] =
    "{\"index_columns\":[\"task\"],\"column_indexes\":[{\"name\":null,\"field_name\":null,\"pandas_type\":\"unicode\","
    "\"numpy_type\":\"object\",\"metadata\":{\"encoding\":\"UTF-8\"}}],\"columns\":[{\"name\":\"task_index\","
    "\"field_name\":\"task_index\",\"pandas_type\":\"int64\",\"numpy_type\":\"int64\",\"metadata\":null},"
    "{\"name\":\"task\",\"field_name\":\"task\",\"pandas_type\":\"unicode\",\"numpy_type\":\"object\","
    "\"metadata\":null}],\"creator\":{\"library\":\"reel\",\"version\":\"" REEL_VERSION
    "\"},\"pandas_version\":\"2.2.2\"}";

static bool write_task(struct dataset_table *t, uint32_t number, const char *task, struct reel_error *err) {
    struct reel_visitor *v = dataset_table_row(t);
    visit_key_text(v, "task_index");
    visit_integer(v, number);
    visit_key_text(v, "task");
    visit_text(v, bytes_text(task));
    return dataset_table_row_end(t, err);
}

bool dataset_write_tasks(const char *const *tasks, uint32_t n, const struct reel_text_sink *sink,
                         struct reel_error *err) {
    static const struct dataset_column columns[] = {{"task_index", DATASET_INTEGER, false},
                                                    {"task", DATASET_TEXT, false}};
    static const struct columns_about about = {"pandas", pandas};
    struct dataset_table t;
    bool good = dataset_table_begin(&t, columns, 2, sink, err);
    for (uint32_t i = 0; good && i < n; i++) {
        good = write_task(&t, i, tasks[i], err);
    }
    good = good && dataset_table_end(&t, &about, 1, err);
    dataset_table_done(&t);
    return good;
}
