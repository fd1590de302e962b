/* The job "scan": scans a content and writes what it found into all recordings of it. Its key is the content; its
 * options are JSON:
 * {"format": the format that was asked for, "recording", "before": see upload_scan_leave()}, all of them optional. */
#ifndef SERVER_SCANS_SCAN_JOB_H
#define SERVER_SCANS_SCAN_JOB_H

#include "app.h"
#include "work/jobs.h"

bool scan_job_run(struct app *app, const struct job_call *call, struct reel_error *err);
/* Adds a scan of a recording that the catalog has, if there is none yet; id: of the job. */
bool scan_again(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT], struct reel_error *err);
/* The same for a pack that was not there a moment ago: does not scan if a scan that has ended meanwhile has made it. */
bool scan_missing(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT], struct reel_error *err);
/* Cancels the scan of a content that no recording has any more. */
void scan_stop(struct app *app, const char *content);

/* The scan of files that were just received: a worker runs it, the request waits for it, and may leave it. */
struct upload_scan {
    struct upload_work *work;
    struct job *job;
};
static inline void upload_scan_done(struct upload_scan *s) {
    job_unref(s->job);
}
/* Scans r's parts into the pack of its content. A scan that may outlast wait_ns makes a summary of them first. `owner`:
 * whose upload it is; the scans of several are done in turn. */
struct upload_scan_request {
    const struct catalog_recording *r;
    const struct reel_format *format; /* NULL = probe */
    const char *collection, *name, *owner;
    int64_t wait_ns;
};
bool upload_scan_start(struct upload_scan *s, struct app *app, const struct upload_scan_request *q,
                       struct reel_error *err);
/* The index of the pack, once the scan has ended; NULL with the reason in err. */
struct reel_index *upload_scan_result(struct upload_scan *s, struct reel_error *err);

/* Stops waiting: fills r from the summary, if there is one, with the state scanning; enter() writes r and `job` into
 * the catalog in one transaction, and the job goes on by itself; its id is copied. SCAN_OVER: the scan has just ended.
 * SCAN_REFUSED: enter() has failed. */
enum upload_scan_left { SCAN_OVER, SCAN_LEFT, SCAN_REFUSED };
struct upload_scan_entry {
    bool (*enter)(void *context, const struct reel_index *summary, struct catalog_job *job, struct reel_error *err);
    void *context;
    const char *before; /* the content to revert to, without the last part, if the scan fails. NULL: the recording gets
                           the state failed */
};
enum upload_scan_left upload_scan_leave(struct upload_scan *s, struct catalog_recording *r,
                                        const struct upload_scan_entry *entry, char id[JOB_ID_TEXT],
                                        struct reel_error *err);

#endif
