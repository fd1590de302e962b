/* Manifests follow the catalog: a change is made there first, and marks its recording as due in the same transaction; what is due is
 * written by who changed it, by a job, at the end, or at the next start. So a manifest is behind only while its write is under way, and
 * never for good. */
#ifndef SERVER_MANIFESTS_H
#define SERVER_MANIFESTS_H

#include "app.h"

/* After a change of this recording. What cannot be written now stays due, and is tried again (manifests_again()). */
void manifests_reconcile(struct app *app, const char *id);
/* After a change of many: a job does it. */
void manifests_later(struct app *app);
/* From time to time: what could not be written when it changed is tried again. */
void manifests_again(struct app *app);
/* Writes all that are due. Stops early when progress returns false, or at `until_ns` of reel_now_ns() (0: never). */
bool manifests_write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress, struct reel_error *err);
/* After a change of a collection's description. */
bool manifests_write_collections(struct app *app, struct reel_error *err);

/* Around the removal of a recording from a content: no manifest is written meanwhile from a row that was read before. */
void manifests_hold(void);
void manifests_release(void);

#endif
