/* See copies.h. Those of packs lie in blobs/ and are counted by the cache of blocks, those of statistics with the
 * derived files. */
#include "store/bucket/copies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

const char *bucket_folder_of(const char *suffix) {
    for (unsigned i = 0; suffix && i < STORE_KINDS; i++) {
        if (strcmp(suffix, store_kinds[i].suffix) == 0) {
            return store_kinds[i].folder;
        }
    }
    return suffix ? NULL : "notes";
}

static bool is_pack(const char *suffix) {
    return strcmp(suffix, STORE_PACK) == 0;
}

static bool path_of(const struct store *store, const char *content, const char *suffix, char *out, size_t size,
                    struct reel_error *err) {
    if (strcmp(suffix, STORE_STATISTICS) != 0) {
        return store_content_path(store, content, suffix, out, size, err);
    }
    int used = snprintf(out, size, "%s/%s%s", store->derived, content, suffix);
    return (used > 0 && (size_t)used < size) || reel_fail(err, REEL_ARGUMENT, "not a content address");
}

bool copy_place(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                struct reel_error *err) {
    if (!path_of(store, content, suffix, out, size, err)) {
        return false;
    }
    if (!is_pack(suffix)) {
        return true;
    }
    blocks_hold_file(bucket_blocks(store->bucket), content, out, true);
    return store_make_place(store, content, err);
}

bool copy_keep(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    if (!path_of(store, content, suffix, path, sizeof path, err) ||
        !bucket_put_file(store->bucket, bucket_folder_of(suffix), content, path, err)) {
        return false;
    }
    if (is_pack(suffix)) {
        blocks_hold_file(bucket_blocks(store->bucket), content, path, false);
    }
    return true;
}

static bool fetch(struct store *store, const char *content, const char *suffix, const char *to,
                  struct reel_error *err) {
    char from[STORE_PATH];
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    bool good = bucket_get_file(store->bucket, bucket_folder_of(suffix), content, fd, err) &&
                (!is_pack(suffix) || store_make_place(store, content, err)) &&
                (rename(from, to) == 0 || reel_fail_errno(err, "a copy of an object cannot be kept"));
    if (!good) {
        unlink(from);
    }
    return good;
}

/* The cache may have removed it since it was opened. */
static bool note_use(struct store *store, const char *content, const char *path, int fd) {
    struct stat st;
    futimens(fd, NULL); /* the order of use, after a restart */
    blocks_use_file(bucket_blocks(store->bucket), content, path);
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* One that is open stays. What was removed before it was counted is fetched once more. */
int copy_open(struct store *store, const char *content, const char *suffix, bool again, char *out, size_t size,
              struct reel_error *err) {
    if (!path_of(store, content, suffix, out, size, err)) {
        return -1;
    }
    for (unsigned tries = 0; tries < 3; tries++) {
        int fd = again && tries == 0 ? -1 : open(out, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && (!is_pack(suffix) || note_use(store, content, out, fd))) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
        if (!fetch(store, content, suffix, out, err)) {
            return -1;
        }
    }
    reel_fail(err, REEL_BUSY, "the cache of indexes has no room");
    return -1;
}

bool copy_remove(struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    if (!path_of(store, hex, suffix, path, sizeof path, err)) {
        return false;
    }
    if (is_pack(suffix)) {
        blocks_drop_file(bucket_blocks(store->bucket), hex);
    }
    return store_unlink(path, err) && bucket_delete(store->bucket, bucket_folder_of(suffix), hex, err);
}
