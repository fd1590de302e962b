/* What a database engine gives: sqlite/ and postgres/. db_engine.c does what all share and calls these; an engine's own
 * structs begin with the ones here. */
#ifndef SERVER_CATALOG_DB_ENGINE_H
#define SERVER_CATALOG_DB_ENGINE_H

#include <limits.h>
#include <pthread.h>

#include "catalog/db.h"
#include "catalog/sql.h"

enum { DB_HEX_BYTES_MAX = 32 };
enum db_use { DB_READING, DB_READING_ONCE, DB_READING_RESERVED, DB_WRITING };

struct db {
    const struct db_engine *engine;
    const struct sql_text *migrations; /* the engine's; a test may set others after db_open() */
    size_t n_migrations;
    bool readonly;
};
struct db_handle {
    struct db *db;
    int64_t begun_ns;       /* set by begin() as soon as the connection is there */
    bool reserved;          /* of the reserved readers */
    struct db_handle *next; /* while idle */
};

/* The readers of a database: connections that are idle, and how many are in use. */
struct db_pool {
    pthread_mutex_t mutex;      /* guards what follows */
    pthread_cond_t returned[2]; /* of others, of the reserved ones; the same below */
    unsigned in_use[2];
    struct db_handle *idle;
};
void pool_init(struct db_pool *pool);
void pool_destroy(struct db_pool *pool);
/* Waits for the right to use one. *h: one that is idle; NULL: open another. REEL_BUSY. */
bool pool_take(struct db_pool *pool, bool reserved, struct db_handle **h, struct reel_error *err);
/* NULL: it was lost, or could not be opened. */
void pool_return(struct db_pool *pool, bool reserved, struct db_handle *h);
struct db_handle *pool_remove_idle(struct db_pool *pool); /* to close it; NULL: none is idle */

struct db_statement {
    struct db_handle *handle;
    uint8_t raw[4][DB_HEX_BYTES_MAX]; /* what db_set_hex() decoded */
    unsigned n_raw;
};

struct db_engine {
    const struct sql_text *migrations;
    const size_t *n_migrations;

    bool (*count_others)(const char *where, unsigned *n, struct reel_error *err); /* NULL: there are none */
    bool (*check_address)(const char *where, struct reel_error *err);             /* NULL: it has none */
    struct db *(*open)(const char *where, bool readonly, struct reel_error *err);
    void (*close)(struct db *db);
    struct db_handle *(*begin)(struct db *db, enum db_use use, struct reel_error *err);
    bool (*commit)(struct db_handle *h, struct reel_error *err);
    void (*end)(struct db_handle *h);
    uint64_t (*version)(struct db *db);
    void (*watch)(struct db *db, void (*on_commit)(void *context), void *context);
    /* Locks that are shared with other servers. lock_try NULL: there are none. */
    bool (*lock_try)(struct db *db, int64_t key, bool *got, struct reel_error *err);
    void (*unlock)(struct db *db, int64_t key, uint64_t generation);
    uint64_t (*lock_generation)(struct db *db); /* another number after those that were held are lost */
    bool (*copy)(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err);
    bool (*single_file)(struct db *db, struct reel_error *err);

    /* The version of the tables: how many migrations they have. 0: there are none. REEL_UNSUPPORTED: they are another
     * program's. */
    bool (*tables)(struct db_handle *h, uint64_t *version, struct reel_error *err);
    bool (*set_tables)(struct db_handle *h, uint64_t version, struct reel_error *err);
    bool (*script)(struct db_handle *h, const char *sql, struct reel_error *err);
    /* For upgrades (migrate.c). A query whose rows, one text each, describe all tables in a fixed order. */
    const char *schema;
    /* A statement after which the transaction creates tables in a place of its own, beside those of the catalog. NULL:
     * ":memory:" opens an empty database. */
    const char *scratch;
    /* Whether foreign keys are enforced in the transactions that follow; a table that is replaced takes the rows that
     * refer to it along, if they are. NULL: the engine can alter a table without replacing it. */
    bool (*enforce)(struct db *db, bool on, struct reel_error *err);
    /* Copies the database of that version before an upgrade; `path` is filled in. NULL: it makes none. */
    bool (*keep)(struct db *db, uint64_t version, char path[PATH_MAX], struct reel_error *err);
    bool (*patient)(struct db_handle *h, struct reel_error *err);
    void (*analyze)(struct db *db); /* as db_analyze(); NULL: nothing */
    /* COPY … FROM STDIN (FORMAT binary). NULL: rows are inserted one by one. */
    bool (*copy_in)(struct db_handle *h, const char *sql, struct reel_error *err);
    bool (*copy_put)(struct db_handle *h, const void *data, size_t size, struct reel_error *err);
    bool (*copy_end)(struct db_handle *h, struct reel_error *err);

    struct db_statement *(*statement)(struct db_handle *h, const char *name, struct reel_error *err);
    struct db_statement *(*compose)(struct db_handle *h, const char *sql, struct reel_error *err);
    void (*done)(struct db_statement *s);
    void (*set_int)(struct db_statement *s, const char *name, int64_t value);
    void (*set_text)(struct db_statement *s, const char *name, const char *value);
    void (*set_null)(struct db_statement *s, const char *name);
    void (*set_blob)(struct db_statement *s, const char *name, const void *data, size_t size);
    enum db_step (*next)(struct db_statement *s, struct reel_error *err);
    void (*reset)(struct db_statement *s); /* it may be bound and run again */
    unsigned (*changes)(struct db_statement *s);
    int64_t (*get_int)(struct db_statement *s, int column);
    const char *(*get_text)(struct db_statement *s, int column);
    const uint8_t *(*get_blob)(struct db_statement *s, int column, size_t *size);
    bool (*is_null)(struct db_statement *s, int column);
};

extern const struct db_engine db_sqlite, db_postgres;

/* The statement of that name in `table`, which is in the order of names; SIZE_MAX: there is none. */
size_t db_find(const struct sql_text *table, size_t count, const char *name);

#endif
