/* Opened recordings, shared by requests: index + sources, kept while used, at most RECORDINGS_OPEN_MAX; a missing or outdated index pack is
 * made again here. */
#ifndef SERVER_RECORDINGS_H
#define SERVER_RECORDINGS_H

#include "app.h"
#include "ingest/jobs.h"

struct recordings *recordings_new(struct app *app, struct reel_error *err);
void recordings_free(struct recordings *recordings);

/* A reference for the caller (reel_recording_free). Only for states ready and scanning. A vanished or changed blob sets the state missing
 * and fails with REEL_NOT_FOUND / REEL_CHANGED. When there is no pack yet, or it must be made again, and that takes more than wait_ns:
 * REEL_CONFLICT with *job filled (503 + Retry-After); job[0] = 0 otherwise. */
struct reel_recording *recordings_get(struct recordings *recordings, const struct catalog_recording *r, int64_t wait_ns, char job[33],
                                      struct reel_error *err);
/* `job` makes the pack of this content; whoever opens the recording waits for it. */
void recordings_scanned_by(struct recordings *recordings, const char *content, struct job *job);
/* Cancels what makes the pack of a content that no recording has any more. */
void recordings_stop(struct recordings *recordings, const char *content);
void recordings_forget(struct recordings *recordings, const char *content);

#endif
