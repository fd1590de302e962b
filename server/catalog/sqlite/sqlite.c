/* The engine SQLite. A connection leaves this file only inside a transaction and returns outside one, so no statement
 * and no lock outlives a call of the catalog. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mix.h"
#include "base/ownership.h"
#include "catalog/sqlite/sqlite.h"
#include "catalog/text.h"

/* A reader keeps 4 MB of pages (cache_size): a page of a list at a million recordings is a quarter faster than with
 * SQLite's 2 MB, more gives nothing. */
enum { APPLICATION_ID = 0x5265656c /* "Reel" */, BUSY_TIMEOUT_MS = 10000, COPY_PAGES = 1024, PROGRESS_OPS = 1000 };

static const int64_t UNCANCELLED_NS = 100 * INT64_C(1000000); /* of a statement, whatever becomes of its work */

struct sqlite_db {
    struct db base;
    char *path;
    pthread_mutex_t writing; /* held while the writer is in use */
    struct sqlite_handle *writer;
    void (*on_commit)(void *context); /* of a commit */
    void *report_context;
    struct db_pool readers;
    _Atomic(const volatile uint32_t *) wal_index; /* its header; NULL: there is none */
    atomic_uint_least64_t unknown;                /* versions that could not be read */
};

bool sqlite_fail(sqlite3 *sqlite, int rc, struct reel_error *err) {
    enum reel_code code = REEL_IO;
    const char *text = sqlite ? sqlite3_errmsg(sqlite) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_FULL:
        code = REEL_NO_SPACE;
        break;
    case SQLITE_NOMEM:
        code = REEL_NO_MEMORY;
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        code = REEL_CATALOG;
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return reel_fail(err, REEL_BUSY, "catalog: another process is writing to it");
    case SQLITE_INTERRUPT:
        return cancel_check(err) &&
               reel_fail(err, REEL_BUSY, "catalog: a query took longer than %d s and was ended; ask for less",
                         DB_STATEMENT_S);
    case SQLITE_READONLY:
        code = REEL_READ_ONLY;
        break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: /* errno is more precise than SQLite's code */
        errno = sqlite && sqlite3_system_errno(sqlite) ? sqlite3_system_errno(sqlite) : errno;
        return errno ? reel_fail_errno(err, "catalog: %s", text) : reel_fail(err, REEL_IO, "catalog: %s", text);
    default:
        break;
    }
    return reel_fail(err, code, "catalog: %s", text);
}

static struct sqlite_db *sqlite_own(struct db *db) {
    return (struct sqlite_db *)db;
}

static void handle_close(struct sqlite_handle *h) {
    if (!h) {
        return;
    }
    for (size_t i = 0; h->statements && i < sql_statements_count; i++) {
        sqlite3_finalize(h->statements[i].stmt);
    }
    free(h->statements);
    for (size_t i = 0; i < CONTROLS; i++) {
        sqlite3_finalize(h->control[i]);
    }
    sqlite3_close(h->sqlite);
    free(h);
}
REEL_DEFINE_AUTO(struct sqlite_handle, handle_close);

/* Not 0: the statement ends with SQLITE_INTERRUPT. Writes go on when their work was cancelled, and so do short reads:
 * they may be part of ending it. */
static int on_progress(void *context) {
    const struct sqlite_handle *h = context;
    int64_t now_ns = clock_ns();
    return now_ns > h->deadline_ns || (!h->writes && now_ns - h->begun_ns > UNCANCELLED_NS && !cancel_check(NULL));
}

/* SQLite's code. To prepare them for each transaction would be a third of what a small one costs; and a transaction
 * that had no memory ends without any. */
static int prepare_controls(struct sqlite_handle *h) {
    static const char *const sql[CONTROLS] = {"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"};
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < CONTROLS; i++) {
        rc = sqlite3_prepare_v3(h->sqlite, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &h->control[i], NULL);
    }
    return rc;
}

/* SQLite's code. */
static int control(struct sqlite_handle *h, enum sqlite_control which) {
    sqlite3_step(h->control[which]);
    return sqlite3_reset(h->control[which]);
}

static struct sqlite_handle *handle_open(struct sqlite_db *db, bool writes, struct reel_error *err) {
    AUTO(handle_close) struct sqlite_handle *h = calloc(1, sizeof *h);
    if (!h || !(h->statements = calloc(sql_statements_count, sizeof *h->statements))) {
        reel_fail_memory(err);
        return NULL;
    }
    h->base.db = &db->base;
    h->writes = writes;
    h->deadline_ns = INT64_MAX;
    int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(db->path, &h->sqlite, flags, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(h->sqlite, BUSY_TIMEOUT_MS);
        sqlite3_progress_handler(h->sqlite, PROGRESS_OPS, on_progress, h);
        rc =
            sqlite3_exec(h->sqlite,
                         writes ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
                                  "PRAGMA trusted_schema = OFF;"
                                  " PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY;"
                                : "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;",
                         NULL, NULL, NULL);
    }
    rc = rc == SQLITE_OK ? text_register(h->sqlite) : rc;
    rc = rc == SQLITE_OK ? row_bytes_register(h->sqlite) : rc;
    rc = rc == SQLITE_OK ? prepare_controls(h) : rc;
    if (rc != SQLITE_OK) {
        sqlite_fail(h->sqlite, rc, err);
        return NULL;
    }
    return TAKE(h);
}

static void close_readers(struct sqlite_db *db) {
    for (struct db_handle *h; (h = pool_remove_idle(&db->readers));) {
        handle_close((struct sqlite_handle *)h);
    }
}

static void sqlite_close_db(struct db *base) {
    struct sqlite_db *db = sqlite_own(base);
    close_readers(db);
    handle_close(db->writer); /* the last one: it folds the log into the file */
    pool_destroy(&db->readers);
    pthread_mutex_destroy(&db->writing);
    free(db->path);
    free(db);
}

void sqlite_make_file(const char *path) {
    AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    reel_own_by_folder(fd, path);
}

/* One that is opened for reading only must be a database. */
static bool is_database(struct db *db, struct reel_error *err) {
    struct db_handle *h = db_read(db, err);
    db_end(h);
    return h;
}

/* The header of the WAL index, in the memory that all processes with this database share: part of SQLite's file format
 * (sqlite.org/walformat.html). Each commit changes it. It stays mapped while the writer is open. */
static const volatile uint32_t *map_wal_index(sqlite3 *writer) {
    enum { REGION_BYTES = 32768 };
    sqlite3_file *file = NULL;
    void volatile *region = NULL;
    if (sqlite3_exec(writer, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) != SQLITE_OK || /* opens the log */
        sqlite3_file_control(writer, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file->pMethods ||
        file->pMethods->iVersion < 2 || file->pMethods->xShmMap(file, 0, REGION_BYTES, 0, &region) != SQLITE_OK) {
        return NULL;
    }
    return region;
}

static bool open_writer(struct sqlite_db *db, struct reel_error *err) {
    db->writer = handle_open(db, true, err);
    if (db->writer) {
        atomic_store(&db->wal_index, map_wal_index(db->writer->sqlite));
    }
    return db->writer;
}

static struct db *sqlite_open_db(const char *path, bool readonly, struct reel_error *err) {
    if (readonly && access(path, F_OK) != 0) {
        reel_fail(err, REEL_NOT_FOUND, "there is no catalog");
        return NULL;
    }
    if (!readonly && strcmp(path, ":memory:") != 0) {
        sqlite_make_file(path);
    }
    /* Without counting memory, for which all threads would share a lock. Does nothing once SQLite is in use. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    struct sqlite_db *db = calloc(1, sizeof *db);
    if (!db) {
        reel_fail_memory(err);
        return NULL;
    }
    db->base.engine = &db_sqlite;
    pthread_mutex_init(&db->writing, NULL);
    pool_init(&db->readers);
    db->path = strdup(path);
    bool good = db->path || reel_fail_memory(err);
    good = good && (readonly ? is_database(&db->base, err) : open_writer(db, err));
    if (!good) {
        sqlite_close_db(&db->base);
        return NULL;
    }
    return &db->base;
}

/* An idle reader, a new one, or the next one returned. */
static struct sqlite_handle *take_reader(struct sqlite_db *db, bool reserved, struct reel_error *err) {
    struct db_handle *h;
    if (!pool_take(&db->readers, reserved, &h, err)) {
        return NULL;
    }
    struct sqlite_handle *own = h ? (struct sqlite_handle *)h : handle_open(db, false, err);
    if (own) {
        own->base.reserved = reserved;
    } else {
        pool_return(&db->readers, reserved, NULL);
    }
    return own;
}

/* SQLite's full-text search may go wrong after it had no memory: on that connection the next change of the same rows
 * calls the database malformed. The writing mutex is held. */
static bool renew_writer(struct sqlite_db *db, struct reel_error *err) {
    if (strcmp(db->path, ":memory:") == 0) {
        return true;
    }
    AUTO(handle_close) struct sqlite_handle *fresh = handle_open(db, true, err);
    const volatile uint32_t *region = fresh ? map_wal_index(fresh->sqlite) : NULL;
    if (!fresh || (!region && atomic_load(&db->wal_index))) {
        return fresh ? reel_fail_memory(err) : false;
    }
    struct sqlite_handle *old = db->writer;
    atomic_store(&db->wal_index, region);
    db->writer = TAKE(fresh);
    handle_close(old);
    return true;
}

static struct sqlite_handle *take_writer(struct sqlite_db *db, struct reel_error *err) {
    if (!db->writer) {
        reel_fail(err, REEL_UNSUPPORTED, "the catalog is open for reading only");
        return NULL;
    }
    pthread_mutex_lock(&db->writing);
    if (db->writer->suspect && !renew_writer(db, err)) {
        pthread_mutex_unlock(&db->writing);
        return NULL;
    }
    return db->writer;
}

sqlite3 *sqlite_writer(struct db *db, struct reel_error *err) {
    struct sqlite_handle *h = sqlite_own(db)->writer;
    return h ? h->sqlite : (reel_fail(err, REEL_UNSUPPORTED, "the catalog is open for reading only"), NULL);
}
const char *sqlite_path(struct db *db) {
    return sqlite_own(db)->path;
}

static struct db_handle *sqlite_begin(struct db *db, enum db_use use, struct reel_error *err) {
    struct sqlite_handle *h = use == DB_WRITING ? take_writer(sqlite_own(db), err)
                                                : take_reader(sqlite_own(db), use == DB_READING_RESERVED, err);
    if (!h) {
        return NULL;
    }
    h->base.begun_ns = clock_ns();
    h->patient = false;
    h->open = use == DB_READING || use == DB_WRITING;
    int rc = h->open ? control(h, use == DB_WRITING ? CONTROL_BEGIN_WRITING : CONTROL_BEGIN) : SQLITE_OK;
    if (rc != SQLITE_OK) {
        sqlite_fail(h->sqlite, rc, err);
        db_end(&h->base);
        return NULL;
    }
    return &h->base;
}

static bool sqlite_patient(struct db_handle *h, struct reel_error *err) {
    (void)err;
    ((struct sqlite_handle *)h)->patient = true;
    return true;
}

static bool sqlite_commit(struct db_handle *handle, struct reel_error *err) {
    struct sqlite_handle *h = (struct sqlite_handle *)handle;
    struct sqlite_db *db = sqlite_own(handle->db);
    errno = 0; /* SQLite keeps no errno of a commit, so the system's is reported */
    int rc = control(h, CONTROL_COMMIT);
    if (rc != SQLITE_OK) {
        h->suspect |= (rc & 0xff) == SQLITE_NOMEM || (rc & 0xff) == SQLITE_CORRUPT;
        return sqlite_fail(h->sqlite, rc, err);
    }
    h->open = false;
    if (db->on_commit) {
        db->on_commit(db->report_context);
    }
    return true;
}

static void sqlite_watch(struct db *base, void (*on_commit)(void *context), void *context) {
    struct sqlite_db *db = sqlite_own(base);
    pthread_mutex_lock(&db->writing);
    db->on_commit = on_commit;
    db->report_context = context;
    pthread_mutex_unlock(&db->writing);
}

/* A number that follows from the last commit. One that cannot be read (a file system without shared memory, where
 * SQLite has no log) is unlike all others. */
static uint64_t sqlite_version(struct db *base) {
    enum { FORMAT = 3007000, FORMAT_AT = 0, COMMITS_AT = 2, FRAMES_AT = 4, CHECKSUM_AT = 6 };
    struct sqlite_db *db = sqlite_own(base);
    const volatile uint32_t *header = atomic_load(&db->wal_index);
    if (!header || __atomic_load_n(&header[FORMAT_AT], __ATOMIC_ACQUIRE) != FORMAT) {
        return UINT64_MAX - atomic_fetch_add(&db->unknown, 1);
    }
    uint64_t version = __atomic_load_n(&header[COMMITS_AT], __ATOMIC_ACQUIRE);
    for (int i = FRAMES_AT; i < CHECKSUM_AT + 2; i++) { /* the count begins anew when a log is recovered */
        version = mix_step(version, __atomic_load_n(&header[i], __ATOMIC_ACQUIRE));
    }
    return version;
}

static void sqlite_end(struct db_handle *handle) {
    struct sqlite_handle *h = (struct sqlite_handle *)handle;
    struct sqlite_db *db = sqlite_own(handle->db);
    if (h->open && !sqlite3_get_autocommit(h->sqlite)) { /* some failures have rolled back already */
        control(h, CONTROL_ROLLBACK);
    }
    h->open = false;
    if (h->writes) {
        pthread_mutex_unlock(&db->writing);
    } else {
        pool_return(&db->readers, handle->reserved, handle);
    }
}

/* ---- copies */

static bool copy_steps(sqlite3_backup *b, const struct reel_progress *progress, struct reel_error *err) {
    int rc = SQLITE_OK;
    while (rc == SQLITE_OK) {
        rc = sqlite3_backup_step(b, COPY_PAGES);
        uint64_t total = (uint64_t)sqlite3_backup_pagecount(b), left = (uint64_t)sqlite3_backup_remaining(b);
        if (progress && progress->report && !progress->report(progress->context, total - left, total)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
    return rc == SQLITE_DONE || sqlite_fail(NULL, rc, err);
}

static bool sqlite_script(struct db_handle *handle, const char *sql, struct reel_error *err) {
    struct sqlite_handle *h = (struct sqlite_handle *)handle;
    int rc = sqlite3_exec(h->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || sqlite_fail(h->sqlite, rc, err);
}

/* The source stays in a read transaction, so that concurrent writes neither appear in the copy nor restart it. */
static bool sqlite_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    sqlite3 *to = NULL;
    /* the first read begins the transaction */
    if (!h || !sqlite_script(h, "SELECT count(*) FROM sqlite_schema", err)) {
        return false;
    }
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_backup *b =
        rc == SQLITE_OK ? sqlite3_backup_init(to, "main", ((struct sqlite_handle *)h)->sqlite, "main") : NULL;
    bool good = b ? copy_steps(b, progress, err) : sqlite_fail(to, rc, err);
    if (b && (rc = sqlite3_backup_finish(b)) != SQLITE_OK && good) {
        good = sqlite_fail(to, rc, err);
    }
    sqlite3_close(to);
    return good;
}

static bool sqlite_single_file(struct db *base, struct reel_error *err) {
    struct sqlite_db *db = sqlite_own(base);
    pthread_mutex_lock(&db->writing);
    close_readers(db); /* only those of this process: no other knows the file */
    atomic_store(&db->wal_index, NULL);
    int rc = sqlite3_exec(db->writer->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    pthread_mutex_unlock(&db->writing);
    return rc == SQLITE_OK || sqlite_fail(db->writer->sqlite, rc, err);
}

/* ---- the version of the tables */

static bool sqlite_read_number(struct db_handle *h, const char *sql, int64_t *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0);
    return true;
}

static bool sqlite_tables(struct db_handle *h, uint64_t *version, struct reel_error *err) {
    int64_t application, number, tables;
    if (!sqlite_read_number(h, "PRAGMA application_id", &application, err) ||
        !sqlite_read_number(h, "PRAGMA user_version", &number, err) ||
        !sqlite_read_number(h, "SELECT count(*) FROM sqlite_schema", &tables, err)) {
        return false;
    }
    *version = (uint64_t)number; /* one below 0 is that of a newer program, too */
    return application == APPLICATION_ID || (application == 0 && tables == 0) ||
           reel_fail(err, REEL_UNSUPPORTED, "the catalog file belongs to another program");
}

static bool sqlite_set_tables(struct db_handle *h, uint64_t version, struct reel_error *err) {
    char mark[96];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %llu;", APPLICATION_ID,
             (unsigned long long)version);
    return sqlite_script(h, mark, err);
}

const struct db_engine db_sqlite = {.migrations = sql_migrations,
                                    .n_migrations = &sql_migrations_count,
                                    .open = sqlite_open_db,
                                    .close = sqlite_close_db,
                                    .begin = sqlite_begin,
                                    .commit = sqlite_commit,
                                    .end = sqlite_end,
                                    .version = sqlite_version,
                                    .watch = sqlite_watch,
                                    .copy = sqlite_copy,
                                    .single_file = sqlite_single_file,
                                    .tables = sqlite_tables,
                                    .set_tables = sqlite_set_tables,
                                    .script = sqlite_script,
                                    .schema = sqlite_schema,
                                    .enforce = sqlite_enforce,
                                    .keep = sqlite_keep,
                                    .patient = sqlite_patient,
                                    .statement = sqlite_statement,
                                    .compose = sqlite_compose,
                                    .done = sqlite_done,
                                    .set_int = sqlite_set_int,
                                    .set_text = sqlite_set_text,
                                    .set_null = sqlite_set_null,
                                    .set_blob = sqlite_set_blob,
                                    .next = sqlite_next,
                                    .reset = sqlite_reset,
                                    .changes = sqlite_changes,
                                    .get_int = sqlite_int,
                                    .get_text = sqlite_text,
                                    .get_blob = sqlite_blob,
                                    .is_null = sqlite_is_null};
