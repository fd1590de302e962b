/* Things that take a while to make from recordings, by key: made once, as a job when it takes longer than a moment, kept while there is
 * room. What is being made is found by its key too, so that many who ask for one thing make it once. */
#ifndef SERVER_MADE_H
#define SERVER_MADE_H

#include "ingest/jobs.h"

struct made; /* the table */

struct made_kind {
    const char *job; /* kind of the job */
    /* Makes the thing from `context` (on a worker); its first reference goes to *thing. */
    bool (*make)(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory_bytes, struct reel_error *err);
    void (*free_context)(void *context);
    void *(*ref)(void *thing);
    void (*unref)(void *thing);
};

struct made *made_new(struct jobs *jobs, uint64_t budget_bytes, struct reel_error *err);
void made_free(struct made *made); /* after the jobs have ended */

/* A reference to the thing. Takes `context` over (NULL: no memory). NULL with job[0] set: it is still being made after wait_ns (503,
 * Retry-After). NULL with err: it failed. `subject` is shown with the job. */
void *made_get(struct made *made, const struct made_kind *kind, const char *key, const char *subject, void *context, int64_t wait_ns,
               char job[33], struct reel_error *err);

#endif
