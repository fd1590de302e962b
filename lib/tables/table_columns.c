/* See table_columns.h. A row is a map of its cells for the survey of the columns and, once more, for their values. */
#include "tables/table_columns.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "syntax/json_parse.h"
#include "syntax/visitor.h"
#include "tables/arrow/arrow.h"
#include "tables/columns/survey.h"
#include "tables/parquet/file.h"

enum { ROWS_IN_MEMORY = 4 << 20 };

struct table_columns {
    enum reel_table_form form;
    struct reel_text_sink sink;
    struct arena arena;
    struct columns columns;
    struct columns_survey survey;
    const char *const *names;
    struct grow rows; /* cells: kind, number or size, text */
    FILE *spool;      /* those before them */
    struct columns_fill fill;
    struct parquet_file file; /* of Parquet */
    struct grow out;          /* of Arrow */
    uint64_t written;
};

static void *table_columns_take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

void table_columns_free(struct table_columns *t) {
    if (!t) {
        return;
    }
    if (t->spool) {
        fclose(t->spool);
    }
    columns_fill_close(&t->fill);
    parquet_file_done(&t->file);
    free(t->rows.data);
    free(t->out.data);
    arena_free(&t->arena);
    free(t);
}
REEL_DEFINE_AUTO(struct table_columns, table_columns_free);

struct table_columns *table_columns_new(enum reel_table_form form, const struct reel_text_sink *sink,
                                        struct reel_error *err) {
    AUTO(table_columns_free) struct table_columns *t = calloc(1, sizeof *t);
    if (!t || !columns_init(&t->columns, table_columns_take, &t->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    t->form = form;
    t->sink = *sink;
    return TAKE(t);
}

/* ---- rows come in */

static bool put_columns(void *context, const char *const *names, unsigned n) {
    struct table_columns *t = context;
    struct column *row = t->columns.payload;
    uint32_t hint = 0;
    t->names = names;
    row->seen = SEEN_MAP;
    row->declared = true;
    for (unsigned i = 0; i < n; i++) {
        struct column *column = columns_child(&t->columns, row, bytes_text(names[i]), &hint);
        if (!column) {
            return false;
        }
        column->absent = true; /* also of a table without rows: any cell may be empty */
    }
    return true;
}

static bool visit_cell(struct reel_visitor *v, const struct reel_cell *cell) {
    switch (cell->kind) {
    case REEL_CELL_TEXT:
        return visit_text(v, cell->text);
    case REEL_CELL_JSON:
        return json_parse(cell->text, v, NULL);
    case REEL_CELL_INTEGER:
        return visit_integer(v, cell->integer);
    case REEL_CELL_REAL:
        return visit_real(v, cell->real);
    case REEL_CELL_REAL32:
        return visit_real32(v, cell->real32);
    case REEL_CELL_BOOL:
        return visit_boolean(v, cell->boolean);
    default:
        return visit_null(v);
    }
}

static void keep_cell(struct grow *rows, const struct reel_cell *cell) {
    bool text = cell->kind == REEL_CELL_TEXT || cell->kind == REEL_CELL_JSON;
    struct reel_cell copy = *cell;
    copy.text.data = text ? NULL : copy.text.data;
    grow_put(rows, &copy, sizeof copy);
    grow_put(rows, text ? cell->text.data : NULL, text ? cell->text.size : 0);
}

static bool spill(struct table_columns *t) {
    if (!t->spool && !(t->spool = tmpfile())) {
        return false;
    }
    bool good = fwrite(t->rows.data, 1, t->rows.size, t->spool) == t->rows.size;
    t->rows.size = 0;
    return good;
}

static bool table_columns_put_row(void *context, const struct reel_cell *cells, unsigned n) {
    struct table_columns *t = context;
    struct reel_visitor *v = &t->survey.visitor;
    columns_survey_start(&t->survey, &t->columns);
    bool good = visit_begin_map(v);
    grow_u32(&t->rows, n);
    for (unsigned i = 0; good && i < n; i++) {
        good = visit_key_text(v, t->names[i]) && visit_cell(v, &cells[i]);
        keep_cell(&t->rows, &cells[i]);
    }
    t->columns.rows++;
    good = good && visit_end_map(v) && !t->rows.failed && !t->columns.no_memory;
    return good && (t->rows.size < ROWS_IN_MEMORY || spill(t));
}

/* ---- and go out */

static bool table_columns_send(struct table_columns *t) {
    bool good = !t->out.failed && t->sink.put(t->sink.context, (const char *)t->out.data, t->out.size);
    t->written += t->out.size;
    t->out.size = 0;
    return good;
}

/* Appends what `put` writes to a sink, at its position in the file. */
static bool send_sink(struct table_columns *t, bool (*put)(struct table_columns *t, struct reel_sink *out)) {
    struct reel_sink out = {.pos = t->written};
    if (!put(t, &out)) {
        return false;
    }
    uint64_t size = out.pos - t->written;
    uint8_t *room = grow_take(&t->out, size);
    out = (struct reel_sink){.pos = t->written, .lo = t->written, .hi = t->written + size, .buffer = room};
    return room && put(t, &out) && table_columns_send(t);
}

static bool put_schema(struct table_columns *t, struct reel_sink *out) {
    return arrow_put_schema(&t->columns, NULL, 0, out, NULL);
}

static bool put_batch(struct table_columns *t, struct reel_sink *out) {
    return arrow_put_batch(&t->columns, &t->fill, out, NULL);
}

static bool put_end_of_stream(struct table_columns *t, struct reel_sink *out) {
    (void)t;
    arrow_put_end(out);
    return true;
}

static bool send_rows(struct table_columns *t) {
    if (t->form == REEL_TABLE_PARQUET) {
        return parquet_file_group(&t->file, &t->fill, NULL);
    }
    bool good = t->fill.rows == 0 || (columns_fill_check(&t->fill, NULL) && send_sink(t, put_batch));
    columns_fill_clear(&t->fill);
    return good;
}

static bool read_cell(FILE *f, struct reel_cell *cell, struct grow *text) {
    if (fread(cell, sizeof *cell, 1, f) != 1) {
        return false;
    }
    if (cell->kind == REEL_CELL_TEXT || cell->kind == REEL_CELL_JSON) {
        text->size = 0;
        uint8_t *room = grow_take(text, cell->text.size + 1);
        if (!room || fread(room, 1, cell->text.size, f) != cell->text.size) {
            return false;
        }
        cell->text.data = room;
    }
    return true;
}

static bool table_columns_fill_row(struct table_columns *t, FILE *f, struct grow *text) {
    struct reel_visitor *v = &t->fill.visitor;
    uint32_t n;
    columns_fill_start(&t->fill);
    bool good = fread(&n, sizeof n, 1, f) == 1 && visit_begin_map(v);
    for (uint32_t i = 0; good && i < n; i++) {
        struct reel_cell cell;
        good = read_cell(f, &cell, text) && visit_key_text(v, t->names[i]) && visit_cell(v, &cell);
    }
    good = good && visit_end_map(v);
    columns_fill_end(&t->fill);
    return good;
}

static bool fill_rows(struct table_columns *t, FILE *f) {
    uint64_t bytes = t->form == REEL_TABLE_ARROW ? ARROW_BATCH_BYTES : REEL_ROW_GROUP_BYTES;
    struct grow text = {0};
    bool good = true;
    for (uint64_t i = 0; good && i < t->columns.rows; i++) {
        good = table_columns_fill_row(t, f, &text) && (t->fill.bytes < bytes || send_rows(t));
    }
    free(text.data);
    return good && send_rows(t);
}

static bool replay(struct table_columns *t) {
    if (t->columns.rows == 0) {
        return true;
    }
    FILE *f = t->spool;
    if (f && (!spill(t) || fflush(f) != 0 || fseek(f, 0, SEEK_SET) != 0)) {
        return false;
    }
    f = f ? f : fmemopen(t->rows.data, t->rows.size, "r");
    bool good = f && fill_rows(t, f);
    if (f && !t->spool) {
        fclose(f);
    }
    return good;
}

static bool put_file(struct table_columns *t) {
    return parquet_file_begin(&t->file, &t->columns, &t->sink, NULL) && replay(t) &&
           parquet_file_end(&t->file, NULL, 0, NULL);
}

static bool table_columns_put_end(void *context) {
    struct table_columns *t = context;
    return columns_settle(&t->columns, &(struct columns_fixed){0}) && columns_fill_open(&t->fill, &t->columns, NULL) &&
           (t->form == REEL_TABLE_PARQUET ? put_file(t)
                                          : send_sink(t, put_schema) && replay(t) && send_sink(t, put_end_of_stream));
}

struct reel_table table_columns_table(struct table_columns *t) {
    return (struct reel_table){
        .columns = put_columns, .row = table_columns_put_row, .end = table_columns_put_end, .context = t};
}
