/* SQLite behind db.h. Its one rule: a connection leaves this file only inside a transaction and comes back outside one, so no statement and
 * no lock outlives a call of the catalog. */
#include "catalog/db.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "catalog/sql.h"
#include "reel/iterate.h"

/* A reader keeps 4 MB of pages (cache_size): a page of a list at a million recordings is a quarter faster than with SQLite's 2 MB, more gives nothing. */
enum { BUSY_TIMEOUT_MS = 10000, HEX_BYTES_MAX = 32, COPY_PAGES = 1024 };

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
    bool writes, open;      /* open: inside a transaction */
    struct db_statement *statements;
};

struct db {
    char *path;
    pthread_mutex_t writing; /* held by whoever has the writer */
    struct db_handle *writer;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t returned;
    struct db_handle *idle;
    unsigned readers;
    atomic_uint_least64_t commits;
    void (*tell)(void *context); /* of a commit */
    void *tell_context;
};

static bool fail(sqlite3 *sqlite, int rc, struct reel_error *err) {
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
    case SQLITE_READONLY:
        code = REEL_READ_ONLY;
        break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: /* the system tells more than SQLite does */
        errno = sqlite && sqlite3_system_errno(sqlite) ? sqlite3_system_errno(sqlite) : errno;
        return errno ? reel_fail_errno(err, "catalog: %s", text) : reel_fail(err, REEL_IO, "catalog: %s", text);
    default:
        break;
    }
    return reel_fail(err, code, "catalog: %s", text);
}

/* SQL's glob_match(glob, text): the one matcher of the house, so that a topic glob means the same in the catalog and in a recording. */
static void sql_glob_match(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    const char *glob = (const char *)sqlite3_value_text(argv[0]), *text = (const char *)sqlite3_value_text(argv[1]);
    sqlite3_result_int(context, glob && text && reel_topic_match(glob, text));
}

static void handle_close(struct db_handle *h) {
    if (!h) {
        return;
    }
    for (size_t i = 0; h->statements && i < sql_queries_count; i++) {
        sqlite3_finalize(h->statements[i].stmt);
    }
    free(h->statements);
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
    if (rc == SQLITE_OK) {
        int what = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
        rc = sqlite3_create_function_v2(h->sqlite, "glob_match", 2, what, NULL, sql_glob_match, NULL, NULL, NULL);
    }
    if (rc != SQLITE_OK) {
        fail(h->sqlite, rc, err);
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
    pthread_cond_init(&db->returned, NULL);
    db->path = strdup(path);
    if (!db->path) {
        reel_fail_memory(err);
        return NULL;
    }
    return TAKE(db);
}

struct db *db_open(const char *path, struct reel_error *err) {
    AUTO(db_close) struct db *db = db_new(path, err);
    return db && (db->writer = handle_open(db, true, err)) ? TAKE(db) : NULL;
}

struct db *db_open_beside(const char *path, struct reel_error *err) {
    if (access(path, F_OK) != 0) {
        reel_fail(err, REEL_NOT_FOUND, "there is no catalog");
        return NULL;
    }
    struct db *db = db_new(path, err);
    struct db_handle *h = db ? db_read(db, err) : NULL; /* tells at once whether it is one */
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
    handle_close(db->writer); /* the last one: it folds the log into the file */
    pthread_cond_destroy(&db->returned);
    pthread_mutex_destroy(&db->mutex);
    pthread_mutex_destroy(&db->writing);
    free(db->path);
    free(db);
}

static void give_back(struct db_handle *h) {
    struct db *db = h->db;
    pthread_mutex_lock(&db->mutex);
    h->next = db->idle;
    db->idle = h;
    pthread_cond_signal(&db->returned);
    pthread_mutex_unlock(&db->mutex);
}

/* An idle reader, a new one, or the next that comes back. */
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

static _Thread_local int64_t spent_ns;

static int64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t db_spent_ns(void) {
    return spent_ns;
}

static struct db_handle *begin(struct db_handle *h, const char *sql, struct reel_error *err) {
    h->begun_ns = clock_ns();
    int rc = sqlite3_exec(h->sqlite, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        fail(h->sqlite, rc, err);
        db_end(h);
        return NULL;
    }
    h->open = true;
    return h;
}

struct db_handle *db_read(struct db *db, struct reel_error *err) {
    struct db_handle *h = take_reader(db, err);
    return h ? begin(h, "BEGIN", err) : NULL;
}

struct db_handle *db_write(struct db *db, struct reel_error *err) {
    if (!db->writer) {
        reel_fail(err, REEL_UNSUPPORTED, "the catalog is open for reading only");
        return NULL;
    }
    pthread_mutex_lock(&db->writing);
    return begin(db->writer, "BEGIN IMMEDIATE", err);
}

bool db_commit(struct db_handle *h, struct reel_error *err) {
    errno = 0; /* of a commit SQLite keeps none: the system's is the one to tell */
    int rc = sqlite3_exec(h->sqlite, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        return fail(h->sqlite, rc, err);
    }
    h->open = false;
    atomic_fetch_add(&h->db->commits, 1);
    if (h->db->tell) {
        h->db->tell(h->db->tell_context);
    }
    return true;
}

void db_on_commit(struct db *db, void (*tell)(void *context), void *context) {
    pthread_mutex_lock(&db->writing);
    db->tell = tell;
    db->tell_context = context;
    pthread_mutex_unlock(&db->writing);
}

uint64_t db_version(struct db *db) {
    return atomic_load(&db->commits);
}

void db_end(struct db_handle *h) {
    if (!h) {
        return;
    }
    if (h->open && !sqlite3_get_autocommit(h->sqlite)) { /* some failures have rolled back already */
        sqlite3_exec(h->sqlite, "ROLLBACK", NULL, NULL, NULL);
    }
    h->open = false;
    spent_ns += clock_ns() - h->begun_ns;
    if (h->writes) {
        pthread_mutex_unlock(&h->db->writing);
    } else {
        give_back(h);
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
    return rc == SQLITE_DONE || fail(NULL, rc, err);
}

/* The source stands in a read transaction, so that what is written meanwhile neither shows nor makes the copy begin anew. */
bool db_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(db, err);
    sqlite3 *to = NULL;
    if (!h || !db_script(h, "SELECT count(*) FROM sqlite_schema", err)) { /* the transaction begins with the first look */
        return false;
    }
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", h->sqlite, "main") : NULL;
    bool good = b ? copy_steps(b, progress, err) : fail(to, rc, err);
    if (b && (rc = sqlite3_backup_finish(b)) != SQLITE_OK && good) {
        good = fail(to, rc, err);
    }
    sqlite3_close(to);
    return good;
}

bool db_single_file(struct db *db, struct reel_error *err) {
    pthread_mutex_lock(&db->writing);
    while (db->idle) { /* readers of this process; nobody else knows the file */
        struct db_handle *h = db->idle;
        db->idle = h->next;
        db->readers--;
        handle_close(h);
    }
    int rc = sqlite3_exec(db->writer->sqlite, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    pthread_mutex_unlock(&db->writing);
    return rc == SQLITE_OK || fail(db->writer->sqlite, rc, err);
}

bool db_script(struct db_handle *h, const char *sql, struct reel_error *err) {
    int rc = sqlite3_exec(h->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || fail(h->sqlite, rc, err);
}

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
        int rc = sqlite3_prepare_v3(h->sqlite, found->text, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
        if (rc != SQLITE_OK) {
            fail(h->sqlite, rc, err);
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
        fail(h->sqlite, rc, err);
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

static int place(struct db_statement *s, const char *name) {
    return sqlite3_bind_parameter_index(s->stmt, name);
}
static void note(struct db_statement *s, int rc) {
    if (rc != SQLITE_OK && s->failed == SQLITE_OK) {
        s->failed = rc;
    }
}

void db_set_int(struct db_statement *s, const char *name, int64_t value) {
    int at = place(s, name);
    note(s, at ? sqlite3_bind_int64(s->stmt, at, value) : SQLITE_OK);
}

void db_set_size(struct db_statement *s, const char *name, uint64_t value) {
    db_set_int(s, name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void db_set_text(struct db_statement *s, const char *name, const char *value) {
    int at = place(s, name);
    note(s, at ? sqlite3_bind_text(s->stmt, at, value ? value : "", -1, SQLITE_STATIC) : SQLITE_OK);
}

void db_set_blob(struct db_statement *s, const char *name, const void *data, size_t size) {
    int at = place(s, name);
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
    fail(s->failed != SQLITE_OK ? NULL : s->handle->sqlite, rc, err);
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

bool db_is_text(struct db_statement *s, int column) {
    return sqlite3_column_type(s->stmt, column) == SQLITE_TEXT;
}

void db_hex(struct db_statement *s, int column, char *out, size_t size) {
    static const char digits[] = "0123456789abcdef";
    const uint8_t *raw = sqlite3_column_blob(s->stmt, column);
    size_t have = raw ? (size_t)sqlite3_column_bytes(s->stmt, column) : 0, at = 0;
    for (size_t i = 0; i < have && at + 2 < size; i++) {
        out[at++] = digits[raw[i] >> 4];
        out[at++] = digits[raw[i] & 15];
    }
    out[at] = '\0';
}
