/* See live.h. Two locks for each recording, so that many writers share one wait for the disk: the first is held while a
 * batch is written into the page cache and indexed, the second by whoever waits for the disk on behalf of all that was
 * written until then. */
#include "base/thread.h"
#include "live/live_internal.h"
#include "live/nanover_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/quota.h"
#include "manifests/manifest_entry.h"
#include "manifests/manifests.h"
#include "reel/open.h"
#include "reel/time.h"
#include "scans/scanning.h"
#include "work/jobs.h"
#include "work/locks.h"

static const int64_t OPEN_WAIT_NS = 5000000000;

struct live *live_new(struct app *app, struct reel_error *err) {
    struct live *live = calloc(1, sizeof *live);
    if (!live) {
        reel_fail_memory(err);
        return NULL;
    }
    live->app = app;
    live_remove_leftovers(app);
    pthread_mutex_init(&live->mutex, NULL);
    condition_init(&live->changed);
    return live;
}

void live_free(struct live *live) {
    if (live) {
        while (live->items) {
            struct live_item *item = live->items;
            live_item_remove(live, item);
        }
        live_slots_free(live);
        pthread_cond_destroy(&live->changed);
        pthread_mutex_destroy(&live->mutex);
        free(live);
    }
}

/* ---- the list */

struct live_item *live_item_find(struct live *live, const char *id) {
    pthread_mutex_lock(&live->mutex);
    struct live_item *item = live->items;
    while (item && strcmp(item->id, id) != 0) {
        item = item->next;
    }
    if (item) {
        item->users++;
    }
    pthread_mutex_unlock(&live->mutex);
    return item;
}

void live_item_release(struct live *live, struct live_item *item) {
    if (item) {
        pthread_mutex_lock(&live->mutex);
        bool last = --item->users == 0;
        pthread_mutex_unlock(&live->mutex);
        if (last) {
            live_item_free(item);
        }
    }
}

void live_item_add(struct live *live, struct live_item *item) {
    struct reel_error ignored; /* without memory it does not count */
    live_slot_keep(live, item->id, &ignored);
    pthread_mutex_lock(&live->mutex);
    item->next = live->items;
    live->items = item;
    live->n_items++;
    pthread_mutex_unlock(&live->mutex);
}

void live_item_remove(struct live *live, struct live_item *item) {
    bool was = false;
    pthread_mutex_lock(&live->mutex);
    for (struct live_item **at = &live->items; *at; at = &(*at)->next) {
        if (*at == item) {
            *at = item->next;
            live->n_items--;
            was = true;
            break;
        }
    }
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->mutex);
    if (was) {
        live_slot_release(live, item->id);
        live_item_release(live, item);
    }
}

void live_announce(struct live *live) {
    pthread_mutex_lock(&live->mutex);
    pthread_cond_broadcast(&live->changed);
    pthread_mutex_unlock(&live->mutex);
}

/* The recording, which is opened first if the server has started a moment ago. */
static struct live_item *live_take(struct live *live, const struct catalog_recording *r, struct reel_error *err) {
    struct live_item *item = live_item_find(live, r->id);
    char job[JOB_ID_TEXT];
    struct reel_error why = {0};
    if (item) {
        return item;
    }
    if (r->state != STATE_RECORDING) {
        reel_fail(err, REEL_CONFLICT, "this recording is finished: nothing can be appended");
        return NULL;
    }
    if (!live_is_here(live->app, r->id)) {
        reel_fail(err, REEL_BUSY, "the file of this live recording is not in the data folder of this server");
        return NULL;
    }
    if (!jobs_add(live->app->jobs,
                  &(struct job_spec){.kind = "live", .key = r->id, .collection = r->collection, .subject = r->name},
                  job, err)) {
        return NULL;
    }
    if (!jobs_wait(live->app->jobs, job, OPEN_WAIT_NS, &why)) {
        why.code == REEL_CONFLICT ? reel_fail(err, REEL_BUSY, "this recording is being opened after a restart")
                                  : reel_error_pass(err, &why);
        return NULL;
    }
    if (!(item = live_item_find(live, r->id))) {
        reel_fail(err, REEL_BUSY, "this recording is being finished");
    }
    return item;
}

bool live_ready(struct live *live, const struct catalog_recording *r, struct reel_error *err) {
    struct live_item *item = live_take(live, r, err);
    live_item_release(live, item);
    return item;
}

/* ---- creating */

static bool live_name_is_free(struct live *live, const struct live_request *q, struct reel_error *err) {
    struct catalog_recording there;
    struct reel_error none = {0};
    if (catalog_get_named(live->app->catalog, q->collection, q->name, &there, &none)) {
        catalog_recording_done(&there);
        return q->replace ||
               reel_fail(
                   err, REEL_CONFLICT,
                   "\"%.200s\" is the name of another recording in this collection; replace=true makes a new revision",
                   q->name);
    }
    return none.code == REEL_NOT_FOUND || reel_error_pass(err, &none);
}

static bool live_fill_row(const struct app *app, const struct live_request *q, struct catalog_recording *r,
                          struct reel_error *err) {
    *r = (struct catalog_recording){.state = STATE_RECORDING, .revision = 1, .created_ns = reel_now_ns()};
    r->collection = strdup(q->collection);
    r->name = strdup(q->name);
    r->format = strdup("mcap");
    r->container = strdup("MCAP0");
    r->clock_note = strdup("");
    r->problem = strdup("");
    r->group = strdup(q->group ? q->group : "");
    r->home = strdup(app->id);
    r->parts = calloc(1, sizeof *r->parts);
    if (!r->collection || !r->name || !r->format || !r->container || !r->clock_note || !r->problem || !r->group ||
        !r->home || !r->parts) {
        return reel_fail_memory(err);
    }
    return (!q->annotations || catalog_annotations_copy(q->annotations, &r->annotations) || reel_fail_memory(err)) &&
           catalog_make_id(r->id, err);
}

/* 64 hex digits that no file has: the id, and how much of it there is. */
static void set_content(struct catalog_recording *r, uint64_t bytes) {
    snprintf(r->content, sizeof r->content, "%.32s%032llx", r->id, (unsigned long long)bytes);
}

static bool live_add_row(struct live *live, const struct live_request *q, struct catalog_recording *r,
                         struct reel_error *err) {
    AUTO_LOCK struct key_lock content = {0}, lock = {0};
    set_content(r, 0);
    lock_take(live->app->locks, &content, CONTENT_LOCK, r->content);
    sweep_ahead(live->app, r->content); /* else it might take the manifest for one without a recording */
    lock_take(live->app->locks, &lock, QUOTA_LOCK, r->collection);
    return quota_check(live->app->catalog, r->collection, 0, true, err) &&
           manifest_write(live->app->store, r, NULL, err) && catalog_add(live->app->catalog, r, NULL, q->replace, err);
}

bool live_create(struct live *live, const struct live_request *q, struct catalog_recording *out,
                 struct reel_error *err) {
    *out = (struct catalog_recording){0};
    if (!live_name_is_free(live, q, err) || !live_fill_row(live->app, q, out, err) ||
        !live_slot_take(live, out->id, q->owner, err)) {
        return false;
    }
    struct live_item *item = live_item_new(out->id, err);
    if (!item || !live_owner_write(live->app, out->id, q->owner, err) ||
        !live_item_open(live->app, item, false, NULL, err) || !live_sync(item, err) ||
        !live_add_row(live, q, out, err)) {
        manifests_forget(live->app, out->content, out->id);
        live_remove_files(live->app, out->id);
        live_item_free(item);
        live_slot_release(live, out->id);
        return false;
    }
    live_item_add(live, item);
    return true;
}

/* ---- appending */

bool live_sync(struct live_item *item, struct reel_error *err) {
    uint64_t wanted = atomic_load(&item->bytes);
    bool good = true;
    pthread_mutex_lock(&item->sync);
    if (item->recorder && (atomic_load(&item->synced) < wanted || wanted == 0)) { /* a finished one has been synced */
        uint64_t reached = atomic_load(&item->bytes);
        good = reel_recorder_commit(item->recorder, err);
        if (good) {
            atomic_store(&item->synced, reached);
        }
    }
    pthread_mutex_unlock(&item->sync);
    return good;
}

static bool append_mcap(struct live_item *item, struct reel_bytes body, struct reel_rows_added *added,
                        struct reel_error *err) {
    char path[40];
    AUTO_FD int fd = memfd_create("reel-batch", MFD_CLOEXEC);
    struct reel_bytes magic = bytes_text("\x89MCAP0\r\n");
    bool has_magic = bytes_start(body, magic); /* without it the body is records alone */
    if (fd < 0 || (!has_magic && !disk_write_all(fd, magic.data, magic.size)) ||
        !disk_write_all(fd, body.data, body.size)) {
        return reel_fail_errno(err, "no memory for the batch");
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, err);
    if (!recording) {
        return reel_error_at(err, "the body");
    }
    if (reel_index_info(reel_recording_index(recording))->damaged) {
        size_t n;
        const struct reel_finding *findings = reel_index_findings(reel_recording_index(recording), &n);
        return reel_fail(err, REEL_ARGUMENT, "this MCAP is damaged: %.200s", n > 0 ? findings[0].text : "");
    }
    return reel_rows_append_recording(item->rows, recording, added, err);
}

static bool append_nanover(const struct live_item *item, const struct live_batch *b, struct reel_rows_added *added,
                           struct reel_error *err) {
    bool is_nanover;
    bool good = nanover_record(item->recorder, item->rows, b->body, b->log_ns, &is_nanover, err);
    *added = (struct reel_rows_added){.messages = good && is_nanover, .last_ns = b->log_ns};
    return good;
}

static bool append_batch(struct live_item *item, const struct live_batch *b, struct reel_rows_added *added,
                         struct reel_error *err) {
    enum reel_row_media media = b->media == LIVE_JSON ? REEL_ROWS_JSON : REEL_ROWS_MSGPACK;
    int64_t log_ns = b->log_ns != 0 ? b->log_ns : reel_now_ns();
    return b->media == LIVE_MCAP      ? append_mcap(item, b->body, added, err)
           : b->media == LIVE_NANOVER ? append_nanover(item, b, added, err)
                                      : reel_rows_append(item->rows, media, b->body, log_ns, added, err);
}

/* The item's mutex is held. */
static bool write_batch(struct live *live, struct live_item *item, const struct live_batch *b,
                        struct live_appended *out, struct reel_error *err) {
    struct reel_rows_added added = {0};
    if (!item->recorder || item->finishing) { /* 409 would say that it grows: its row changes later */
        return reel_fail(err, REEL_BUSY, "this recording is being finished");
    }
    const struct live_key *before = b->key[0] ? live_key_find(item, b->key) : NULL;
    if (before) {
        *out = before->appended;
        out->repeated = strcmp(before->request, b->request) == 0;
        out->other = !out->repeated;
        return out->repeated || reel_fail(err, REEL_CONFLICT, "another batch was appended with this key");
    }
    if (b->key[0] && !live_key_begin(live->app, item, err)) {
        return false;
    }
    bool good = append_batch(item, b, &added, err);
    struct reel_error why = {0};
    good = reel_recorder_flush(item->recorder, good ? err : &why) && good;
    uint64_t bytes = reel_recorder_bytes(item->recorder);
    if (bytes > atomic_load(&item->bytes)) { /* also what was written before a failure */
        good = reel_growing_read(item->growing, bytes, NULL, good ? err : &why) && good;
        atomic_store(&item->bytes, bytes);
        atomic_fetch_add(&item->messages, added.messages);
        item->appended_at_ns = clock_ns();
    }
    *out = (struct live_appended){.messages = added.messages, .last_ns = added.last_ns};
    return (!b->key[0] || live_key_end(item, b, good ? out : NULL, good ? err : &why)) && good;
}

bool live_append(struct live *live, const struct catalog_recording *r, const struct live_batch *b,
                 struct live_appended *out, struct reel_error *err) {
    struct live_item *item = live_take(live, r, err);
    *out = (struct live_appended){0};
    if (!item) {
        return false;
    }
    bool good = quota_check(live->app->catalog, r->collection, b->body.size, false, err) &&
                (store_has_room(live->app->store, 2 * b->body.size) ||
                 reel_fail(err, REEL_NO_SPACE, "there is no room for %zu bytes", b->body.size));
    if (good) {
        pthread_mutex_lock(&item->mutex);
        good = write_batch(live, item, b, out, err);
        pthread_mutex_unlock(&item->mutex);
        live_announce(live);
        good = good && (!b->durable || live_sync(item, err));
    }
    live_item_release(live, item);
    return good;
}

/* ---- reading */

struct reel_recording *live_item_show(struct live *live, struct live_item *item, struct reel_error *err) {
    char path[PATH_MAX];
    uint64_t bytes = atomic_load(&item->bytes);
    if (item->shown && item->shown_bytes == bytes) {
        return reel_recording_ref(item->shown);
    }
    if (!item->growing) {
        reel_fail(err, REEL_BUSY, "this recording is being finished");
        return NULL;
    }
    struct reel_source *source =
        live_path(live->app, item->id, LIVE_MCAP_SUFFIX, path, err) ? reel_source_open(path, NULL, err) : NULL;
    struct reel_index *index = source ? reel_growing_index(item->growing, err) : NULL;
    if (!index) {
        reel_source_free(source);
        return NULL;
    }
    source->size = bytes;
    const struct reel_recording_options options = {.cache = live->app->cache};
    struct reel_recording *shown = reel_recording_from_index(index, &source, 1, &options, err);
    if (!shown) {
        return NULL;
    }
    reel_recording_free(item->shown);
    item->shown = shown;
    item->shown_bytes = bytes;
    return reel_recording_ref(shown);
}

struct reel_recording *live_get(struct live *live, const struct catalog_recording *r, struct reel_error *err) {
    struct live_item *item = live_take(live, r, err);
    if (!item) {
        return NULL;
    }
    pthread_mutex_lock(&item->mutex);
    struct reel_recording *shown = live_item_show(live, item, err);
    pthread_mutex_unlock(&item->mutex);
    live_item_release(live, item);
    return shown;
}

void live_fill(struct live *live, struct catalog_recording *r) {
    struct live_item *item = r->state == STATE_RECORDING ? live_item_find(live, r->id) : NULL;
    AUTO(reel_recording_free) struct reel_recording *shown = NULL;
    if (!item) {
        return;
    }
    pthread_mutex_lock(&item->mutex);
    shown = live_item_show(live, item, NULL);
    pthread_mutex_unlock(&item->mutex);
    live_item_release(live, item);
    if (shown && scan_fill(r, reel_recording_index(shown), NULL)) {
        r->state = STATE_RECORDING;
        r->size = reel_index_part_size(reel_recording_index(shown), 0);
        set_content(r, r->size);
    }
}

void live_wait_for_change(struct live *live, int64_t until_ns) {
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    condition_wait(&live->changed, &live->mutex, until);
}

void live_wait(struct live *live, const char *id, uint64_t messages, int64_t timeout_ns, bool *more, bool *growing) {
    int64_t until_ns = clock_ns() + timeout_ns;
    struct live_item *item = live_item_find(live, id);
    *more = *growing = false;
    if (!item) {
        return;
    }
    pthread_mutex_lock(&live->mutex);
    do {
        *growing = false;
        for (struct live_item *i = live->items; i; i = i->next) {
            *growing |= i == item;
        }
        *more = atomic_load(&item->messages) > messages;
        if (!*more && *growing && !live->stopping) {
            live_wait_for_change(live, until_ns);
        }
    } while (!*more && *growing && !live->stopping && clock_ns() < until_ns);
    pthread_mutex_unlock(&live->mutex);
    live_item_release(live, item);
}
