/* The job that changes many recordings (catalog/batches.h). Its key is the batch; its options are JSON:
 *   {"action": "change", "change": {"collection": …, "tags": {…}, "epoch_ns": …}, "allowed": ["lab*"]}
 * action: change, trash, restore or rescan. allowed: globs of the collections that the caller may see; without it all.
 */
#ifndef SERVER_RECORDINGS_BATCH_H
#define SERVER_RECORDINGS_BATCH_H

#include "app.h"
#include "work/jobs.h"

bool batch_run(struct app *app, const struct job_call *call, struct reel_error *err);

#endif
