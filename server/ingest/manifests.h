/* Keeps manifests up to date with the catalog. A change of the catalog marks its recording as due in the same transaction; due manifests
 * are written by the request that made the change, by a job, on shutdown, or at the next start. */
#ifndef SERVER_INGEST_MANIFESTS_H
#define SERVER_INGEST_MANIFESTS_H

#include "app.h"

/* Call after a change of this recording. If it cannot be written, it stays due for manifests_again(). */
void manifests_reconcile(struct app *app, const char *id);
/* Call after a change of many recordings: a job writes them. */
void manifests_later(struct app *app);
/* Call from time to time: retries manifests that could not be written. */
void manifests_again(struct app *app);
/* Writes all that are due. Stops early when progress returns false, or at `until_ns` of reel_now_ns() (0: never). */
bool manifests_write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress, struct reel_error *err);
/* After a change of a collection's description. */
bool manifests_write_collections(struct app *app, struct reel_error *err);

/* Around the removal of a recording from a content: no manifest is written meanwhile from a row that was read before. */
void manifests_hold(void);
void manifests_release(void);

#endif
