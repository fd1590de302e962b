/* See recordings.h. The table is locked only to look up and to insert. Recordings are opened outside of the lock; if two threads open the
 * same one, the second takes the first one's. */
#include "ingest/recordings.h"

#include <pthread.h>
#include <string.h>

#include "ingest/references.h"
#include "ingest/scanning.h"
#include "wire/cleanup.h"

enum { RECORDINGS_OPEN_MAX = 256 };

struct opened {
    char content[SHA256_HEX];
    struct reel_recording *recording; /* NULL while its pack is rebuilt */
    struct job *job;                  /* that rebuilds it */
    uint64_t used;                    /* time of the last use, counted in calls */
};

struct recordings {
    struct app *app;
    pthread_mutex_t mutex;
    struct opened items[RECORDINGS_OPEN_MAX];
    unsigned count;
    uint64_t calls;
};

struct recordings *recordings_new(struct app *app, struct reel_error *err) {
    struct recordings *all = calloc(1, sizeof *all);
    if (!all) {
        reel_fail_memory(err);
        return NULL;
    }
    all->app = app;
    pthread_mutex_init(&all->mutex, NULL);
    return all;
}

static void drop(struct recordings *all, struct opened *o) {
    reel_recording_free(o->recording);
    job_unref(o->job);
    *o = all->items[--all->count];
}

void recordings_free(struct recordings *all) {
    if (!all) {
        return;
    }
    while (all->count > 0) {
        drop(all, &all->items[0]);
    }
    pthread_mutex_destroy(&all->mutex);
    free(all);
}

/* The mutex is held in these. */
static struct opened *find(struct recordings *all, const char *content) {
    for (unsigned i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].content, content) == 0) {
            all->items[i].used = ++all->calls;
            return &all->items[i];
        }
    }
    return NULL;
}
static struct opened *add(struct recordings *all, const char *content) {
    if (all->count == RECORDINGS_OPEN_MAX) {
        struct opened *oldest = &all->items[0];
        for (unsigned i = 1; i < all->count; i++) {
            struct opened *o = &all->items[i];
            bool sooner = !o->job != !oldest->job ? !o->job : o->used < oldest->used; /* opening again is cheap, scanning again is not */
            oldest = sooner ? o : oldest;
        }
        drop(all, oldest);
    }
    struct opened *o = &all->items[all->count++];
    *o = (struct opened){.used = ++all->calls};
    memcpy(o->content, content, sizeof o->content);
    return o;
}

void recordings_forget(struct recordings *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    if (o) {
        drop(all, o);
    }
    pthread_mutex_unlock(&all->mutex);
}

/* The file is missing or has changed: recorded in the catalog, so that lists show it. */
static void set_missing(struct app *app, const struct catalog_recording *r, const struct reel_error *why) {
    struct reel_error ignored;
    if (why->code == REEL_NOT_FOUND || why->code == REEL_CHANGED) {
        bool changed = why->code == REEL_CHANGED && references_has(app, r);
        catalog_set_state(app->catalog, r->id, changed ? STATE_CHANGED : STATE_MISSING, why->text, &ignored);
    }
}

static struct reel_recording *open_with(struct app *app, const struct catalog_recording *r, struct reel_index *index,
                                        struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *own = index;
    AUTO_MEM struct reel_source **parts = calloc((size_t)r->n_parts + 1, sizeof(struct reel_source *));
    if (!parts) {
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < r->n_parts; i++) {
        parts[i] = store_open_blob(app->store, r->parts[i].sha256, r->parts[i].file_name, err);
        if (!parts[i]) {
            while (i > 0) {
                reel_source_free(parts[--i]);
            }
            return NULL;
        }
    }
    struct reel_recording_options options = {
        .cache = app->cache, .derived_folder = store_derived_folder(app->store), .derived_name = r->content};
    return reel_recording_from_index(TAKE(own), parts, r->n_parts, &options, err);
}

/* Inserts the recording, or drops it if another thread was first. Returns a reference to the one in the table. */
static struct reel_recording *put_in(struct recordings *all, const char *content, struct reel_recording *opened) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    if (!o) {
        o = add(all, content);
    }
    if (!o->recording) {
        o->recording = reel_recording_ref(opened);
    }
    job_unref(TAKE(o->job));
    struct reel_recording *shared = reel_recording_ref(o->recording);
    pthread_mutex_unlock(&all->mutex);
    reel_recording_free(opened);
    return shared;
}

void recordings_scanned_by(struct recordings *all, const char *content, struct job *job) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    if (!o) {
        o = add(all, content);
    }
    if (!o->job && !o->recording) {
        o->job = job_ref(job);
    }
    pthread_mutex_unlock(&all->mutex);
}

void recordings_stop(struct recordings *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    struct job *job = o && o->job ? job_ref(o->job) : NULL;
    pthread_mutex_unlock(&all->mutex);
    if (job) {
        struct job_view view;
        job_view(job, &view);
        jobs_cancel(all->app->jobs, view.id);
        job_unref(job);
    }
}

/* The only job that builds this pack; a reference for the caller. */
static struct job *rebuild(struct recordings *all, const struct catalog_recording *r, struct reel_error *err) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, r->content);
    if (!o) {
        o = add(all, r->content);
    }
    if (!o->job) {
        o->job = scan_again(all->app, r, err);
    }
    struct job *job = o->job ? job_ref(o->job) : NULL;
    if (!job) {
        drop(all, o);
    }
    pthread_mutex_unlock(&all->mutex);
    return job;
}

/* The job has ended: the next request without a pack starts another. */
static void forget_job(struct recordings *all, const char *content, const struct job *job) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    if (o && o->job == job && !o->recording) {
        drop(all, o);
    }
    pthread_mutex_unlock(&all->mutex);
}

/* Waits a moment for the pack. False with job_id set: it takes longer. */
static bool wait_for_pack(struct recordings *all, const struct catalog_recording *r, int64_t wait_ns, char job_id[33],
                          struct reel_error *err) {
    struct job *job = rebuild(all, r, err);
    if (!job) {
        return false;
    }
    struct job_view view;
    bool ended = job_wait(job, wait_ns);
    job_view(job, &view);
    if (ended) {
        forget_job(all, r->content, job);
    }
    job_unref(job);
    if (!ended) {
        memcpy(job_id, view.id, sizeof view.id);
        return reel_fail(err, REEL_CONFLICT,
                         r->state == STATE_SCANNING ? "the recording is still being scanned"
                                                    : "the index of this recording is being rebuilt");
    }
    if (view.state != JOB_DONE && err) {
        reel_error_pass(err, &view.error);
    }
    return view.state == JOB_DONE;
}

static struct reel_recording *find_open(struct recordings *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = find(all, content);
    struct reel_recording *shared = o && o->recording ? reel_recording_ref(o->recording) : NULL;
    pthread_mutex_unlock(&all->mutex);
    return shared;
}

struct reel_recording *recordings_get(struct recordings *all, const struct catalog_recording *r, int64_t wait_ns, char job[33],
                                      struct reel_error *err) {
    job[0] = '\0';
    if (r->state != STATE_READY && r->state != STATE_SCANNING) {
        reel_fail(err, REEL_CONFLICT, "the recording is %s", recording_state_name(r->state));
        return NULL;
    }
    struct reel_recording *shared = find_open(all, r->content);
    if (shared) {
        return shared;
    }
    struct reel_error why = {0};
    struct reel_index *index = scan_open_pack(all->app, r->content, &why);
    if (!index && (why.code == REEL_NOT_FOUND || why.code == REEL_CHANGED)) {
        if (!wait_for_pack(all, r, wait_ns, job, err)) {
            return NULL;
        }
        index = scan_open_pack(all->app, r->content, &why);
    }
    struct reel_recording *opened = index ? open_with(all->app, r, index, &why) : NULL;
    if (!opened) {
        if (index) {
            set_missing(all->app, r, &why);
        }
        if (err) {
            reel_error_pass(err, &why);
        }
        return NULL;
    }
    return put_in(all, r->content, opened);
}
