/* What db.h declares: choosing the engine, and what all of them share. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/hex.h"
#include "base/thread.h"
#include "catalog/db_engine.h"

static _Thread_local int64_t elapsed_ns;

int64_t db_elapsed_ns(void) {
    return elapsed_ns;
}

bool db_is_server(const char *where) {
    return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

bool db_count_others(const char *where, unsigned *n, struct reel_error *err) {
    *n = 0;
    return !db_is_server(where) || db_postgres.count_others(where, n, err);
}

bool db_check_address(const char *where, struct reel_error *err) {
    return db_postgres.check_address(where, err);
}

static const struct db_engine *engine_of(const char *where) {
    return db_is_server(where) ? &db_postgres : &db_sqlite;
}

bool db_is_remote(const struct db *db) {
    return db->engine == &db_postgres;
}

bool db_is_postgres(const struct db_handle *h) {
    return h->db->engine == &db_postgres;
}

static struct db *db_engine_open(const char *where, bool readonly, struct reel_error *err) {
    struct db *db = engine_of(where)->open(where, readonly, err);
    if (db) {
        db->migrations = db->engine->migrations;
        db->n_migrations = *db->engine->n_migrations;
        db->readonly = readonly;
    }
    return db;
}

struct db *db_open(const char *where, struct reel_error *err) {
    return db_engine_open(where, false, err);
}
struct db *db_open_readonly(const char *where, struct reel_error *err) {
    return db_engine_open(where, true, err);
}
void db_close(struct db *db) {
    if (db) {
        db->engine->close(db);
    }
}

/* ---- readers */

void pool_init(struct db_pool *pool) {
    pthread_mutex_init(&pool->mutex, NULL);
    condition_init(&pool->returned[false]);
    condition_init(&pool->returned[true]);
}

void pool_destroy(struct db_pool *pool) {
    pthread_cond_destroy(&pool->returned[true]);
    pthread_cond_destroy(&pool->returned[false]);
    pthread_mutex_destroy(&pool->mutex);
}

static struct db_handle *remove_idle(struct db_pool *pool) {
    struct db_handle *h = pool->idle;
    pool->idle = h ? h->next : NULL;
    return h;
}

bool pool_take(struct db_pool *pool, bool reserved, struct db_handle **h, struct reel_error *err) {
    const unsigned max = reserved ? DB_RESERVED_MAX : DB_READERS_MAX;
    struct timespec until = clock_deadline(INT64_C(1000000000) * DB_READER_WAIT_S);
    bool in_time = true;
    pthread_mutex_lock(&pool->mutex);
    while (pool->in_use[reserved] == max && in_time) {
        in_time = condition_wait(&pool->returned[reserved], &pool->mutex, until);
    }
    bool free = pool->in_use[reserved] < max;
    pool->in_use[reserved] += free;
    *h = free ? remove_idle(pool) : NULL;
    pthread_mutex_unlock(&pool->mutex);
    return free || reel_fail(err, REEL_BUSY, "catalog: all %u connections are in use by slow queries; try again", max);
}

void pool_return(struct db_pool *pool, bool reserved, struct db_handle *h) {
    pthread_mutex_lock(&pool->mutex);
    pool->in_use[reserved]--;
    if (h) {
        h->next = pool->idle;
        pool->idle = h;
    }
    pthread_cond_signal(&pool->returned[reserved]);
    pthread_mutex_unlock(&pool->mutex);
}

struct db_handle *pool_remove_idle(struct db_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    struct db_handle *h = remove_idle(pool);
    pthread_mutex_unlock(&pool->mutex);
    return h;
}

/* ---- shared locks of this thread */

static _Thread_local unsigned held, missing;
static _Thread_local uint64_t held_generation; /* of the first one that is held */

bool db_lock_try(struct db *db, int64_t key, bool *got, struct reel_error *err) {
    *got = true;
    if (db->engine->lock_try && !db->engine->lock_try(db, key, got, err)) {
        return false;
    }
    if (*got && held++ == 0 && db->engine->lock_generation) {
        held_generation = db->engine->lock_generation(db);
    }
    return true;
}

void db_unlock(struct db *db, int64_t key) {
    held--;
    if (db->engine->unlock) {
        db->engine->unlock(db, key, held_generation);
    }
}

void db_lock_missing(bool without) {
    missing += without ? 1 : (unsigned)-1;
}

static bool has_locks(struct db *db, struct reel_error *err) {
    bool lost = held > 0 && db->engine->lock_generation && db->engine->lock_generation(db) != held_generation;
    return (!lost && missing == 0) ||
           reel_fail(err, REEL_BUSY, "catalog: the connection that held this work's locks was lost; try again");
}

static struct db_handle *db_engine_begin(struct db *db, enum db_use use, struct reel_error *err) {
    return has_locks(db, err) ? db->engine->begin(db, use, err) : NULL;
}

struct db_handle *db_read(struct db *db, struct reel_error *err) {
    return db_engine_begin(db, DB_READING, err);
}
struct db_handle *db_read_once(struct db *db, struct reel_error *err) {
    return db_engine_begin(db, DB_READING_ONCE, err);
}
struct db_handle *db_read_reserved(struct db *db, struct reel_error *err) {
    return db_engine_begin(db, DB_READING_RESERVED, err);
}
struct db_handle *db_write(struct db *db, struct reel_error *err) {
    return db_engine_begin(db, DB_WRITING, err);
}
/* What was written may be of JSON that lacks something. */
bool db_commit(struct db_handle *h, struct reel_error *err) {
    if (heap_lacks()) {
        return reel_fail_memory(err);
    }
    return has_locks(h->db, err) && h->db->engine->commit(h, err);
}
void db_end(struct db_handle *h) {
    if (h) {
        elapsed_ns += clock_ns() - h->begun_ns;
        h->db->engine->end(h);
    }
}

bool db_patient(struct db_handle *h, struct reel_error *err) {
    return h->db->engine->patient(h, err);
}

uint64_t db_version(struct db *db) {
    return db->engine->version(db);
}
void db_on_commit(struct db *db, void (*on_commit)(void *context), void *context) {
    db->engine->watch(db, on_commit, context);
}
bool db_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err) {
    return db->engine->copy(db, path, progress, err);
}
bool db_single_file(struct db *db, struct reel_error *err) {
    return db->engine->single_file(db, err);
}

void db_analyze(struct db *db) {
    if (db->engine->analyze) {
        db->engine->analyze(db);
    }
}

/* ---- statements */

static int db_engine_compare_names(const void *name, const void *entry) {
    return strcmp(name, ((const struct sql_text *)entry)->name);
}

size_t db_find(const struct sql_text *table, size_t count, const char *name) {
    const struct sql_text *found = bsearch(name, table, count, sizeof *table, db_engine_compare_names);
    return found ? (size_t)(found - table) : SIZE_MAX;
}

struct db_statement *db_statement(struct db_handle *h, const char *name, struct reel_error *err) {
    struct db_statement *s = h->db->engine->statement(h, name, err);
    if (s) {
        s->handle = h;
        s->n_raw = 0;
    }
    return s;
}
struct db_statement *db_compose(struct db_handle *h, const char *sql, struct reel_error *err) {
    struct db_statement *s = h->db->engine->compose(h, sql, err);
    if (s) {
        s->handle = h;
        s->n_raw = 0;
    }
    return s;
}
void db_done(struct db_statement *s) {
    if (s) {
        s->handle->db->engine->done(s);
    }
}

static const struct db_engine *of(const struct db_statement *s) {
    return s->handle->db->engine;
}

void db_set_int(struct db_statement *s, const char *name, int64_t value) {
    of(s)->set_int(s, name, value);
}
void db_set_size(struct db_statement *s, const char *name, uint64_t value) {
    db_set_int(s, name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}
void db_set_text(struct db_statement *s, const char *name, const char *value) {
    of(s)->set_text(s, name, value ? value : "");
}
void db_set_null(struct db_statement *s, const char *name) {
    of(s)->set_null(s, name);
}
void db_set_blob(struct db_statement *s, const char *name, const void *data, size_t size) {
    of(s)->set_blob(s, name, size > 0 ? data : "", size);
}

void db_set_path(struct db_statement *s, const char *name, const char *path) {
    db_set_blob(s, name, path ? path : "", path ? strlen(path) : 0);
}

void db_set_hex(struct db_statement *s, const char *name, const char *hex) {
    if (s->n_raw == sizeof s->raw / sizeof s->raw[0]) {
        abort(); /* no statement has so many */
    }
    uint8_t *raw = s->raw[s->n_raw++];
    size_t size = 0;
    for (; size < DB_HEX_BYTES_MAX && hex[0] && hex[1]; hex += 2) {
        int high = hex_digit(hex[0]), low = hex_digit(hex[1]);
        if (high < 0 || low < 0) {
            break;
        }
        raw[size++] = (uint8_t)(high << 4 | low);
    }
    db_set_blob(s, name, raw, *hex ? 0 : size);
}

enum db_step db_next(struct db_statement *s, struct reel_error *err) {
    return of(s)->next(s, err);
}

bool db_run(struct db_statement *s, struct reel_error *err) {
    enum db_step step;
    do {
        step = db_next(s, err);
    } while (step == DB_ROW);
    of(s)->reset(s);
    s->n_raw = 0;
    return step == DB_END;
}

unsigned db_changes(struct db_statement *s) {
    return of(s)->changes(s);
}
int64_t db_int(struct db_statement *s, int column) {
    return of(s)->get_int(s, column);
}
uint64_t db_size(struct db_statement *s, int column) {
    int64_t value = db_int(s, column);
    return value > 0 ? (uint64_t)value : 0;
}
const char *db_text(struct db_statement *s, int column) {
    return of(s)->get_text(s, column);
}
bool db_is_null(struct db_statement *s, int column) {
    return of(s)->is_null(s, column);
}

const uint8_t *db_bytes(struct db_statement *s, int column, size_t *size) {
    return of(s)->get_blob(s, column, size);
}

void db_hex(struct db_statement *s, int column, char *out, size_t size) {
    size_t have = 0, at = 0;
    const uint8_t *raw = of(s)->get_blob(s, column, &have);
    for (size_t i = 0; i < have && at + 2 < size; i++) {
        hex_byte(raw[i], out + at);
        at += 2;
    }
    out[at] = '\0';
}
