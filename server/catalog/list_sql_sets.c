/* The statements that make sets (list_sets.h), and those that find what to change in them. */
#include <stdarg.h>
#include <string.h>

#include "base/text_stream.h"
#include "catalog/list.h"

/* Rows as both give many fastest: one value, four bytes each. */
static char *all_rows(const struct list_query *query,
                      void (*put)(FILE *out, const struct list_query *query, uint32_t condition, const char *column),
                      uint32_t condition, const char *column) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    fputs(query->postgres ? "SELECT string_agg(int4send(CAST(found.row AS int4)), CAST('' AS bytea)) FROM ("
                          : "SELECT row_bytes(found.row) FROM (",
          out);
    put(out, query, condition, column);
    fputs(") AS found", out);
    return fclose(out) == 0 ? sql : (free(sql), NULL);
}

static void put_rows_of(FILE *out, const struct list_query *query, uint32_t condition, const char *column) {
    (void)column;
    list_sql_put_rows(out, query, condition);
}

static void put_maybe_rows(FILE *out, const struct list_query *query, uint32_t condition, const char *column) {
    (void)column;
    list_sql_put_text_rows(out, query, 'c', condition);
}

static void put_all_in_order(FILE *out, const struct list_query *query, uint32_t condition, const char *column) {
    (void)query, (void)condition;
    fprintf(out, "SELECT row FROM recordings INDEXED BY recordings_by_%s WHERE state <> 4 ORDER BY %s%s", column,
            column, strcmp(column, "row") == 0 ? "" : ", row");
}

char *list_sql_rows(const struct list_query *query, uint32_t condition) {
    return all_rows(query, put_rows_of, condition, NULL);
}

char *list_sql_maybe(const struct list_query *query, uint32_t condition) {
    return all_rows(query, put_maybe_rows, condition, NULL);
}

char *list_sql_order(const struct list_query *query, const char *column) {
    return all_rows(query, put_all_in_order, 0, column);
}

/* ---- the same of the recordings in :rows, which have changed */

static const char changed[] = "{ints :rows} AS changed CROSS JOIN recordings AS r NOT INDEXED ON r.row = changed.value";

char *list_sql_matches(const struct list_query *query, uint32_t condition) {
    char *sql = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "SELECT r.row FROM %s WHERE ", changed);
    list_sql_put_leaf(out, query, condition);
    return text_stream_close(out, &sql) ? sql : NULL;
}

static char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *formatted(const char *format, ...) {
    char *text;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    return size < 0 ? NULL : text;
}

char *list_sql_shown(void) {
    return formatted("SELECT r.row FROM %s WHERE r.state <> 4", changed);
}

/* First the one behind it with the same key: SQLite reads all of them to compare keys and rows at once. */
char *list_sql_moved(const char *column) {
    const char *index = "recordings AS b INDEXED BY recordings_by_";
    return formatted(
        "SELECT r.row, coalesce((SELECT b.row FROM %s%s WHERE b.state <> 4 AND b.%s = r.%s AND b.row > r.row "
        "ORDER BY b.row LIMIT 1), (SELECT b.row FROM %s%s WHERE b.state <> 4 AND b.%s > r.%s "
        "ORDER BY b.%s, b.row LIMIT 1), 0) FROM %s WHERE r.state <> 4 ORDER BY r.%s, r.row",
        index, column, column, column, index, column, column, column, column, changed, column);
}

/* ---- labels or the value of a tag */

char *list_sql_values(const struct list_query *query, const struct list_values *values) {
    const char *pairs = query->postgres
                            ? "string_agg(int4send(CAST(f.row AS int4)) || int4send(CAST(f.value AS int4)), "
                              "CAST('' AS bytea))"
                            : "row_bytes(f.row, f.value)";
    if (values->tag) {
        return formatted("SELECT %s FROM (SELECT t.recording AS row, t.value FROM tag_values AS v CROSS JOIN "
                         "recording_tags AS t INDEXED BY recording_tags_value ON t.value = v.id "
                         "WHERE v.key = (SELECT id FROM tag_keys WHERE name = :tag)) AS f",
                         pairs);
    }
    return formatted("SELECT %s FROM (SELECT row, %s AS value FROM recordings INDEXED BY recordings_by_%s "
                     "WHERE %s IS NOT NULL) AS f",
                     pairs, values->column, values->column, values->column);
}

char *list_sql_changed_values(const struct list_values *values) {
    return values->tag
               ? formatted("SELECT r.row, t.value FROM %s CROSS JOIN recording_tags AS t ON t.recording = r.row "
                           "AND t.key = (SELECT id FROM tag_keys WHERE name = :tag)",
                           changed)
               : formatted("SELECT r.row, r.%s FROM %s WHERE r.%s IS NOT NULL", values->column, changed,
                           values->column);
}
