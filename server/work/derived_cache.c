/* See derived_cache.h. The lock is held only to look up and to insert; objects are computed on a worker. */
#include "work/derived_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct computation { /* owned by the job */
    struct derived_cache *cache;
    const struct derived_kind *kind;
    char *key;
    void *context;
};

struct entry {
    const struct derived_kind *kind;
    char *key;
    void *object; /* NULL while `job` computes it */
    struct job *job;
    uint64_t memory, used_at;
    struct entry *next;
};

struct derived_cache {
    pthread_mutex_t lock;
    struct derived_options options;
    uint64_t memory, clock;
    _Atomic uint64_t disk; /* bytes kept on disk */
    struct entry *first;
};

struct derived_cache *derived_cache_new(const struct derived_options *options, struct reel_error *err) {
    struct derived_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&cache->lock, NULL);
    cache->options = *options;
    return cache;
}

static void free_entry(struct entry *k) {
    if (k->object) {
        k->kind->unref(k->object);
    }
    job_unref(k->job);
    free(k->key);
    free(k);
}

void derived_cache_free(struct derived_cache *cache) {
    if (!cache) {
        return;
    }
    while (cache->first) {
        struct entry *k = cache->first;
        cache->first = k->next;
        free_entry(k);
    }
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- the table; the lock is held */

static struct entry **derived_cache_find(struct derived_cache *cache, const char *key) {
    struct entry **k = &cache->first;
    while (*k && strcmp((*k)->key, key) != 0) {
        k = &(*k)->next;
    }
    return k;
}

static void derived_cache_drop(struct derived_cache *cache, struct entry **at) {
    struct entry *k = *at;
    *at = k->next;
    cache->memory -= k->memory;
    free_entry(k);
}

/* Drops the least recently used until the budget holds. */
static void derived_cache_trim(struct derived_cache *cache) {
    while (cache->memory > cache->options.memory_bytes) {
        struct entry **oldest = NULL;
        for (struct entry **k = &cache->first; *k; k = &(*k)->next) {
            if ((*k)->object && (!oldest || (*k)->used_at < (*oldest)->used_at)) {
                oldest = k;
            }
        }
        if (!oldest) {
            return;
        }
        derived_cache_drop(cache, oldest);
    }
}

/* ---- bytes on disk */

/* Makes the least recently used object forget what it keeps. False: none keeps anything. */
static bool forget_oldest(struct derived_cache *cache) {
    struct entry *oldest = NULL;
    for (struct entry *k = cache->first; k; k = k->next) {
        if (k->object && k->kind->kept && k->kind->kept(k->object) > 0 && (!oldest || k->used_at < oldest->used_at)) {
            oldest = k;
        }
    }
    if (oldest) {
        oldest->kind->forget(oldest->object);
    }
    return oldest;
}

static bool take_disk(void *context, uint64_t bytes) {
    struct derived_cache *cache = context;
    uint64_t most = cache->options.disk_bytes;
    pthread_mutex_lock(&cache->lock); /* others only give bytes back meanwhile */
    while (bytes <= most && atomic_load(&cache->disk) > most - bytes && forget_oldest(cache)) {
    }
    bool room = bytes <= most && atomic_load(&cache->disk) <= most - bytes;
    if (room) {
        atomic_fetch_add(&cache->disk, bytes);
    }
    pthread_mutex_unlock(&cache->lock);
    return room;
}

/* Is called with the lock held, too. */
static void give_disk(void *context, uint64_t bytes) {
    atomic_fetch_sub(&((struct derived_cache *)context)->disk, bytes);
}

struct reel_keep derived_keep(struct derived_cache *cache) {
    return (struct reel_keep){.folder = cache->options.folder, .take = take_disk, .give = give_disk, .context = cache};
}

/* ---- the job */

static void free_computation(void *context) {
    struct computation *m = context;
    if (m->context) {
        m->kind->free_context(m->context);
    }
    free(m->key);
    free(m);
}

static bool derived_cache_run(void *context, const struct reel_progress *progress, struct reel_error *err) {
    struct computation *m = context;
    void *object = NULL;
    uint64_t memory = 0;
    bool good = m->kind->make(m->context, progress, &object, &memory, err);
    m->kind->free_context(m->context); /* the cache keeps the job; its files must not stay open that long */
    m->context = NULL;
    if (!good) {
        return false;
    }
    pthread_mutex_lock(&m->cache->lock);
    struct entry **k = derived_cache_find(m->cache, m->key);
    if (*k && !(*k)->object) {
        (*k)->object = m->kind->ref(object);
        (*k)->memory = memory;
        (*k)->used_at = ++m->cache->clock;
        m->cache->memory += memory;
    }
    pthread_mutex_unlock(&m->cache->lock);
    m->kind->unref(object);
    return true;
}

/* ---- requests */

struct lookup {
    const struct derived_kind *kind;
    const char *key, *subject, *owner;
    void *context; /* NULL once a job owns it */
};

/* Starts the job; the lock is held. */
static struct job *derived_cache_start(struct derived_cache *cache, struct lookup *q, struct reel_error *err) {
    struct computation *computation = calloc(1, sizeof *computation);
    struct entry *k = calloc(1, sizeof *k);
    if (!q->context || !computation || !k || !(computation->key = strdup(q->key)) || !(k->key = strdup(q->key))) {
        free(computation ? computation->key : NULL);
        free(computation);
        free(k);
        reel_fail_memory(err);
        return NULL;
    }
    computation->cache = cache;
    computation->kind = k->kind = q->kind;
    computation->context = q->context;
    q->context = NULL;
    const struct job_work work = {.kind = q->kind->job,
                                  .lane = LANE_PLANS,
                                  .owner = q->owner,
                                  .subject = q->subject,
                                  .run = derived_cache_run,
                                  .free = free_computation,
                                  .context = computation};
    if (!(k->job = job_start(cache->options.jobs, &work, err))) {
        free_entry(k);
        return NULL;
    }
    k->next = cache->first;
    cache->first = k;
    return job_ref(k->job);
}

void *derived_find(struct derived_cache *cache, const char *key) {
    pthread_mutex_lock(&cache->lock);
    struct entry *k = *derived_cache_find(cache, key);
    void *object = k && k->object ? k->kind->ref(k->object) : NULL;
    if (object) {
        k->used_at = ++cache->clock;
    }
    pthread_mutex_unlock(&cache->lock);
    return object;
}

void derived_drop(struct derived_cache *cache, const char *key) {
    pthread_mutex_lock(&cache->lock);
    struct entry **at = derived_cache_find(cache, key);
    if (*at && (*at)->object) {
        derived_cache_drop(cache, at);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* The object, or the job that computes it, started if necessary; each with a new reference. */
static bool find_or_start(struct derived_cache *cache, struct lookup *q, void **object, struct job **job,
                          struct reel_error *err) {
    pthread_mutex_lock(&cache->lock);
    struct entry **at = derived_cache_find(cache, q->key);
    if (*at && (*at)->object) {
        (*at)->used_at = ++cache->clock;
        *object = q->kind->ref((*at)->object);
    } else {
        *job = *at ? job_ref((*at)->job) : derived_cache_start(cache, q, err);
    }
    pthread_mutex_unlock(&cache->lock);
    return *object || *job;
}

/* After the job has ended: the object, or its error. */
static void *derived_cache_collect(struct derived_cache *cache, const struct lookup *q, struct job *job,
                                   struct reel_error *err) {
    void *object = NULL;
    pthread_mutex_lock(&cache->lock);
    struct entry **at = derived_cache_find(cache, q->key);
    if (*at && (*at)->object) {
        object = q->kind->ref((*at)->object);
        derived_cache_trim(cache);
    } else if (*at) {
        derived_cache_drop(cache, at);
    }
    pthread_mutex_unlock(&cache->lock);
    if (!object) {
        if (job_result(job, err)) {
            reel_fail(err, REEL_CANCELLED, "it was cancelled");
        }
    }
    return object;
}

void *derived_get(struct derived_cache *cache, const struct derived_kind *kind, const struct derived_request *request,
                  void *context, char job_id[33], struct reel_error *err) {
    struct lookup q = {
        .kind = kind, .key = request->key, .subject = request->subject, .owner = request->owner, .context = context};
    void *object = NULL;
    struct job *job = NULL;
    job_id[0] = '\0';
    bool good = find_or_start(cache, &q, &object, &job, err);
    if (q.context) {
        kind->free_context(q.context);
    }
    if (!good || object) {
        return object;
    }
    const struct job_spec spec = {.key = request->key, .subject = request->subject};
    bool left = !job_wait_for_request(job, request->wait_ns) && job_leave(job, &spec, job_id, err);
    if (!left && err->code == REEL_OK) {
        object = derived_cache_collect(cache, &q, job, err);
    }
    job_unref(job);
    return object;
}
