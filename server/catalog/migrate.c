/* Brings a database to the newest version: all migrations that are due run in one transaction. */
#include <stdio.h>

#include "catalog/catalog_internal.h"
#include "catalog/sql.h"
#include "wire/cleanup.h"

enum { APPLICATION_ID = 0x5265656c }; /* "Reel" */

static bool read_number(struct db_handle *h, const char *sql, int64_t *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0);
    return true;
}

bool catalog_migrate(struct db *db, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(db, err);
    int64_t application, version, tables;
    if (!h || !read_number(h, "PRAGMA application_id", &application, err) || !read_number(h, "PRAGMA user_version", &version, err) ||
        !read_number(h, "SELECT count(*) FROM sqlite_schema", &tables, err)) {
        return false;
    }
    if (application != APPLICATION_ID && (application != 0 || tables > 0)) {
        return reel_fail(err, REEL_UNSUPPORTED, "the catalog file belongs to another program");
    }
    if (version < 0 || (uint64_t)version > sql_migrations_count) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "the catalog has version %lld and was made by a newer program; this one supports versions up to %zu",
                         (long long)version, sql_migrations_count);
    }
    if ((size_t)version == sql_migrations_count) {
        return true;
    }
    for (size_t i = (size_t)version; i < sql_migrations_count; i++) {
        if (!db_script(h, sql_migrations[i].text, err)) {
            return reel_error_at(err, "migration %s", sql_migrations[i].name);
        }
    }
    char mark[96];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %zu;", APPLICATION_ID, sql_migrations_count);
    return db_script(h, mark, err) && db_commit(h, err);
}

bool catalog_is_current(struct db *db, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    int64_t application, version;
    if (!h || !read_number(h, "PRAGMA application_id", &application, err) || !read_number(h, "PRAGMA user_version", &version, err)) {
        return false;
    }
    return (application == APPLICATION_ID && (size_t)version == sql_migrations_count) ||
           reel_fail(err, REEL_UNSUPPORTED, "the catalog has version %lld, this program uses version %zu; starting the server upgrades it",
                     (long long)version, sql_migrations_count);
}
