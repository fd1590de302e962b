/* Field statistics of a content: <content>.stats beside its index pack. With a bucket they are an object of it, and the
 * folder of derived files has copies of what is read. They are not flushed: what a power failure damages is refused by
 * its checksum, and made again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

#define FOLDER "statistics"

static bool place(const struct store *store, const char *content, char out[STORE_PATH], struct reel_error *err) {
    bool good = store->bucket ? snprintf(out, STORE_PATH, "%s/%s%s", store->derived, content, STORE_STATISTICS_SUFFIX) <
                                    STORE_PATH
                              : store_content_path(store, content, STORE_STATISTICS_SUFFIX, out, STORE_PATH);
    return good || reel_fail(err, REEL_ARGUMENT, "not a content address");
}

static bool publish(struct store *store, const char *content, const char *from, const char *to,
                    struct reel_error *err) {
    bool good = (store->bucket || store_make_place(store, content, err)) &&
                (rename(from, to) == 0 || reel_fail_errno(err, "statistics cannot be kept"));
    if (!good) {
        unlink(from);
    }
    return good;
}

bool store_keep_statistics(struct store *store, const char *content, const void *data, size_t size,
                           struct reel_error *err) {
    char from[STORE_PATH], to[STORE_PATH];
    AUTO_FD int fd = place(store, content, to, err) ? store_new_file(store, from, err) : -1;
    if (fd < 0) {
        return false;
    }
    if (!disk_write_all(fd, data, size)) {
        reel_fail_errno(err, "statistics cannot be written");
        unlink(from);
        return false;
    }
    return publish(store, content, from, to, err) &&
           (!store->bucket || bucket_put_file(store->bucket, FOLDER, content, to, err));
}

static bool fetch(struct store *store, const char *content, const char *to, struct reel_error *err) {
    char from[STORE_PATH];
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    if (!bucket_get_file(store->bucket, FOLDER, content, fd, err)) {
        unlink(from);
        return false;
    }
    return publish(store, content, from, to, err);
}

int store_open_statistics(struct store *store, const char *content, struct reel_error *err) {
    char path[STORE_PATH];
    if (!place(store, content, path, err)) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && store->bucket) {
        fd = fetch(store, content, path, err) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    } else if (fd < 0) {
        errno == ENOENT ? reel_fail(err, REEL_NOT_FOUND, "there are no statistics")
                        : reel_fail_errno(err, "statistics cannot be opened");
    }
    return fd;
}

bool store_remove_statistics(struct store *store, const char *content, struct reel_error *err) {
    char path[STORE_PATH];
    return place(store, content, path, err) &&
           (unlink(path) == 0 || errno == ENOENT || reel_fail_errno(err, "statistics cannot be removed")) &&
           (!store->bucket || bucket_delete(store->bucket, FOLDER, content, err));
}
