/* Opens a connection to an untrusted database. SQL from the file never runs (no views, triggers, virtual tables or
 * extensions, and only two functions), and the cost of our own statements is bounded by the size of the file. */
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/rosbag2/container.h"

#include <stdio.h>

enum {
    STEPS_AT_ONCE = 1000,      /* steps of SQLite's virtual machine between two checks of the budget */
    SCHEMA_STEPS = 64,         /* thousands of steps for reading the schema: about 8000 tables */
    SCHEMA_SQL_MAX = 16 << 10, /* one CREATE TABLE */
    STEPS_BASE = 8 << 10,      /* thousands of steps for any file; larger files get more */
    BYTES_PER_STEP = 250,      /* a row takes at least 8 bytes and about 16 steps */
    BYTES_BASE = 1 << 20,
};

static int count_steps(void *context) {
    struct rosbag2 *db = context;
    if (db->ops_left == 0) {
        return 1;
    }
    db->ops_left--;
    return 0;
}

/* SQLite's authorizer, called while a statement is compiled. `inner` is the view or trigger that causes the access. */
static int allow(void *context, int action, const char *first, const char *second, const char *database,
                 const char *inner) {
    (void)context, (void)database;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
        return inner ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return first && strcmp(first, "table_xinfo") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return second && (ascii_casecmp(second, "typeof") == 0 || ascii_casecmp(second, "length") == 0) ? SQLITE_OK
                                                                                                        : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static bool is_out_of_range(struct reel_source *source, struct reel_error *err) {
    uint8_t head[SQLITE_HEADER_SIZE];
    if (source->size < SQLITE_PAGE_MIN) {
        return !reel_fail(err, REEL_NOT_MINE, "%s: its %llu bytes are not a database", source->name,
                          (unsigned long long)source->size);
    }
    if (!reel_source_read(source, 0, head, sizeof head, err)) {
        return true;
    }
    if (memcmp(head, SQLITE_MAGIC, SQLITE_MAGIC_SIZE) != 0) {
        return !reel_fail(err, REEL_NOT_MINE, "%s: no SQLite database", source->name);
    }
    return false;
}

static int configure(struct rosbag2 *db) {
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, REEL_SCHEMA_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, SCHEMA_SQL_MAX},
        {SQLITE_LIMIT_COLUMN, 64},
        {SQLITE_LIMIT_EXPR_DEPTH, 200}, /* views and checks are parsed with the schema but never run; they may have any
                                           shape */
        {SQLITE_LIMIT_COMPOUND_SELECT, 500},
        {SQLITE_LIMIT_VDBE_OP, 1000},
        {SQLITE_LIMIT_FUNCTION_ARG, 100},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 4},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        sqlite3_limit(db->sqlite, limits[i][0], limits[i][1]);
    }
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof switches / sizeof *switches; i++) {
        rc = sqlite3_db_config(db->sqlite, switches[i][0], switches[i][1], NULL);
        rc = switches[i][0] == SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION ||
                     switches[i][0] == SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER
                 ? SQLITE_OK /* a library built without these features has nothing to switch off */
                 : rc;
    }
    rc = rc == SQLITE_OK ? sqlite3_drop_modules(db->sqlite, NULL) : rc;
    return rc;
}

bool rosbag2_open(struct rosbag2 *db, struct reel_source *source, const struct rosbag2_repair *repair,
                  struct reel_error *err) {
    *db = (struct rosbag2){.ops_left = SCHEMA_STEPS,
                           .bytes_left = source->size + BYTES_BASE,
                           .view = {.source = source, .repair = repair}};
    if (is_out_of_range(source, err)) {
        return false;
    }
    int rc = rosbag2_vfs_open(&db->view, &db->sqlite);
    rc = rc == SQLITE_OK ? configure(db) : rc;
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(db->sqlite, 0);
        sqlite3_progress_handler(db->sqlite, STEPS_AT_ONCE, count_steps, db);
        rc = sqlite3_exec(db->sqlite, "PRAGMA cell_size_check=1; PRAGMA temp_store=2; PRAGMA cache_size=-1024", NULL,
                          NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        return rosbag2_fail(db, rc, "the database cannot be opened", err);
    }
    sqlite3_set_authorizer(db->sqlite, allow, NULL);
    db->ops_left = STEPS_BASE + source->size / BYTES_PER_STEP;
    return true;
}

void rosbag2_close(struct rosbag2 *db) {
    sqlite3_close(db->sqlite);
    db->sqlite = NULL;
}

bool rosbag2_is_damage(int rc) {
    return rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_ERROR || rc == SQLITE_TOOBIG;
}

bool rosbag2_fail(const struct rosbag2 *db, int rc, const char *what, struct reel_error *err) {
    if (db->view.failure.code != REEL_OK) {
        return reel_error_pass(err, &db->view.failure);
    }
    switch (rc) {
    case SQLITE_NOMEM:
        return reel_fail_memory(err);
    case SQLITE_INTERRUPT:
        return reel_fail(err, REEL_LIMIT, "%s: it takes more work than a database of this size is worth", what);
    default:
        return reel_fail(err, REEL_DAMAGED, "%s: %s", what,
                         db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(rc));
    }
}

sqlite3_stmt *rosbag2_prepare(struct rosbag2 *db, const char *sql, struct reel_error *err) {
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, NULL);
    if (rc != SQLITE_OK) {
        rosbag2_fail(db, rc, "the tables are not as they should be", err);
    }
    return rc == SQLITE_OK ? statement : NULL;
}

bool rosbag2_has_column(const struct rosbag2 *db, const char *table, const char *column) {
    int rc = sqlite3_table_column_metadata(db->sqlite, "main", table, column, NULL, NULL, NULL, NULL, NULL);
    return rc == SQLITE_OK;
}

/* Checks the columns of a table. Computed columns are refused: they are SQL from the file. */
static bool check_columns(struct rosbag2 *db, const char *table, struct reel_error *err) {
    enum { NAME = 1, HIDDEN = 6 };
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA table_xinfo(\"%s\")", table);
    AUTO(statement) sqlite3_stmt *columns = rosbag2_prepare(db, sql, err);
    int rc = SQLITE_ROW;
    while (columns && (rc = sqlite3_step(columns)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(columns, NAME);
        if (sqlite3_column_int(columns, HIDDEN) != 0) {
            return reel_fail(err, REEL_UNSUPPORTED, "it has computed columns");
        }
        if (name && ascii_casecmp(name, "rowid") == 0) {
            return reel_fail(err, REEL_UNSUPPORTED, "it has a column named rowid");
        }
    }
    return columns && (rc == SQLITE_DONE || rosbag2_fail(db, rc, "its columns cannot be listed", err));
}

bool rosbag2_has_table(struct rosbag2 *db, const char *table, bool *there, struct reel_error *err) {
    char sql[96];
    int rc = sqlite3_table_column_metadata(db->sqlite, "main", table, NULL, NULL, NULL, NULL, NULL, NULL);
    *there = rc == SQLITE_OK;
    if (rc == SQLITE_NOMEM) {
        return reel_fail_memory(err);
    }
    if (!*there) { /* a view counts as missing; an unreadable schema has already failed in rosbag2_open() */
        return true;
    }
    if (!check_columns(db, table, err)) {
        return reel_error_at(err, "table %s", table);
    }
    snprintf(sql, sizeof sql, "SELECT rowid FROM \"%s\"", table);
    AUTO(statement) sqlite3_stmt *statement = rosbag2_prepare(db, sql, err);
    return statement || reel_error_at(err, "table %s", table);
}

bool rosbag2_column(struct rosbag2 *db, sqlite3_stmt *statement, int column, struct reel_bytes *out,
                    struct reel_error *err) {
    *out = bytes_of("", 0);
    int type = sqlite3_column_type(statement, column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) {
        return true;
    }
    const void *data = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, column)
                                           : sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (size > 0 && !data) {
        return reel_fail_memory(err);
    }
    if (size > db->bytes_left) {
        return reel_fail(err, REEL_DAMAGED, "its values are more than the file can hold");
    }
    db->bytes_left -= size;
    *out = size > 0 ? bytes_of(data, size) : *out;
    return true;
}
