/* See statistics.h. */
#include "scans/statistics.h"

#include <inttypes.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "catalog/imports.h"
#include "catalog/maintenance.h"
#include "decode/encoding.h"
#include "scans/open_recordings.h"
#include "scans/scanning.h"
#include "values/statistics.h"

#define STATISTICS_LOCK "statistics" /* by content: they are made once */
enum { NICENESS = 15, MARK_EACH = 1000, MARK_VERSION = 1000 * DERIVED_EVENTS_VERSION + STATISTICS_VERSION };

struct reel_statistics *statistics_open(struct app *app, const char *content, struct reel_error *err) {
    char path[PATH_MAX];
    int fd = store_open_file(app->store, content, STORE_STATISTICS, false, path, sizeof path, err);
    return fd >= 0 ? reel_statistics_open(fd, err) : NULL;
}

static bool scans_statistics_make(struct app *app, const struct catalog_recording *r,
                                  const struct reel_progress *progress, struct reel_error *err) {
    char job[JOB_ID_TEXT];
    AUTO_MEM uint8_t *data = NULL;
    size_t size;
    AUTO(reel_recording_free) struct reel_recording *recording = recordings_get(app->recordings, r, 0, job, err);
    return recording && reel_statistics_make(recording, progress, &data, &size, err) &&
           store_keep_small(app->store, r->content, STORE_STATISTICS, data, size, err);
}

bool statistics_make_events(struct app *app, const struct catalog_recording *r, const struct reel_progress *progress,
                            struct derived_events *out, struct reel_error *err) {
    char job[JOB_ID_TEXT];
    AUTO(reel_recording_free) struct reel_recording *recording = recordings_get(app->recordings, r, 0, job, err);
    return recording && derived_events_make(app, r->content, recording, progress, out, err);
}

/* Or is known to have too many. */
static bool has_events(struct app *app, const struct catalog_recording *r) {
    struct reel_error why = {0};
    AUTO_STRUCT(derived_events_done) struct derived_events events = {0};
    return !derived_events_possible(r) || derived_events_open(app, r->content, &events, &why) || why.code == REEL_LIMIT;
}

/* A question about events says why there are none. */
static bool make_events(struct app *app, const struct catalog_recording *r, const struct reel_progress *progress,
                        struct reel_error *err) {
    struct reel_error why = {0};
    AUTO_STRUCT(derived_events_done) struct derived_events events = {0};
    return has_events(app, r) || statistics_make_events(app, r, progress, &events, &why) ||
           reel_error_ignore(err, &why);
}

bool statistics_make(struct app *app, const struct catalog_recording *r, const struct reel_progress *progress,
                     struct reel_error *err) {
    bool good;
    AUTO(reel_statistics_free) struct reel_statistics *before = statistics_open(app, r->content, NULL);
    if (before && has_events(app, r)) {
        return true;
    }
    {
        AUTO_LOCK struct key_lock lock = {0};
        lock_take(app->locks, &lock, STATISTICS_LOCK, r->content);
        AUTO(reel_statistics_free) struct reel_statistics *there = statistics_open(app, r->content, NULL);
        good = (there || scans_statistics_make(app, r, progress, err)) && make_events(app, r, progress, err);
    }
    scan_tidy(app, r->content); /* it may have been purged meanwhile */
    return good;
}

bool statistics_make_later(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT],
                           struct reel_error *err) {
    const struct job_spec spec = {
        .kind = "statistics", .key = r->content, .collection = r->collection, .subject = r->id};
    return jobs_add(app->jobs, &spec, id, err);
}

/* ---- the job */

static bool make_one(struct app *app, const struct job_call *call, struct reel_error *err) {
    char id[1][RECORDING_ID_TEXT];
    uint32_t n = 0;
    struct catalog_recording r = {0};
    if (!catalog_recordings_of_content(app->catalog, call->key, id, 1, &n, err)) {
        return false;
    }
    if (n == 0 || !catalog_get(app->catalog, id[0], &r, err)) {
        return n == 0; /* it was deleted meanwhile */
    }
    bool good = r.state != STATE_READY || statistics_make(app, &r, call->progress, err);
    catalog_recording_done(&r);
    return good;
}

/* The last row up to which recordings have statistics, or cannot, is in the catalog, so that a start does not look at
 * all of them again. */
static int64_t read_mark(struct app *app) {
    struct reel_error ignored;
    unsigned version, encodings;
    int64_t row;
    AUTO_MEM char *text = catalog_maintenance(app->catalog, CATALOG_STATISTICS, &ignored);
    bool known = text && sscanf(text, "%u %u %" SCNd64, &version, &encodings, &row) == 3 && version == MARK_VERSION &&
                 encodings == reel_encodings_version();
    return known ? row : 0;
}

static void write_mark(struct app *app, int64_t row) {
    struct reel_error ignored; /* it is looked at again */
    char text[64];
    snprintf(text, sizeof text, "%d %u %" PRId64, MARK_VERSION, reel_encodings_version(), row);
    catalog_set_maintenance(app->catalog, CATALOG_STATISTICS, text, &ignored);
}

struct visit {
    struct app *app;
    const struct reel_progress *progress;
    uint64_t done;
    int64_t row;
    bool waits, stopped; /* waits: a recording is still being scanned, and is to be visited again */
};

static bool visit_recording(void *context, const struct catalog_recording *r) {
    struct visit *v = context;
    struct reel_error ignored = {0};
    if (r->state == STATE_READY && r->messages > 0) {
        statistics_make(v->app, r, v->progress, &ignored); /* a question says why there are none */
    }
    v->done++;
    v->stopped = ignored.code == REEL_CANCELLED ||
                 (v->progress->report && !v->progress->report(v->progress->context, v->done, 0));
    v->waits = v->waits || v->stopped || r->state == STATE_SCANNING || r->state == STATE_RECORDING;
    if (!v->waits) {
        v->row = r->row;
    }
    if (v->done % MARK_EACH == 0) {
        write_mark(v->app, v->row);
    }
    return !v->stopped;
}

/* Processor and disk are first for uploads and requests. The thread is the lane's. */
static void yield_to_others(void) {
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, gettid(), IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

bool statistics_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    yield_to_others();
    if (call->key[0]) {
        return make_one(app, call, err);
    }
    struct visit v = {.app = app, .progress = call->progress, .row = read_mark(app)};
    int64_t before = v.row;
    bool good = catalog_each_after(app->catalog, before, visit_recording, &v, err);
    if (v.row != before) {
        write_mark(app, v.row);
    }
    return good && (!v.stopped || reel_fail(err, REEL_CANCELLED, "cancelled"));
}

static bool any(void *context, const struct catalog_recording *r) {
    (void)r;
    *(bool *)context = true;
    return false;
}

bool statistics_are_due(struct app *app) {
    bool due = false;
    struct reel_error ignored;
    return !app->config.statistics_when_asked &&
           catalog_each_after(app->catalog, read_mark(app), any, &due, &ignored) && due;
}
