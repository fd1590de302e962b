/* Tables as CSV, JSON, NDJSON and GeoJSON, written row by row; table_columns.c writes the other forms. */
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "syntax/csv.h"
#include "syntax/json_out.h"
#include "tables/table.h"
#include "tables/table_columns.h"

struct reel_table_text {
    struct reel_table table;
    struct reel_text_sink sink;
    enum reel_table_form form;
    struct grow line;
    const char *const *names;
    bool any;                      /* a row was written */
    unsigned path[4];              /* indices of the columns x_m, y_m, z_m, time_s */
    struct table_columns *columns; /* of the forms that it writes */
};

static void table_text_put(struct reel_table_text *t, const char *text) {
    grow_put(&t->line, text, strlen(text));
}

static bool table_text_flush(struct reel_table_text *t) {
    bool good = !t->line.failed && t->sink.put(t->sink.context, (const char *)t->line.data, t->line.size);
    t->line.size = 0;
    return good;
}

/* Values that are not finite are quoted in JSON, but not in CSV. */
static bool put_not_finite(struct reel_table_text *t, const struct reel_cell *cell) {
    double value = cell->kind == REEL_CELL_REAL     ? cell->real
                   : cell->kind == REEL_CELL_REAL32 ? (double)cell->real32
                                                    : 0;
    if (isfinite(value) || t->form != REEL_TABLE_CSV) {
        return false;
    }
    table_text_put(t, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return true;
}

static void put_integer(struct reel_table_text *t, int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    table_text_put(t, digits);
}

static void put_cell(struct reel_table_text *t, const struct reel_cell *cell) {
    bool csv = t->form == REEL_TABLE_CSV;
    if (put_not_finite(t, cell)) {
        return;
    }
    switch (cell->kind) {
    case REEL_CELL_NULL:
        table_text_put(t, csv ? "" : "null");
        break;
    case REEL_CELL_TEXT:
        csv ? csv_put(&t->line, cell->text) : json_put_string(&t->line, cell->text);
        break;
    case REEL_CELL_JSON:
        csv ? csv_put(&t->line, cell->text) : grow_put(&t->line, cell->text.data, cell->text.size);
        break;
    case REEL_CELL_INTEGER:
        csv ? put_integer(t, cell->integer) : json_put_integer(&t->line, cell->integer); /* which quotes large ones */
        break;
    case REEL_CELL_REAL:
        json_put_real(&t->line, cell->real);
        break;
    case REEL_CELL_REAL32:
        json_put_real32(&t->line, cell->real32);
        break;
    case REEL_CELL_BOOL:
        table_text_put(t, cell->boolean ? "true" : "false");
        break;
    }
}

/* A GeoJSON line, in metres of the recording's own frame, with time as fourth coordinate. */
static bool begin_path(struct reel_table_text *t, const char *const *names, unsigned n) {
    static const char *const expected[] = {"x_m", "y_m", "z_m", "time_s"};
    for (unsigned k = 0; k < 4; k++) {
        for (t->path[k] = 0; t->path[k] < n && strcmp(names[t->path[k]], expected[k]) != 0;) {
            t->path[k]++;
        }
        if (t->path[k] == n) {
            return false;
        }
    }
    table_text_put(
        t, "{\"type\":\"Feature\",\"properties\":{\"coordinates\":[\"x_m\",\"y_m\",\"z_m\",\"time_s\"]},\"geometry\":{"
           "\"type\":"
           "\"LineString\",\"coordinates\":[");
    return table_text_flush(t);
}
static bool put_position(struct reel_table_text *t, const struct reel_cell *cells) {
    for (unsigned k = 0; k < 4; k++) {
        table_text_put(t, k > 0 ? "," : t->any ? ",\n[" : "\n[");
        put_cell(t, &cells[t->path[k]]);
    }
    t->any = true;
    table_text_put(t, "]");
    return table_text_flush(t);
}

static bool put_columns(void *context, const char *const *names, unsigned n) {
    struct reel_table_text *t = context;
    t->names = names;
    if (t->form == REEL_TABLE_GEOJSON) {
        return begin_path(t, names, n);
    }
    for (unsigned i = 0; i < n && t->form == REEL_TABLE_CSV; i++) {
        table_text_put(t, i > 0 ? "," : "");
        csv_put(&t->line, bytes_text(names[i]));
    }
    table_text_put(t, t->form == REEL_TABLE_CSV ? "\r\n" : t->form == REEL_TABLE_JSON ? "[" : "");
    return table_text_flush(t);
}

static bool table_text_put_row(void *context, const struct reel_cell *cells, unsigned n) {
    struct reel_table_text *t = context;
    bool csv = t->form == REEL_TABLE_CSV;
    if (t->form == REEL_TABLE_GEOJSON) {
        return put_position(t, cells);
    }
    table_text_put(t, t->form != REEL_TABLE_JSON ? "" : t->any ? ",\n" : "\n");
    t->any = true;
    for (unsigned i = 0; i < n; i++) {
        table_text_put(t, i > 0 ? "," : csv ? "" : "{");
        if (!csv) {
            json_put_string(&t->line, bytes_text(t->names[i]));
            table_text_put(t, ":");
        }
        put_cell(t, &cells[i]);
    }
    table_text_put(t, csv ? "\r\n" : t->form == REEL_TABLE_JSON ? "}" : "}\n");
    return table_text_flush(t);
}

static bool table_text_put_end(void *context) {
    struct reel_table_text *t = context;
    table_text_put(t, t->form == REEL_TABLE_JSON ? "\n]\n" : t->form == REEL_TABLE_GEOJSON ? "\n]}}\n" : "");
    return table_text_flush(t);
}

struct reel_table_text *reel_table_text_new(enum reel_table_form form, const struct reel_text_sink *sink,
                                            struct reel_error *err) {
    struct reel_table_text *t = calloc(1, sizeof *t);
    if (!t) {
        reel_fail_memory(err);
        return NULL;
    }
    *t = (struct reel_table_text){
        .table = {put_columns, table_text_put_row, table_text_put_end, t}, .sink = *sink, .form = form};
    if (form == REEL_TABLE_PARQUET || form == REEL_TABLE_ARROW) {
        if (!(t->columns = table_columns_new(form, sink, err))) {
            free(t);
            return NULL;
        }
        t->table = table_columns_table(t->columns);
    }
    return t;
}

void reel_table_text_free(struct reel_table_text *t) {
    if (t) {
        table_columns_free(t->columns);
        free(t->line.data);
        free(t);
    }
}

const struct reel_table *reel_table_of_text(const struct reel_table_text *t) {
    return &t->table;
}
