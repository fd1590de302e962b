/* The interface to the database, SQLite or PostgreSQL: one writer and a pool of readers, transactions as handles, the
 * statements of sql/ by name. */
#ifndef SERVER_CATALOG_DB_H
#define SERVER_CATALOG_DB_H

#include <stdint.h>

#include "index/scan.h"
#include "reel/cleanup.h"
#include "reel/error.h"

struct db;
struct db_handle;    /* a connection inside a transaction, borrowed by one thread */
struct db_statement; /* bound and stepped by that thread; given back before the handle */

enum {
    DB_READERS_MAX = 16,
    DB_RESERVED_MAX = 8,   /* besides these, for db_read_reserved() */
    DB_STATEMENT_S = 10,   /* the time a statement may take */
    DB_READER_WAIT_S = 10, /* … and the wait for a reader */
};

/* `where`: the path of a file of SQLite, or the address of a PostgreSQL server (postgresql://…). */
bool db_is_server(const char *where);
/* How many connections servers and commands have to it; a file: none. */
bool db_count_others(const char *where, unsigned *n, struct reel_error *err);
/* REEL_ARGUMENT: it is none, or has a password in it */
bool db_check_address(const char *where, struct reel_error *err);
struct db *db_open(const char *where, struct reel_error *err);
struct db *db_open_readonly(const char *where, struct reel_error *err); /* one that is there, for reading only:
                                                                           REEL_NOT_FOUND, and db_write() fails */
void db_close(struct db *db);
REEL_DEFINE_AUTO(struct db, db_close);

struct db_handle *db_read(struct db *db, struct reel_error *err); /* one unchanging picture; waits when all readers are
                                                                     in use, then REEL_BUSY */
/* As db_read(), for one statement, which is a transaction by itself: half the cost for the first query of each request.
 */
struct db_handle *db_read_once(struct db *db, struct reel_error *err);
/* As db_read_once(), with connections that no other reads use: for authentication and readiness, which slow queries
 * must not delay. */
struct db_handle *db_read_reserved(struct db *db, struct reel_error *err);
struct db_handle *db_write(struct db *db, struct reel_error *err); /* waits its turn */
bool db_commit(struct db_handle *h, struct reel_error *err);
/* Another number after each commit, of this process or another. What a read transaction begun after asking has seen is
 * as good as new while it stays. */
uint64_t db_version(struct db *db);
/* Called after each commit, on the committing thread (SQLite), or on one of the database's own, also after commits of
 * other processes (PostgreSQL); it must not block. Set while no thread writes; NULL: none. */
void db_on_commit(struct db *db, void (*on_commit)(void *context), void *context);
int64_t db_elapsed_ns(void); /* how long this thread has held connections in total */
/* The statements of this transaction may take long: checks of everything, copies. Others are ended after
 * DB_STATEMENT_S: REEL_BUSY. */
bool db_patient(struct db_handle *h, struct reel_error *err);
void db_end(struct db_handle *h); /* returns the connection; uncommitted changes are rolled back */
REEL_DEFINE_AUTO(struct db_handle, db_end);

/* Locks that all servers of one catalog share. The thread that has taken one gives it back. *got: false when another
 * has it. Once the connection that holds them is lost, every transaction of a thread with such a lock fails (REEL_BUSY)
 * until it has given all back. */
bool db_lock_try(struct db *db, int64_t key, bool *got, struct reel_error *err);
void db_unlock(struct db *db, int64_t key);
/* A lock that this thread went on without, as the server did not answer: the same. `without` false: it is given back.
 */
void db_lock_missing(bool without);

/* A copy of one instant as a new file at `path`, while others read and write. SQLite only, as the next: else
 * REEL_UNSUPPORTED. */
bool db_copy(struct db *db, const char *path, const struct reel_progress *progress, struct reel_error *err);
/* Merges the write-ahead log into the file, which then is complete by itself until it is opened for writing again. */
bool db_single_file(struct db *db, struct reel_error *err);

/* migrate.c: the tables of an empty database are created, and those of an older version upgraded by sql/migrations,
 * each in a transaction of its own. Tables of a newer program, of another one or of another history are refused. */
struct db_upgrade {
    bool allowed;                                    /* an older version is upgraded, else refused */
    void (*report)(void *context, const char *line); /* what an upgrade does, before it does it */
    void *context;
};
bool db_migrate(struct db *db, const struct db_upgrade *upgrade, struct reel_error *err);
/* What db_migrate() would start from and end with; equal: it has nothing to do. */
bool db_versions(struct db *db, uint64_t *version, uint64_t *newest, struct reel_error *err);
/* Creates the tables in an empty database, in the caller's transaction, which db_record() has to follow. */
bool db_create(struct db_handle *h, struct reel_error *err);
/* Records that the tables are those of this version, with checksums. */
bool db_record(struct db_handle *h, uint64_t version, struct reel_error *err);
/* Collects the statistics that PostgreSQL plans queries by, of tables with rows that have none. */
void db_analyze(struct db *db);
/* REEL_UNSUPPORTED: they were made by a newer program, or by another one. */
bool db_check_version(struct db *db, struct reel_error *err);
/* REEL_UNSUPPORTED: they are not of the newest version. */
bool db_is_current(struct db *db, struct reel_error *err);

/* `name`: of a statement of sql/, its heading there; prepared once per connection. */
struct db_statement *db_statement(struct db_handle *h, const char *name, struct reel_error *err);
/* One composed at run time; prepared for this call. */
struct db_statement *db_compose(struct db_handle *h, const char *sql, struct reel_error *err);
void db_done(struct db_statement *s);
REEL_DEFINE_AUTO(struct db_statement, db_done);

bool db_is_remote(const struct db *db);         /* on a server */
bool db_is_postgres(const struct db_handle *h); /* for statements that are composed */

/* Parameters by name (":row"); one that the statement does not have is left out. Texts and bytes must live until
 * db_done(). */
void db_set_int(struct db_statement *s, const char *name, int64_t value);
void db_set_size(struct db_statement *s, const char *name, uint64_t value); /* what does not fit becomes INT64_MAX */
void db_set_text(struct db_statement *s, const char *name, const char *value);
void db_set_path(struct db_statement *s, const char *name, const char *path); /* as bytes, which need not be UTF-8 */
void db_set_hex(struct db_statement *s, const char *name, const char *hex); /* as raw bytes, at most 32; what is no hex
                                                                               finds nothing */
void db_set_null(struct db_statement *s, const char *name);                 /* where it had a value in the run before */
void db_set_blob(struct db_statement *s, const char *name, const void *data, size_t size);

enum db_step { DB_FAILED = -1, DB_END = 0, DB_ROW = 1 };
enum db_step db_next(struct db_statement *s, struct reel_error *err);
/* to its end, rows ignored; it may be bound and run again */
bool db_run(struct db_statement *s, struct reel_error *err);
unsigned db_changes(struct db_statement *s); /* rows the last run changed */

/* Columns of the row db_next() stands on, 0 … */
int64_t db_int(struct db_statement *s, int column);
uint64_t db_size(struct db_statement *s, int column);
const char *db_text(struct db_statement *s, int column); /* never NULL; until the next db_ call */
bool db_is_null(struct db_statement *s, int column);
const uint8_t *db_bytes(struct db_statement *s, int column, size_t *size); /* of a text or a blob; until the next db_
                                                                              call */
void db_hex(struct db_statement *s, int column, char *out, size_t size); /* raw bytes as hex with NUL; cut to `size` */

#endif
