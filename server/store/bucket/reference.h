/* Objects of other buckets, or of other people in the same one, whose content is read where it is: what
 * store/reference.h is for files of this machine. The store has to be a bucket, and reads them with its own
 * credentials. */
#ifndef SERVER_STORE_BUCKET_REFERENCE_H
#define SERVER_STORE_BUCKET_REFERENCE_H

#include "base/source.h"
#include "index/scan.h"
#include "store/directory.h"
#include "store/s3/s3.h"
#include "store/store.h"

/* Every object whose key begins with that of `url` (s3://BUCKET/KEY), but for the archive's own. Stops when visit() is
 * false. */
bool store_each_object(struct store *store, const char *url,
                       bool (*visit)(void *context, const char *key, const struct s3_object *object), void *context,
                       struct reel_error *err);
/* Its bytes, past the cache. Reading fails with REEL_CHANGED once it has another etag. */
struct reel_source *store_open_object(struct store *store, const struct store_object *object, const char *name,
                                      struct reel_error *err);
/* `location` as in struct store_object. REEL_NOT_FOUND. */
bool store_find_object(struct store *store, const char *location, struct s3_object *out, struct reel_error *err);
/* Reads all of it, several ranges at a time. REEL_CHANGED; REEL_CANCELLED by the progress, which may be NULL. */
bool store_hash_object(struct store *store, const struct store_object *object, const struct reel_progress *progress,
                       char sha256[65], struct reel_error *err);
/* Makes the content readable where it lies. With an object of its own there is nothing to do. */
bool store_keep_object(struct store *store, const char *sha256, const struct store_object *object,
                       struct reel_error *err);

#endif
