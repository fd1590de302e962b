/* See scan_job.h. If the scan ends before the request stops waiting, the request writes the catalog; otherwise the job
 * does. */
#include "scans/scan_job.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/imports.h"
#include "json_whole.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "scans/open_recordings.h"
#include "scans/scanning.h"
#include "store/manifest.h"

static const int64_t CANCEL_NS = INT64_C(60) * 1000000000;
enum {
    /* of a scan that belongs into the lane of small ones; it also needs no summary in the list */
    SMALL_BYTES = 64 << 20,
    RECORDINGS_MAX = 1024, /* of one content */
};

static enum job_lane lane_of(uint64_t size) {
    return size < SMALL_BYTES ? LANE_SMALL : LANE_SCANS;
}

/* ---- the end of a scan */

/* Removes the last part from r; the parts stay in the store for scan_tidy(). */
static bool without_last(struct catalog_recording *r, const char *before, struct reel_error *err) {
    if (r->n_parts < 2) {
        return false;
    }
    struct catalog_part *last = &r->parts[--r->n_parts];
    r->size -= last->size;
    free((char *)last->file_name);
    last->file_name = NULL;
    return content_of_parts(r, err) && strcmp(r->content, before) == 0;
}

struct scanned {
    struct app *app;
    const char *content, *before, *recording; /* before, recording: NULL: none */
};

/* The row is locked. */
static bool go_back_locked(const struct scanned *s, struct reel_error *err) {
    struct catalog_recording r = {0};
    if (!catalog_get(s->app->catalog, s->recording, &r, err)) {
        return false;
    }
    bool ours = strcmp(r.content, s->content) == 0, back = !ours; /* another request has changed the content: nothing to
                                                                     do */
    AUTO(reel_index_free) struct reel_index *index = ours ? scan_open_pack(s->app, s->before, err) : NULL;
    if (index && store_renew_pack(s->app->store, s->before, err) && without_last(&r, s->before, err) &&
        scan_fill(&r, index, err) && manifest_write(s->app->store, &r, NULL, err)) {
        back = catalog_set_parts(s->app->catalog, &r, index, NULL, err);
        manifests_forget(s->app, back ? s->content : s->before, r.id);
    }
    catalog_recording_done(&r);
    return back;
}

/* The recording is again what it was before the part that cannot be scanned. */
static bool go_back(const struct scanned *s) {
    struct reel_error ignored;
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(s->app->locks, &lock, ROW_LOCK, s->recording);
    bool back = go_back_locked(s, &ignored);
    lock_release(&lock);
    if (back) {
        manifests_changed(s->app);
        recordings_forget(s->app->recordings, s->content);
    }
    return back;
}

/* Writes the result of a scan into every recording of the content. err: in, why it failed; out, why this did. */
static bool finish_all(const struct scanned *s, bool good, struct reel_error *err) {
    AUTO_MEM char(*ids)[RECORDING_ID_TEXT] = calloc(RECORDINGS_MAX, sizeof *ids);
    const struct reel_error why = *err;
    uint32_t n = 0;
    bool written = (ids || reel_fail_memory(err)) &&
                   catalog_recordings_of_content(s->app->catalog, s->content, ids, RECORDINGS_MAX, &n, err);
    for (uint32_t i = 0; i < n; i++) {
        struct reel_error own = why;
        if (!scan_finish(s->app, ids[i], s->content, good, &own) && good && own.code != REEL_NOT_FOUND) {
            written = reel_error_pass(err, &own);
        }
    }
    manifests_changed(s->app);
    if (!good) {
        *err = why;
    }
    return good && written;
}

/* A scan that was stopped with the server is done again by the next one. */
static bool end_scan(const struct scanned *s, const struct catalog_recording *r, bool good, struct reel_error *err) {
    if (!good && err->code == REEL_CANCELLED && jobs_stopping(s->app->jobs)) {
        return false;
    }
    good = (!good && s->before && go_back(s)) ? false : finish_all(s, good, err);
    scan_tidy(s->app, s->content); /* it may have been purged meanwhile */
    for (uint32_t i = 0; i < r->n_parts; i++) {
        scan_tidy(s->app, r->parts[i].sha256);
    }
    if (s->before) {
        scan_tidy(s->app, s->before);
    }
    return good;
}

/* ---- the job */

bool scan_job_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    char id[1][RECORDING_ID_TEXT];
    uint32_t n = 0;
    struct catalog_recording r;
    json_auto_t *options = json_loads(call->options[0] ? call->options : "{}", 0, NULL);
    const char *format = json_string_value(json_object_get(options, "format"));
    const struct scanned scanned = {.app = app,
                                    .content = call->key,
                                    .before = json_string_value(json_object_get(options, "before")),
                                    .recording = json_string_value(json_object_get(options, "recording"))};
    if (!catalog_recordings_of_content(app->catalog, call->key, id, 1, &n, err)) {
        return false;
    }
    if (n == 0) { /* it was deleted meanwhile */
        scan_tidy(app, call->key);
        return true;
    }
    if (!catalog_get(app->catalog, id[0], &r, err)) {
        return false;
    }
    format = format ? format : r.format;
    bool missing = json_is_true(json_object_get(options, "missing"));
    AUTO(reel_index_free) struct reel_index *made = missing ? scan_open_pack(app, call->key, NULL) : NULL;
    bool good = made || scan_content(app, &r, *format ? reel_format_named(format) : NULL, call->progress, err);
    good = end_scan(&scanned, &r, good, err);
    catalog_recording_done(&r);
    return good;
}

static bool add_scan(struct app *app, const struct catalog_recording *r, const char *options, char id[JOB_ID_TEXT],
                     struct reel_error *err) {
    if (r->announced && r->announced[0]) {
        return reel_fail(err, REEL_CONFLICT, "the file of this recording is still on the robot");
    }
    const struct job_spec spec = {.kind = "scan",
                                  .key = r->content,
                                  .collection = r->collection,
                                  .subject = r->id,
                                  .options = options,
                                  .lane = lane_of(r->size)};
    return jobs_add(app->jobs, &spec, id, err);
}
bool scan_again(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT], struct reel_error *err) {
    return add_scan(app, r, NULL, id, err);
}
bool scan_missing(struct app *app, const struct catalog_recording *r, char id[JOB_ID_TEXT], struct reel_error *err) {
    return add_scan(app, r, "{\"missing\":true}", id, err);
}

void scan_stop(struct app *app, const char *content) {
    char id[JOB_ID_TEXT];
    struct reel_error ignored;
    if (catalog_job_by_key(app->catalog, "scan", content, id, &ignored)) {
        jobs_cancel(app->jobs, id, &ignored);
    }
}

/* ---- uploads */

struct upload_work {
    struct app *app;
    const struct reel_format *format;
    struct catalog_recording r; /* only what scan_content() needs */
    char before[SHA256_HEX];    /* "": none; set while the job is held */
    char recording[RECORDING_ID_TEXT];
};

static void work_free(void *context) {
    struct upload_work *w = context;
    catalog_recording_done(&w->r);
    free(w);
}

static bool work_run(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct upload_work *w = context;
    return scan_content(w->app, &w->r, w->format, progress, err);
}

static bool work_attached(void *context, bool good, struct reel_error *err) {
    const struct upload_work *w = context;
    const struct scanned scanned = {
        .app = w->app, .content = w->r.content, .before = w->before[0] ? w->before : NULL, .recording = w->recording};
    return end_scan(&scanned, &w->r, good, err);
}

static bool copy_parts(const struct catalog_recording *from, struct catalog_recording *to) {
    to->parts = calloc(from->n_parts, sizeof *to->parts);
    for (; to->parts && to->n_parts < from->n_parts; to->n_parts++) {
        struct catalog_part *part = &to->parts[to->n_parts];
        *part = from->parts[to->n_parts];
        if (!(part->file_name = strdup(part->file_name))) {
            return false;
        }
    }
    return to->parts;
}

static struct upload_work *work_new(struct app *app, const struct upload_scan_request *q) {
    struct upload_work *w = calloc(1, sizeof *w);
    if (!w || !copy_parts(q->r, &w->r)) {
        if (w) {
            work_free(w);
        }
        return NULL;
    }
    w->app = app;
    w->format = q->format;
    memcpy(w->r.content, q->r->content, sizeof w->r.content);
    return w;
}

/* A scan that may outlast the request: until its end the list shows the files' own summary. */
static void make_summary(struct app *app, const struct upload_scan_request *q) {
    AUTO(reel_index_free) struct reel_index *there = NULL;
    bool may_last = q->wait_ns <= 0 || q->r->size >= SMALL_BYTES;
    if (may_last && !(there = scan_open_summary(app, q->r->content, NULL))) { /* never replaces the pack of a scan */
        scan_summary(app, q->r, q->format, NULL);
    }
}

bool upload_scan_start(struct upload_scan *s, struct app *app, const struct upload_scan_request *q,
                       struct reel_error *err) {
    char subject[256];
    if (!(s->work = work_new(app, q))) {
        return reel_fail_memory(err);
    }
    make_summary(app, q);
    snprintf(subject, sizeof subject, "%.120s/%.120s", q->collection, q->name);
    const struct job_work work = {.kind = "scan",
                                  .lane = lane_of(q->r->size),
                                  .owner = q->owner,
                                  .subject = subject,
                                  .run = work_run,
                                  .attached = work_attached,
                                  .free = work_free,
                                  .context = s->work};
    s->job = job_start(app->jobs, &work, err);
    return s->job;
}

struct reel_index *upload_scan_result(struct upload_scan *s, struct reel_error *err) {
    job_wait(s->job, INT64_MAX);
    return job_result(s->job, err) ? scan_open_pack(s->work->app, s->work->r.content, err) : NULL;
}

static char *options_text(const struct upload_work *w, const char *before, const char *recording) {
    json_auto_t *o = json_object();
    if (w->format) {
        json_object_set_new(o, "format", json_string(w->format->name));
    }
    if (before) {
        json_object_set_new(o, "before", json_string(before));
        json_object_set_new(o, "recording", json_string(recording));
    }
    return json_whole_text(o, JSON_COMPACT);
}

/* The job is held. */
static enum upload_scan_left leave_held(struct upload_scan *s, struct catalog_recording *r,
                                        const struct upload_scan_entry *entry, char id[JOB_ID_TEXT],
                                        struct reel_error *err) {
    struct upload_work *w = s->work;
    char subject[256];
    struct catalog_job row;
    AUTO(reel_index_free) struct reel_index *summary = scan_open_summary(w->app, r->content, NULL);
    AUTO_MEM char *options = r->id[0] || catalog_make_id(r->id, err) ? options_text(w, entry->before, r->id) : NULL;
    snprintf(subject, sizeof subject, "%.120s/%.120s", r->collection, r->name);
    const struct job_spec spec = {
        .key = r->content, .collection = r->collection, .subject = subject, .options = options};
    if (!options || !job_row(s->job, &spec, &row, err) || (summary && !scan_fill(r, summary, err))) {
        return SCAN_REFUSED;
    }
    r->state = STATE_SCANNING;
    if (!entry->enter(entry->context, summary, &row, err)) {
        return SCAN_REFUSED;
    }
    memcpy(w->recording, r->id, sizeof w->recording);
    snprintf(w->before, sizeof w->before, "%s", entry->before ? entry->before : "");
    job_attach(s->job, &row);
    memcpy(id, row.id, JOB_ID_TEXT);
    return SCAN_LEFT;
}

enum upload_scan_left upload_scan_leave(struct upload_scan *s, struct catalog_recording *r,
                                        const struct upload_scan_entry *entry, char id[JOB_ID_TEXT],
                                        struct reel_error *err) {
    if (!job_hold(s->job)) {
        return SCAN_OVER;
    }
    enum upload_scan_left left = leave_held(s, r, entry, id, err);
    job_release(s->job);
    if (left == SCAN_REFUSED) { /* the caller removes the files, which must not be in use by then */
        job_cancel(s->job);
        job_wait(s->job, CANCEL_NS);
    }
    return left;
}
