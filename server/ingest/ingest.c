/* See ingest.h. Its one rule: a row appears only when blob, pack and manifest are durable; a scan that outlasts the request gets a row in
 * state scanning, which its job completes. All of it under the content's lock. */
#include "ingest/ingest.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "ingest/names.h"
#include "ingest/recordings.h"
#include "ingest/scanning.h"
#include "reel/time.h"

enum {
    OUTLINE_BYTES = 64 << 20, /* smaller files are scanned before anybody misses them in the list */
};

void ingest_result_done(struct ingest_result *r) {
    catalog_recording_done(&r->recording);
}

/* ---- the scan of an upload: worked on by a job, waited for by the request, which may leave it behind */

struct fresh_scan {
    struct app *app;
    const struct reel_format *format; /* NULL = probe */
    struct catalog_recording r;       /* only what scan_content() needs; the id once there is a row */
    pthread_mutex_t mutex; /* guards what follows */
    bool scanned;          /* the scan is over, the request finishes */
    bool adopted;          /* there is a row, or the row was refused: the job finishes */
};

static void fresh_scan_free(void *context) {
    struct fresh_scan *f = context;
    pthread_mutex_destroy(&f->mutex);
    catalog_recording_done(&f->r);
    free(f);
}

static bool run_fresh_scan(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct fresh_scan *f = context;
    bool ok = scan_content(f->app, &f->r, f->format, progress, err);
    pthread_mutex_lock(&f->mutex);
    f->scanned = true;
    bool adopted = f->adopted;
    pthread_mutex_unlock(&f->mutex);
    if (!adopted) {
        return ok;
    }
    ok = scan_settle(f->app, f->r.id, ok, err);
    scan_tidy(f->app, f->r.content); /* it may have been purged meanwhile */
    return ok;
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

/* ---- one ingestion */

struct ingestion {
    struct app *app;
    const struct ingest_request *q;
    const struct ingest_file *files;
    uint32_t n;
    const struct reel_format *format;
    struct catalog_recording r; /* becoming the result */
    struct ingest_result *out;
};

static bool refuse(struct ingestion *in) {
    in->out->outcome = INGEST_REFUSED;
    return false;
}

static bool succeed(struct ingestion *in, enum ingest_outcome outcome) {
    in->out->outcome = outcome;
    in->out->recording = in->r;
    in->r = (struct catalog_recording){0};
    return true;
}

static bool prepare(struct ingestion *in, struct reel_error *err) {
    struct catalog_recording *r = &in->r;
    r->collection = strdup(in->q->collection);
    r->name = strdup(in->q->name);
    r->format = strdup("");
    r->container = strdup("");
    r->clock_note = strdup("");
    r->problem = strdup("");
    r->parts = calloc(in->n, sizeof *r->parts);
    if (!r->collection || !r->name || !r->format || !r->container || !r->clock_note || !r->problem || !r->parts) {
        return reel_fail_memory(err);
    }
    for (; r->n_parts < in->n; r->n_parts++) {
        struct catalog_part *part = &r->parts[r->n_parts];
        part->size = in->files[r->n_parts].size;
        r->size += part->size;
        memcpy(part->sha256, in->files[r->n_parts].sha256, sizeof part->sha256);
        if (!(part->file_name = strdup(in->files[r->n_parts].name))) {
            return reel_fail_memory(err);
        }
    }
    return content_of_parts(r, err);
}

static bool keep_files(const struct ingestion *in, struct reel_error *err) {
    for (uint32_t i = 0; i < in->n; i++) {
        if (!store_upload_keep(in->files[i].upload, err)) {
            return false;
        }
    }
    return true;
}

/* Writes manifest and row. When the row is refused nothing of it stays. */
static bool add_row(struct ingestion *in, const struct reel_index *index, struct reel_error *err) {
    struct catalog_recording *r = &in->r;
    uint32_t expected = r->revision;
    r->created_ns = reel_now_ns();
    if (!catalog_make_id(r->id, err) || !store_write_manifest(in->app->store, r, err)) {
        return false;
    }
    if (!catalog_add(in->app->catalog, r, index, in->q->replace, err)) {
        struct reel_error ignored;
        store_forget_manifest(in->app->store, r->content, r->id, &ignored);
        return false;
    }
    return r->revision == expected || store_write_manifest(in->app->store, r, err); /* revisions in the trash count too */
}

static bool add_ready(struct ingestion *in, struct reel_index *index, struct reel_error *err) {
    return scan_fill(&in->r, index, err) && add_row(in, index, err) ? succeed(in, INGEST_CREATED) : refuse(in);
}

/* The scan found nothing to keep: nothing stays, or with keep a failed recording that says why. */
static bool add_failed(struct ingestion *in, const struct reel_error *why, struct reel_error *err) {
    bool about_file = why->code == REEL_NOT_MINE || why->code == REEL_DAMAGED || why->code == REEL_UNSUPPORTED || why->code == REEL_LIMIT;
    if (err) {
        *err = *why;
    }
    if (!in->q->keep || !about_file) {
        return refuse(in);
    }
    free(in->r.problem);
    in->r.problem = strdup(why->text);
    in->r.state = STATE_FAILED;
    struct reel_error failed;
    if (!add_row(in, NULL, &failed)) {
        if (err) {
            *err = failed;
        }
        return refuse(in);
    }
    return succeed(in, INGEST_KEPT);
}

/* The request has waited long enough: the recording is shown as scanning and the job goes on alone. False: the scan is over after all. */
static bool leave_behind(struct ingestion *in, struct fresh_scan *f, struct job *job, bool *added, struct reel_error *err) {
    pthread_mutex_lock(&f->mutex);
    bool left = !f->scanned;
    if (left) {
        AUTO(reel_index_free) struct reel_index *outline = scan_open_outline(in->app, in->r.content, NULL);
        recordings_scanned_by(in->app->recordings, in->r.content, job);
        *added = (!outline || scan_fill(&in->r, outline, err)) && (in->r.state = STATE_SCANNING, add_row(in, outline, err));
        memcpy(f->r.id, *added ? in->r.id : "", *added ? sizeof f->r.id : 1);
        f->adopted = true;
    }
    pthread_mutex_unlock(&f->mutex);
    if (!left) {
        return false;
    }
    struct job_view view;
    job_view(job, &view);
    if (*added) {
        memcpy(in->out->job, view.id, sizeof in->out->job);
        succeed(in, INGEST_SCANNING);
    } else {
        jobs_cancel(in->app->jobs, view.id);
    }
    return true;
}

static bool add_scanned(struct ingestion *in, struct job *job, struct reel_error *err) {
    struct job_view view;
    job_wait(job, INT64_MAX);
    job_view(job, &view);
    if (view.state != JOB_DONE) {
        return add_failed(in, &view.error, err);
    }
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(in->app, in->r.content, err);
    return index ? add_ready(in, index, err) : refuse(in);
}

/* A scan that may outlast the request: until its end the recording is listed by what the file says of itself. */
static void sketch(struct ingestion *in, int64_t wait_ns) {
    AUTO(reel_index_free) struct reel_index *there = NULL;
    bool may_last = wait_ns <= 0 || in->r.size >= OUTLINE_BYTES;
    if (may_last && !(there = scan_open_outline(in->app, in->r.content, NULL))) { /* never over what a scan has made */
        scan_outline(in->app, &in->r, in->format, NULL);
    }
}

static bool scan_and_add(struct ingestion *in, int64_t wait_ns, struct reel_error *err) {
    struct fresh_scan *f = fresh_scan_new(in->app, &in->r, in->format);
    if (!f) {
        reel_fail_memory(err);
        return refuse(in);
    }
    sketch(in, wait_ns);
    char subject[256];
    snprintf(subject, sizeof subject, "%.120s/%.120s", in->q->collection, in->q->name);
    struct job *job = jobs_add(in->app->jobs, "scan", subject, NULL, run_fresh_scan, f, fresh_scan_free, err);
    if (!job) {
        return refuse(in);
    }
    bool added = false;
    if (job_wait(job, wait_ns) || !leave_behind(in, f, job, &added, err)) {
        added = add_scanned(in, job, err);
    }
    job_unref(job);
    return added;
}

/* ---- what is there already */

/* The same content under the same name: what is there, mended when its file had gone. */
static bool answer_existing(struct ingestion *in, struct catalog_recording *there, struct reel_error *err) {
    bool ok = keep_files(in, err);
    if (ok && there->state == STATE_MISSING) {
        ok = scan_content(in->app, there, NULL, NULL, err);
        ok = scan_settle(in->app, there->id, ok, err);
        char id[RECORDING_ID_TEXT];
        memcpy(id, there->id, sizeof id);
        catalog_recording_done(there);
        ok = catalog_get(in->app->catalog, id, there, ok ? err : NULL) && ok;
    }
    if (!ok) {
        return refuse(in);
    }
    catalog_recording_done(&in->r);
    in->r = *there;
    *there = (struct catalog_recording){0};
    if (in->r.state == STATE_FAILED) {
        reel_fail(err, REEL_DAMAGED, "%s", in->r.problem);
        return succeed(in, INGEST_KEPT);
    }
    return succeed(in, INGEST_EXISTS);
}

/* Is the name taken? True: *there is who has it, or empty. */
static bool look_up_name(struct ingestion *in, struct catalog_recording *there, struct reel_error *err) {
    struct reel_error none;
    if (catalog_get_named(in->app->catalog, in->q->collection, in->q->name, there, &none)) {
        in->r.revision = there->revision + 1;
        return true;
    }
    in->r.revision = 1;
    if (none.code != REEL_NOT_FOUND && err) {
        *err = none;
    }
    return none.code == REEL_NOT_FOUND;
}

static bool has_part(const struct catalog_recording *there, const struct catalog_part *part) {
    for (uint32_t i = 0; i < there->n_parts; i++) {
        if (strcmp(there->parts[i].sha256, part->sha256) == 0 && strcmp(there->parts[i].file_name, part->file_name) == 0) {
            return true;
        }
    }
    return false;
}

/* The same content, or files to which others have been joined since. */
static bool is_same(const struct catalog_recording *there, const struct catalog_recording *r) {
    bool all = there->state == STATE_READY;
    for (uint32_t i = 0; i < r->n_parts && all; i++) {
        all = has_part(there, &r->parts[i]);
    }
    return all || strcmp(there->content, r->content) == 0;
}

static bool ingest_locked(struct ingestion *in, int64_t wait_ns, struct reel_error *err) {
    struct catalog_recording there = {0};
    if (!look_up_name(in, &there, err)) {
        return refuse(in);
    }
    bool same = there.row && is_same(&there, &in->r), taken = there.row && !same;
    if (same) {
        bool ok = answer_existing(in, &there, err);
        catalog_recording_done(&there);
        return ok;
    }
    catalog_recording_done(&there);
    if (taken && !in->q->replace) {
        reel_fail(err, REEL_CONFLICT, "\"%.200s\" names other content in this collection; replace=true makes a new revision", in->q->name);
        return refuse(in);
    }
    if (!keep_files(in, err) || (in->n > 1 && !store_make_bucket(in->app->store, in->r.content, err))) {
        return refuse(in);
    }
    struct reel_error none;
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(in->app, in->r.content, &none);
    if (index && in->format && reel_index_info(index)->format != in->format) {
        reel_fail(err, REEL_CONFLICT, "this content is stored as %s already", reel_index_info(index)->format->name);
        return refuse(in);
    }
    return index ? add_ready(in, index, err) : scan_and_add(in, wait_ns, err);
}

static bool check_request(const struct ingest_request *q, const struct reel_format **format, struct reel_error *err) {
    *format = q->format ? reel_format_named(q->format) : NULL;
    if (q->format && !*format) {
        return reel_fail(err, REEL_ARGUMENT, "format: there is no format \"%.40s\"", q->format);
    }
    if (q->part_of && (q->format || q->replace || q->keep)) {
        return reel_fail(err, REEL_ARGUMENT, "part_of: format, replace and keep are for recordings, this is a part of one");
    }
    return names_check(q->collection, q->name, err) && (!q->part_of || names_check(q->collection, q->part_of, err));
}

void ingest_uploads(struct app *app, const struct ingest_file *files, uint32_t n, const struct ingest_request *q, int64_t wait_ns,
                    struct ingest_result *out, struct reel_error *err) {
    *out = (struct ingest_result){.outcome = INGEST_REFUSED};
    struct ingestion in = {.app = app, .q = q, .files = files, .n = n, .out = out};
    AUTO_CONTENTS struct content_locks locks = {0};
    if (check_request(q, &in.format, err) && prepare(&in, err) && content_locks_take(&locks, &in.r, NULL, err) && !ingest_locked(&in, wait_ns, err)) {
        struct reel_error ignored;
        for (uint32_t i = 0; i < n; i++) {
            scan_drop_unused(app, files[i].sha256, &ignored);
        }
        scan_drop_unused(app, in.r.content, &ignored);
    }
    catalog_recording_done(&in.r);
}

void ingest_upload(struct app *app, struct store_upload *upload, const char sha256[65], uint64_t size, const struct ingest_request *q,
                   int64_t wait_ns, struct ingest_result *out, struct reel_error *err) {
    struct ingest_file file = {.upload = upload, .size = size, .name = names_file(q->name)};
    memcpy(file.sha256, sha256, sizeof file.sha256);
    if (q->part_of) {
        *out = (struct ingest_result){.outcome = INGEST_REFUSED};
        ingest_part(app, upload, sha256, size, q, out, err);
    } else {
        ingest_uploads(app, &file, 1, q, wait_ns, out, err);
    }
}

bool ingest_check(struct app *app, const struct ingest_request *q, uint64_t length, struct reel_error *err) {
    const struct reel_format *format;
    if (!check_request(q, &format, err)) {
        return false;
    }
    uint64_t max = app->config.upload_max_bytes;
    if (max > 0 && length > max) {
        return reel_fail(err, REEL_LIMIT, "%" PRIu64 " bytes are more than the %" PRIu64 " that one upload may have", length, max);
    }
    return store_has_room(app->store, length) || reel_fail(err, REEL_NO_SPACE, "there is no room for %" PRIu64 " bytes", length);
}

/* ---- start and end */

bool ingest_resume(struct app *app, struct reel_error *err) {
    struct catalog_query q = {.has_state = true, .state = STATE_SCANNING, .limit = 1000};
    AUTO_MEM char *cursor = NULL;
    do {
        struct catalog_page page;
        q.cursor = cursor;
        if (!catalog_list(app->catalog, &q, &page, err)) {
            return false;
        }
        bool ok = true;
        for (uint32_t i = 0; ok && i < page.n_items; i++) {
            struct job *job = scan_again(app, &page.items[i], err);
            ok = job;
            if (ok) {
                recordings_scanned_by(app->recordings, page.items[i].content, job);
            }
            job_unref(job);
        }
        free(cursor);
        cursor = TAKE(page.next);
        catalog_page_done(&page);
        if (!ok) {
            return false;
        }
    } while (cursor);
    return sweep_start(app, err);
}

bool ingest_purge(struct app *app, const char *id, struct reel_error *err) {
    struct catalog_recording r;
    if (!catalog_get(app->catalog, id, &r, err)) {
        return false;
    }
    bool used = true, ok;
    {
        AUTO_CONTENT struct content_lock lock = {0};
        content_lock_take(&lock, r.content);
        ok = catalog_purge(app->catalog, r.id, err) && catalog_content_used(app->catalog, r.content, &used, err) &&
             (used ? store_forget_manifest(app->store, r.content, r.id, err) : scan_drop_unused(app, r.content, err));
    }
    for (uint32_t i = 0; ok && !used && i < r.n_parts; i++) { /* parts of a recording that has several; its own lock each */
        AUTO_CONTENT struct content_lock lock = {0};
        content_lock_take(&lock, r.parts[i].sha256);
        ok = scan_drop_unused(app, r.parts[i].sha256, err);
    }
    if (ok && !used) {
        recordings_forget(app->recordings, r.content);
    }
    catalog_recording_done(&r);
    return ok;
}
