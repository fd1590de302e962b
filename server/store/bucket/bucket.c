/* See bucket.h. */
#include "store/bucket/bucket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/hex.h"

enum { PIECE_BYTES = 4 << 20, TEXT_MAX = 64 << 10, ASK_MS = 2000 };
#define ASKED_NS (5 * INT64_C(1000000000)) /* so long an answer holds */

struct s3_name bucket_name(const struct bucket *b, const char *folder, const char *name, char out[S3_KEY_MAX + 1]) {
    snprintf(out, S3_KEY_MAX + 1, "%.*s%s/%s", S3_KEY_MAX / 2, b->prefix, folder, name);
    return (struct s3_name){b->name, out};
}

struct s3_name bucket_located(const struct bucket *b, const char *location, char bucket[S3_BUCKET_MAX],
                              char key[S3_KEY_MAX + 1]) {
    struct reel_error ignored;
    if (strncmp(location, "s3://", 5) == 0 && s3_address(location, bucket, key, &ignored)) {
        return (struct s3_name){bucket, key};
    }
    snprintf(bucket, S3_BUCKET_MAX, "%s", b->name);
    snprintf(key, S3_KEY_MAX + 1, "%.*s%s", S3_KEY_MAX / 2, b->prefix, location);
    return (struct s3_name){bucket, key};
}

bool bucket_owns(const struct bucket *b, const char *bucket, const char *key) {
    static const char *const folders[] = {"objects/", "packs/", "statistics/", "manifests/", "notes/", "incoming/"};
    size_t n = strlen(b->prefix);
    bool owns = false;
    if (strcmp(bucket, b->name) == 0 && strncmp(key, b->prefix, n) == 0) {
        for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
            owns = owns || strncmp(key + n, folders[i], strlen(folders[i])) == 0;
        }
    }
    return owns;
}

/* ---- contents */

bool bucket_find(struct bucket *b, const char *sha256, struct store_object *out, struct reel_error *err) {
    return b->directory.find(b->directory.context, sha256, out, err);
}

bool bucket_is_unchanged(struct bucket *b, const struct store_object *o, struct reel_error *err) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    struct s3_object there;
    return s3_head(b->s3, bucket_located(b, o->location, bucket, key), &there, err) &&
           ((there.size == o->size && (!o->etag[0] || strcmp(there.etag, o->etag) == 0)) ||
            reel_fail(err, REEL_CHANGED, "the object %s in bucket %s is not what it was", key, bucket));
}

struct object_source {
    struct reel_source source;
    struct s3 *s3;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1], etag[STORE_ETAG_MAX], name[]; /* etag "": any */
};

static bool object_read(struct reel_source *source, uint64_t offset, void *buffer, size_t size,
                        struct reel_error *err) {
    const struct object_source *s = (const struct object_source *)source;
    return s3_get(s->s3, (struct s3_name){s->bucket, s->key}, s->etag[0] ? s->etag : NULL, offset, buffer, size, err);
}
static void object_free(struct reel_source *source) {
    free(source);
}
static const struct reel_source_ops object_ops = {.read = object_read, .free = object_free};

struct reel_source *bucket_direct(struct bucket *b, const struct store_object *o, const char *name,
                                  struct reel_error *err) {
    size_t name_size = strlen(name) + 1;
    struct object_source *s = calloc(1, sizeof *s + name_size);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(s->name, name, name_size);
    s->source = (struct reel_source){.ops = &object_ops, .size = o->size, .name = s->name};
    s->s3 = b->s3;
    memcpy(s->etag, o->etag, sizeof s->etag);
    bucket_located(b, o->location, s->bucket, s->key);
    return &s->source;
}

bool bucket_check(struct bucket *b, const char *sha256, struct store_object *out, struct reel_error *err) {
    return bucket_find(b, sha256, out, err) && bucket_is_unchanged(b, out, err);
}

/* ---- small objects, and files */

bool bucket_put_text(struct bucket *b, const char *folder, const char *name, const char *text, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    const struct s3_body body = {.data = text, .size = strlen(text)};
    return s3_put(b->s3, bucket_name(b, folder, name, key), &body, false, err);
}

char *bucket_get_text(struct bucket *b, const char *folder, const char *name, size_t max, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    size_t size;
    return s3_get_all(b->s3, bucket_name(b, folder, name, key), max, &size, NULL, err);
}

bool bucket_delete(struct bucket *b, const char *folder, const char *name, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    return s3_delete(b->s3, bucket_name(b, folder, name, key), err);
}

char *bucket_first_text(struct bucket *b, const char *folder, const char *name, const char *text,
                        struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    struct reel_error why = {0};
    const struct s3_body body = {.data = text, .size = strlen(text)};
    if (!s3_put(b->s3, bucket_name(b, folder, name, key), &body, true, &why) && why.code != REEL_CONFLICT) {
        reel_error_pass(err, &why);
        return NULL;
    }
    return bucket_get_text(b, folder, name, TEXT_MAX, err);
}

bool bucket_put_file(struct bucket *b, const char *folder, const char *name, const char *path, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return reel_fail_errno(err, "a file for the bucket cannot be opened");
    }
    const struct s3_body body = {.fd = fd, .size = (uint64_t)st.st_size};
    return s3_put(b->s3, bucket_name(b, folder, name, key), &body, false, err);
}

bool bucket_get_file(struct bucket *b, const char *folder, const char *name, int fd, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    struct s3_object there;
    struct s3_name at = bucket_name(b, folder, name, key);
    AUTO_MEM uint8_t *piece = malloc(PIECE_BYTES);
    if (!piece) {
        return reel_fail_memory(err);
    }
    if (!s3_head(b->s3, at, &there, err)) {
        return false;
    }
    for (uint64_t done = 0; done < there.size;) {
        size_t n = there.size - done < PIECE_BYTES ? (size_t)(there.size - done) : PIECE_BYTES;
        if (!s3_get(b->s3, at, there.etag, done, piece, n, err)) {
            return false;
        }
        if (!disk_write_all(fd, piece, n)) {
            return reel_fail_errno(err, "a file from the bucket cannot be written");
        }
        done += n;
    }
    return true;
}

bool bucket_each(struct bucket *b, const char *folder,
                 bool (*visit)(void *context, const char *name, const struct s3_object *object), void *context,
                 struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    bucket_name(b, folder, "", key);
    return s3_list(b->s3, b->name, key, strlen(key), visit, context, err);
}

bool bucket_each_upload(struct bucket *b,
                        bool (*visit)(void *context, const char *name, const char *upload, int64_t begun_s),
                        void *context, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    bucket_name(b, "objects", "", key);
    return s3_uploads(b->s3, b->name, key, strlen(key), visit, context, err);
}

/* ---- the threads that send parts */

void bucket_run(struct bucket *b, struct bucket_task *task) {
    pthread_mutex_lock(&b->mutex);
    task->next = NULL;
    *b->tasks_end = task;
    b->tasks_end = &task->next;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->mutex);
}

static void *send_tasks(void *context) {
    struct bucket *b = context;
    pthread_mutex_lock(&b->mutex);
    while (b->tasks || !b->stopping) {
        struct bucket_task *task = b->tasks;
        if (!task) {
            pthread_cond_wait(&b->wake, &b->mutex);
            continue;
        }
        b->tasks = task->next;
        b->tasks_end = b->tasks ? b->tasks_end : &b->tasks;
        pthread_mutex_unlock(&b->mutex);
        task->run(task);
        pthread_mutex_lock(&b->mutex);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* ---- readiness */

bool bucket_answers(struct bucket *b, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    struct s3_object there;
    pthread_mutex_lock(&b->asking);
    if (b->asked_ns == 0 || clock_ns() - b->asked_ns > ASKED_NS) {
        b->answer = (struct reel_error){0};
        s3_head_within(b->s3, bucket_name(b, "notes", "archive-id", key), ASK_MS, &there, &b->answer);
        b->asked_ns = clock_ns();
    }
    const struct reel_error answer = b->answer;
    pthread_mutex_unlock(&b->asking);
    return answer.code == REEL_OK || reel_error_pass(err, &answer);
}

/* ---- start and end */

/* Writes an object twice: a service that lets the second one through would let two archives share a bucket unnoticed.
 */
static bool probe(struct bucket *b, struct reel_error *err) {
    uint8_t random[16];
    char name[40] = "", key[S3_KEY_MAX + 1];
    struct reel_error why = {0}, ignored;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return reel_fail_errno(err, "there are no random numbers");
    }
    hex_write(random, sizeof random, name);
    struct s3_name at = bucket_name(b, "probe", name, key);
    const struct s3_body body = {.data = "reel\n", .size = 5};
    if (!s3_put(b->s3, at, &body, true, err)) {
        return false;
    }
    bool again = s3_put(b->s3, at, &body, true, &why);
    s3_delete(b->s3, at, &ignored);
    if (again) {
        return reel_fail(
            err, REEL_UNSUPPORTED,
            "the store at %s overwrites objects in spite of If-None-Match: *; Reel needs one that does not",
            s3_endpoint(b->s3));
    }
    return why.code == REEL_CONFLICT || reel_error_pass(err, &why);
}

static bool set_address(struct bucket *b, const char *address, struct reel_error *err) {
    if (!s3_address(address, b->name, b->prefix, err)) {
        return false;
    }
    size_t n = strlen(b->prefix);
    if (n >= S3_KEY_MAX / 2) {
        return reel_fail(err, REEL_ARGUMENT, "%s: the prefix has at most %d bytes", address, S3_KEY_MAX / 2 - 1);
    }
    if (n > 0 && b->prefix[n - 1] != '/') {
        b->prefix[n] = '/';
        b->prefix[n + 1] = '\0';
    }
    return true;
}

struct bucket *bucket_open(const char *address, bool reads_only, const char *cache_folder, uint64_t cache_bytes,
                           struct reel_error *err) {
    struct bucket *b = calloc(1, sizeof *b);
    if (!b) {
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&b->mutex, NULL);
    pthread_mutex_init(&b->asking, NULL);
    pthread_cond_init(&b->wake, NULL);
    b->tasks_end = &b->tasks;
    bool good = set_address(b, address, err) && (b->s3 = s3_open(err)) && (reads_only || probe(b, err)) &&
                (b->blocks = blocks_open(cache_folder, cache_bytes, b->s3, err));
    while (good && b->n_threads < BUCKET_SENDERS) {
        int failed = pthread_create(&b->threads[b->n_threads], NULL, send_tasks, b);
        b->n_threads += failed == 0;
        good = failed == 0 || (errno = failed, reel_fail_errno(err, "a thread cannot be started"));
    }
    if (!good) {
        bucket_close(b);
        return NULL;
    }
    return b;
}

void bucket_close(struct bucket *b) {
    if (!b) {
        return;
    }
    pthread_mutex_lock(&b->mutex);
    b->stopping = true;
    pthread_cond_broadcast(&b->wake);
    pthread_mutex_unlock(&b->mutex);
    for (unsigned i = 0; i < b->n_threads; i++) {
        pthread_join(b->threads[i], NULL);
    }
    blocks_close(b->blocks);
    s3_close(b->s3);
    pthread_mutex_destroy(&b->mutex);
    pthread_mutex_destroy(&b->asking);
    pthread_cond_destroy(&b->wake);
    free(b);
}
