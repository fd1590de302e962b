/* The catalog in PostgreSQL: shared by the files of this folder only. link.c: a connection, whose every wait has a
 * limit. translate.c: the statements of sql/, which are written for SQLite. statement.c: values and rows.
 * postgres.c: the pool, transactions, commits of others. */
#ifndef SERVER_CATALOG_POSTGRES_POSTGRES_H
#define SERVER_CATALOG_POSTGRES_POSTGRES_H

#include <libpq-fe.h>
#include <stdatomic.h>

#include "catalog/db_engine.h"

/* Of the types that Reel's tables have, in pg_type. */
enum { PG_BOOL = 16, PG_BYTEA = 17, PG_INT8 = 20, PG_INT2 = 21, PG_INT4 = 23, PG_TEXT = 25, PG_NUMERIC = 1700 };

/* ---- link.c */

enum {
    PG_WAIT_MS = 12000,
    PG_PATIENT_MS = 3600000
}; /* for one statement; the server ends it after 10 s, or not at all */

bool pg_count_others(const char *where, unsigned *n, struct reel_error *err);
bool pg_check_address(const char *where, struct reel_error *err);
/* NULL: err, REEL_BUSY when the server does not answer or takes no more connections. */
PGconn *pg_connect(const char *where, struct reel_error *err);
bool pg_is_silent(struct reel_error *err); /* REEL_BUSY: a wait of this process has just ended without an answer; do not
                                              begin one */
/* One or several statements without parameters. NULL: err. To be freed by PQclear(). */
PGresult *pg_query(PGconn *link, const char *sql, int wait_ms, struct reel_error *err);
bool pg_run(PGconn *link, const char *sql, struct reel_error *err);
/* Waits for the results of what was sent; the last one. NULL: err, as pg_fail(). */
PGresult *pg_await(PGconn *link, int wait_ms, struct reel_error *err);
/* Rows of COPY … FROM STDIN. */
bool pg_copy_put(PGconn *link, const void *data, size_t size, int wait_ms, struct reel_error *err);
/* False with what the server said, or that it does not answer. `result` may be NULL. */
bool pg_fail(PGconn *link, const PGresult *result, struct reel_error *err);

void pg_analyze(struct db *db); /* as db_analyze() */

/* ---- upgrade.c */

extern const char pg_schema[], pg_scratch[];

/* ---- translate.c */

enum { PG_PARAMETERS_MAX = 2200 }; /* a list of 512 conditions has four each */

struct pg_call { /* of a function of ours with parameters only: search_text(:name, :collection); its value is a
                    parameter */
    uint16_t result, arguments[2];
    uint8_t n_arguments;
    const char *sql; /* what evaluates it, in SQLite */
};
struct pg_text {
    char *sql;
    char **names; /* of the parameters, $1 … */
    uint16_t n_names;
    struct pg_call calls[2];
    uint8_t n_calls;
};
/* NULL: err. */
struct pg_text *pg_translate(const char *sql, struct reel_error *err);
void pg_text_free(struct pg_text *text); /* NULL is fine */

/* ---- statement.c */

struct pg_value {
    Oid type; /* 0: not bound, NULL */
    const char *data;
    int size;
    uint8_t number[8]; /* where `data` is for an int8 */
};
struct pg_statement {
    struct db_statement base;
    const struct pg_text *text;
    struct pg_text *composed; /* the same, when it is the statement's own */
    struct pg_value *values;
    Oid *prepared;    /* the types it was prepared with; NULL: not yet */
    const char *name; /* of the statement, also in the connection; NULL: composed */
    PGresult *result;
    int row;
    unsigned changes;
    char number[24]; /* an integer as text */
    char *made[2];   /* results of calls */
};

struct pg_handle {
    struct db_handle base;
    PGconn *link;
    enum db_use use;
    bool open; /* inside a transaction */
    int wait_ms;
    uint32_t statements;
    struct pg_statement *own; /* by the position in sql_statements */
};

/* ---- locks.c */

struct pg_locks;
struct pg_locks *pg_locks_new(struct reel_error *err);
void pg_locks_free(struct pg_locks *l); /* NULL is fine */
uint64_t pg_locks_generation(const struct pg_locks *l);
bool pg_locks_try(struct pg_locks *l, const char *where, int64_t key, bool *got, struct reel_error *err);
void pg_locks_release(struct pg_locks *l, const char *where, int64_t key, uint64_t generation);

/* A new connection in place of one that is lost, outside of a transaction. */
bool pg_reconnect(struct pg_handle *h, struct reel_error *err);
void pg_forget_statements(struct pg_handle *h); /* with the connection that they were prepared in */
/* Evaluates a call. malloc'd; NULL: err. */
char *pg_search_text(struct db *db, const char *sql, const char *const *arguments, unsigned n, struct reel_error *err);

struct db_statement *pg_statement_of(struct db_handle *h, const char *name, struct reel_error *err);
struct db_statement *pg_compose(struct db_handle *h, const char *sql, struct reel_error *err);
void pg_done(struct db_statement *s);
void pg_set_int(struct db_statement *s, const char *name, int64_t value);
void pg_set_text(struct db_statement *s, const char *name, const char *value);
void pg_set_null(struct db_statement *s, const char *name);
void pg_set_blob(struct db_statement *s, const char *name, const void *data, size_t size);
enum db_step pg_next(struct db_statement *s, struct reel_error *err);
void pg_reset(struct db_statement *s);
unsigned pg_changes(struct db_statement *s);
int64_t pg_int(struct db_statement *s, int column);
const char *pg_text_of(struct db_statement *s, int column);
const uint8_t *pg_blob(struct db_statement *s, int column, size_t *size);
bool pg_is_null(struct db_statement *s, int column);

#endif
