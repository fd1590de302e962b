/* At start, in the background: reconciles disk and catalog after a crash. A file is removed only under its content's
 * lock, after the catalog confirmed that it is unused. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "catalog/maintenance.h"
#include "catalog/objects.h"
#include "catalog/sweep.h"
#include "manifests/manifests.h"
#include "scans/references.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "store/bucket/reference.h"
#include "store/bucket/sent.h"
#include "store/manifest.h"

struct sweep {
    struct app *app;
    const struct reel_progress *progress;
    uint64_t done;
    int64_t yesterday_s;
    int64_t ran_ns; /* the last clean stop; manifests written since may be from a run that crashed */
    bool stopped;
    struct catalog_hashes *parts, *contents; /* in use */
};

static bool sweep_go_on(struct sweep *s, uint64_t more) {
    s->done += more;
    s->stopped = s->progress->report && !s->progress->report(s->progress->context, s->done, 0);
    return !s->stopped;
}

/* Removes from the manifest of a content that is in use the recordings that never came into the catalog, or were just
 * deleted from it. The content's lock is held. */
static void forget_unknown(struct app *app, const char *content) {
    struct reel_error ignored;
    size_t i;
    json_t *item;
    json_t *manifest = store_load_manifest(app->store, content, &ignored);
    json_array_foreach(json_object_get(manifest, "recordings"), i, item) {
        const char *id = json_string_value(json_object_get(item, "id"));
        bool has = true;
        if (id && catalog_has(app->catalog, id, &has, &ignored) && !has) {
            store_forget_manifest(app->store, content, id, &ignored);
        }
    }
    json_decref(manifest);
}

static void check_manifest(struct app *app, const char *content) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    if (lock_try(app->locks, &lock, CONTENT_LOCK, content)) { /* else its holder has called sweep_ahead() */
        forget_unknown(app, content);
    }
}

void sweep_ahead(struct app *app, const char *content) {
    if (!app->swept && !store_is_bucket(app->store)) {
        forget_unknown(app, content);
    }
}

static bool visit_file(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    struct sweep *s = context;
    struct reel_error ignored;
    bool is_blob = !*suffix || strcmp(suffix, ".ref") == 0, is_ours = is_blob || store_is_of_content(suffix),
         used = true;
    if (!is_ours) {
        if (written_ns < s->app->started_ns) { /* a pack that was being built when the last server stopped */
            store_remove_leftover(s->app->store, hex, suffix, &ignored);
        }
        return sweep_go_on(s, 1);
    }
    if (!catalog_hashes_has(s->app->catalog, is_blob ? s->parts : s->contents, hex, &used, &ignored) || used) {
        if (used && strcmp(suffix, ".ref") == 0) {
            references_note(s->app, hex);
        }
        if (used && strcmp(suffix, ".json") == 0 && written_ns >= s->ran_ns) {
            check_manifest(s->app, hex); /* a crash between a manifest and its row */
        }
        return sweep_go_on(s, 1);
    }
    scan_tidy(s->app, hex); /* checks again under the lock: an upload may be about to use it */
    return sweep_go_on(s, 1);
}

static bool parts_are_there(struct app *app, const struct catalog_recording *r) {
    for (uint32_t i = 0; i < r->n_parts; i++) {
        if (!store_has_blob(app->store, r->parts[i].sha256)) {
            return false;
        }
    }
    return true;
}

static bool visit_recording(void *context, const struct catalog_recording *r) {
    struct sweep *s = context;
    struct reel_error ignored;
    if (r->state == STATE_CHANGED || (!store_is_bucket(s->app->store) && references_has(s->app, r))) {
        struct catalog_recording now = *r;
        now.problem = NULL;
        references_update_state(s->app, &now);
        free(now.problem);
        return sweep_go_on(s, 1);
    }
    bool there = parts_are_there(s->app, r);
    if (r->state == STATE_READY && !there) {
        catalog_set_state(s->app->catalog, r->id, STATE_MISSING, "the stored file is gone", &ignored);
    } else if (r->state == STATE_MISSING && there && r->n_parts > 0) { /* without parts it was live when its file was
                                                                          lost */
        scan_again(s->app, r, NULL, &ignored);                         /* its file exists again */
    }
    return sweep_go_on(s, 1);
}

/* Ready recordings without some file. One whose file is referenced, not copied, is among them. */
static bool sweep_ready(struct sweep *s, struct reel_error *err) {
    AUTO_STRUCT(catalog_files_done) struct catalog_files page = {0};
    bool in_bucket = store_is_bucket(s->app->store), good;
    do {
        good = catalog_ready_files(s->app->catalog, in_bucket, &page, err);
        AUTO_MEM int64_t *rows = good ? calloc(page.n + 1, sizeof *rows) : NULL;
        uint32_t n = 0;
        good = rows || (good && reel_fail_memory(err));
        for (uint32_t i = 0; good && i < page.n; i++) {
            bool noted = n > 0 && rows[n - 1] == page.items[i].row;
            if (!noted && (in_bucket || !store_has_blob(s->app->store, page.items[i].sha256))) {
                rows[n++] = page.items[i].row;
            }
        }
        good = good && catalog_each_row(s->app->catalog, rows, n, visit_recording, s, err);
    } while (good && page.rows > 0 && !s->stopped && sweep_go_on(s, page.rows));
    return good;
}

static bool sweep_recordings(struct sweep *s, struct reel_error *err) {
    struct catalog *c = s->app->catalog;
    return catalog_each_in_state(c, STATE_CHANGED, visit_recording, s, err) &&
           (s->stopped || catalog_each_in_state(c, STATE_MISSING, visit_recording, s, err)) &&
           (s->stopped || sweep_ready(s, err));
}

int64_t sweep_last_stop(struct app *app) {
    struct reel_error ignored;
    AUTO_MEM char *text = catalog_maintenance(app->catalog, "stopped", &ignored);
    return text ? strtoll(text, NULL, 10) : 0;
}

void sweep_record_stop(struct app *app) {
    struct reel_error ignored;
    char now[24];
    snprintf(now, sizeof now, "%lld", (long long)reel_now_ns());
    catalog_set_maintenance(app->catalog, "stopped", now, &ignored);
}

/* Objects whose content no recording uses. What the catalog does not know at all stays: it may be newer than the
 * catalog, which may have been restored; reel fsck lists it. */
static bool sweep_objects(struct sweep *s, struct reel_error *err) {
    AUTO_MEM struct catalog_hashes *page = calloc(1, sizeof *page);
    bool good = page || reel_fail_memory(err);
    char from[SHA256_HEX] = "";
    while (good && !s->stopped && !page->rest) {
        page->of = HASHED_OBJECTS;
        good = catalog_hashes_from(s->app->catalog, from, page, err);
        for (uint32_t i = 0; good && i < page->n && !s->stopped; i++) {
            bool used;
            good = catalog_hashes_has(s->app->catalog, s->parts, page->items[i], &used, err);
            if (good && !used) {
                scan_tidy(s->app, page->items[i]); /* checks again, and for uploads that are about to end */
            }
            sweep_go_on(s, 1);
        }
        if (page->n > 0) { /* the last one is the first of the next page */
            memcpy(from, page->items[page->n - 1], sizeof from);
        }
    }
    return good;
}

/* Its objects, or some of them, are not there; or it has no manifest. */
static bool restores_nothing(struct app *app, const char *content) {
    struct reel_error why = {0};
    size_t i;
    json_t *part;
    json_auto_t *manifest = store_load_manifest(app->store, content, &why);
    bool known = manifest || why.code == REEL_NOT_FOUND, whole = manifest;
    json_array_foreach(json_object_get(manifest, "parts"), i, part) {
        const char *object = json_string_value(json_object_get(part, "object"));
        struct s3_object there;
        bool has = object && store_find_object(app->store, object, &there, &why);
        known = known && (has || !object || why.code == REEL_NOT_FOUND);
        whole = whole && has;
    }
    return known && !whole;
}

/* Packs and manifests in the bucket, of a purge or an upload of several files that was cut off. What could restore a
 * recording stays. Who writes them holds the lock. */
static bool visit_content(void *context, const char *hex, const char *suffix, int64_t written_ns) {
    struct sweep *s = context;
    struct app *app = s->app;
    struct reel_error ignored;
    bool used = true;
    (void)suffix, (void)written_ns;
    if (catalog_hashes_has(app->catalog, s->contents, hex, &used, &ignored) && !used) {
        AUTO_STRUCT(lock_release) struct key_lock lock = {0};
        if (lock_try(app->locks, &lock, CONTENT_LOCK, hex) &&
            catalog_content_used(app->catalog, hex, &used, &ignored) && !used && restores_nothing(app, hex)) {
            store_remove_content(app->store, hex, &ignored);
        }
    }
    return sweep_go_on(s, 1);
}

static bool visit_sent(void *context, const struct store_sent *sent) {
    struct sweep *s = context;
    struct reel_error ignored;
    bool needed;
    if (sent->at_s < s->yesterday_s && catalog_object_in_session(s->app->catalog, sent->name, &needed, &ignored) &&
        !needed) {
        store_remove_sent(s->app->store, sent, &ignored);
    }
    return sweep_go_on(s, 1);
}

static bool sweep_files(struct sweep *s, struct reel_error *err) {
    return !store_is_bucket(s->app->store)
               ? store_each(s->app->store, visit_file, s, err)
               : sweep_objects(s, err) && (s->stopped || store_each(s->app->store, visit_content, s, err)) &&
                     (s->stopped || store_each_sent(s->app->store, false, visit_sent, s, err));
}

bool sweep_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    AUTO_MEM struct catalog_hashes *parts = calloc(1, sizeof *parts), *contents = calloc(1, sizeof *contents);
    struct reel_error ignored;
    if (!parts || !contents) {
        return reel_fail_memory(err);
    }
    parts->of = HASHED_PARTS;
    contents->of = HASHED_CONTENTS;
    struct sweep s = {.app = app,
                      .progress = call->progress,
                      .ran_ns = sweep_last_stop(app),
                      .yesterday_s = reel_now_ns() / 1000000000 - 24 * 3600,
                      .parts = parts,
                      .contents = contents};
    manifests_write_due(app, 0, call->progress, &ignored); /* left from the last run */
    bool good = sweep_recordings(&s, err) && (s.stopped || sweep_files(&s, err)) &&
                (!s.stopped || reel_fail(err, REEL_CANCELLED, "cancelled"));
    s.app->swept = good;
    return good;
}
