/* A connection to PostgreSQL. libpq's blocking calls can hang for ever when a peer acknowledges and does not answer, so
 * statements are sent and waited for here, until a deadline; a connection that missed it is not used again. */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "catalog/postgres/postgres.h"

static const int64_t SILENCE_NS = 2000000000, SLOW_CONNECT_NS = 2500000000;
/* After a wait that ended with nothing, others do not begin one until then: a request has many statements, and each
 * would wait. */
static _Atomic int64_t silent_until_ns;

static const struct {
    const char *state;
    enum reel_code code;
} states[] = {{"57", REEL_BUSY},       {"53100", REEL_NO_SPACE}, {"53", REEL_BUSY},       {"08", REEL_BUSY},
              {"40", REEL_BUSY},       {"55P03", REEL_BUSY},     {"25P03", REEL_BUSY},    {"25006", REEL_READ_ONLY},
              {"XX001", REEL_CATALOG}, {"XX002", REEL_CATALOG},  {"28", REEL_UNSUPPORTED}};

bool pg_fail(PGconn *link, const PGresult *result, struct reel_error *err) {
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    enum reel_code code = REEL_IO;
    for (size_t i = 0; state && i < sizeof states / sizeof *states && code == REEL_IO; i++) {
        code = strncmp(state, states[i].state, strlen(states[i].state)) == 0 ? states[i].code : code;
    }
    if (!state) { /* no answer, or none that is complete */
        said = PQerrorMessage(link);
        code = REEL_BUSY;
    }
    size_t size = strcspn(said ? said : "", "\n");
    return reel_fail(err, code, "catalog: PostgreSQL%s: %.*s", state ? "" : " does not answer",
                     size > 0 ? (int)size : 15, size > 0 ? said : "connection lost");
}

bool pg_is_silent(struct reel_error *err) {
    return clock_ns() < atomic_load(&silent_until_ns) &&
           !reel_fail(err, REEL_BUSY, "catalog: PostgreSQL does not answer: it was asked just now");
}

static void note_silence(void) {
    atomic_store(&silent_until_ns, clock_ns() + SILENCE_NS);
}

/* Until the socket can be read, or also written. False: the deadline has passed. */
static bool link_wait_for(PGconn *link, bool write, int64_t deadline_ns) {
    struct pollfd fd = {.fd = PQsocket(link), .events = (short)(POLLIN | (write ? POLLOUT : 0))};
    int64_t left = deadline_ns - clock_ns();
    return fd.fd >= 0 && left > 0 && poll(&fd, 1, (int)(left / 1000000) + 1) != 0;
}

/* Makes PQstatus() say that it is lost. */
static void link_cut(PGconn *link) {
    int fd = PQsocket(link);
    if (fd >= 0) {
        shutdown(fd, SHUT_RDWR);
        PQconsumeInput(link);
    }
}

static bool is_ready(PGconn *link, int64_t deadline_ns) {
    int unsent;
    while ((unsent = PQflush(link)) > 0 || PQisBusy(link)) {
        if (unsent < 0 || !link_wait_for(link, unsent > 0, deadline_ns) || !PQconsumeInput(link)) {
            return false;
        }
    }
    return unsent == 0;
}

PGresult *pg_await(PGconn *link, int wait_ms, struct reel_error *err) {
    int64_t deadline_ns = clock_ns() + (int64_t)wait_ms * 1000000;
    PGresult *last = NULL;
    for (;;) {
        if (!is_ready(link, deadline_ns)) {
            if (clock_ns() >= deadline_ns) {
                note_silence();
            }
            pg_fail(link, NULL, err);
            link_cut(link);
            PQclear(last);
            return NULL;
        }
        PGresult *result = PQgetResult(link);
        if (!result) {
            break;
        }
        bool failed = last && PQresultStatus(last) == PGRES_FATAL_ERROR; /* the first failure tells why */
        PQclear(failed ? result : last);
        last = failed ? last : result;
        if (PQresultStatus(last) == PGRES_COPY_IN) { /* the server waits for rows */
            return last;
        }
    }
    ExecStatusType status = last ? PQresultStatus(last) : PGRES_FATAL_ERROR;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        pg_fail(link, last, err);
        PQclear(last);
        return NULL;
    }
    return last;
}

bool pg_copy_put(PGconn *link, const void *data, size_t size, int wait_ms, struct reel_error *err) {
    int64_t deadline_ns = clock_ns() + (int64_t)wait_ms * 1000000;
    int rc;
    while ((rc = PQputCopyData(link, data, (int)size)) == 0) { /* no room yet */
        if (!link_wait_for(link, true, deadline_ns) || PQflush(link) < 0) {
            rc = -1;
            break;
        }
    }
    return rc > 0 || pg_fail(link, NULL, err);
}

PGresult *pg_query(PGconn *link, const char *sql, int wait_ms, struct reel_error *err) {
    if (!PQsendQuery(link, sql)) {
        pg_fail(link, NULL, err);
        return NULL;
    }
    return pg_await(link, wait_ms, err);
}

bool pg_run(PGconn *link, const char *sql, struct reel_error *err) {
    PGresult *result = pg_query(link, sql, PG_WAIT_MS, err);
    PQclear(result);
    return result;
}

/* Addresses stand in lists of processes and in logs: passwords have other places. What is wrong is not repeated. */
bool pg_check_address(const char *where, struct reel_error *err) {
    PQconninfoOption *options = PQconninfoParse(where, NULL);
    bool secret = false;
    for (PQconninfoOption *o = options; o && o->keyword; o++) {
        secret = secret || (o->val && (strcmp(o->keyword, "password") == 0 || strcmp(o->keyword, "sslpassword") == 0));
    }
    PQconninfoFree(options);
    if (!options) {
        return reel_fail(err, REEL_ARGUMENT,
                         "the address of the catalog is not of the form postgresql://USER@HOST:PORT/DATABASE");
    }
    return !secret || reel_fail(err, REEL_ARGUMENT,
                                "the address of the catalog has a password in it, which others could read: use "
                                "PGPASSWORD, PGPASSFILE or a "
                                "service file");
}

PGconn *pg_connect(const char *where, struct reel_error *err) {
    /* What the address says comes last and wins. */
    static const char *const names[] = {
        "application_name",    "connect_timeout",  "tcp_user_timeout", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "dbname",           NULL};
    const char *const values[] = {"reel", "3", "10000", "15", "5", "3", where, NULL};
    if (pg_is_silent(err)) {
        return NULL;
    }
    int64_t begun_ns = clock_ns();
    PGconn *link = PQconnectdbParams(names, values, 1);
    if (!link) {
        reel_fail_memory(err);
        return NULL;
    }
    if (PQstatus(link) != CONNECTION_OK) {
        if (clock_ns() - begun_ns > SLOW_CONNECT_NS) {
            note_silence();
        }
        pg_fail(link, NULL, err);
        PQfinish(link);
        return NULL;
    }
    PQsetnonblocking(link, 1);
    /* The database, too, must notice that this server has gone without a word: before a job's lease ends, or its locks
     * stay. */
    if (PQserverVersion(link) < 150000) {
        reel_fail(err, REEL_UNSUPPORTED, "catalog: PostgreSQL 15 or later is needed, this is %d",
                  PQserverVersion(link) / 10000);
    } else if (pg_run(link,
                      "SET plan_cache_mode = force_custom_plan; SET join_collapse_limit = 1; SET statement_timeout = "
                      "'10s';"
                      "SET jit = off; SET work_mem = '4MB';" /* with more it tests EXISTS by a hash of all recordings */
                      "SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '15s'; SET "
                      "client_min_messages = warning;"
                      "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET "
                      "tcp_user_timeout = "
                      "'15s'",
                      err)) {
        return link;
    }
    PQfinish(link);
    return NULL;
}

bool pg_count_others(const char *where, unsigned *n, struct reel_error *err) {
    PGconn *link = pg_connect(where, err);
    PGresult *result = link ? pg_query(link,
                                       "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
                                       "application_name = 'reel' AND pid <> pg_backend_pid()",
                                       PG_WAIT_MS, err)
                            : NULL;
    *n = result ? (unsigned)strtoul(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    PQfinish(link);
    return result;
}

/* Autovacuum keeps statistics fresh, but only begins a minute after a table is filled, and a restored dump has none. */
void pg_analyze(struct db *db) {
    static const char sql[] =
        "SET LOCAL statement_timeout = 0; "
        "DO $$ DECLARE name text; BEGIN "
        "FOR name IN SELECT tablename FROM pg_tables AS t WHERE schemaname = current_schema() "
        "AND pg_relation_size(format('%I.%I', schemaname, tablename)::regclass) > 0 AND NOT EXISTS "
        "(SELECT 1 FROM pg_stats AS s WHERE s.schemaname = t.schemaname AND s.tablename = t.tablename) ORDER BY 1 "
        "LOOP EXECUTE format('ANALYZE %I', name); END LOOP; END $$";
    struct reel_error none = {0}; /* without them queries are only slower */
    AUTO(db_end) struct db_handle *h = db_read_once(db, &none);
    PGresult *result = h ? pg_query(((struct pg_handle *)h)->link, sql, PG_PATIENT_MS, &none) : NULL;
    PQclear(result);
}
