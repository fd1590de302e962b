/* See tokens_record.h. */
#include "store/tokens_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/ownership.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { TEXT_MAX = 4096 };
static const char text[] =
    "This archive has had access tokens. As long as this file exists, requests need a token, also when the catalog\n"
    "with the tokens is lost. To create a token: reel token create --role admin --name admin --data FOLDER\n";

static bool is_in_folder(const char *data, bool *there, struct reel_error *err) {
    char path[PATH_MAX];
    struct stat st;
    if (!disk_join(path, data, TOKENS_RECORD, err)) {
        return false;
    }
    *there = lstat(path, &st) == 0;
    return *there || errno == ENOENT || errno == ENOTDIR || reel_fail_errno(err, TOKENS_RECORD " cannot be read");
}

static bool is_in_bucket(struct store *store, bool *there, struct reel_error *err) {
    struct reel_error why = {0};
    if (!store || !store->bucket) {
        *there = false;
        return true;
    }
    AUTO_MEM char *found = bucket_get_text(store->bucket, "notes", TOKENS_RECORD, TEXT_MAX, &why);
    *there = found;
    return found || why.code == REEL_NOT_FOUND || reel_error_pass(err, &why);
}

bool tokens_record_exists(const char *data, struct store *store, bool *exists, struct reel_error *err) {
    return is_in_folder(data, exists, err) && (*exists || is_in_bucket(store, exists, err));
}

/* Also when the file is there: another thread may have created it and not made it durable yet. */
static bool write_in_folder(const char *data, struct reel_error *err) {
    char path[PATH_MAX];
    if (!disk_join(path, data, TOKENS_RECORD, err)) {
        return false;
    }
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    reel_own_by_folder(fd, path);
    return ((fd >= 0 && disk_write_all(fd, text, sizeof text - 1) && fsync(fd) == 0) ||
            reel_fail_errno(err, TOKENS_RECORD " cannot be written into the data folder")) &&
           disk_sync_folder(data, err);
}

static bool write_in_bucket(struct store *store, struct reel_error *err) {
    return !store || !store->bucket || bucket_put_text(store->bucket, "notes", TOKENS_RECORD, text, err);
}

bool tokens_record_write(const char *data, struct store *store, struct reel_error *err) {
    bool there;
    return is_in_folder(data, &there, err) && (there || write_in_bucket(store, err)) && write_in_folder(data, err);
}

bool tokens_record_restore(const char *data, struct store *store, struct reel_error *err) {
    bool in_folder, in_bucket;
    return is_in_folder(data, &in_folder, err) && is_in_bucket(store, &in_bucket, err) &&
           (in_bucket || write_in_bucket(store, err)) && (in_folder || write_in_folder(data, err));
}
