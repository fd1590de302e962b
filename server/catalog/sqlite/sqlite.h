/* The catalog in SQLite: shared by sqlite.c (connections and transactions) and statement.c only. */
#ifndef SERVER_CATALOG_SQLITE_SQLITE_H
#define SERVER_CATALOG_SQLITE_SQLITE_H

#include <sqlite3.h>

#include "catalog/columns.h"
#include "catalog/db_engine.h"

/* Beginning and end of transactions. */
enum sqlite_control { CONTROL_BEGIN, CONTROL_BEGIN_WRITING, CONTROL_COMMIT, CONTROL_ROLLBACK, CONTROLS };

struct sqlite_statement {
    struct db_statement base;
    sqlite3_stmt *stmt;
    int failed;         /* first bind that failed */
    int64_t elapsed_ns; /* in steps of this run */
    bool composed;
};

struct sqlite_handle {
    struct db_handle base;
    sqlite3 *sqlite;
    bool writes, open;   /* open: inside a transaction */
    bool patient;        /* as db_patient() */
    bool suspect;        /* a statement had no memory, or found what cannot be */
    int64_t deadline_ns; /* of the statement that is being stepped, … */
    int64_t begun_ns;    /* … and when that was begun */
    struct sqlite_statement *statements;
    sqlite3_stmt *control[CONTROLS];
};

/* Fails with the message of SQLite or, where it is more precise, of the system; false. `sqlite` may be NULL. */
bool sqlite_fail(sqlite3 *sqlite, int rc, struct reel_error *err);

/* A new file gets the owner of its folder; SQLite does the same with its side files. */
void sqlite_make_file(const char *path);
const char *sqlite_path(struct db *db);
sqlite3 *sqlite_writer(struct db *db, struct reel_error *err); /* NULL: open for reading only */

/* upgrade.c */
extern const char sqlite_schema[];
bool sqlite_enforce(struct db *db, bool on, struct reel_error *err);
bool sqlite_keep(struct db *db, uint64_t version, char path[PATH_MAX], struct reel_error *err);

int row_bytes_register(sqlite3 *sqlite); /* row_bytes.c; SQLite's code */

/* statement.c */
extern const struct columns_array sqlite_arrays[COLUMNS_ARRAYS];
struct db_statement *sqlite_statement(struct db_handle *h, const char *name, struct reel_error *err);
struct db_statement *sqlite_compose(struct db_handle *h, const char *sql, struct reel_error *err);
void sqlite_done(struct db_statement *s);
void sqlite_set_int(struct db_statement *s, const char *name, int64_t value);
void sqlite_set_text(struct db_statement *s, const char *name, const char *value);
void sqlite_set_null(struct db_statement *s, const char *name);
void sqlite_set_blob(struct db_statement *s, const char *name, const void *data, size_t size);
enum db_step sqlite_next(struct db_statement *s, struct reel_error *err);
void sqlite_reset(struct db_statement *s);
unsigned sqlite_changes(struct db_statement *s);
int64_t sqlite_int(struct db_statement *s, int column);
const char *sqlite_text(struct db_statement *s, int column);
const uint8_t *sqlite_blob(struct db_statement *s, int column, size_t *size);
bool sqlite_is_null(struct db_statement *s, int column);

#endif
