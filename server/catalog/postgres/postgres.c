/* The engine PostgreSQL: a pool of readers, one writer, and a thread that hears of commits. One transaction writes at a
 * time, of all replicas together: each takes an advisory lock first, as SQLite takes its file's. So sums and numbers of
 * revisions are never fought over, and the numbers of changes are in the order in which they can be seen. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "catalog/postgres/postgres.h"
#include "catalog/text.h"

enum { LISTEN_MS = 200, LISTEN_AGAIN_MS = 2000 };

/* A server whose network was cut must not keep the others from writing for long. The lock's number is "Reel". */
#define BEGIN_WRITING                                                                                                  \
    "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SELECT pg_advisory_xact_lock(1382376812)"
static const char begin_writing[] = BEGIN_WRITING,
                  begin_checked[] = BEGIN_WRITING "; SELECT version FROM catalog_state";
static const char begin_reading[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
static const char commit_writing[] = "UPDATE catalog_state SET commits = commits + 1; NOTIFY reel; COMMIT";

struct pg_db {
    struct db base;
    char *where;
    bool readonly;
    _Atomic bool has_tables;
    pthread_mutex_t writing; /* held while the writer is in use */
    struct pg_handle *writer;
    struct db_pool readers;
    atomic_uint_least64_t failures; /* of asking for the version */
    pthread_t listener;
    bool listens;
    atomic_bool stops;
    void (*on_commit)(void *context);
    void *context;
    pthread_mutex_t words_mutex; /* guards what follows */
    sqlite3 *words;              /* an empty database, for its tokenizer */
    struct pg_locks *locks;
};

static struct pg_db *postgres_own(struct db *db) {
    return (struct pg_db *)db;
}

/* ---- connections */

static void handle_close(struct pg_handle *h) {
    if (!h) {
        return;
    }
    for (size_t i = 0; h->own && i < sql_statements_count; i++) {
        struct pg_statement *s = &h->own[i];
        pg_text_free((struct pg_text *)s->text);
        free(s->values);
        free(s->prepared);
    }
    free(h->own);
    PQfinish(h->link);
    free(h);
}

static struct pg_handle *handle_open(struct pg_db *db, struct reel_error *err) {
    struct pg_handle *h = calloc(1, sizeof *h);
    if (!h || !(h->own = calloc(sql_statements_count, sizeof *h->own))) {
        free(h);
        reel_fail_memory(err);
        return NULL;
    }
    h->base.db = &db->base;
    h->link = pg_connect(db->where, err);
    if (!h->link) {
        handle_close(h);
        return NULL;
    }
    return h;
}

bool pg_reconnect(struct pg_handle *h, struct reel_error *err) {
    PGconn *link = pg_connect(postgres_own(h->base.db)->where, err);
    if (link) {
        PQfinish(h->link);
        h->link = link;
        pg_forget_statements(h);
    }
    return link;
}

/* An idle reader, a new one, or the next one returned. */
static struct pg_handle *take_reader(struct pg_db *db, bool reserved, struct reel_error *err) {
    struct db_handle *h;
    if (pg_is_silent(err) || !pool_take(&db->readers, reserved, &h, err)) {
        return NULL;
    }
    struct pg_handle *own = h ? (struct pg_handle *)h : handle_open(db, err);
    if (own) {
        own->base.reserved = reserved;
    } else {
        pool_return(&db->readers, reserved, NULL);
    }
    return own;
}

static struct pg_handle *take_writer(struct pg_db *db, struct reel_error *err) {
    if (db->readonly) {
        reel_fail(err, REEL_UNSUPPORTED, "the catalog is open for reading only");
        return NULL;
    }
    pthread_mutex_lock(&db->writing);
    struct pg_handle *h = NULL;
    if (!pg_is_silent(err)) { /* else the one before has waited in vain */
        h = db->writer = db->writer ? db->writer : handle_open(db, err);
    }
    if (!h) {
        pthread_mutex_unlock(&db->writing);
    }
    return h;
}

/* ---- transactions */

static bool is_lost(const struct pg_handle *h) {
    return PQstatus(h->link) == CONNECTION_BAD;
}

/* Another server may have upgraded the catalog since this one was started: then this one only reads. */
static bool check_version(const struct pg_handle *h, const PGresult *result, struct reel_error *err) {
    size_t newest = h->base.db->n_migrations;
    unsigned long long version = strtoull(PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : "", NULL, 10);
    return version <= newest || reel_fail(err, REEL_READ_ONLY,
                                          "the catalog was upgraded by a newer version of Reel (%llu, this one knows "
                                          "%zu): this server only reads; replace it",
                                          version, newest);
}

static bool begin_transaction(const struct pg_handle *h, struct reel_error *err) {
    if (h->use != DB_WRITING) {
        return pg_run(h->link, begin_reading, err);
    }
    bool checked = postgres_own(h->base.db)->has_tables;
    PGresult *result = pg_query(h->link, checked ? begin_checked : begin_writing, PG_WAIT_MS, err);
    bool good = result && (!checked || check_version(h, result, err));
    PQclear(result);
    return good;
}

static struct db_handle *pg_begin(struct db *db, enum db_use use, struct reel_error *err) {
    struct pg_handle *h = use == DB_WRITING ? take_writer(postgres_own(db), err)
                                            : take_reader(postgres_own(db), use == DB_READING_RESERVED, err);
    if (!h) {
        return NULL;
    }
    h->base.begun_ns = clock_ns();
    h->use = use == DB_READING_RESERVED ? DB_READING_ONCE : use;
    h->statements = 0;
    h->wait_ms = PG_WAIT_MS;
    h->open = h->use != DB_READING_ONCE;
    struct reel_error why = {0};
    bool good = !h->open || begin_transaction(h, &why);
    if (!good && is_lost(h)) { /* while it was idle */
        good = pg_reconnect(h, &why) && begin_transaction(h, &why);
    }
    if (!good) {
        reel_error_pass(err, &why);
        db_end(&h->base);
        return NULL;
    }
    return &h->base;
}

static bool pg_commit(struct db_handle *handle, struct reel_error *err) {
    struct pg_handle *h = (struct pg_handle *)handle;
    PGresult *result = pg_query(h->link, commit_writing, h->wait_ms, err);
    bool good = result && strcmp(PQcmdStatus(result), "COMMIT") == 0;
    if (result && !good) { /* a statement of it had failed */
        reel_fail(err, REEL_IO, "catalog: PostgreSQL has rolled the transaction back");
    }
    PQclear(result);
    h->open = !good;
    return good;
}

static void pg_end(struct db_handle *handle) {
    struct pg_handle *h = (struct pg_handle *)handle;
    struct pg_db *db = postgres_own(handle->db);
    struct reel_error none;
    if (h->open && !is_lost(h)) {
        pg_run(h->link, "ROLLBACK", &none);
    }
    h->open = false;
    bool lost = is_lost(h);
    if (h->use == DB_WRITING) {
        if (lost) {
            handle_close(TAKE(db->writer));
        }
        pthread_mutex_unlock(&db->writing);
    } else {
        bool reserved = handle->reserved;
        if (lost) {
            handle_close(h);
        }
        pool_return(&db->readers, reserved, lost ? NULL : handle);
    }
}

/* The number of the last commit, of whatever replica. One that cannot be asked for is unlike all others. */
static uint64_t pg_version(struct db *db) {
    struct reel_error none = {0};
    AUTO(db_end) struct db_handle *h = db_read_reserved(db, &none);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "data_version", &none) : NULL;
    return s && db_next(s, &none) == DB_ROW ? db_size(s, 0)
                                            : UINT64_MAX - atomic_fetch_add(&postgres_own(db)->failures, 1);
}

/* ---- commits of all replicas */

static PGconn *listen(struct pg_db *db) {
    struct reel_error none = {0};
    PGconn *link = pg_connect(db->where, &none);
    if (link && !pg_run(link, "LISTEN reel", &none)) {
        PQfinish(TAKE(link));
    }
    return link;
}

/* True if there was a notification. */
static bool drain(PGconn *link) {
    bool any = false;
    PQconsumeInput(link);
    for (PGnotify *n; (n = PQnotifies(link)); PQfreemem(n)) {
        any = true;
    }
    return any;
}

static void *hear(void *context) {
    struct pg_db *db = context;
    PGconn *link = NULL;
    while (!atomic_load(&db->stops)) {
        bool again = !link;
        link = link ? link : listen(db);
        struct pollfd fd = {.fd = link ? PQsocket(link) : -1, .events = POLLIN};
        if (!link) {
            poll(NULL, 0, LISTEN_AGAIN_MS);
            continue;
        }
        if (again || (poll(&fd, 1, LISTEN_MS) > 0 && drain(link))) { /* what came while nobody listened is lost */
            db->on_commit(db->context);
        }
        if (PQstatus(link) == CONNECTION_BAD) {
            PQfinish(TAKE(link));
        }
    }
    PQfinish(link);
    return NULL;
}

static void pg_watch(struct db *base, void (*on_commit)(void *context), void *context) {
    struct pg_db *db = postgres_own(base);
    if (db->listens) {
        atomic_store(&db->stops, true);
        pthread_join(db->listener, NULL);
        atomic_store(&db->stops, false);
    }
    db->on_commit = on_commit;
    db->context = context;
    db->listens = on_commit && pthread_create(&db->listener, NULL, hear, db) == 0;
}

/* ---- the database */

static void pg_close(struct db *base) {
    struct pg_db *db = postgres_own(base);
    pg_watch(base, NULL, NULL);
    for (struct db_handle *h; (h = pool_remove_idle(&db->readers));) {
        handle_close((struct pg_handle *)h);
    }
    handle_close(db->writer);
    sqlite3_close(db->words);
    pg_locks_free(db->locks);
    pool_destroy(&db->readers);
    pthread_mutex_destroy(&db->words_mutex);
    pthread_mutex_destroy(&db->writing);
    free(db->where);
    free(db);
}

static struct db *pg_open(const char *where, bool readonly, struct reel_error *err) {
    struct pg_db *db = calloc(1, sizeof *db);
    if (!db || !(db->where = strdup(where))) {
        free(db);
        reel_fail_memory(err);
        return NULL;
    }
    db->base.engine = &db_postgres;
    db->readonly = readonly;
    pthread_mutex_init(&db->writing, NULL);
    pool_init(&db->readers);
    pthread_mutex_init(&db->words_mutex, NULL);
    struct db_handle *h = NULL;
    if (sqlite3_open(":memory:", &db->words) != SQLITE_OK || text_register(db->words) != SQLITE_OK) {
        reel_fail_memory(err);
    } else if ((db->locks = pg_locks_new(err))) {
        h = db_read_once(&db->base, err);
    }
    if (!h) {
        pg_close(&db->base);
        return NULL;
    }
    db_end(h);
    return &db->base;
}

char *pg_search_text(struct db *base, const char *sql, const char *const *arguments, unsigned n,
                     struct reel_error *err) {
    struct pg_db *db = postgres_own(base);
    sqlite3_stmt *s = NULL;
    char *text = NULL;
    pthread_mutex_lock(&db->words_mutex);
    if (sqlite3_prepare_v2(db->words, sql, -1, &s, NULL) == SQLITE_OK) {
        for (unsigned i = 0; i < n; i++) {
            sqlite3_bind_text(s, (int)i + 1, arguments[i], -1, SQLITE_STATIC);
        }
        text = sqlite3_step(s) == SQLITE_ROW ? strdup((const char *)sqlite3_column_text(s, 0)) : NULL;
    }
    sqlite3_finalize(s);
    pthread_mutex_unlock(&db->words_mutex);
    if (!text) {
        reel_fail_memory(err);
    }
    return text;
}

static bool pg_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err) {
    (void)db;
    (void)path;
    (void)progress;
    return reel_fail(err, REEL_UNSUPPORTED,
                     "a catalog in PostgreSQL is backed up by PostgreSQL's own tools, such as pg_dump");
}

static bool pg_single_file(struct db *db, struct reel_error *err) {
    return pg_copy(db, NULL, NULL, err);
}

static bool pg_patient(struct db_handle *handle, struct reel_error *err) {
    struct pg_handle *h = (struct pg_handle *)handle;
    h->wait_ms = PG_PATIENT_MS;
    return pg_run(h->link, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '15s'",
                  err);
}

static bool run_patiently(struct pg_handle *h, const char *sql, ExecStatusType expected, struct reel_error *err) {
    PGresult *result = pg_query(h->link, sql, h->wait_ms, err);
    bool good = result && (PQresultStatus(result) == expected || expected == PGRES_EMPTY_QUERY);
    PQclear(result);
    return good || (result ? reel_fail(err, REEL_IO, "catalog: PostgreSQL expects no rows") : false);
}

static bool pg_script(struct db_handle *h, const char *sql, struct reel_error *err) {
    return pg_patient(h, err) && run_patiently((struct pg_handle *)h, sql, PGRES_EMPTY_QUERY, err);
}

static bool copy_in(struct db_handle *h, const char *sql, struct reel_error *err) {
    return run_patiently((struct pg_handle *)h, sql, PGRES_COPY_IN, err);
}

static bool copy_put(struct db_handle *h, const void *data, size_t size, struct reel_error *err) {
    return pg_copy_put(((struct pg_handle *)h)->link, data, size, PG_WAIT_MS, err);
}

static bool copy_end(struct db_handle *handle, struct reel_error *err) {
    struct pg_handle *h = (struct pg_handle *)handle;
    if (PQputCopyEnd(h->link, NULL) <= 0) {
        return pg_fail(h->link, NULL, err);
    }
    PGresult *result = pg_await(h->link, h->wait_ms, err);
    PQclear(result);
    return result;
}

static bool postgres_read_number(struct db_handle *h, const char *sql, int64_t *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_compose(h, sql, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0);
    return true;
}

static bool pg_tables(struct db_handle *h, uint64_t *version, struct reel_error *err) {
    int64_t tables, ours, number = 0;
    if (!postgres_read_number(h, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()", &tables, err) ||
        !postgres_read_number(h, "SELECT to_regclass('catalog_state') IS NOT NULL", &ours, err) ||
        (ours &&
         !postgres_read_number(h, "SELECT coalesce(max(version), 0) FROM catalog_state WHERE application = 'reel'",
                               &number, err))) {
        return false;
    }
    *version = (uint64_t)number;
    postgres_own(h->db)->has_tables = number > 0;
    return number > 0 || tables == 0 ||
           reel_fail(err, REEL_UNSUPPORTED, "the database belongs to another program: Reel needs an empty one");
}

static bool pg_set_tables(struct db_handle *h, uint64_t version, struct reel_error *err) {
    char sql[80];
    snprintf(sql, sizeof sql, "UPDATE catalog_state SET version = %llu", (unsigned long long)version);
    postgres_own(h->db)->has_tables = true;
    return pg_run(((struct pg_handle *)h)->link, sql, err);
}

static bool lock_try(struct db *db, int64_t key, bool *got, struct reel_error *err) {
    return pg_locks_try(postgres_own(db)->locks, postgres_own(db)->where, key, got, err);
}
static void unlock(struct db *db, int64_t key, uint64_t generation) {
    pg_locks_release(postgres_own(db)->locks, postgres_own(db)->where, key, generation);
}
static uint64_t lock_generation(struct db *db) {
    return pg_locks_generation(postgres_own(db)->locks);
}

const struct db_engine db_postgres = {.migrations = sql_postgres_migrations,
                                      .n_migrations = &sql_postgres_migrations_count,
                                      .count_others = pg_count_others,
                                      .check_address = pg_check_address,
                                      .open = pg_open,
                                      .close = pg_close,
                                      .begin = pg_begin,
                                      .commit = pg_commit,
                                      .end = pg_end,
                                      .version = pg_version,
                                      .watch = pg_watch,
                                      .lock_try = lock_try,
                                      .unlock = unlock,
                                      .lock_generation = lock_generation,
                                      .copy = pg_copy,
                                      .single_file = pg_single_file,
                                      .tables = pg_tables,
                                      .set_tables = pg_set_tables,
                                      .script = pg_script,
                                      .schema = pg_schema,
                                      .scratch = pg_scratch,
                                      .patient = pg_patient,
                                      .analyze = pg_analyze,
                                      .copy_in = copy_in,
                                      .copy_put = copy_put,
                                      .copy_end = copy_end,
                                      .statement = pg_statement_of,
                                      .compose = pg_compose,
                                      .done = pg_done,
                                      .set_int = pg_set_int,
                                      .set_text = pg_set_text,
                                      .set_null = pg_set_null,
                                      .set_blob = pg_set_blob,
                                      .next = pg_next,
                                      .reset = pg_reset,
                                      .changes = pg_changes,
                                      .get_int = pg_int,
                                      .get_text = pg_text_of,
                                      .get_blob = pg_blob,
                                      .is_null = pg_is_null};
