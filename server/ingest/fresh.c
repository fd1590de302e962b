/* See fresh.h. If the scan ends before the request stops waiting, the request writes the catalog; otherwise the job does. */
#include "ingest/fresh.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/manifest_entry.h"
#include "ingest/manifests.h"
#include "ingest/recordings.h"
#include "store/manifest.h"
#include "wire/cleanup.h"

enum {
    SUMMARY_BYTES = 64 << 20, /* smaller files are scanned quickly and need no summary in the list */
};

struct fresh_scan {
    struct app *app;
    const struct reel_format *format; /* NULL = probe */
    struct catalog_recording r;       /* only what scan_content() needs; the id once there is a row */
    char before[SHA256_HEX];          /* "": none */
    pthread_mutex_t mutex;            /* guards what follows, the id and before */
    bool scanned;                     /* the scan is over, the request finishes */
    bool adopted;                     /* there is a row, or the row was refused: the job finishes */
};

static void fresh_scan_free(void *context) {
    struct fresh_scan *f = context;
    pthread_mutex_destroy(&f->mutex);
    catalog_recording_done(&f->r);
    free(f);
}

/* ---- end of the job */

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

/* The rows are held. */
static bool go_back_held(struct fresh_scan *f, struct reel_error *err) {
    struct catalog_recording r = {0};
    struct reel_error ignored;
    if (!catalog_get(f->app->catalog, f->r.id, &r, err)) {
        return false;
    }
    bool ours = strcmp(r.content, f->r.content) == 0, back = !ours; /* another request has changed the content: nothing to do */
    AUTO(reel_index_free) struct reel_index *index = ours ? scan_open_pack(f->app, f->before, err) : NULL;
    if (index && without_last(&r, f->before, err) && scan_fill(&r, index, err) && manifest_write(f->app->store, &r, NULL, err)) {
        manifests_hold();
        back = catalog_set_parts(f->app->catalog, &r, index, err);
        store_forget_manifest(f->app->store, back ? f->r.content : f->before, r.id, &ignored);
        manifests_release();
    }
    catalog_recording_done(&r);
    return back;
}

static bool go_back(struct fresh_scan *f) {
    struct reel_error ignored;
    if (!f->before[0] || jobs_closing(f->app->jobs)) { /* when closing, it is scanned again at the next start */
        return false;
    }
    scan_hold_rows();
    bool back = go_back_held(f, &ignored);
    scan_release_rows();
    if (back) {
        manifests_reconcile(f->app, f->r.id);
        recordings_forget(f->app->recordings, f->r.content);
    }
    return back;
}

static bool finish(struct fresh_scan *f, bool scanned, struct reel_error *err) {
    bool ok = scanned;
    if (scanned || !go_back(f)) {
        ok = scan_finish(f->app, f->r.id, f->r.content, scanned, err);
    }
    scan_tidy(f->app, f->r.content); /* it may have been purged meanwhile */
    for (uint32_t i = 0; i < f->r.n_parts; i++) {
        scan_tidy(f->app, f->r.parts[i].sha256);
    }
    if (f->before[0]) {
        scan_tidy(f->app, f->before);
    }
    return ok;
}

static bool run_fresh_scan(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct fresh_scan *f = context;
    bool ok = scan_content(f->app, &f->r, f->format, progress, err);
    pthread_mutex_lock(&f->mutex);
    f->scanned = true;
    bool adopted = f->adopted;
    pthread_mutex_unlock(&f->mutex);
    return adopted ? finish(f, ok, err) : ok;
}

/* ---- start */

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

static struct fresh_scan *fresh_scan_new(struct app *app, const struct catalog_recording *r, const struct reel_format *format) {
    struct fresh_scan *f = calloc(1, sizeof *f);
    if (!f || !copy_parts(r, &f->r)) {
        if (f) {
            catalog_recording_done(&f->r);
        }
        free(f);
        return NULL;
    }
    pthread_mutex_init(&f->mutex, NULL);
    f->app = app;
    f->format = format;
    memcpy(f->r.content, r->content, sizeof f->r.content);
    return f;
}

/* A scan that may outlast the request: until its end the list shows the files' own summary. */
static void sketch(struct app *app, const struct catalog_recording *r, const struct reel_format *format, int64_t wait_ns) {
    AUTO(reel_index_free) struct reel_index *there = NULL;
    bool may_last = wait_ns <= 0 || r->size >= SUMMARY_BYTES;
    if (may_last && !(there = scan_open_summary(app, r->content, NULL))) { /* never replaces the pack of a scan */
        scan_summary(app, r, format, NULL);
    }
}

bool fresh_start(struct fresh *f, struct app *app, const struct catalog_recording *r, const struct reel_format *format,
                 const char *collection, const char *name, int64_t wait_ns, struct reel_error *err) {
    char subject[256];
    if (!(f->scan = fresh_scan_new(app, r, format))) {
        return reel_fail_memory(err);
    }
    sketch(app, r, format, wait_ns);
    snprintf(subject, sizeof subject, "%.120s/%.120s", collection, name);
    const struct job_options options = {.kind = "scan", .subject = subject, .collection = collection, .quiet = true};
    f->job = jobs_add_in(app->jobs, &options, run_fresh_scan, f->scan, fresh_scan_free, err);
    return f->job;
}

struct reel_index *fresh_result(struct fresh *f, struct reel_error *err) {
    struct job_view view;
    job_wait(f->job, INT64_MAX);
    job_view(f->job, &view);
    if (view.state == JOB_DONE) {
        return scan_open_pack(f->scan->app, f->scan->r.content, err);
    }
    reel_error_pass(err, &view.error);
    if (view.error.code == REEL_OK) {
        reel_fail(err, REEL_CANCELLED, "the scan was cancelled");
    }
    return NULL;
}

enum fresh_left fresh_leave(struct fresh *f, struct catalog_recording *r, const struct fresh_entry *entry, char job[33],
                            struct reel_error *err) {
    struct fresh_scan *scan = f->scan;
    bool entered = false;
    pthread_mutex_lock(&scan->mutex);
    bool left = !scan->scanned;
    if (left) {
        AUTO(reel_index_free) struct reel_index *summary = scan_open_summary(scan->app, r->content, NULL);
        recordings_scanned_by(scan->app->recordings, r->content, f->job);
        entered = (!summary || scan_fill(r, summary, err)) && (r->state = STATE_SCANNING, entry->enter(entry->context, summary, err));
        memcpy(scan->r.id, entered ? r->id : "", entered ? sizeof scan->r.id : 1);
        strncpy(scan->before, entered && entry->before ? entry->before : "", sizeof scan->before - 1);
        scan->adopted = true;
        job_report_end(f->job); /* the job cannot end before the mutex is released */
    }
    pthread_mutex_unlock(&scan->mutex);
    if (!left) {
        return FRESH_OVER;
    }
    struct job_view view;
    job_view(f->job, &view);
    if (!entered) {
        jobs_cancel(scan->app->jobs, view.id);
        return FRESH_REFUSED;
    }
    memcpy(job, view.id, sizeof view.id);
    return FRESH_LEFT;
}
