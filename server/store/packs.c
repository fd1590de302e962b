/* Index packs. They lie in the folder in any case, from where they are read; with a bucket, that is a copy, which the
 * cache of blocks counts. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

bool store_pack_place(struct store *store, const char *content, char *out, size_t size, struct reel_error *err) {
    if (!store_content_path(store, content, ".reel", out, size)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    if (store->bucket) {
        blocks_hold_file(bucket_blocks(store->bucket), content, out, true);
    }
    return store_make_place(store, content, err);
}

bool store_keep_pack(struct store *store, const char *content, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store->bucket) {
        return true;
    }
    if (!store_content_path(store, content, ".reel", path, sizeof path) ||
        !bucket_put_file(store->bucket, "packs", content, path, err)) {
        return false;
    }
    blocks_hold_file(bucket_blocks(store->bucket), content, path, false);
    return true;
}

bool store_renew_pack(struct store *store, const char *content, struct reel_error *err) {
    struct reel_error why = {0};
    if (!store->bucket || bucket_has(store->bucket, "packs", content, &why)) {
        return true;
    }
    return why.code == REEL_NOT_FOUND ? store_keep_pack(store, content, err) : (reel_error_pass(err, &why), false);
}

static bool fetch(struct store *store, const char *content, const char *to, struct reel_error *err) {
    char from[STORE_PATH];
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    bool good = bucket_get_file(store->bucket, "packs", content, fd, err) && store_make_place(store, content, err) &&
                (rename(from, to) == 0 || reel_fail_errno(err, "an index cannot be kept"));
    if (!good) {
        unlink(from);
    }
    return good;
}

/* One that is open stays. What was removed before it was counted is fetched once more. */
static int open_copy(struct store *store, const char *content, bool again, const char *path, struct reel_error *err) {
    for (unsigned tries = 0; tries < 3; tries++) {
        struct stat st;
        int fd = again && tries == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            futimens(fd, NULL); /* the order of use, after a restart */
            blocks_use_file(bucket_blocks(store->bucket), content, path);
            if (fstat(fd, &st) == 0 && st.st_nlink > 0) {
                return fd;
            }
            close(fd);
        }
        if (!fetch(store, content, path, err)) {
            return -1;
        }
    }
    reel_fail(err, REEL_BUSY, "the cache of indexes has no room");
    return -1;
}

int store_open_pack(struct store *store, const char *content, bool again, char *out, size_t size,
                    struct reel_error *err) {
    if (!store_content_path(store, content, ".reel", out, size)) {
        reel_fail(err, REEL_ARGUMENT, "not a content address");
        return -1;
    }
    if (store->bucket) {
        return open_copy(store, content, again, out, err);
    }
    int fd = open(out, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        errno == ENOENT ? reel_fail(err, REEL_NOT_FOUND, "there is no index")
                        : reel_fail_errno(err, "the index cannot be opened");
    }
    return fd;
}
