/* Which object in S3 has a content. The catalog keeps it (catalog/objects.h); the store asks through this table, as it
 * knows no catalog. */
#ifndef SERVER_STORE_DIRECTORY_H
#define SERVER_STORE_DIRECTORY_H

#include <stdint.h>

#include "reel/error.h"

enum { STORE_LOCATION_MAX = 1152, STORE_ETAG_MAX = 128 };
struct store_object {
    char location[STORE_LOCATION_MAX]; /* objects/<id>, below the store's own prefix; or s3://BUCKET/KEY, which is only
                                          read */
    char etag[STORE_ETAG_MAX]; /* of an object that is only read: another one means that it has changed; else "" */
    uint64_t size;
};
struct store_directory {
    void *context;
    /* REEL_NOT_FOUND */
    bool (*find)(void *context, const char *sha256, struct store_object *out, struct reel_error *err);
    /* *added: false when the content has an object already, which stays unless `replace`. */
    bool (*add)(void *context, const char *sha256, const struct store_object *object, bool replace, bool *added,
                struct reel_error *err);
    bool (*remove)(void *context, const char *sha256, struct reel_error *err);
};

#endif
