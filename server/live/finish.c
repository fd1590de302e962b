/* The end of a live recording: its file is completed and becomes a blob, its index the pack. Each step can be done
 * again, so that a job that was interrupted ends after the next start. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "live/live_internal.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "scans/scanning.h"
#include "work/jobs.h"
#include "work/locks.h"

bool live_finish(struct live *live, const struct catalog_recording *r, char job[JOB_ID_TEXT], struct reel_error *err) {
    if (!live_is_here(live->app, r->id)) {
        return reel_fail(err, REEL_BUSY, "the file of this live recording is not in the data folder of this server");
    }
    return jobs_add(live->app->jobs,
                    &(struct job_spec){.kind = "finish", .key = r->id, .collection = r->collection, .subject = r->name},
                    job, err);
}

/* Completes the file and the pack. The recording is shown as it was before until the row has changed. */
static bool close_item(struct live_item *item, const char *path, struct reel_error *err) {
    pthread_mutex_lock(&item->mutex);
    pthread_mutex_lock(&item->sync);
    item->finishing = true;
    bool good = true;
    struct reel_recorder *recorder = TAKE(item->recorder);
    if (recorder) {
        reel_rows_free(TAKE(item->rows));
        good = reel_recorder_close(recorder, err);
    }
    AUTO(reel_source_free) struct reel_source *source = good ? reel_source_open(path, NULL, err) : NULL;
    good = source && (!item->growing || reel_growing_finish(item->growing, source->size, err));
    reel_growing_free(TAKE(item->growing)); /* what failed is scanned: make_pack() */
    pthread_mutex_unlock(&item->sync);
    pthread_mutex_unlock(&item->mutex);
    return good;
}

/* The pack, if there is none yet: the file was completed before the server was stopped. */
static bool make_pack(const char *path, const char *pack, const struct job_call *call, struct reel_error *err) {
    if (access(pack, F_OK) == 0) {
        AUTO(reel_index_free) struct reel_index *there = reel_index_open(pack, NULL);
        AUTO(reel_source_free) struct reel_source *file = there ? reel_source_open(path, NULL, NULL) : NULL;
        if (file && reel_index_part_size(there, 0) == file->size) {
            return true;
        }
    }
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    return source && reel_scan_run(&source, 1, reel_format_named("mcap"), pack, call->progress, err);
}

static bool set_part(struct catalog_recording *r, const char *sha256, uint64_t size, struct reel_error *err) {
    bool has_suffix = strlen(r->name) > 5 && strcmp(r->name + strlen(r->name) - 5, ".mcap") == 0;
    const char *slash = strrchr(r->name, '/');
    char *name = NULL;
    if (asprintf(&name, "%s%s", slash ? slash + 1 : r->name, has_suffix ? "" : ".mcap") < 0) {
        return reel_fail_memory(err);
    }
    free(r->parts);
    r->parts = calloc(1, sizeof *r->parts);
    if (!r->parts) {
        free(name);
        return reel_fail_memory(err);
    }
    r->n_parts = 1;
    r->parts[0] = (struct catalog_part){.size = size, .file_name = name};
    memcpy(r->parts[0].sha256, sha256, SHA256_HEX);
    r->size = size;
    return content_of_parts(r, err);
}

/* The content's lock is held. */
static bool finish_enter(struct app *app, const char *id, const char *pack, const char *sha256, uint64_t size,
                         struct reel_error *err) {
    char to[PATH_MAX], before[SHA256_HEX];
    struct catalog_recording r;
    AUTO_LOCK struct key_lock lock = {0};
    lock_take(app->locks, &lock, ROW_LOCK, id);
    if (!catalog_get(app->catalog, id, &r, err)) {
        return false;
    }
    memcpy(before, r.content, sizeof before);
    AUTO(reel_index_free) struct reel_index *index = NULL;
    bool good = store_place_file(app->store, sha256, STORE_PACK, to, sizeof to, err) &&
                (access(pack, F_OK) != 0 || (rename(pack, to) == 0 && disk_sync_folder_of(to, err)) ||
                 reel_fail_errno(err, "the index cannot be put in place")) &&
                (index = reel_index_open(to, err)) && store_keep_file(app->store, sha256, STORE_PACK, err) &&
                set_part(&r, sha256, size, err) && scan_fill(&r, index, err) &&
                manifest_write(app->store, &r, NULL, err) && catalog_set_parts(app->catalog, &r, index, NULL, err);
    catalog_recording_done(&r);
    if (good) {
        manifests_forget(app, before, id);
        scan_tidy(app, before);
        manifests_changed(app);
    }
    return good;
}

/* Where the file system can neither link nor share blocks. */
static bool finish_copy(struct reel_source *from, struct store_upload *to, const struct reel_progress *progress,
                        struct reel_error *err) {
    enum { PIECE = 1 << 20 };
    AUTO_MEM uint8_t *piece = malloc(PIECE);
    if (!piece) {
        return reel_fail_memory(err);
    }
    for (uint64_t at = 0; at < from->size;) {
        size_t size = from->size - at < PIECE ? (size_t)(from->size - at) : PIECE;
        if (!reel_source_read(from, at, piece, size, err) || !store_upload_write(to, piece, size, err)) {
            return false;
        }
        at += size;
        if (progress && progress->report && !progress->report(progress->context, at, from->size)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
    return true;
}

static bool finish_keep(struct app *app, const char *id, const char *path, const char *pack,
                        const struct job_call *call, struct reel_error *err) {
    char sha256[SHA256_HEX];
    uint64_t size;
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    struct store_upload *upload = source ? store_upload_begin(app->store, err) : NULL;
    if (!upload) {
        return false;
    }
    bool good = (store_upload_share(upload, reel_source_fd(source), true) ||
                 finish_copy(source, upload, call->progress, err)) &&
                store_upload_hash(upload, call->progress, err) && store_upload_finish(upload, sha256, &size, err);
    if (good) {
        AUTO_LOCK struct key_lock lock = {0};
        lock_take(app->locks, &lock, CONTENT_LOCK, sha256);
        sweep_ahead(app, sha256);
        good = content_keep_upload(app, upload, sha256, err) && finish_enter(app, id, pack, sha256, size, err);
    }
    store_upload_free(upload);
    return good;
}

bool live_finish_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    char path[PATH_MAX], pack[PATH_MAX];
    struct catalog_recording r;
    AUTO_LOCK struct key_lock lock = {0};
    lock_take(app->locks, &lock, LIVE_LOCK, call->key);
    if (!catalog_get(app->catalog, call->key, &r, err)) {
        return false;
    }
    enum recording_state state = r.state == STATE_TRASHED ? r.state_before_trash : r.state;
    catalog_recording_done(&r);
    if (state != STATE_RECORDING) { /* a second request, or the end of an interrupted job */
        live_remove_files(app, call->key);
        return true;
    }
    if (!live_path(app, call->key, LIVE_MCAP_SUFFIX, path, err) ||
        !live_path(app, call->key, LIVE_PACK_SUFFIX, pack, err)) {
        return false;
    }
    struct live_item *item = live_item_find(app->live, call->key);
    struct reel_error why = {0};
    if (!item) { /* after a restart: complete what may not be */
        item = live_item_new(call->key, err);
        if (item && !live_item_open(app, item, true, call->progress, &why) && why.code != REEL_CONFLICT) {
            live_item_free(item);
            return reel_error_pass(err, &why);
        }
        if (!item) {
            return false;
        }
        live_item_add(app->live, item);
        item = live_item_find(app->live, call->key);
    }
    bool good = close_item(item, path, err) && make_pack(path, pack, call, err) &&
                finish_keep(app, call->key, path, pack, call, err);
    if (good) {
        live_remove_files(app, call->key);
    }
    live_item_remove(app->live, item); /* the next attempt begins with the file */
    live_item_release(app->live, item);
    return good;
}

void live_drop(struct live *live, const char *id) {
    struct live_item *item = live_item_find(live, id);
    if (item) {
        pthread_mutex_lock(&item->mutex);
        item->finishing = true;
        pthread_mutex_unlock(&item->mutex);
        live_item_remove(live, item);
        live_item_release(live, item);
    }
    live_slot_release(live, id);
    live_remove_files(live->app, id);
}
