/* Statements: those of sql/, prepared once for a connection, and composed ones. A bind that fails is remembered
 * and reported by the next step, so callers need not check each value. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "catalog/columns.h"
#include "catalog/sqlite/sqlite.h"

static const int64_t STATEMENT_NS = INT64_C(1000000000) * DB_STATEMENT_S;

const struct columns_array sqlite_arrays[COLUMNS_ARRAYS] = {{"{ints ", "json_each(", ")"},
                                                            {"{texts ", "json_each(", ")"},
                                                            {"{in ints ", "IN (SELECT value FROM json_each(", "))"},
                                                            {"{in texts ", "IN (SELECT value FROM json_each(", "))"},
                                                            {"{in rows ", "IN (SELECT value FROM json_each(", "))"}};

static struct sqlite_statement *sqlite_statement_own(struct db_statement *s) {
    return (struct sqlite_statement *)s;
}
static sqlite3 *sqlite_of(const struct db_statement *s) {
    return ((struct sqlite_handle *)s->handle)->sqlite;
}

static bool sqlite_statement_prepare(struct sqlite_handle *h, const char *text, unsigned flags, sqlite3_stmt **out,
                                     struct reel_error *err) {
    AUTO_MEM char *sql = columns_expand(text, sqlite_arrays);
    if (!sql) {
        return reel_fail_memory(err);
    }
    int rc = sqlite3_prepare_v3(h->sqlite, sql, -1, flags, out, NULL);
    return rc == SQLITE_OK || sqlite_fail(h->sqlite, rc, err);
}

struct db_statement *sqlite_statement(struct db_handle *handle, const char *name, struct reel_error *err) {
    struct sqlite_handle *h = (struct sqlite_handle *)handle;
    size_t at = db_find(sql_statements, sql_statements_count, name);
    if (at == SIZE_MAX) {
        reel_fail(err, REEL_ARGUMENT, "catalog: no statement %s", name);
        return NULL;
    }
    struct sqlite_statement *s = &h->statements[at];
    if (!s->stmt && !sqlite_statement_prepare(h, sql_statements[at].text, SQLITE_PREPARE_PERSISTENT, &s->stmt, err)) {
        reel_error_at(err, "%s", name);
        return NULL;
    }
    s->failed = SQLITE_OK;
    return &s->base;
}

struct db_statement *sqlite_compose(struct db_handle *handle, const char *sql, struct reel_error *err) {
    struct sqlite_statement *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->composed = true;
    if (!sqlite_statement_prepare((struct sqlite_handle *)handle, sql, 0, &s->stmt, err)) {
        free(s);
        return NULL;
    }
    return &s->base;
}

void sqlite_done(struct db_statement *base) {
    struct sqlite_statement *s = sqlite_statement_own(base);
    if (s->composed) {
        sqlite3_finalize(s->stmt);
        free(s);
        return;
    }
    sqlite_reset(base);
    sqlite3_clear_bindings(s->stmt);
}

static int parameter_index(struct db_statement *s, const char *name) {
    return sqlite3_bind_parameter_index(sqlite_statement_own(s)->stmt, name);
}
static void note(struct db_statement *s, int rc) {
    if (rc != SQLITE_OK && sqlite_statement_own(s)->failed == SQLITE_OK) {
        sqlite_statement_own(s)->failed = rc;
    }
}

void sqlite_set_int(struct db_statement *s, const char *name, int64_t value) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_int64(sqlite_statement_own(s)->stmt, at, value) : SQLITE_OK);
}

void sqlite_set_text(struct db_statement *s, const char *name, const char *value) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_text(sqlite_statement_own(s)->stmt, at, value, -1, SQLITE_STATIC) : SQLITE_OK);
}

void sqlite_set_null(struct db_statement *s, const char *name) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_null(sqlite_statement_own(s)->stmt, at) : SQLITE_OK);
}

void sqlite_set_blob(struct db_statement *s, const char *name, const void *data, size_t size) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_blob64(sqlite_statement_own(s)->stmt, at, data, size, SQLITE_STATIC) : SQLITE_OK);
}

/* Within what is left of the time of this run: the time that the caller takes between rows does not count. */
static int step(struct sqlite_statement *s) {
    struct sqlite_handle *h = (struct sqlite_handle *)s->base.handle;
    int64_t begun_ns = h->begun_ns = clock_ns();
    h->deadline_ns = h->patient ? INT64_MAX : begun_ns + STATEMENT_NS - s->elapsed_ns;
    int rc = sqlite3_step(s->stmt);
    h->deadline_ns = INT64_MAX;
    s->elapsed_ns += clock_ns() - begun_ns;
    return rc;
}

enum db_step sqlite_next(struct db_statement *s, struct reel_error *err) {
    int failed = sqlite_statement_own(s)->failed, rc = failed != SQLITE_OK ? failed : step(sqlite_statement_own(s));
    if (rc == SQLITE_ROW) {
        return DB_ROW;
    }
    if (rc == SQLITE_DONE) {
        return DB_END;
    }
    bool suspect = (rc & 0xff) == SQLITE_NOMEM || (rc & 0xff) == SQLITE_CORRUPT;
    ((struct sqlite_handle *)s->handle)->suspect |= suspect;
    sqlite_fail(failed != SQLITE_OK ? NULL : sqlite_of(s), rc, err);
    return DB_FAILED;
}

void sqlite_reset(struct db_statement *s) {
    sqlite_statement_own(s)->elapsed_ns = 0;
    sqlite3_reset(sqlite_statement_own(s)->stmt);
}

unsigned sqlite_changes(struct db_statement *s) {
    return (unsigned)sqlite3_changes(sqlite_of(s));
}

int64_t sqlite_int(struct db_statement *s, int column) {
    return sqlite3_column_int64(sqlite_statement_own(s)->stmt, column);
}

const char *sqlite_text(struct db_statement *s, int column) {
    const char *text = (const char *)sqlite3_column_text(sqlite_statement_own(s)->stmt, column);
    return text ? text : "";
}

const uint8_t *sqlite_blob(struct db_statement *s, int column, size_t *size) {
    const uint8_t *raw = sqlite3_column_blob(sqlite_statement_own(s)->stmt, column);
    *size = raw ? (size_t)sqlite3_column_bytes(sqlite_statement_own(s)->stmt, column) : 0;
    return raw;
}

bool sqlite_is_null(struct db_statement *s, int column) {
    return sqlite3_column_type(sqlite_statement_own(s)->stmt, column) == SQLITE_NULL;
}
