/* The scan of files that were just received: a job runs it, the request waits for it and may leave it behind. Shared by ingest.c (new
 * recordings) and parts.c (further parts). */
#ifndef SERVER_INGEST_FRESH_H
#define SERVER_INGEST_FRESH_H

#include "ingest/scanning.h"

struct fresh { /* a request's reference to the scan */
    struct fresh_scan *scan;
    struct job *job;
};
static inline void reel_auto_fresh_done(struct fresh *f) {
    job_unref(f->job);
}

/* Scans r's parts into the pack of its content. A scan that may outlast wait_ns makes a summary of them first. */
bool fresh_start(struct fresh *f, struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                 const char *collection, const char *name, int64_t wait_ns, struct reel_error *err);
/* The index of the pack, once the scan has ended; NULL with the reason in err. */
struct reel_index *fresh_result(struct fresh *f, struct reel_error *err);

/* Stops waiting: fills r from the summary, if there is one, with the state scanning; enter() writes it into the catalog, and the job
 * continues on its own. FRESH_OVER: the scan has just ended. FRESH_REFUSED: enter() has failed, and the scan is cancelled. */
enum fresh_left { FRESH_OVER, FRESH_LEFT, FRESH_REFUSED };
struct fresh_entry {
    bool (*enter)(void *context, const struct reel_index *summary, struct reel_error *err);
    void *context;
    const char *before; /* the content to revert to, without the last part, if the scan fails. NULL: the recording gets the state failed */
};
enum fresh_left fresh_leave(struct fresh *f, struct catalog_recording *r, const struct fresh_entry *entry, char job[33],
                            struct reel_error *err);

#endif
