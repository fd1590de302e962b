/* Statements: those of sql/queries, prepared once for a connection, and composed ones. A bind that fails is remembered and reported by
 * the next step, so callers need not check each value. */
#include <stdlib.h>
#include <string.h>

#include "catalog/columns.h"
#include "catalog/db_internal.h"
#include "catalog/sql.h"
#include "wire/cleanup.h"
#include "wire/hex.h"

static int compare_names(const void *name, const void *entry) {
    return strcmp(name, ((const struct sql_text *)entry)->name);
}

struct db_statement *db_statement(struct db_handle *h, const char *name, struct reel_error *err) {
    const struct sql_text *found = bsearch(name, sql_queries, sql_queries_count, sizeof *sql_queries, compare_names);
    if (!found) {
        reel_fail(err, REEL_ARGUMENT, "catalog: no statement %s", name);
        return NULL;
    }
    struct db_statement *s = &h->statements[found - sql_queries];
    if (!s->stmt) {
        AUTO_MEM char *sql = columns_expand(found->text);
        if (!sql) {
            reel_fail_memory(err);
            return NULL;
        }
        int rc = sqlite3_prepare_v3(h->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
        if (rc != SQLITE_OK) {
            db_fail(h->sqlite, rc, err);
            reel_error_at(err, "%s", name);
            return NULL;
        }
    }
    s->handle = h;
    s->failed = SQLITE_OK;
    s->n_raw = 0;
    return s;
}

struct db_statement *db_compose(struct db_handle *h, const char *sql, struct reel_error *err) {
    struct db_statement *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->handle = h;
    s->composed = true;
    int rc = sqlite3_prepare_v3(h->sqlite, sql, -1, 0, &s->stmt, NULL);
    if (rc != SQLITE_OK) {
        db_fail(h->sqlite, rc, err);
        free(s);
        return NULL;
    }
    return s;
}

void db_done(struct db_statement *s) {
    if (!s) {
        return;
    }
    if (s->composed) {
        sqlite3_finalize(s->stmt);
        free(s);
        return;
    }
    sqlite3_reset(s->stmt);
    sqlite3_clear_bindings(s->stmt);
}

static int parameter_index(struct db_statement *s, const char *name) {
    return sqlite3_bind_parameter_index(s->stmt, name);
}
static void note(struct db_statement *s, int rc) {
    if (rc != SQLITE_OK && s->failed == SQLITE_OK) {
        s->failed = rc;
    }
}

void db_set_int(struct db_statement *s, const char *name, int64_t value) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_int64(s->stmt, at, value) : SQLITE_OK);
}

void db_set_size(struct db_statement *s, const char *name, uint64_t value) {
    db_set_int(s, name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void db_set_text(struct db_statement *s, const char *name, const char *value) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_text(s->stmt, at, value ? value : "", -1, SQLITE_STATIC) : SQLITE_OK);
}

void db_set_blob(struct db_statement *s, const char *name, const void *data, size_t size) {
    int at = parameter_index(s, name);
    note(s, at ? sqlite3_bind_blob64(s->stmt, at, size > 0 ? data : "", size, SQLITE_STATIC) : SQLITE_OK);
}

static int nibble(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void db_set_hex(struct db_statement *s, const char *name, const char *hex) {
    if (s->n_raw == sizeof s->raw / sizeof s->raw[0]) {
        note(s, SQLITE_RANGE);
        return;
    }
    uint8_t *raw = s->raw[s->n_raw++];
    size_t size = 0;
    for (; size < HEX_BYTES_MAX && hex[0] && hex[1]; hex += 2) {
        int high = nibble(hex[0]), low = nibble(hex[1]);
        if (high < 0 || low < 0) {
            break;
        }
        raw[size++] = (uint8_t)(high << 4 | low);
    }
    db_set_blob(s, name, raw, *hex ? 0 : size);
}

enum db_step db_next(struct db_statement *s, struct reel_error *err) {
    int rc = s->failed != SQLITE_OK ? s->failed : sqlite3_step(s->stmt);
    if (rc == SQLITE_ROW) {
        return DB_ROW;
    }
    if (rc == SQLITE_DONE) {
        return DB_END;
    }
    db_fail(s->failed != SQLITE_OK ? NULL : s->handle->sqlite, rc, err);
    return DB_FAILED;
}

bool db_run(struct db_statement *s, struct reel_error *err) {
    enum db_step step;
    do {
        step = db_next(s, err);
    } while (step == DB_ROW);
    sqlite3_reset(s->stmt);
    s->n_raw = 0;
    return step == DB_END;
}

unsigned db_changes(struct db_statement *s) {
    return (unsigned)sqlite3_changes(s->handle->sqlite);
}

int64_t db_int(struct db_statement *s, int column) {
    return sqlite3_column_int64(s->stmt, column);
}

uint64_t db_size(struct db_statement *s, int column) {
    int64_t value = db_int(s, column);
    return value > 0 ? (uint64_t)value : 0;
}

const char *db_text(struct db_statement *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s->stmt, column);
    return text ? text : "";
}

bool db_is_null(struct db_statement *s, int column) {
    return sqlite3_column_type(s->stmt, column) == SQLITE_NULL;
}

void db_hex(struct db_statement *s, int column, char *out, size_t size) {
    const uint8_t *raw = sqlite3_column_blob(s->stmt, column);
    size_t have = raw ? (size_t)sqlite3_column_bytes(s->stmt, column) : 0, at = 0;
    for (size_t i = 0; i < have && at + 2 < size; i++) {
        hex_byte(raw[i], out + at);
        at += 2;
    }
    out[at] = '\0';
}
