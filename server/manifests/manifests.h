/* Keeps manifests up to date with the catalog. A change of the catalog marks its recording as due in the same
 * transaction (by a trigger); the job "manifests" writes what is due, many at a time; what a crash interrupts is
 * written after the next start. */
#ifndef SERVER_MANIFESTS_MANIFESTS_H
#define SERVER_MANIFESTS_MANIFESTS_H

#include "app.h"

struct job_call;

#define MANIFEST_LOCK                                                                                                  \
    "manifest" /* of a content: while a row is read and the manifest written from it, or its entry removed */

void manifests_changed(struct app *app); /* call after a change of recordings: a job writes them soon */
bool manifests_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* Writes all that are due. Stops early when progress returns false, or at `until_ns` of reel_now_ns() (0: never). */
bool manifests_write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress,
                         struct reel_error *err);
/* Writes the entry of one recording as the catalog has it, notes and events too. Needs store and catalog only. */
bool manifests_write_row(struct app *app, const struct catalog_recording *r, struct reel_error *err);
/* Removes the entry of a recording that has left this content. */
void manifests_forget(struct app *app, const char *content, const char *id);
/* After a change of a collection's description. */
bool manifests_write_collections(struct app *app, struct reel_error *err);

#endif
