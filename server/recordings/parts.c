/* A further part of an existing recording: a .state for its .traj. The recording changes in one transaction when the
 * scan of all its parts is complete; if the scan outlasts the request, the recording has the state scanning meanwhile
 * and accepts further parts. If the scan fails, the part is removed again. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/quota.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "recordings/ingest.h"
#include "recordings/names.h"
#include "scans/open_recordings.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/manifest.h"

enum { TRIES_MAX = 100 }; /* other requests may add parts to the same recording at the same time */

struct joining {
    struct app *app;
    const struct ingest_request *q;
    struct store_upload *upload;
    const char *sha256;
    uint64_t size;
    int64_t wait_ns;
    bool kept;                        /* the file is in the store */
    struct catalog_recording r;       /* the recording, before and then after the change */
    char before[SHA256_HEX];          /* its content before */
    const struct reel_format *format; /* the format that defines the parts */
    char job[33];
    enum ingest_outcome outcome;
    bool again; /* retry: the recording was changed meanwhile */
};
static inline void reel_auto_joining_done(struct joining *j) {
    catalog_recording_done(&j->r);
}

static bool parts_add_part(struct catalog_recording *r, const char *sha256, uint64_t size, const char *file_name,
                           struct reel_error *err) {
    struct catalog_part *parts = realloc(r->parts, (r->n_parts + 1) * sizeof *parts);
    if (!parts) {
        return reel_fail_memory(err);
    }
    r->parts = parts;
    struct catalog_part *part = &parts[r->n_parts];
    *part = (struct catalog_part){.size = size, .file_name = strdup(file_name)};
    if (!part->file_name) {
        return reel_fail_memory(err);
    }
    memcpy(part->sha256, sha256, sizeof part->sha256);
    r->n_parts++;
    r->size += size;
    return content_of_parts(r, err);
}

/* Finds the recording. *there: it has this file already. */
static bool find_recording(struct joining *j, bool *there, struct reel_error *err) {
    struct catalog_recording *r = &j->r;
    const char *file_name = ingest_file_name(j->q);
    catalog_recording_done(r);
    if (!catalog_get_named(j->app->catalog, j->q->collection, j->q->part_of, r, err)) {
        return false;
    }
    *there = false;
    memcpy(j->before, r->content, sizeof j->before);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        if (strcmp(r->parts[i].sha256, j->sha256) == 0) {
            *there = true;
            return true;
        }
        if (strcmp(r->parts[i].file_name, file_name) == 0) {
            return reel_fail(err, REEL_CONFLICT, "\"%.200s\" has a file of that name with other content",
                             j->q->part_of);
        }
    }
    if (r->state == STATE_ANNOUNCED) {
        return reel_fail(err, REEL_CONFLICT, "the file \"%.200s\" has not arrived, of which this is a part",
                         j->q->part_of);
    }
    return r->state == STATE_READY || r->state == STATE_SCANNING || r->state == STATE_FAILED || /* failed: metadata.yaml
                                                                                                   was uploaded first */
           reel_fail(err, REEL_CONFLICT, "the recording \"%.200s\" is %s", j->q->part_of,
                     recording_state_name(r->state));
}

/* The parts of a recording, opened. */
struct opened {
    struct reel_source **items;
    uint32_t n;
};
static void reel_auto_opened_done(struct opened *o) {
    while (o->n > 0) {
        reel_source_free(o->items[--o->n]);
    }
    free(o->items);
}

static bool open_parts(const struct joining *j, struct opened *out, struct reel_error *err) {
    const struct catalog_recording *r = &j->r;
    if (!(out->items = calloc((size_t)r->n_parts + 1, sizeof(struct reel_source *)))) {
        return reel_fail_memory(err);
    }
    for (; out->n < r->n_parts; out->n++) {
        const struct catalog_part *part = &r->parts[out->n];
        if (!(out->items[out->n] = store_open_blob(j->app->store, part->sha256, part->file_name, err))) {
            return false;
        }
    }
    return true;
}

/* Whether the last part belongs to all others. The recording's format decides, and that of the new file (metadata.yaml
 * added to an .mcap). */
static bool belongs(struct joining *j, struct reel_error *err) {
    const struct catalog_recording *r = &j->r;
    const struct reel_format *own = reel_format_named(r->format);
    AUTO(opened_done) struct opened parts = {.n = 0};
    if (!open_parts(j, &parts, err)) {
        return false;
    }
    struct reel_source *new_one = parts.items[parts.n - 1];
    const struct reel_format *formats[] = {own, reel_format_probe(new_one, NULL)};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        j->format = formats[i];
        if (j->format && j->format->joins && j->format->joins(parts.items, parts.n - 1, new_one) != REEL_JOINS_NOT) {
            return true;
        }
    }
    return own && !own->joins
               ? reel_fail(err, REEL_UNSUPPORTED, "a %s recording is one file, %.120s is not a further part of it",
                           r->format, new_one->name)
               : reel_fail(err, REEL_UNSUPPORTED, "%.120s is not a further part of a recording with %.120s",
                           new_one->name, parts.items[0]->name);
}

/* Is the row unchanged since it was read? It is locked. */
static bool parts_is_unchanged(struct joining *j, struct reel_error *err) {
    struct catalog_recording now = {0};
    bool found = catalog_get(j->app->catalog, j->r.id, &now, err);
    j->again = found && strcmp(now.content, j->before) != 0;
    catalog_recording_done(&now);
    return found && (!j->again || reel_fail(err, REEL_CONFLICT, "\"%.200s\" is being changed by others; send it again",
                                            j->q->part_of));
}

/* Manifest and row. */
static bool change_row(struct joining *j, const struct reel_index *index, struct catalog_job *job,
                       struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock row = {0}, quota = {0};
    if (!manifest_write(j->app->store, &j->r, NULL, err)) {
        return false;
    }
    lock_take(j->app->locks, &row, ROW_LOCK, j->r.id);
    lock_take(j->app->locks, &quota, QUOTA_LOCK, j->r.collection);
    bool changed = parts_is_unchanged(j, err) && quota_check(j->app->catalog, j->r.collection, j->size, false, err) &&
                   catalog_set_parts(j->app->catalog, &j->r, index, job, err);
    manifests_forget(j->app, changed ? j->before : j->r.content, j->r.id);
    return changed;
}

/* `index` is the summary while the scan runs. */
static bool change_recording(void *context, const struct reel_index *index, struct catalog_job *job,
                             struct reel_error *err) {
    struct joining *j = context;
    bool used = true;
    struct reel_error ignored;
    if (!change_row(j, index, job, err)) {
        return false;
    }
    manifests_changed(j->app); /* with notes and events */
    if (catalog_content_used(j->app->catalog, j->before, &used, &ignored) && !used) {
        scan_stop(j->app, j->before);
    }
    recordings_forget(j->app->recordings, j->before);
    char id[RECORDING_ID_TEXT];
    memcpy(id, j->r.id, sizeof id);
    catalog_recording_done(&j->r);
    return catalog_get(j->app->catalog, id, &j->r, err);
}

static bool scan_together(struct joining *j, struct reel_error *err) {
    AUTO_STRUCT(upload_scan_done) struct upload_scan scan = {0};
    const struct upload_scan_entry entry = {.enter = change_recording, .context = j, .before = j->before};
    const struct upload_scan_request q = {.r = &j->r,
                                          .format = j->format,
                                          .collection = j->q->collection,
                                          .name = j->q->part_of,
                                          .owner = j->q->owner,
                                          .wait_ns = j->wait_ns};
    if (!upload_scan_start(&scan, j->app, &q, err)) {
        return false;
    }
    enum upload_scan_left left =
        job_wait_for_request(scan.job, j->wait_ns) ? SCAN_OVER : upload_scan_leave(&scan, &j->r, &entry, j->job, err);
    j->outcome = left == SCAN_LEFT ? INGEST_SCANNING : INGEST_JOINED;
    if (left != SCAN_OVER) {
        return left == SCAN_LEFT;
    }
    AUTO(reel_index_free) struct reel_index *index = upload_scan_result(&scan, err);
    return index && scan_fill(&j->r, index, err) && change_recording(j, index, NULL, err);
}

/* The recording has this file already; restores the stored file if it was missing. */
static bool restore_part(struct joining *j, struct reel_error *err) {
    j->outcome = INGEST_EXISTS;
    if (!content_keep_upload(j->app, j->upload, j->sha256, err)) {
        return false;
    }
    bool rescan_restored = j->r.state == STATE_MISSING || j->r.state == STATE_CHANGED;
    j->outcome = rescan_restored ? INGEST_SCANNING : INGEST_EXISTS;
    return !rescan_restored || scan_again(j->app, &j->r, j->job, err);
}

/* All locks are held; `content` is the new content of the recording. */
static bool join_locked(struct joining *j, const char *content, struct reel_error *err) {
    bool there;
    sweep_ahead(j->app, content);
    if (!find_recording(j, &there, err)) {
        return false;
    }
    if (there) {
        return restore_part(j, err);
    }
    if (!parts_add_part(&j->r, j->sha256, j->size, ingest_file_name(j->q), err)) {
        return false;
    }
    j->again = strcmp(j->r.content, content) != 0;
    if (j->again) {
        return reel_fail(err, REEL_CONFLICT, "\"%.200s\" is being changed by others; send it again", j->q->part_of);
    }
    j->kept = j->kept || content_keep_upload(j->app, j->upload, j->sha256, err);
    return j->kept && belongs(j, err) && store_make_place(j->app->store, content, err) && scan_together(j, err);
}

/* The recording is read once to determine the locks, and again while they are held. */
static bool join_once(struct joining *j, struct reel_error *err) {
    bool there;
    j->again = false;
    if (!find_recording(j, &there, err) ||
        (!there && !parts_add_part(&j->r, j->sha256, j->size, ingest_file_name(j->q), err))) {
        return false;
    }
    char before[SHA256_HEX], after[SHA256_HEX];
    memcpy(before, j->before, sizeof before);
    memcpy(after, j->r.content, sizeof after);
    AUTO_STRUCT(content_locks_release) struct content_locks locks = {0};
    if (!content_locks_acquire(j->app, &locks, &j->r, before, err)) {
        return false;
    }
    struct reel_error ignored;
    bool good = join_locked(j, after, err), back = true;
    if (!good && !j->again) {
        back = ingest_undo(j->app, j->upload, j->sha256);
        if (back) {
            scan_drop_unused(j->app, j->sha256, &ignored);
        }
    }
    if (back && !there && !(good && j->outcome == INGEST_SCANNING)) { /* the job may still revert to the old content */
        scan_drop_unused(j->app, good ? before : after, &ignored);
    }
    return good;
}

void ingest_part(struct app *app, struct store_upload *upload, const char *sha256, uint64_t size,
                 const struct ingest_request *q, int64_t wait_ns, struct ingest_result *out, struct reel_error *err) {
    AUTO(joining_done)
    struct joining j = {.app = app, .q = q, .upload = upload, .sha256 = sha256, .size = size, .wait_ns = wait_ns};
    bool good = false;
    for (unsigned i = 0; !good && i < TRIES_MAX && (i == 0 || j.again); i++) {
        good = join_once(&j, err);
    }
    if (!good) {
        out->outcome = INGEST_REFUSED;
        return;
    }
    out->outcome = j.outcome;
    memcpy(out->job, j.job, sizeof out->job);
    out->recording = j.r;
    j.r = (struct catalog_recording){0};
}
