/* Index packs. They lie in the folder in any case, from where they are mapped; with a bucket, that is a copy. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/bucket/bucket.h"
#include "store/store_internal.h"
#include "wire/cleanup.h"

bool store_pack_place(struct store *store, const char *content, char *out, size_t size, struct reel_error *err) {
    return store_content_path(store, content, ".reel", out, size) ? store_make_place(store, content, err)
                                                                  : reel_fail(err, REEL_ARGUMENT, "not a content address");
}

bool store_keep_pack(struct store *store, const char *content, struct reel_error *err) {
    char path[STORE_PATH];
    return !store->bucket ||
           (store_content_path(store, content, ".reel", path, sizeof path) && bucket_put_file(store->bucket, "packs", content, path, err));
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

bool store_find_pack(struct store *store, const char *content, bool again, char *out, size_t size, struct reel_error *err) {
    if (!store_content_path(store, content, ".reel", out, size)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    return !store->bucket || (!again && access(out, F_OK) == 0) || fetch(store, content, out, err);
}
