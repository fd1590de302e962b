/* See reference.h. */
#include "store/bucket/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { RANGE_BYTES = 4 << 20, RANGES = 4 }; /* fetched at a time */

/* ---- lists */

struct listing {
    struct bucket *bucket;
    const char *name; /* of the bucket */
    bool (*visit)(void *context, const char *key, const struct s3_object *object);
    void *context;
};

static bool reference_visit_object(void *context, const char *key, const struct s3_object *object) {
    const struct listing *l = context;
    return bucket_owns(l->bucket, l->name, key) || l->visit(l->context, key, object);
}

static bool has_bucket(const struct store *store, struct reel_error *err) {
    return store->bucket ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "objects in S3 are read only by a server whose own files are in a bucket (--store)");
}

bool store_each_object(struct store *store, const char *url,
                       bool (*visit)(void *context, const char *key, const struct s3_object *object), void *context,
                       struct reel_error *err) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    struct listing l = {.bucket = store->bucket, .name = bucket, .visit = visit, .context = context};
    return has_bucket(store, err) && s3_address(url, bucket, key, err) &&
           s3_list(store->bucket->s3, bucket, key, 0, reference_visit_object, &l, err);
}

struct reel_source *store_open_object(struct store *store, const struct store_object *object, const char *name,
                                      struct reel_error *err) {
    return has_bucket(store, err) ? bucket_direct(store->bucket, object, name, err) : NULL;
}

bool store_find_object(struct store *store, const char *location, struct s3_object *out, struct reel_error *err) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    return has_bucket(store, err) &&
           s3_head(store->bucket->s3, bucket_located(store->bucket, location, bucket, key), out, err);
}

bool store_keep_object(struct store *store, const char *sha256, const struct store_object *object,
                       struct reel_error *err) {
    const struct store_directory *d = store->directory;
    struct store_object there;
    struct reel_error why = {0};
    bool added;
    /* An object that is gone, or has changed, gives way. */
    bool lost = d && !bucket_check(store->bucket, sha256, &there, &why) &&
                (why.code == REEL_NOT_FOUND || why.code == REEL_CHANGED);
    return has_bucket(store, err) && d->add(d->context, sha256, object, lost, &added, err);
}

/* ---- hashing */

struct range {
    struct bucket_task task; /* first: a task is its range */
    struct hashing *of;
    uint64_t offset;
    size_t size;
    uint8_t *data;
    bool over, good;
    struct reel_error err;
};

struct hashing {
    struct bucket *bucket;
    const struct store_object *object;
    struct range ranges[RANGES];
    uint64_t next; /* offset of the range that is fetched next */
    pthread_mutex_t mutex;
    pthread_cond_t over;
};

static void reference_fetch(struct bucket_task *task) {
    struct range *r = (struct range *)task;
    struct hashing *h = r->of;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    r->good = s3_get(h->bucket->s3, bucket_located(h->bucket, h->object->location, bucket, key), h->object->etag,
                     r->offset, r->data, r->size, &r->err);
    pthread_mutex_lock(&h->mutex);
    r->over = true;
    pthread_cond_broadcast(&h->over);
    pthread_mutex_unlock(&h->mutex);
}

/* The next range, if there is one. */
static void reference_begin(struct hashing *h, struct range *r) {
    uint64_t left = h->object->size - h->next;
    r->offset = h->next;
    r->size = left < RANGE_BYTES ? (size_t)left : RANGE_BYTES;
    h->next += r->size;
    r->over = r->size == 0;
    r->good = true;
    if (r->size > 0) {
        bucket_run(h->bucket, &r->task);
    }
}

static void await(struct hashing *h, struct range *r) {
    pthread_mutex_lock(&h->mutex);
    while (!r->over) {
        pthread_cond_wait(&h->over, &h->mutex); /* s3_get() ends */
    }
    pthread_mutex_unlock(&h->mutex);
}

static bool hash_ranges(struct hashing *h, const struct reel_progress *progress, struct digest *hash,
                        struct reel_error *err) {
    uint64_t done = 0, size = h->object->size;
    for (unsigned i = 0; done < size; i = (i + 1) % RANGES) {
        struct range *r = &h->ranges[i];
        await(h, r);
        if (!r->good) {
            return reel_error_pass(err, &r->err);
        }
        digest_add(hash, r->data, r->size);
        done += r->size;
        if (progress && !progress->report(progress->context, done, size)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
        reference_begin(h, r);
    }
    return true;
}

bool store_hash_object(struct store *store, const struct store_object *object, const struct reel_progress *progress,
                       char sha256[65], struct reel_error *err) {
    struct digest hash;
    struct hashing h = {.bucket = store->bucket,
                        .object = object,
                        .mutex = PTHREAD_MUTEX_INITIALIZER,
                        .over = PTHREAD_COND_INITIALIZER};
    AUTO_MEM uint8_t *data = has_bucket(store, err) ? malloc((size_t)RANGES * RANGE_BYTES) : NULL;
    if (!data) {
        return store->bucket && reel_fail_memory(err);
    }
    for (unsigned i = 0; i < RANGES; i++) {
        h.ranges[i] =
            (struct range){.task = {.run = reference_fetch}, .of = &h, .data = data + (size_t)i * RANGE_BYTES};
        reference_begin(&h, &h.ranges[i]);
    }
    digest_start(&hash, DIGEST_SHA256);
    bool good = hash_ranges(&h, progress, &hash, err);
    for (unsigned i = 0; i < RANGES; i++) {
        await(&h, &h.ranges[i]);
    }
    digest_end_hex(&hash, sha256);
    return good;
}
