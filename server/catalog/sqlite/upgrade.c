/* What upgrades of the catalog need of SQLite: see db_engine.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/disk.h"
#include "catalog/sqlite/sqlite.h"
#include "reel/time.h"

enum { KEPT_MAX = 3 }; /* catalogs of earlier versions that stay beside the catalog */

/* Texts of CREATE statements, without those that SQLite and its full-text index make for themselves. */
const char sqlite_schema[] = "SELECT s.type || ' ' || s.name || ' ' || s.sql FROM sqlite_schema AS s "
                             "WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND NOT EXISTS ("
                             "SELECT 1 FROM sqlite_schema AS v WHERE v.sql LIKE 'CREATE VIRTUAL TABLE %' "
                             "AND s.name LIKE v.name || '\\_%' ESCAPE '\\') ORDER BY s.type, s.name";

/* foreign_keys has no effect within a transaction. legacy_alter_table: ALTER TABLE … RENAME does not check the triggers
 * of other tables, which name the table that is being replaced. */
bool sqlite_enforce(struct db *db, bool on, struct reel_error *err) {
    sqlite3 *sqlite = sqlite_writer(db, err);
    int rc = sqlite ? sqlite3_exec(sqlite,
                                   on ? "PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF"
                                      : "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON",
                                   NULL, NULL, NULL)
                    : SQLITE_MISUSE;
    return rc == SQLITE_OK || (sqlite && sqlite_fail(sqlite, rc, err));
}

static bool kept_name(const char *catalog, uint64_t version, const char *end, char out[PATH_MAX],
                      struct reel_error *err) {
    int n = snprintf(out, PATH_MAX, "%s.version-%llu%s", catalog, (unsigned long long)version, end);
    return (n > 0 && n < PATH_MAX) || reel_fail(err, REEL_ARGUMENT, "the path of the catalog is too long");
}

static void remove_oldest(const char *catalog, uint64_t version) {
    char path[PATH_MAX];
    struct reel_error none;
    unsigned kept = 0;
    for (uint64_t v = version; v > 0; v--) {
        if (kept_name(catalog, v, "", path, &none) && access(path, F_OK) == 0 && ++kept > KEPT_MAX) {
            unlink(path);
        }
    }
}

/* As of a backup: else a server that runs on it would delete the files of newer recordings. */
static bool mark_kept(const char *path, struct reel_error *err) {
    char sql[120];
    sqlite3 *copy = NULL;
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO maintenance (key, value) VALUES ('copied', '%lld')",
             (long long)reel_now_ns());
    int rc = sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE, NULL);
    rc = rc == SQLITE_OK ? sqlite3_exec(copy, sql, NULL, NULL, NULL) : rc;
    bool good = rc == SQLITE_OK || sqlite_fail(copy, rc, err);
    sqlite3_close(copy); /* it merges the write-ahead log into the file */
    return good;
}

/* One that an interrupted upgrade has left is made again: another program may have written since. */
bool sqlite_keep(struct db *db, uint64_t version, char path[PATH_MAX], struct reel_error *err) {
    char part[PATH_MAX];
    const char *catalog = sqlite_path(db);
    if (!kept_name(catalog, version, ".part", part, err) || !kept_name(catalog, version, "", path, err)) {
        return false;
    }
    unlink(part);
    sqlite_make_file(part);
    bool good = db->engine->copy(db, part, NULL, err) && mark_kept(part, err) &&
                (rename(part, path) == 0 || reel_fail_errno(err, "the copy cannot get its name")) &&
                disk_sync_folder_of(path, err);
    if (!good) {
        unlink(part);
        return false;
    }
    remove_oldest(catalog, version);
    return true;
}
