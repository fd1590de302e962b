/* Field statistics of stored recordings (reel/values.h). The job "statistics" makes those of one content, which is its
 * key, or, without a key, of all recordings that have none; it runs each minute for what was added. A question about a
 * recording that has none yet makes them itself if that is quick. */
#ifndef SERVER_SCANS_STATISTICS_H
#define SERVER_SCANS_STATISTICS_H

#include "app.h"
#include "reel/values.h"
#include "scans/derived_events.h"
#include "work/jobs.h"

/* REEL_NOT_FOUND, REEL_CHANGED: they have to be made. */
struct reel_statistics *statistics_open(struct app *app, const char *content, struct reel_error *err);
/* Makes them unless they are there, and the events that follow from the recording. The recording is ready. */
bool statistics_make(struct app *app, const struct catalog_recording *r, const struct reel_progress *progress,
                     struct reel_error *err);
/* Of a recording that has none yet. */
bool statistics_make_events(struct app *app, const struct catalog_recording *r, const struct reel_progress *progress,
                            struct derived_events *out, struct reel_error *err);
/* Adds the job for a recording, if there is none yet; id: of the job. */
bool statistics_make_later(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT],
                           struct reel_error *err);

bool statistics_run(struct app *app, const struct job_call *call, struct reel_error *err);
bool statistics_are_due(struct app *app); /* there are recordings behind the last one that was visited */

#endif
