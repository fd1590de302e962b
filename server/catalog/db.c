/* Implements db.h with SQLite. A connection leaves this file only inside a transaction and returns outside one, so no statement and no lock
 * outlives a call of the catalog. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "catalog/db_internal.h"
#include "catalog/sql.h"
#include "catalog/text.h"
#include "core/ownership.h"
#include "wire/cleanup.h"
#include "wire/clock.h"

/* A reader keeps 4 MB of pages (cache_size): a page of a list at a million recordings is a quarter faster than with SQLite's 2 MB, more
 * gives nothing. */
enum { BUSY_TIMEOUT_MS = 10000, COPY_PAGES = 1024, OTHERS_NS = 100000000 };

struct db {
    char *path;
    pthread_mutex_t writing; /* held while the writer is in use */
    struct db_handle *writer;
    void (*on_commit)(void *context); /* of a commit */
    void *report_context;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t returned;
    struct db_handle *idle;
    unsigned readers;
    atomic_uint_least64_t commits;
    atomic_int_least64_t poll_ns; /* when to check for commits of other processes */
    pthread_mutex_t watching;     /* guards what follows */
    struct db_handle *watcher;    /* opened at first use */
    int64_t watched;              /* the version it saw last */
};

bool db_fail(sqlite3 *sqlite, int rc, struct reel_error *err) {
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

static void handle_close(struct db_handle *h) {
    if (!h) {
        return;
    }
    for (size_t i = 0; h->statements && i < sql_queries_count; i++) {
        sqlite3_finalize(h->statements[i].stmt);
    }
    free(h->statements);
    for (size_t i = 0; i < DB_CONTROLS; i++) {
        sqlite3_finalize(h->control[i]);
    }
    sqlite3_close(h->sqlite);
    free(h);
}
REEL_DEFINE_AUTO(struct db_handle, handle_close);

static struct db_handle *handle_open(struct db *db, bool writes, struct reel_error *err) {
    AUTO(handle_close) struct db_handle *h = calloc(1, sizeof *h);
    if (!h || !(h->statements = calloc(sql_queries_count, sizeof *h->statements))) {
        reel_fail_memory(err);
        return NULL;
    }
    h->db = db;
    h->writes = writes;
    int flags = (writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(db->path, &h->sqlite, flags, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(h->sqlite, BUSY_TIMEOUT_MS);
        rc = sqlite3_exec(
            h->sqlite,
            writes ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
                     " PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY;"
                   : "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;",
            NULL, NULL, NULL);
    }
    rc = rc == SQLITE_OK ? text_register(h->sqlite) : rc;
    if (rc != SQLITE_OK) {
        db_fail(h->sqlite, rc, err);
        return NULL;
    }
    return TAKE(h);
}

static struct db *db_new(const char *path, struct reel_error *err) {
    AUTO(db_close) struct db *db = calloc(1, sizeof *db);
    if (!db) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&db->writing, NULL);
    pthread_mutex_init(&db->mutex, NULL);
    pthread_mutex_init(&db->watching, NULL);
    pthread_cond_init(&db->returned, NULL);
    db->path = strdup(path);
    if (!db->path) {
        reel_fail_memory(err);
        return NULL;
    }
    return TAKE(db);
}

/* A new file gets the owner of its folder; SQLite does the same with its side files. */
static void make_file(const char *path) {
    AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    reel_own_by_folder(fd, path);
}

struct db *db_open(const char *path, struct reel_error *err) {
    make_file(path);
    AUTO(db_close) struct db *db = db_new(path, err);
    return db && (db->writer = handle_open(db, true, err)) ? TAKE(db) : NULL;
}

struct db *db_open_readonly(const char *path, struct reel_error *err) {
    if (access(path, F_OK) != 0) {
        reel_fail(err, REEL_NOT_FOUND, "there is no catalog");
        return NULL;
    }
    struct db *db = db_new(path, err);
    struct db_handle *h = db ? db_read(db, err) : NULL; /* fails unless it is a database */
    if (!h) {
        db_close(db);
        return NULL;
    }
    db_end(h);
    return db;
}

void db_close(struct db *db) {
    if (!db) {
        return;
    }
    while (db->idle) {
        struct db_handle *h = db->idle;
        db->idle = h->next;
        handle_close(h);
    }
    handle_close(db->watcher);
    handle_close(db->writer); /* the last one: it folds the log into the file */
    pthread_cond_destroy(&db->returned);
    pthread_mutex_destroy(&db->watching);
    pthread_mutex_destroy(&db->mutex);
    pthread_mutex_destroy(&db->writing);
    free(db->path);
    free(db);
}

static void release(struct db_handle *h) {
    struct db *db = h->db;
    pthread_mutex_lock(&db->mutex);
    h->next = db->idle;
    db->idle = h;
    pthread_cond_signal(&db->returned);
    pthread_mutex_unlock(&db->mutex);
}

/* An idle reader, a new one, or the next one returned. */
static struct db_handle *take_reader(struct db *db, struct reel_error *err) {
    pthread_mutex_lock(&db->mutex);
    while (!db->idle && db->readers == DB_READERS_MAX) {
        pthread_cond_wait(&db->returned, &db->mutex);
    }
    struct db_handle *h = db->idle;
    if (h) {
        db->idle = h->next;
    } else {
        db->readers++;
    }
    pthread_mutex_unlock(&db->mutex);
    if (h) {
        return h;
    }
    h = handle_open(db, false, err);
    if (!h) {
        pthread_mutex_lock(&db->mutex);
        db->readers--;
        pthread_cond_signal(&db->returned);
        pthread_mutex_unlock(&db->mutex);
    }
    return h;
}

static _Thread_local int64_t elapsed_ns;

int64_t db_elapsed_ns(void) {
    return elapsed_ns;
}

/* SQLite's code. To prepare them for each transaction would be a third of what a small one costs. */
static int control(struct db_handle *h, enum db_control which) {
    static const char *const sql[DB_CONTROLS] = {"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"};
    sqlite3_stmt **stmt = &h->control[which];
    int rc = *stmt ? SQLITE_OK : sqlite3_prepare_v3(h->sqlite, sql[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_step(*stmt);
        rc = sqlite3_reset(*stmt);
    }
    return rc;
}

static struct db_handle *begin(struct db_handle *h, enum db_control how, struct reel_error *err) {
    h->begun_ns = clock_ns();
    int rc = control(h, how);
    if (rc != SQLITE_OK) {
        db_fail(h->sqlite, rc, err);
        db_end(h);
        return NULL;
    }
    h->open = true;
    return h;
}

struct db_handle *db_read(struct db *db, struct reel_error *err) {
    struct db_handle *h = take_reader(db, err);
    return h ? begin(h, DB_BEGIN, err) : NULL;
}

struct db_handle *db_read_once(struct db *db, struct reel_error *err) {
    struct db_handle *h = take_reader(db, err);
    if (h) {
        h->begun_ns = clock_ns();
    }
    return h;
}

struct db_handle *db_write(struct db *db, struct reel_error *err) {
    if (!db->writer) {
        reel_fail(err, REEL_UNSUPPORTED, "the catalog is open for reading only");
        return NULL;
    }
    pthread_mutex_lock(&db->writing);
    return begin(db->writer, DB_BEGIN_WRITING, err);
}

bool db_commit(struct db_handle *h, struct reel_error *err) {
    errno = 0; /* SQLite keeps no errno of a commit, so the system's is reported */
    int rc = control(h, DB_COMMIT);
    if (rc != SQLITE_OK) {
        return db_fail(h->sqlite, rc, err);
    }
    h->open = false;
    atomic_fetch_add(&h->db->commits, 1);
    if (h->db->on_commit) {
        h->db->on_commit(h->db->report_context);
    }
    return true;
}

void db_on_commit(struct db *db, void (*on_commit)(void *context), void *context) {
    pthread_mutex_lock(&db->writing);
    db->on_commit = on_commit;
    db->report_context = context;
    pthread_mutex_unlock(&db->writing);
}

/* What others have committed is asked for by one thread at a time, and not by each request: it would take a tenth of what answering a small
 * one takes. */
static void find_others(struct db *db) {
    struct reel_error none = {0};
    db->watcher = db->watcher ? db->watcher : handle_open(db, false, &none);
    AUTO(db_done) struct db_statement *s = db->watcher ? db_statement(db->watcher, "data_version", &none) : NULL;
    int64_t version = s && db_next(s, &none) == DB_ROW ? db_int(s, 0) : -1;
    if (version < 0 || version != db->watched) {
        atomic_fetch_add(&db->commits, 1);
    }
    db->watched = version;
}

uint64_t db_version(struct db *db) {
    int64_t now = clock_ns(), due = atomic_load(&db->poll_ns);
    if (now >= due && pthread_mutex_trylock(&db->watching) == 0) {
        find_others(db);
        atomic_store(&db->poll_ns, now + OTHERS_NS);
        pthread_mutex_unlock(&db->watching);
    }
    return atomic_load(&db->commits);
}

void db_end(struct db_handle *h) {
    if (!h) {
        return;
    }
    if (h->open && !sqlite3_get_autocommit(h->sqlite)) { /* some failures have rolled back already */
        control(h, DB_ROLLBACK);
    }
    h->open = false;
    elapsed_ns += clock_ns() - h->begun_ns;
    if (h->writes) {
        pthread_mutex_unlock(&h->db->writing);
    } else {
        release(h);
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
    return rc == SQLITE_DONE || db_fail(NULL, rc, err);
}

/* The source stays in a read transaction, so that concurrent writes neither appear in the copy nor restart it. */
bool db_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    sqlite3 *to = NULL;
    if (!h || !db_script(h, "SELECT count(*) FROM sqlite_schema", err)) { /* the first read begins the transaction */
        return false;
    }
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", h->sqlite, "main") : NULL;
    bool good = b ? copy_steps(b, progress, err) : db_fail(to, rc, err);
    if (b && (rc = sqlite3_backup_finish(b)) != SQLITE_OK && good) {
        good = db_fail(to, rc, err);
    }
    sqlite3_close(to);
    return good;
}

bool db_single_file(struct db *db, struct reel_error *err) {
    pthread_mutex_lock(&db->writing);
    while (db->idle) { /* only readers of this process: no other knows the file */
        struct db_handle *h = db->idle;
        db->idle = h->next;
        db->readers--;
        handle_close(h);
    }
    int rc = sqlite3_exec(db->writer->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    pthread_mutex_unlock(&db->writing);
    return rc == SQLITE_OK || db_fail(db->writer->sqlite, rc, err);
}

bool db_script(struct db_handle *h, const char *sql, struct reel_error *err) {
    int rc = sqlite3_exec(h->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || db_fail(h->sqlite, rc, err);
}
