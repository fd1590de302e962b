/* See manifests.h. Row, notes and events are read and written under one lock, so an older state never replaces a newer one; what changed
 * in between stays due. */
#include "ingest/manifests.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "catalog/notes.h"
#include "ingest/jobs.h"
#include "ingest/manifest_entry.h"
#include "store/manifest.h"

enum {
    AT_ONCE_MAX = 256, /* notes and events of a recording that are written while a request waits; above, many changes make one write */
    BATCH = 64,        /* manifests that one transaction marks as written */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void manifests_hold(void) {
    pthread_mutex_lock(&lock);
}
void manifests_release(void) {
    pthread_mutex_unlock(&lock);
}

/* Every note, page by page. */
static bool collect_notes(struct app *app, const char *id, struct catalog_notes *all, struct reel_error *err) {
    struct catalog_notes page;
    bool more = true;
    *all = (struct catalog_notes){0};
    while (more) {
        if (!catalog_notes_list(app->catalog, id, all->n > 0 ? all->items[all->n - 1].row : 0, PAGE_ITEMS_MAX, &page, err)) {
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

static bool write_row(struct app *app, const struct catalog_recording *r, struct reel_error *err) {
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

/* `at_once_max`: with more notes and events *left is set instead. A deleted recording needs no manifest. */
static bool write_one(struct app *app, const char *id, uint64_t at_once_max, bool *left, struct batch *b, struct reel_error *err) {
    struct catalog_recording r;
    struct reel_error why = {0};
    manifests_hold();
    bool there = catalog_get(app->catalog, id, &r, &why), good = there;
    if (there) {
        *left = r.annotations.notes + r.annotations.events > at_once_max;
        good = *left || write_row(app, &r, err);
        if (good && !*left) {
            memcpy(b->written[b->n].id, r.id, sizeof r.id);
            b->written[b->n++].updated_ns = r.updated_ns;
        }
        catalog_recording_done(&r);
    } else if (why.code == REEL_NOT_FOUND) {
        good = true;
    } else if (err) {
        reel_error_pass(err, &why);
    }
    manifests_release();
    return good;
}

void manifests_reconcile(struct app *app, const char *id) {
    struct reel_error ignored;
    struct batch batch = {.n = 0};
    bool left = false;
    bool good = write_one(app, id, AT_ONCE_MAX, &left, &batch, &ignored);
    if (!mark_written(app, &batch, &ignored) || !good) {
        atomic_store(&app->manifests_missed, true);
    } else if (left) {
        manifests_later(app);
    } else {
        manifests_again(app); /* the disk works again: retries the manifests that failed */
    }
}

void manifests_again(struct app *app) {
    if (atomic_exchange(&app->manifests_missed, false)) {
        manifests_later(app);
    }
}

static bool write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress, struct batch *b, struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    struct reel_error none = {0}, failed = {0};
    int64_t after = 0;
    for (uint64_t done = 0; catalog_manifest_due(app->catalog, &after, id, &none); done++) {
        bool left, stop = progress && progress->report && !progress->report(progress->context, done, 0);
        if (stop || (until_ns && reel_now_ns() > until_ns)) {
            return reel_fail(err, REEL_CANCELLED, "stopped before all manifests were written");
        }
        write_one(app, id, UINT64_MAX, &left, b, &failed); /* a failed one stays due and does not stop the others */
        if (b->n == BATCH) {
            mark_written(app, b, &failed);
        }
    }
    const struct reel_error *first = none.code != REEL_NOT_FOUND ? &none : &failed;
    return first->code == REEL_OK || reel_error_pass(err, first);
}

bool manifests_write_due(struct app *app, int64_t until_ns, const struct reel_progress *progress, struct reel_error *err) {
    struct batch batch = {.n = 0};
    bool written = write_due(app, until_ns, progress, &batch, err);
    return mark_written(app, &batch, written ? err : NULL) && written;
}

static bool work(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct app *app = context;
    atomic_store(&app->manifests_queued, false); /* what becomes due from now on queues another job */
    bool good = manifests_write_due(app, 0, progress, err);
    if (!good) {
        atomic_store(&app->manifests_missed, true);
    }
    return good;
}

void manifests_later(struct app *app) {
    struct reel_error ignored;
    if (!atomic_exchange(&app->manifests_queued, true)) {
        struct job *job = jobs_add(app->jobs, "manifests", "changed recordings", NULL, work, app, NULL, &ignored);
        if (!job) {
            atomic_store(&app->manifests_queued, false);
        }
        job_unref(job);
    }
}

bool manifests_write_collections(struct app *app, struct reel_error *err) {
    manifests_hold();
    char *text = catalog_collection_descriptions(app->catalog, err);
    bool good = text && store_write_collections(app->store, text, err);
    free(text);
    manifests_release();
    return good;
}
