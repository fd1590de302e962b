/* A cache of objects that are expensive to derive from recordings (plans, columns), by key. Each is computed once, by a
 * job; requests with the same key wait for the same job. The least recently used objects are dropped when the budget of
 * memory is exceeded; objects may also keep bytes on disk, and the least recently used ones forget them when that
 * budget is exceeded. */
#ifndef SERVER_WORK_DERIVED_CACHE_H
#define SERVER_WORK_DERIVED_CACHE_H

#include "convert/writer.h"
#include "work/jobs.h"

struct derived_cache;

struct derived_kind {
    const char *job; /* kind of the job */
    /* Computes the object from `context`, on a worker; *object is a new reference. */
    bool (*make)(void *context, const struct reel_progress *progress, void **object, uint64_t *memory_bytes,
                 struct reel_error *err);
    void (*free_context)(void *context);
    void *(*ref)(void *object);
    void (*unref)(void *object);
    /* Optional: bytes that the object keeps on disk, and to forget them. */
    uint64_t (*kept)(const void *object);
    void (*forget)(void *object);
};

struct derived_options {
    struct jobs *jobs;
    uint64_t memory_bytes, disk_bytes; /* at most */
    const char *folder;                /* for unlinked files; must outlive the cache */
};
struct derived_cache *derived_cache_new(const struct derived_options *options, struct reel_error *err);
void derived_cache_free(struct derived_cache *cache); /* after the jobs have ended */

/* Where an object may keep bytes on disk, while there is room. */
struct reel_keep derived_keep(struct derived_cache *cache);

struct derived_request {
    const char *key;
    const char *subject; /* is shown with the job */
    const char *owner;   /* who asked: never has all threads that compute */
    int64_t wait_ns;
};
/* A new reference to the object. Owns `context` from then on (NULL: no memory). NULL with job[0] set: not ready after
 * wait_ns (503, Retry-After). NULL with err: it failed. */
void *derived_get(struct derived_cache *cache, const struct derived_kind *kind, const struct derived_request *request,
                  void *context, char job[33], struct reel_error *err);
/* A new reference to the object if it is there; NULL: it is not, and nothing is started. */
void *derived_find(struct derived_cache *cache, const char *key);
void derived_drop(struct derived_cache *cache, const char *key); /* unless it is being computed, or is not there */

#endif
