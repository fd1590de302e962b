/* See manifests.h. */
#include "manifests/manifests.h"

#include <string.h>

#include "base/cleanup.h"
#include "catalog/notes.h"
#include "manifests/manifest_entry.h"
#include "store/manifest.h"
#include "work/jobs.h"
#include "work/locks.h"

enum { BATCH = 64 }; /* manifests that one transaction marks as written */

/* Every note, page by page. */
static bool collect_notes(struct app *app, const char *id, struct catalog_notes *all, struct reel_error *err) {
    struct catalog_notes page;
    bool more = true;
    *all = (struct catalog_notes){0};
    while (more) {
        if (!catalog_notes_list(app->catalog, id, all->n > 0 ? all->items[all->n - 1].row : 0, PAGE_ITEMS_MAX, &page,
                                err)) {
            return false;
        }
        struct catalog_note *items = page.n > 0 ? realloc(all->items, (all->n + page.n) * sizeof *items) : all->items;
        if (page.n > 0 && !items) {
            catalog_notes_done(&page);
            return reel_fail_memory(err);
        }
        all->items = items;
        for (uint32_t i = 0; i < page.n; i++) {
            items[all->n++] = page.items[i];
        }
        more = page.more;
        page.n = 0; /* moved to `all` */
        catalog_notes_done(&page);
    }
    return true;
}

static bool collect_events(struct app *app, const char *id, struct catalog_events *all, struct reel_error *err) {
    struct catalog_event_query q = {.recording = id, .limit = PAGE_ITEMS_MAX};
    struct catalog_events page;
    *all = (struct catalog_events){0};
    do {
        q.cursor = all->next;
        if (!catalog_events_list(app->catalog, &q, &page, err)) {
            return false;
        }
        free(all->next);
        all->next = page.next;
        page.next = NULL;
        struct catalog_event *items = page.n > 0 ? realloc(all->items, (all->n + page.n) * sizeof *items) : all->items;
        if (page.n > 0 && !items) {
            catalog_events_done(&page);
            return reel_fail_memory(err);
        }
        all->items = items;
        for (uint32_t i = 0; i < page.n; i++) {
            items[all->n++] = page.items[i];
        }
        page.n = 0;
        catalog_events_done(&page);
    } while (all->next);
    return true;
}

bool manifests_write_row(struct app *app, const struct catalog_recording *r, struct reel_error *err) {
    struct catalog_notes notes = {0};
    struct catalog_events events = {0};
    bool good = (r->annotations.notes == 0 || collect_notes(app, r->id, &notes, err)) &&
                (r->annotations.events == 0 || collect_events(app, r->id, &events, err)) &&
                manifest_write(app->store, r, &(struct manifest_annotations){.notes = &notes, .events = &events}, err);
    catalog_notes_done(&notes);
    catalog_events_done(&events);
    return good;
}

/* Manifests that are written but not yet marked so in the catalog, which checks whether a row has changed since. */
struct batch {
    struct catalog_written written[BATCH];
    uint32_t n;
};

static bool mark_written(struct app *app, struct batch *b, struct reel_error *err) {
    uint32_t n = b->n;
    b->n = 0;
    return n == 0 || catalog_manifests_written(app->catalog, b->written, n, err);
}

/* Reads the row again under the lock of its manifest, so an older state never replaces a newer one; *moved: it has
 * another content by now.
 */
static bool write_locked(struct app *app, const char *id, const char *content, struct batch *b, bool *moved,
                         struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    struct catalog_recording r;
    lock_take(app->locks, &lock, MANIFEST_LOCK, content);
    if (!catalog_get(app->catalog, id, &r, err)) {
        return false;
    }
    *moved = strcmp(r.content, content) != 0;
    bool good = *moved || manifests_write_row(app, &r, err);
    if (good && !*moved) {
        memcpy(b->written[b->n].id, r.id, sizeof r.id);
        b->written[b->n++].updated_ns = r.updated_ns;
    }
    catalog_recording_done(&r);
    return good;
}

/* A deleted recording needs no manifest. */
static bool write_one(struct app *app, const char *id, struct batch *b, struct reel_error *err) {
    struct reel_error why = {0};
    bool moved = true, good = true;
    while (moved && good) {
        struct catalog_recording r;
        char content[SHA256_HEX];
        if (!(good = catalog_get(app->catalog, id, &r, &why))) {
            break;
        }
        memcpy(content, r.content, sizeof content);
        catalog_recording_done(&r);
        good = write_locked(app, id, content, b, &moved, &why);
    }
    return good || why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
}

static bool write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress, struct batch *b,
                      struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    struct reel_error none = {0}, failed = {0};
    int64_t after = 0;
    for (uint64_t done = 0; catalog_manifest_due(app->catalog, &after, id, &none); done++) {
        bool stop = progress && progress->report && !progress->report(progress->context, done, 0);
        if (stop || (until_ns && reel_now_ns() > until_ns)) {
            return reel_fail(err, REEL_CANCELLED, "stopped before all manifests were written");
        }
        write_one(app, id, b, &failed); /* a failed one stays due and does not stop the others */
        if (b->n == BATCH) {
            mark_written(app, b, &failed);
        }
    }
    const struct reel_error *first = none.code != REEL_NOT_FOUND ? &none : &failed;
    return first->code == REEL_OK || reel_error_pass(err, first);
}

bool manifests_write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress,
                         struct reel_error *err) {
    struct batch batch = {.n = 0};
    bool written = write_due(app, until_ns, progress, &batch, err);
    return mark_written(app, &batch, written ? err : NULL) && written;
}

bool manifests_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    return manifests_write_due(app, 0, call->progress, err);
}

void manifests_changed(struct app *app) {
    if (app->jobs) { /* else what is due is written when the command ends */
        jobs_poke(app->jobs, "manifests");
    }
}

void manifests_forget(struct app *app, const char *content, const char *id) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    struct reel_error ignored;
    lock_take(app->locks, &lock, MANIFEST_LOCK, content);
    store_forget_manifest(app->store, content, id, &ignored);
}

bool manifests_write_collections(struct app *app, struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(app->locks, &lock, MANIFEST_LOCK, "collections");
    char *text = catalog_collection_descriptions(app->catalog, err);
    bool good = text && store_write_collections(app->store, text, err);
    free(text);
    return good;
}
