/* The change feed, as rows that triggers write (sql/migrations), and the webhooks that deliver it. */
#ifndef SERVER_CATALOG_CHANGES_H
#define SERVER_CATALOG_CHANGES_H

#include <jansson.h>

#include "catalog/catalog.h"

enum {
    CHANGES_KEPT = 100000,    /* the newest */
    CHANGES_READ_MAX = 10000, /* read at most by one query */
};

/* Calls on_commit() after each commit of this process, on the committing thread; it must not block. Set before other
 * threads write; NULL: none. */
void catalog_on_commit(struct catalog *c, void (*on_commit)(void *context), void *context);

/* Globs, NULL-terminated; NULL: all, and then also what is of no collection. */
struct change_filter {
    const char *const *kinds, *const *collections;
    const char *prefix; /* before the addresses of jobs */
};

/* The one change that no trigger writes: background work has come to its end. */
struct change_job {
    const char *id, *kind, *state, *subject, *collection; /* kind "import", state "done"; collection "": of the server
                                                             as a whole */
};
struct db_handle;
bool catalog_change_job(struct db_handle *h, const struct change_job *job, struct reel_error *err);

/* Appends to the array at most `max` changes after *seq that match the filter: {seq, time, kind, recording (or
 * job), collection, name[, detail]}. *seq becomes that of the last one read; unchanged: there are no more. */
bool catalog_changes(struct catalog *c, const struct change_filter *filter, int64_t *seq, uint32_t max, json_t *items,
                     struct reel_error *err);
/* The oldest and the newest that are kept; with none *first is *last + 1. */
bool catalog_changes_ends(struct catalog *c, int64_t *first, int64_t *last, struct reel_error *err);

/* ---- webhooks */

enum { WEBHOOKS_MAX = 256, WEBHOOK_RESULTS = 20 };

struct webhook { /* texts belong to it */
    int64_t row;
    char *url, *secret;
    json_t *events, *collections; /* arrays of globs */
    int64_t created_ns, seq, next_ns;
    uint64_t tries, delivered, dropped;
};
void webhook_done(struct webhook *w); /* empties; fine on a zeroed one */

/* Sets row and created_ns where they are 0. REEL_LIMIT: there are WEBHOOKS_MAX. */
bool catalog_webhook_add(struct catalog *c, struct webhook *w, struct reel_error *err);
/* REEL_NOT_FOUND */
bool catalog_webhook_get(struct catalog *c, int64_t row, struct webhook *out, struct reel_error *err);
bool catalog_webhook_delete(struct catalog *c, int64_t row, struct reel_error *err); /* REEL_NOT_FOUND */
bool catalog_webhooks(struct catalog *c, struct webhook out[WEBHOOKS_MAX], uint32_t *n, struct reel_error *err);
/* Rows of those that have changes to deliver and for which no job is queued. */
bool catalog_webhooks_due(struct catalog *c, int64_t out[WEBHOOKS_MAX], uint32_t *n, struct reel_error *err);

/* The result of an attempt to deliver change `seq`; a failed one is retried at next_ns. */
struct webhook_result {
    int64_t seq, took_ms, next_ns;
    unsigned status; /* 0: no answer */
    bool delivered;
    const char *problem;
};
bool catalog_webhook_result(struct catalog *c, int64_t row, const struct webhook_result *result,
                            struct reel_error *err);
/* The hook continues after `seq`; `dropped` changes are not delivered. */
bool catalog_webhook_moved(struct catalog *c, int64_t row, int64_t seq, uint64_t dropped, struct reel_error *err);
/* The last tries, newest first: [{seq, time, took_ms, status, problem}]. */
json_t *catalog_webhook_results(struct catalog *c, int64_t row, struct reel_error *err);

#endif
