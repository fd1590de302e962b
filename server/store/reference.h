/* Files that are not copied: blobs/ab/<sha256>.ref says where such a file is and what it was like. JSON:
 * {"reel_reference": 1, "path", "device", "inode", "size", "mtime_ns", "fingerprint"}. Like the manifests it outlives
 * the catalog. The file itself is only read. */
#ifndef SERVER_STORE_REFERENCE_H
#define SERVER_STORE_REFERENCE_H

#include <limits.h>

#include "store/store.h"

struct roots;

struct store_reference {
    char path[PATH_MAX]; /* absolute, as roots.h tidies it */
    uint64_t device, inode, size;
    int64_t mtime_ns;
    char fingerprint[65];
};

/* The roots below which references are opened; without them none is. To be set before the store is used; borrowed. */
void store_set_roots(struct store *store, const struct roots *roots);
const struct roots *store_roots(const struct store *store);

/* SHA-256 over the size and the first and last MiB, as hex. */
bool store_fingerprint(int fd, uint64_t size, char out[65], struct reel_error *err);
/* What an open file is like; `path` is copied. REEL_ARGUMENT when it is not a regular file. */
bool store_inspect(int fd, const char *path, struct store_reference *out, struct reel_error *err);

/* Makes the content readable where it lies. With a blob of it there is nothing to do. */
bool store_keep_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                          struct reel_error *err);
bool store_load_reference(struct store *store, const char *sha256, struct store_reference *out,
                          struct reel_error *err); /* REEL_NOT_FOUND */
void store_drop_reference(struct store *store, const char *sha256);
bool store_is_reference(struct store *store, const char *sha256); /* it has one, and no blob */
/* The file of a reference: REEL_NOT_FOUND when it is gone or below no root, REEL_CHANGED when its size or time is
 * another. */
int store_open_reference(struct store *store, const char *sha256, struct reel_error *err);

#endif
