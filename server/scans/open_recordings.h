/* Open recordings (index and sources), shared by requests; at most RECORDINGS_OPEN_MAX stay open. Rebuilds missing or
 * outdated index packs. */
#ifndef SERVER_SCANS_OPEN_RECORDINGS_H
#define SERVER_SCANS_OPEN_RECORDINGS_H

#include "app.h"
#include "work/jobs.h"

struct recordings *recordings_new(struct app *app, struct reel_error *err);
void recordings_free(struct recordings *recordings);

/* A reference for the caller (reel_recording_free). Only for states ready and scanning. A vanished or changed blob sets
 * the state missing and fails with REEL_NOT_FOUND / REEL_CHANGED. When the pack has to be built first and that takes
 * more than wait_ns: REEL_CONFLICT with *job filled (503 + Retry-After); job[0] = 0 otherwise. */
struct reel_recording *recordings_get(struct recordings *recordings, const struct catalog_recording *r, int64_t wait_ns,
                                      char job[JOB_ID_TEXT], struct reel_error *err);
/* The same for one of many at a time: its files are open only while they are read. */
struct reel_recording *recordings_get_resting(struct recordings *recordings, const struct catalog_recording *r,
                                              int64_t wait_ns, char job[JOB_ID_TEXT], struct reel_error *err);
/* An announced recording: its index, without its file. */
struct reel_recording *recordings_get_announced(struct app *app, const struct catalog_recording *r,
                                                struct reel_error *err);
void recordings_forget(struct recordings *recordings, const char *content);

#endif
