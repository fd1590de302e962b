/* Locks that all servers of one catalog share: advisory locks of one connection, which are gone with it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "catalog/postgres/postgres.h"

struct pg_locks {
    pthread_mutex_t mutex; /* guards the link: each question is short */
    PGconn *link;
    atomic_uint_least64_t generation; /* of connections */
};

struct pg_locks *pg_locks_new(struct reel_error *err) {
    struct pg_locks *l = calloc(1, sizeof *l);
    if (!l) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&l->mutex, NULL);
    atomic_store(&l->generation, 1);
    return l;
}

void pg_locks_free(struct pg_locks *l) {
    if (l) {
        PQfinish(l->link);
        pthread_mutex_destroy(&l->mutex);
        free(l);
    }
}

uint64_t pg_locks_generation(const struct pg_locks *l) {
    return atomic_load(&l->generation);
}

/* The mutex is held. A connection that failed takes all locks with it. */
static void give_up(struct pg_locks *l) {
    PQfinish(l->link);
    l->link = NULL;
    atomic_fetch_add(&l->generation, 1);
}

/* The answer to a question whose result is a bool. The mutex is held. */
static bool ask(struct pg_locks *l, const char *where, const char *function, int64_t key, bool *answer,
                struct reel_error *err) {
    char sql[96];
    if (l->link && pg_is_silent(err)) {
        give_up(l);
        return false;
    }
    if (!l->link && !(l->link = pg_connect(where, err))) {
        return false;
    }
    snprintf(sql, sizeof sql, "SELECT %s(%lld)", function, (long long)key);
    PGresult *result = pg_query(l->link, sql, PG_WAIT_MS, err);
    bool good = result && PQntuples(result) == 1;
    *answer = good && PQgetvalue(result, 0, 0)[0] == 't';
    PQclear(result);
    if (!good) {
        give_up(l);
    }
    return good;
}

bool pg_locks_try(struct pg_locks *l, const char *where, int64_t key, bool *got, struct reel_error *err) {
    pthread_mutex_lock(&l->mutex);
    bool good = ask(l, where, "pg_try_advisory_lock", key, got, err);
    pthread_mutex_unlock(&l->mutex);
    return good;
}

void pg_locks_release(struct pg_locks *l, const char *where, int64_t key, uint64_t generation) {
    struct reel_error ignored;
    bool held;
    pthread_mutex_lock(&l->mutex);
    if (l->link && pg_locks_generation(l) == generation) {
        ask(l, where, "pg_advisory_unlock", key, &held, &ignored);
    }
    pthread_mutex_unlock(&l->mutex);
}
