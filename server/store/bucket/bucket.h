/* The archive's files in S3: s3://BUCKET/PREFIX/objects/<id> is a file as uploaded, packs/<content> an index pack,
 * statistics/<content> its field statistics, manifests/<content> what restores a lost catalog, notes/<name> a small
 * file. What is read of objects is cached in the data folder.
 *
 * Objects have keys that nobody else chooses, and are never changed. Which object has a content is decided by the
 * catalog alone (struct store_directory). Any thread may call. */
#ifndef SERVER_STORE_BUCKET_BUCKET_H
#define SERVER_STORE_BUCKET_BUCKET_H

#include <pthread.h>
#include <string.h>

#include "store/bucket/blocks.h"
#include "store/directory.h"
#include "store/s3/s3.h"

enum { BUCKET_SENDERS = 8 };
struct bucket {
    char name[S3_BUCKET_MAX], prefix[S3_KEY_MAX + 1]; /* prefix: "" or with its slash */
    struct s3 *s3;
    struct blocks *blocks;
    struct store_directory directory; /* to be set before a content is asked for */
    pthread_mutex_t mutex;            /* guards what follows */
    pthread_cond_t wake;
    struct bucket_task *tasks, **tasks_end;
    pthread_t threads[BUCKET_SENDERS];
    unsigned n_threads;
    bool stopping;
    pthread_mutex_t asking; /* guards what follows */
    int64_t asked_ns;       /* 0: never */
    struct reel_error answer;
};

/* `address`: s3://BUCKET or s3://BUCKET/PREFIX. Makes sure that the service answers and keeps conditions, unless it is
 * only read. */
struct bucket *bucket_open(const char *address, bool reads_only, const char *cache_folder, uint64_t cache_bytes,
                           struct reel_error *err);
void bucket_close(struct bucket *b); /* after its sources and uploads; NULL is fine */

/* Asks whether the service answers and has this archive, at most every few seconds, and waits at most two. REEL_BUSY:
 * it does not answer.
 */
bool bucket_answers(struct bucket *b, struct reel_error *err);

/* The name of PREFIX/FOLDER/NAME; the key is in `out`. */
struct s3_name bucket_name(const struct bucket *b, const char *folder, const char *name, char out[S3_KEY_MAX + 1]);
/* That of a location in the directory. */
struct s3_name bucket_located(const struct bucket *b, const char *location, char bucket[S3_BUCKET_MAX],
                              char key[S3_KEY_MAX + 1]);

bool bucket_owns(const struct bucket *b, const char *bucket, const char *key); /* whether this object belongs to the
                                                                                  archive */
static inline bool bucket_is_borrowed(const struct store_object *o) { /* it is one of others, which is only read */
    return strncmp(o->location, "s3://", 5) == 0;
}
/* The bytes of an object, past the cache. */
struct reel_source *bucket_direct(struct bucket *b, const struct store_object *o, const char *name,
                                  struct reel_error *err);
/* The object of a content. REEL_NOT_FOUND: the directory does not know it. */
bool bucket_find(struct bucket *b, const char *sha256, struct store_object *out, struct reel_error *err);
/* REEL_NOT_FOUND: it is not there; REEL_CHANGED: the object of others has changed. */
bool bucket_is_unchanged(struct bucket *b, const struct store_object *o, struct reel_error *err);
bool bucket_check(struct bucket *b, const char *sha256, struct store_object *out, struct reel_error *err); /* both of
                                                                                                              them */

/* Small objects, FOLDER/NAME. */
bool bucket_put_text(struct bucket *b, const char *folder, const char *name, const char *text, struct reel_error *err);
/* REEL_NOT_FOUND */
char *bucket_get_text(struct bucket *b, const char *folder, const char *name, size_t max, struct reel_error *err);
bool bucket_delete(struct bucket *b, const char *folder, const char *name, struct reel_error *err);
/* Writes the first text, or gets the one that is there; to be freed. */
char *bucket_first_text(struct bucket *b, const char *folder, const char *name, const char *text,
                        struct reel_error *err);
bool bucket_put_file(struct bucket *b, const char *folder, const char *name, const char *path, struct reel_error *err);
/* `fd` is an empty file. REEL_NOT_FOUND. */
bool bucket_get_file(struct bucket *b, const char *folder, const char *name, int fd, struct reel_error *err);
/* Every object of a folder: what follows FOLDER/ in its key. Stops when visit() is false. */
bool bucket_each(struct bucket *b, const char *folder,
                 bool (*visit)(void *context, const char *name, const struct s3_object *object), void *context,
                 struct reel_error *err);

/* Every multipart upload of an object that has not ended; `name` follows objects/. */
bool bucket_each_upload(struct bucket *b,
                        bool (*visit)(void *context, const char *name, const char *upload, int64_t begun_s),
                        void *context, struct reel_error *err);

/* Work of the threads that send parts. The task is the caller's until run() has returned. */
struct bucket_task {
    void (*run)(struct bucket_task *task);
    struct bucket_task *next;
};
void bucket_run(struct bucket *b, struct bucket_task *task);

#endif
