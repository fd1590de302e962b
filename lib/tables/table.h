/* Tables, emitted row by row. */
#ifndef REEL_TABLES_TABLE_H
#define REEL_TABLES_TABLE_H

#include <string.h>

#include "reel/bytes.h"
#include "reel/cleanup.h"
#include "reel/error.h"

enum reel_cell_kind {
    REEL_CELL_NULL,
    REEL_CELL_TEXT,
    REEL_CELL_JSON /* text that is JSON already */,
    REEL_CELL_INTEGER,
    REEL_CELL_REAL,
    REEL_CELL_REAL32,
    REEL_CELL_BOOL
};
struct reel_cell {
    enum reel_cell_kind kind;
    union {
        struct reel_bytes text;
        int64_t integer;
        double real;
        float real32;
        bool boolean;
    };
};
static inline struct reel_cell reel_cell_of(enum reel_cell_kind kind) {
    struct reel_cell cell;
    memset(&cell, 0, sizeof cell);
    cell.kind = kind;
    return cell;
}
static inline struct reel_cell reel_cell_text(struct reel_bytes text) {
    struct reel_cell cell = reel_cell_of(REEL_CELL_TEXT);
    cell.text = text;
    return cell;
}
static inline struct reel_cell reel_cell_json(struct reel_bytes text) {
    struct reel_cell cell = reel_cell_of(REEL_CELL_JSON);
    cell.text = text;
    return cell;
}
static inline struct reel_cell reel_cell_integer(int64_t value) {
    struct reel_cell cell = reel_cell_of(REEL_CELL_INTEGER);
    cell.integer = value;
    return cell;
}
static inline struct reel_cell reel_cell_real(double value) {
    struct reel_cell cell = reel_cell_of(REEL_CELL_REAL);
    cell.real = value;
    return cell;
}
static inline struct reel_cell reel_cell_real32(float value) { /* 9 significant digits are exact */
    struct reel_cell cell = reel_cell_of(REEL_CELL_REAL32);
    cell.real32 = value;
    return cell;
}
static inline struct reel_cell reel_cell_bool(bool value) {
    struct reel_cell cell = reel_cell_of(REEL_CELL_BOOL);
    cell.boolean = value;
    return cell;
}

/* Receives a table: the columns once, then each row (as many cells, valid during the call), then the end. Column names
 * include the unit (time_s, x_m). Each function returns false to stop. */
struct reel_table {
    bool (*columns)(void *context, const char *const *names, unsigned n); /* the names outlive the table */
    bool (*row)(void *context, const struct reel_cell *cells, unsigned n);
    bool (*end)(void *context);
    void *context;
};

/* A destination of text or bytes; false: it takes no more. */
struct reel_text_sink {
    bool (*put)(void *context, const char *text, size_t size);
    void *context;
};

/* A table as text: CSV by RFC 4180, a JSON array of objects, one object a line, or, of a table with the columns x_m,
 * y_m, z_m and time_s, a GeoJSON-like line through them. Numbers that are not finite stand as NaN, Infinity, -Infinity
 * (strings in JSON). Or as Parquet or an Arrow stream, which are written when the table ends, because all rows decide
 * the types of the columns. The sink's context outlives it. */
enum reel_table_form {
    REEL_TABLE_CSV,
    REEL_TABLE_JSON,
    REEL_TABLE_NDJSON,
    REEL_TABLE_PARQUET,
    REEL_TABLE_ARROW,
    REEL_TABLE_GEOJSON
};
struct reel_table_text;
struct reel_table_text *reel_table_text_new(enum reel_table_form form, const struct reel_text_sink *sink,
                                            struct reel_error *err);
void reel_table_text_free(struct reel_table_text *text); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_table_text, reel_table_text_free);
const struct reel_table *reel_table_of_text(const struct reel_table_text *text);

#endif
