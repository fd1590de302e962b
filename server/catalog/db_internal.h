/* Shared by db.c (connections and transactions) and statement.c only. */
#ifndef SERVER_CATALOG_DB_INTERNAL_H
#define SERVER_CATALOG_DB_INTERNAL_H

#include <sqlite3.h>

#include "catalog/db.h"

enum { HEX_BYTES_MAX = 32 };

/* Beginning and end of transactions. */
enum db_control { DB_BEGIN, DB_BEGIN_WRITING, DB_COMMIT, DB_ROLLBACK, DB_CONTROLS };

struct db_statement {
    struct db_handle *handle;
    sqlite3_stmt *stmt;
    uint8_t raw[4][HEX_BYTES_MAX]; /* what db_set_hex() decoded */
    unsigned n_raw;
    int failed; /* first bind that failed */
    bool composed;
};

struct db_handle {
    struct db *db;
    sqlite3 *sqlite;
    struct db_handle *next; /* while idle */
    int64_t begun_ns;
    bool writes, open; /* open: inside a transaction */
    struct db_statement *statements;
    sqlite3_stmt *control[DB_CONTROLS]; /* prepared when first used */
};

/* Fails with the message of SQLite or, where it is more precise, of the system; false. `sqlite` may be NULL. */
bool db_fail(sqlite3 *sqlite, int rc, struct reel_error *err);

#endif
