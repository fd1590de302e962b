/* See ingest.h. A row is added only when blob, pack and manifest are durable; if the scan outlasts the request, the row
 * has the state scanning and its job completes it. All of it happens under the content's lock. */
#include "recordings/ingest.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/quota.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "recordings/announce.h"
#include "recordings/names.h"
#include "reel/time.h"
#include "scans/open_recordings.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/bucket/reference.h"
#include "store/manifest.h"
#include "store/reference.h"

void ingest_result_done(struct ingest_result *r) {
    catalog_recording_done(&r->recording);
}

static const char NAME_EXISTS[] = "there is a recording of that name already";

/* ---- one ingestion */

struct ingestion {
    struct app *app;
    const struct ingest_request *q;
    const struct ingest_file *files;
    uint32_t n;
    const struct reel_format *format;
    struct catalog_recording r; /* the result, filled step by step */
    char announced[SHA256_HEX]; /* the content of the announced recording whose file this is, r.id; "": of none */
    struct ingest_result *out;
};

static bool ingest_refuse(struct ingestion *in) {
    in->out->outcome = INGEST_REFUSED;
    return false;
}

static bool succeed(struct ingestion *in, enum ingest_outcome outcome) {
    in->out->outcome = outcome;
    in->out->recording = in->r;
    in->r = (struct catalog_recording){0};
    return true;
}

static bool ingest_prepare(struct ingestion *in, struct reel_error *err) {
    struct catalog_recording *r = &in->r;
    r->collection = strdup(in->q->collection);
    r->name = strdup(in->q->name);
    r->format = strdup("");
    r->container = strdup("");
    r->clock_note = strdup("");
    r->problem = strdup("");
    r->group = strdup(in->q->group ? in->q->group : "");
    r->parts = calloc(in->n, sizeof *r->parts);
    if (!r->collection || !r->name || !r->format || !r->container || !r->clock_note || !r->problem || !r->group ||
        !r->parts) {
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
    return (!in->q->annotations || catalog_annotations_copy(in->q->annotations, &r->annotations) ||
            reel_fail_memory(err)) &&
           content_of_parts(r, err);
}

static bool keep_files(const struct ingestion *in, struct reel_error *err) {
    for (uint32_t i = 0; i < in->n; i++) {
        const struct ingest_file *file = &in->files[i];
        bool kept = file->reference ? store_keep_reference(in->app->store, file->sha256, file->reference, err)
                    : file->object  ? store_keep_object(in->app->store, file->sha256, file->object, err)
                                    : content_keep_upload(in->app, file->upload, file->sha256, err);
        if (!kept) {
            return false;
        }
    }
    return true;
}

/* Writes manifest and row; if the row fails, the manifest is undone. */
static bool ingest_add_row(struct ingestion *in, const struct reel_index *index, struct catalog_job *job,
                           struct reel_error *err) {
    struct catalog_recording *r = &in->r;
    uint32_t expected = r->revision;
    if (in->announced[0]) {
        return announce_arrives(in->app, r, in->announced, index, job, err);
    }
    r->created_ns = reel_now_ns();
    if ((!r->id[0] && !catalog_make_id(r->id, err)) || !manifest_write(in->app->store, r, NULL, err)) {
        return false;
    }
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(in->app->locks, &lock, QUOTA_LOCK, r->collection);
    bool added = quota_check(in->app->catalog, r->collection, r->size, true, err) &&
                 catalog_add_scanning(in->app->catalog, r, index, in->q->replace, job, err);
    lock_release(&lock);
    if (!added) {
        manifests_forget(in->app, r->content, r->id);
        return false;
    }
    /* revisions in the trash count too */
    return r->revision == expected || manifest_write(in->app->store, r, NULL, err);
}

static bool add_ready(struct ingestion *in, struct reel_index *index, struct reel_error *err) {
    return scan_fill(&in->r, index, err) && ingest_add_row(in, index, NULL, err) ? succeed(in, INGEST_CREATED)
                                                                                 : ingest_refuse(in);
}

/* The scan failed: removes everything, or with `keep` adds a failed recording with the reason. */
static bool add_failed(struct ingestion *in, const struct reel_error *why, struct reel_error *err) {
    bool about_file = why->code == REEL_NOT_MINE || why->code == REEL_DAMAGED || why->code == REEL_UNSUPPORTED ||
                      why->code == REEL_LIMIT;
    if (err) {
        reel_error_pass(err, why);
    }
    if (!in->q->keep || !about_file) {
        return ingest_refuse(in);
    }
    free(in->r.problem);
    in->r.problem = strdup(why->text);
    in->r.state = STATE_FAILED;
    struct reel_error failed;
    if (!ingest_add_row(in, NULL, NULL, &failed)) {
        if (err) {
            reel_error_pass(err, &failed);
        }
        return ingest_refuse(in);
    }
    return succeed(in, INGEST_KEPT);
}

static bool add_scanning(void *context, const struct reel_index *summary, struct catalog_job *job,
                         struct reel_error *err) {
    return ingest_add_row(context, summary, job, err);
}

static bool add_scanned(struct ingestion *in, struct upload_scan *s, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(reel_index_free) struct reel_index *index = upload_scan_result(s, &why);
    return index ? add_ready(in, index, err) : add_failed(in, &why, err);
}

static bool scan_and_add(struct ingestion *in, int64_t wait_ns, struct reel_error *err) {
    AUTO_STRUCT(upload_scan_done) struct upload_scan scan = {0};
    const struct upload_scan_entry entry = {.enter = add_scanning, .context = in};
    const struct upload_scan_request q = {.r = &in->r,
                                          .format = in->format,
                                          .collection = in->q->collection,
                                          .name = in->q->name,
                                          .owner = in->q->owner,
                                          .wait_ns = wait_ns};
    if (!upload_scan_start(&scan, in->app, &q, err)) {
        return ingest_refuse(in);
    }
    switch (job_wait_for_request(scan.job, wait_ns) ? SCAN_OVER
                                                    : upload_scan_leave(&scan, &in->r, &entry, in->out->job, err)) {
    case SCAN_LEFT:
        return succeed(in, INGEST_SCANNING);
    case SCAN_REFUSED:
        return ingest_refuse(in);
    case SCAN_OVER:
        break;
    }
    return add_scanned(in, &scan, err);
}

/* ---- existing recordings */

static bool is_lost(const struct catalog_recording *there) {
    return there->state == STATE_MISSING || there->state == STATE_CHANGED;
}

/* The same content under the same name: the existing recording. If its file was missing it is restored, with several
 * parts by a job. */
static bool answer_existing(struct ingestion *in, struct catalog_recording *there, struct reel_error *err) {
    bool ok = keep_files(in, err);
    if (ok && is_lost(there) && there->n_parts > 1) {
        if (!scan_again(in->app, there, in->out->job, err)) {
            return ingest_refuse(in);
        }
        catalog_recording_done(&in->r);
        in->r = *there;
        *there = (struct catalog_recording){0};
        return succeed(in, INGEST_SCANNING);
    }
    if (ok && is_lost(there)) {
        ok = scan_content(in->app, there, NULL, NULL, err);
        ok = scan_finish(in->app, there->id, there->content, ok, err);
        manifests_changed(in->app);
        char id[RECORDING_ID_TEXT];
        memcpy(id, there->id, sizeof id);
        catalog_recording_done(there);
        ok = catalog_get(in->app->catalog, id, there, ok ? err : NULL) && ok;
    }
    if (!ok) {
        return ingest_refuse(in);
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

/* Finds the recording that has the name; *there is empty if none has. False: error. */
static bool find_name(struct ingestion *in, struct catalog_recording *there, struct reel_error *err) {
    struct reel_error none;
    if (catalog_get_named(in->app->catalog, in->q->collection, in->q->name, there, &none)) {
        in->r.revision = there->revision + 1;
        return true;
    }
    in->r.revision = 1;
    if (none.code != REEL_NOT_FOUND && err) {
        reel_error_pass(err, &none);
    }
    return none.code == REEL_NOT_FOUND;
}

static bool has_part(const struct catalog_recording *there, const struct catalog_part *part) {
    for (uint32_t i = 0; i < there->n_parts; i++) {
        if (strcmp(there->parts[i].sha256, part->sha256) == 0 &&
            strcmp(there->parts[i].file_name, part->file_name) == 0) {
            return true;
        }
    }
    return false;
}

/* The same content, or parts of a recording that has more by now. */
static bool is_same(const struct catalog_recording *there, const struct catalog_recording *r) {
    bool all = there->state != STATE_FAILED;
    for (uint32_t i = 0; i < r->n_parts && all; i++) {
        all = has_part(there, &r->parts[i]);
    }
    return all || strcmp(there->content, r->content) == 0;
}

static bool ingest_locked(struct ingestion *in, int64_t wait_ns, struct reel_error *err) {
    struct catalog_recording there = {0};
    sweep_ahead(in->app, in->r.content);
    if (!find_name(in, &there, err)) {
        return ingest_refuse(in);
    }
    if (there.row && in->q->absent) {
        catalog_recording_done(&there);
        reel_fail(err, REEL_CHANGED, NAME_EXISTS);
        return ingest_refuse(in);
    }
    bool arrives = there.row && announce_is_of(&in->r, &there, in->announced),
         same = there.row && !arrives && is_same(&there, &in->r), taken = there.row && !same && !arrives;
    if (same) {
        bool ok = answer_existing(in, &there, err);
        catalog_recording_done(&there);
        return ok;
    }
    bool inherited = !taken || catalog_annotations_inherit(&in->r.annotations, &there.annotations, err);
    catalog_recording_done(&there);
    if (!inherited) {
        return ingest_refuse(in);
    }
    if (taken && !in->q->replace) {
        reel_fail(err, REEL_CONFLICT,
                  "\"%.200s\" is the name of other content in this collection; replace=true makes a new revision",
                  in->q->name);
        return ingest_refuse(in);
    }
    if (!keep_files(in, err) || (in->n > 1 && !store_make_place(in->app->store, in->r.content, err))) {
        return ingest_refuse(in);
    }
    struct reel_error none;
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(in->app, in->r.content, &none);
    if (index && in->format && reel_index_info(index)->format != in->format) {
        reel_fail(err, REEL_CONFLICT, "this content is stored as %s already", reel_index_info(index)->format->name);
        return ingest_refuse(in);
    }
    if (!index) {
        return scan_and_add(in, wait_ns, err);
    }
    return store_renew_pack(in->app->store, in->r.content, err) ? add_ready(in, index, err) : ingest_refuse(in);
}

static bool check_request(const struct ingest_request *q, const struct reel_format **format, struct reel_error *err) {
    *format = q->format ? reel_format_named(q->format) : NULL;
    if (q->format && !*format) {
        return reel_fail(err, REEL_ARGUMENT, "format: unknown format \"%.40s\"", q->format);
    }
    if (q->part_of && (q->format || q->replace || q->keep)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "part_of: format, replace and keep are for recordings, this is a part of one");
    }
    if (q->absent && (q->part_of || q->replace)) {
        return reel_fail(err, REEL_ARGUMENT, "If-None-Match: %s",
                         q->replace ? "it contradicts replace" : "a part has no name of its own");
    }
    return names_check(q->collection, q->name, err) && (!q->part_of || names_check(q->collection, q->part_of, err)) &&
           (!q->group || names_check(q->collection, q->group, err)) &&
           (!q->file_name || names_check(q->collection, q->file_name, err));
}

const char *ingest_file_name(const struct ingest_request *q) {
    return names_file(q->file_name ? q->file_name : q->name);
}

/* Moves the received bytes out of the store again, to their session, unless a recording uses them. */
bool ingest_undo(struct app *app, struct store_upload *upload, const char *sha256) {
    struct reel_error ignored;
    bool used = true, back = true;
    if (upload && !store_upload_is_here(upload) && catalog_blob_used(app->catalog, sha256, &used, &ignored) && !used) {
        back = store_upload_withdraw(upload);
    }
    return back;
}

/* Without waiting for an S3 that does not answer: the next sweep removes what is left. */
static void undo_all(const struct ingestion *in, bool busy) {
    struct reel_error ignored;
    bool back = true;
    if (busy && store_is_bucket(in->app->store)) {
        return;
    }
    for (uint32_t i = 0; i < in->n; i++) {
        if (ingest_undo(in->app, in->files[i].upload, in->files[i].sha256)) {
            scan_drop_unused(in->app, in->files[i].sha256, &ignored);
        } else {
            back = false;
        }
    }
    if (back) {
        scan_drop_unused(in->app, in->r.content, &ignored);
    }
}

void ingest_uploads(struct app *app, const struct ingest_file *files, uint32_t n, const struct ingest_request *q,
                    int64_t wait_ns, struct ingest_result *out, struct reel_error *err) {
    *out = (struct ingest_result){.outcome = INGEST_REFUSED};
    struct ingestion in = {.app = app, .q = q, .files = files, .n = n, .out = out};
    AUTO_STRUCT(content_locks_release) struct content_locks locks = {0};
    if (check_request(q, &in.format, err) && ingest_prepare(&in, err) &&
        content_locks_acquire(app, &locks, &in.r, NULL, err) && !ingest_locked(&in, wait_ns, err)) {
        undo_all(&in, err && err->code == REEL_BUSY);
    }
    catalog_recording_done(&in.r);
}

void ingest_upload(struct app *app, struct store_upload *upload, const char sha256[65], uint64_t size,
                   const struct ingest_request *q, int64_t wait_ns, struct ingest_result *out, struct reel_error *err) {
    struct ingest_file file = {.upload = upload, .size = size, .name = ingest_file_name(q)};
    memcpy(file.sha256, sha256, sizeof file.sha256);
    if (q->part_of) {
        *out = (struct ingest_result){.outcome = INGEST_REFUSED};
        ingest_part(app, upload, sha256, size, q, wait_ns, out, err);
    } else {
        ingest_uploads(app, &file, 1, q, wait_ns, out, err);
    }
}

/* Of If-None-Match: *; checked again when the row is added. */
static bool check_absent(struct app *app, const struct ingest_request *q, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording there = {0};
    struct reel_error none = {0};
    if (!q->absent) {
        return true;
    }
    return catalog_get_named(app->catalog, q->collection, q->name, &there, &none)
               ? reel_fail(err, REEL_CHANGED, NAME_EXISTS)
               : none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
}

bool ingest_check(struct app *app, const struct ingest_request *q, uint64_t length, struct reel_error *err) {
    const struct reel_format *format;
    if (!check_request(q, &format, err) || !check_absent(app, q, err)) {
        return false;
    }
    uint64_t max = app->config.upload_max_bytes;
    if (max > 0 && length > max) {
        return reel_fail(err, REEL_LIMIT, "%" PRIu64 " bytes are more than the %" PRIu64 " that one upload may have",
                         length, max);
    }
    if (!quota_check(app->catalog, q->collection, length, !q->part_of, err)) {
        return false;
    }
    return store_has_room(app->store, length) ||
           reel_fail(err, REEL_NO_SPACE, "there is no room for %" PRIu64 " bytes", length);
}

/* ---- start and end */

/* Scans that are under way have a job. These have none after a restore, or when the catalog was rebuilt. */
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
            ok = scan_again(app, &page.items[i], NULL, err);
        }
        free(cursor);
        cursor = TAKE(page.next);
        catalog_page_done(&page);
        if (!ok) {
            return false;
        }
    } while (cursor);
    return jobs_add(app->jobs, &(struct job_spec){.kind = "sweep"}, NULL, err);
}

bool ingest_purge(struct app *app, const char *id, struct reel_error *err) {
    return ingest_purge_at(app, id, CATALOG_ANY_VERSION, err);
}

bool ingest_purge_at(struct app *app, const char *id, int64_t version, struct reel_error *err) {
    struct catalog_recording r;
    if (!catalog_get(app->catalog, id, &r, err)) {
        return false;
    }
    bool used = true, ok;
    {
        AUTO_STRUCT(lock_release) struct key_lock lock = {0}, manifest = {0};
        lock_take(app->locks, &lock, CONTENT_LOCK, r.content);
        sweep_ahead(app, r.content);
        lock_take(app->locks, &manifest, MANIFEST_LOCK, r.content);
        ok = catalog_purge_at(app->catalog, r.id, version, err) &&
             catalog_content_used(app->catalog, r.content, &used, err) &&
             (used ? store_forget_manifest(app->store, r.content, r.id, err) : scan_drop_unused(app, r.content, err));
    }
    for (uint32_t i = 0; ok && !used && i < r.n_parts; i++) { /* parts of a recording that has several; its own lock
                                                                 each */
        AUTO_STRUCT(lock_release) struct key_lock lock = {0};
        lock_take(app->locks, &lock, CONTENT_LOCK, r.parts[i].sha256);
        ok = scan_drop_unused(app, r.parts[i].sha256, err);
    }
    if (ok && !used) {
        recordings_forget(app->recordings, r.content);
    }
    catalog_recording_done(&r);
    return ok;
}
