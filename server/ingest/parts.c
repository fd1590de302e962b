/* A further file of a recording that is there already: a .state to its .traj. Its one rule: the recording changes in one transaction, when
 * the scan of all its parts is done and lasting; until then, and when it fails, it is what it was. */
#include <stdio.h>
#include <string.h>

#include "ingest/ingest.h"
#include "ingest/names.h"
#include "ingest/recordings.h"
#include "ingest/scanning.h"

struct joining {
    struct app *app;
    const struct ingest_request *q;
    struct catalog_recording r; /* as it is, then as it shall be */
    char before[SHA256_HEX];    /* its content until now */
    const struct reel_format *format; /* by whose rules they are one */
    bool changed;
};
static inline void reel_auto_joining_done(struct joining *j) {
    catalog_recording_done(&j->r);
}

static bool add_part(struct catalog_recording *r, const char *sha256, uint64_t size, const char *file_name, struct reel_error *err) {
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

/* Finds the recording. *there: it has that very file already. */
static bool look_up(struct joining *j, const char *sha256, bool *there, struct reel_error *err) {
    struct catalog_recording *r = &j->r;
    const char *file_name = names_file(j->q->name);
    catalog_recording_done(r);
    if (!catalog_get_named(j->app->catalog, j->q->collection, j->q->part_of, r, err)) {
        return false;
    }
    *there = false;
    memcpy(j->before, r->content, sizeof j->before);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        if (strcmp(r->parts[i].sha256, sha256) == 0) {
            *there = true;
            return true;
        }
        if (strcmp(r->parts[i].file_name, file_name) == 0) {
            return reel_fail(err, REEL_CONFLICT, "\"%.200s\" has a file of that name with other content", j->q->part_of);
        }
    }
    return r->state == STATE_READY || r->state == STATE_FAILED || /* kept: metadata.yaml came first */
           reel_fail(err, REEL_CONFLICT, "the recording \"%.200s\" is %s", j->q->part_of, recording_state_name(r->state));
}

/* Does a format say that the last part belongs to all others? The recording's, or the new file's where that knows of no parts: metadata.yaml to
 * an .mcap. */
static bool belongs(struct joining *j, struct reel_error *err) {
    const struct catalog_recording *r = &j->r;
    const struct reel_format *own = reel_format_named(r->format);
    const struct catalog_part *last = &r->parts[r->n_parts - 1];
    AUTO(reel_source_free) struct reel_source *new_one = store_open_blob(j->app->store, last->sha256, last->file_name, err);
    if (!new_one) {
        return false;
    }
    j->format = own && own->joins ? own : reel_format_probe(new_one, NULL);
    for (uint32_t i = 0; i + 1 < r->n_parts; i++) {
        AUTO(reel_source_free) struct reel_source *part = store_open_blob(j->app->store, r->parts[i].sha256, r->parts[i].file_name, err);
        if (!part) {
            return false;
        }
        if (j->format && j->format->joins && j->format->joins(part, new_one)) {
            continue;
        }
        return own && !own->joins ? reel_fail(err, REEL_UNSUPPORTED, "a %s recording is one file, %.120s is no further part of it", r->format, last->file_name)
                                  : reel_fail(err, REEL_UNSUPPORTED, "%.120s is no further part of a recording with %.120s", last->file_name,
                                              r->parts[i].file_name);
    }
    return true;
}

static bool scan_parts(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct joining *j = context;
    return scan_content(j->app, &j->r, j->format, progress, err);
}

/* As a job, so that it is seen and can be cancelled; waited for, because the recording does not change before. */
static bool scan_together(struct joining *j, struct reel_error *err) {
    char subject[256];
    struct job_view view;
    snprintf(subject, sizeof subject, "%.120s/%.120s", j->q->collection, j->q->part_of);
    struct job *job = jobs_add(j->app->jobs, "scan", subject, NULL, scan_parts, j, NULL, err);
    if (!job) {
        return false;
    }
    job_wait(job, INT64_MAX);
    job_view(job, &view);
    job_unref(job);
    if (view.state != JOB_DONE) {
        *err = view.error;
        return view.error.code != REEL_OK ? false : reel_fail(err, REEL_CANCELLED, "the scan was cancelled");
    }
    return true;
}

/* Manifest and row. */
static bool change_recording(struct joining *j, struct reel_error *err) {
    struct reel_error ignored;
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(j->app, j->r.content, err);
    if (!index || !scan_fill(&j->r, index, err) || !store_write_manifest(j->app->store, &j->r, err)) {
        return false;
    }
    if (!catalog_set_parts(j->app->catalog, &j->r, index, err)) {
        store_forget_manifest(j->app->store, j->r.content, j->r.id, &ignored);
        return false;
    }
    store_forget_manifest(j->app->store, j->before, j->r.id, &ignored);
    recordings_forget(j->app->recordings, j->before);
    char id[RECORDING_ID_TEXT];
    memcpy(id, j->r.id, sizeof id);
    catalog_recording_done(&j->r);
    return catalog_get(j->app->catalog, id, &j->r, err);
}

/* The file is in the store, all locks are held; `content` is what the recording is to become. */
static bool join_locked(struct joining *j, const char *sha256, uint64_t size, const char *content, struct reel_error *err) {
    bool there;
    if (!look_up(j, sha256, &there, err)) {
        return false;
    }
    if (there) {
        return true;
    }
    if (!add_part(&j->r, sha256, size, names_file(j->q->name), err)) {
        return false;
    }
    if (strcmp(j->r.content, content) != 0) {
        return reel_fail(err, REEL_CONFLICT, "\"%.200s\" has just been changed; send it again", j->q->part_of);
    }
    if (!belongs(j, err) || !store_make_bucket(j->app->store, content, err) || !scan_together(j, err)) {
        return false;
    }
    j->changed = change_recording(j, err);
    return j->changed;
}

static bool join(struct joining *j, struct store_upload *upload, const char *sha256, uint64_t size, struct reel_error *err) {
    bool there;
    if (!look_up(j, sha256, &there, err)) {
        return false;
    }
    if (there) {
        return true;
    }
    if (!add_part(&j->r, sha256, size, names_file(j->q->name), err)) {
        return false;
    }
    char before[SHA256_HEX], after[SHA256_HEX];
    memcpy(before, j->before, sizeof before);
    memcpy(after, j->r.content, sizeof after);
    AUTO_CONTENTS struct content_locks locks = {0};
    if (!content_locks_take(&locks, &j->r, before, err)) {
        return false;
    }
    struct reel_error ignored;
    bool good = store_upload_keep(upload, err) && join_locked(j, sha256, size, after, err);
    scan_drop_unused(j->app, good ? before : after, &ignored);
    if (!good) {
        scan_drop_unused(j->app, sha256, &ignored);
    }
    return good;
}

void ingest_part(struct app *app, struct store_upload *upload, const char *sha256, uint64_t size, const struct ingest_request *q,
                 struct ingest_result *out, struct reel_error *err) {
    AUTO(joining_done) struct joining j = {.app = app, .q = q};
    if (!join(&j, upload, sha256, size, err)) {
        out->outcome = INGEST_REFUSED;
        return;
    }
    out->outcome = j.changed ? INGEST_JOINED : INGEST_EXISTS;
    out->recording = j.r;
    j.r = (struct catalog_recording){0};
}
