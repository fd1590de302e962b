/* See open_recordings.h. The table is locked only to look up and to insert. Recordings are opened outside of that lock,
 * each by one thread. */
#include "scans/open_recordings.h"

#include <pthread.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/source.h"
#include "definitions/set.h"
#include "scans/references.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "work/locks.h"

#define OPENING_LOCK "here-opening" /* by content */

enum { RECORDINGS_OPEN_MAX = 256 };
static const int64_t REMAKE_WAIT_NS = INT64_C(60) * 1000000000; /* a request waits so long for a pack that is made again
                                                                 */

struct opened {
    char content[SHA256_HEX];
    int clock; /* see clock_of(): recordings of one content may differ in it */
    struct reel_recording *recording;
    uint64_t used; /* time of the last use, counted in calls */
};

struct recordings {
    struct app *app;
    pthread_mutex_t mutex;
    struct opened items[RECORDINGS_OPEN_MAX];
    unsigned count;
    uint64_t memory, calls; /* memory: of their indexes */
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

/* A pack that a reader has found corrupted goes with it, so that the next request rebuilds it, also after a restart. */
static void open_recordings_drop(struct recordings *all, struct opened *o) {
    all->memory -= reel_recording_index(o->recording)->memory;
    reel_index_discard(reel_recording_index(o->recording));
    reel_recording_free(o->recording);
    *o = all->items[--all->count];
}

void recordings_free(struct recordings *all) {
    if (!all) {
        return;
    }
    while (all->count > 0) {
        open_recordings_drop(all, &all->items[0]);
    }
    pthread_mutex_destroy(&all->mutex);
    free(all);
}

/* The clock that a user set; ANY_CLOCK: that of the scan. */
enum { ANY_CLOCK = -1 };
static int clock_of(const struct catalog_recording *r) {
    return r->annotations.has_clock ? (int)r->annotations.clock : ANY_CLOCK;
}

/* The mutex is held in these. */
static struct opened *open_recordings_find(struct recordings *all, const char *content, int clock) {
    for (unsigned i = 0; i < all->count; i++) {
        if (all->items[i].clock == clock && strcmp(all->items[i].content, content) == 0) {
            if (reel_index_is_corrupted(reel_recording_index(all->items[i].recording))) {
                open_recordings_drop(all, &all->items[i]);
                return NULL;
            }
            all->items[i].used = ++all->calls;
            return &all->items[i];
        }
    }
    return NULL;
}
static struct opened *open_recordings_add(struct recordings *all, const struct catalog_recording *r,
                                          struct reel_recording *recording) {
    uint64_t memory = reel_recording_index(recording)->memory, most = all->app->config.memory_bytes / 8;
    while (all->count == RECORDINGS_OPEN_MAX || (all->count > 0 && all->memory + memory > most)) {
        struct opened *oldest = &all->items[0];
        for (unsigned i = 1; i < all->count; i++) {
            struct opened *o = &all->items[i];
            oldest = o->used < oldest->used ? o : oldest;
        }
        open_recordings_drop(all, oldest);
    }
    struct opened *o = &all->items[all->count++];
    *o = (struct opened){.clock = clock_of(r), .recording = reel_recording_ref(recording), .used = ++all->calls};
    memcpy(o->content, r->content, sizeof o->content);
    all->memory += memory;
    return o;
}

void recordings_forget(struct recordings *all, const char *content) {
    pthread_mutex_lock(&all->mutex);
    for (unsigned i = all->count; i-- > 0;) { /* the last one takes the place of a dropped one */
        if (strcmp(all->items[i].content, content) == 0) {
            open_recordings_drop(all, &all->items[i]);
        }
    }
    pthread_mutex_unlock(&all->mutex);
}

/* ---- a pack that turns out to be corrupted while it is read */

struct remaking {
    struct app *app;
    char id[RECORDING_ID_TEXT], content[SHA256_HEX];
};

/* Scans the recording again, and waits for it: what is being streamed goes on. */
static bool remake_pack(void *context, struct reel_error *err) {
    const struct remaking *remaking = context;
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording r = {0};
    char job[JOB_ID_TEXT];
    return catalog_get(remaking->app->catalog, remaking->id, &r, err) &&
           (strcmp(r.content, remaking->content) == 0 || reel_fail(err, REEL_CHANGED, "it has other content by now")) &&
           scan_missing(remaking->app, &r, job, err) && jobs_wait(remaking->app->jobs, job, REMAKE_WAIT_NS, err);
}

static void set_remake(struct reel_index *index, struct app *app, const struct catalog_recording *r) {
    struct remaking *remaking = malloc(sizeof *remaking);
    if (remaking) { /* else a corrupted pack is made again for the next request */
        *remaking = (struct remaking){.app = app};
        memcpy(remaking->id, r->id, sizeof remaking->id);
        memcpy(remaking->content, r->content, sizeof remaking->content);
        index_set_remake(index, (struct index_remake){remake_pack, free, remaking});
    }
}

static struct reel_recording *open_with(struct app *app, const struct catalog_recording *r, struct reel_index *index,
                                        bool resting, struct reel_error *err) {
    struct reel_source *(*open_part)(struct store *, const char *, const char *, struct reel_error *) =
        resting ? store_resting_blob : store_open_blob;
    AUTO(reel_index_free) struct reel_index *own = index;
    set_remake(own, app, r);
    if (r->annotations.has_clock) {
        reel_index_set_clock(own, r->annotations.clock);
    }
    AUTO_MEM struct reel_source **parts = calloc((size_t)r->n_parts + 1, sizeof(struct reel_source *));
    if (!parts) {
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < r->n_parts; i++) {
        parts[i] = open_part(app->store, r->parts[i].sha256, r->parts[i].file_name, err);
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

/* Inserts the recording and returns another reference to it. */
static struct reel_recording *put_in(struct recordings *all, const struct catalog_recording *r,
                                     struct reel_recording *opened) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = open_recordings_find(all, r->content, clock_of(r));
    if (!o) {
        o = open_recordings_add(all, r, opened);
    }
    struct reel_recording *shared = reel_recording_ref(o->recording);
    pthread_mutex_unlock(&all->mutex);
    reel_recording_free(opened);
    return shared;
}

/* Waits a moment for the pack. False with job_id set: it takes longer. */
static bool wait_for_pack(struct recordings *all, const struct catalog_recording *r, int64_t wait_ns,
                          char job_id[JOB_ID_TEXT], struct reel_error *err) {
    struct reel_error why = {0};
    char id[JOB_ID_TEXT];
    if (!scan_missing(all->app, r, id, err)) {
        return false;
    }
    if (jobs_wait(all->app->jobs, id, wait_ns, &why)) {
        return true;
    }
    if (why.code != REEL_CONFLICT) {
        return reel_error_pass(err, &why);
    }
    memcpy(job_id, id, sizeof id);
    return reel_fail(err, REEL_CONFLICT,
                     r->state == STATE_SCANNING ? "the recording is still being scanned"
                                                : "the index of this recording is being rebuilt");
}

static struct reel_recording *find_open(struct recordings *all, const struct catalog_recording *r) {
    pthread_mutex_lock(&all->mutex);
    struct opened *o = open_recordings_find(all, r->content, clock_of(r));
    struct reel_recording *shared = o ? reel_recording_ref(o->recording) : NULL;
    pthread_mutex_unlock(&all->mutex);
    return shared;
}

/* Opens the recording and inserts it. One thread at a time: an index with 65,535 channels takes 25 MB, and requests
 * come in crowds. *has_pack: what failed are its files. */
static struct reel_recording *open_shared(struct recordings *all, const struct catalog_recording *r, bool *has_pack,
                                          struct reel_error *err) {
    AUTO_LOCK struct key_lock lock = {0};
    lock_take(all->app->locks, &lock, OPENING_LOCK, r->content);
    struct reel_recording *shared = find_open(all, r);
    if (shared) {
        return shared;
    }
    struct reel_index *index = scan_open_pack(all->app, r->content, err);
    *has_pack = index != NULL;
    struct reel_recording *opened = index ? open_with(all->app, r, index, false, err) : NULL;
    return opened ? put_in(all, r, opened) : NULL;
}

/* Opens it for one request: requests for many recordings would close those that all others share. */
static struct reel_recording *open_resting(struct recordings *all, const struct catalog_recording *r, bool *has_pack,
                                           struct reel_error *err) {
    struct reel_index *index = scan_open_pack(all->app, r->content, err);
    *has_pack = index != NULL;
    if (index) {
        reel_index_rest(index);
    }
    return index ? open_with(all->app, r, index, true, err) : NULL;
}

static struct reel_recording *get(struct recordings *all, const struct catalog_recording *r, bool resting,
                                  int64_t wait_ns, char job[JOB_ID_TEXT], struct reel_error *err) {
    job[0] = '\0';
    definitions_refresh(all->app, NULL); /* the last ones count while the catalog does not answer */
    if (r->state != STATE_READY && r->state != STATE_SCANNING) {
        reel_fail(err, REEL_CONFLICT, "the recording is %s", recording_state_name(r->state));
        return NULL;
    }
    struct reel_recording *opened = find_open(all, r);
    if (opened) {
        return opened;
    }
    struct reel_error why = {0};
    bool has_pack = false;
    opened = (resting ? open_resting : open_shared)(all, r, &has_pack, &why);
    if (!opened && !has_pack && (why.code == REEL_NOT_FOUND || why.code == REEL_CHANGED)) {
        if (!wait_for_pack(all, r, wait_ns, job, err)) {
            return NULL;
        }
        opened = (resting ? open_resting : open_shared)(all, r, &has_pack, &why);
    }
    if (!opened && has_pack) {
        references_check_files(all->app, r); /* one may be missing or changed */
    }
    if (!opened && err) {
        reel_error_pass(err, &why);
    }
    return opened;
}

struct reel_recording *recordings_get(struct recordings *all, const struct catalog_recording *r, int64_t wait_ns,
                                      char job[JOB_ID_TEXT], struct reel_error *err) {
    return get(all, r, false, wait_ns, job, err);
}

struct reel_recording *recordings_get_resting(struct recordings *all, const struct catalog_recording *r,
                                              int64_t wait_ns, char job[JOB_ID_TEXT], struct reel_error *err) {
    return get(all, r, true, wait_ns, job, err);
}

/* ---- announced recordings */

static bool read_nothing(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                         struct reel_error *err) {
    (void)offset, (void)buffer, (void)size;
    return reel_fail(err, REEL_CONFLICT, "%s is still on the robot", source->name);
}

static void free_absent(struct reel_source *source) {
    free(source);
}

/* A file that cannot be read. */
static struct reel_source *absent_source(uint64_t size) {
    static const struct reel_source_ops ops = {.read = read_nothing, .free = free_absent};
    struct reel_source *source = malloc(sizeof *source);
    if (source) {
        *source = (struct reel_source){.ops = &ops, .size = size, .name = "the file"};
    }
    return source;
}

struct reel_recording *recordings_get_announced(struct app *app, const struct catalog_recording *r,
                                                struct reel_error *err) {
    AUTO(reel_index_free) struct reel_index *index = scan_open_announced(app, r->content, err);
    const uint32_t n = index ? reel_index_info(index)->n_parts : 0;
    AUTO_MEM struct reel_source **parts = calloc((size_t)n + 1, sizeof(struct reel_source *));
    uint32_t made = 0;
    if (!index || !parts) {
        return index ? (reel_fail_memory(err), NULL) : NULL;
    }
    if (r->annotations.has_clock) {
        reel_index_set_clock(index, r->annotations.clock);
    }
    while (made < n && (parts[made] = absent_source(reel_index_part_size(index, made)))) {
        made++;
    }
    if (made < n) {
        while (made > 0) {
            reel_source_free(parts[--made]);
        }
        reel_fail_memory(err);
        return NULL;
    }
    const struct reel_recording_options options = {.cache = app->cache};
    return reel_recording_from_index(TAKE(index), parts, n, &options, err);
}
