/* A tar archive that is not stored: it is laid out first, so it has a length, an entity tag and ranges, and its members
 * are read while it is sent. If one is not what it was, the connection is closed early. */
#ifndef SERVER_API_EXPORT_TAR_ARCHIVE_H
#define SERVER_API_EXPORT_TAR_ARCHIVE_H

#include "http/http.h"
#include "reel/cleanup.h"
#include "store/store.h"

enum { TAR_FILES_MAX = 20000, TAR_TAG = 48, TAR_IDENTITY = 72 };

struct tar_content { /* of an open member */
    bool (*read)(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err);
    void (*free)(void *context);
    void *context;
};
/* Opens a stored file; `name` is for errors. REEL_CHANGED: it has another size. */
bool tar_content_of_blob(struct store *store, const char *sha256, const char *name, uint64_t size,
                         struct tar_content *out, struct reel_error *err);
struct tar_owner { /* who has the contents; freed with the archive */
    bool (*open)(void *context, size_t i, struct tar_content *out, struct reel_error *err); /* of the i-th member */
    void (*free)(void *context);
    void *context;
};

struct tar_archive;
/* `r` holds the memory of its members, and of what the owner has of each. Takes the owner in any case. */
struct tar_archive *tar_archive_new(struct http_request *r, const struct tar_owner *owner, struct reel_error *err);
void tar_archive_free(void *archive);
static inline void tar_archive_close(struct tar_archive *a) {
    tar_archive_free(a);
}
REEL_DEFINE_AUTO(struct tar_archive, tar_archive_close);
/* Takes the name, from malloc, which is made safe to unpack. `tag`: unique, for names that collide; `identity`: names
 * the bytes. REEL_LIMIT, REEL_BUSY. */
bool tar_archive_add(struct tar_archive *a, char *name, const char *tag, const char *identity, uint64_t size,
                     int64_t modified_ns, struct reel_error *err);
/* Lays it out, and replies with it. */
void tar_archive_reply(struct http_request *r, struct tar_archive *a, const char *file_name);

#endif
