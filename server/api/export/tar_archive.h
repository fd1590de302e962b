/* A tar or ZIP archive that is not stored: it is laid out first, so it has a length, an entity tag and ranges, and its
 * members are read while it is sent. If one is not what it was, the connection is closed early. (zip_archive.h has
 * those whose members must be read first.) */
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
struct tar_member {
    char *name;           /* malloc'd, and taken in any case; NULL: no memory. It is made safe to unpack */
    const char *tag;      /* unique, for names that collide */
    const char *identity; /* names the bytes */
    uint64_t size;
    uint32_t crc;        /* CRC-32: only a ZIP archive needs it */
    int64_t modified_ns; /* only a tar archive has it */
};
bool tar_archive_add(struct tar_archive *a, const struct tar_member *member, struct reel_error *err); /* REEL_LIMIT,
                                                                                                          REEL_BUSY */
/* Lays it out, and replies with it. */
enum archive_form { ARCHIVE_TAR, ARCHIVE_ZIP };
void tar_archive_reply(struct http_request *r, struct tar_archive *a, enum archive_form form, const char *file_name);

#endif
