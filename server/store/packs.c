/* Index packs and field statistics. They are read from files, with a bucket from copies. Statistics are not flushed:
 * what a power failure damages is refused by its checksum, and made again. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "store/store_internal.h"
#include "store/store_ops.h"

static bool keep(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    return !store->ops->keep || store->ops->keep(store, content, suffix, err);
}

bool store_pack_place(struct store *store, const char *content, char *out, size_t size, struct reel_error *err) {
    return store->ops->place(store, content, STORE_PACK, out, size, err);
}

bool store_keep_pack(struct store *store, const char *content, struct reel_error *err) {
    return keep(store, content, STORE_PACK, err);
}

bool store_renew_pack(struct store *store, const char *content, struct reel_error *err) {
    uint64_t size;
    struct reel_error why = {0};
    if (store->ops->size(store, content, STORE_PACK, &size, &why)) {
        return true;
    }
    return why.code == REEL_NOT_FOUND ? store_keep_pack(store, content, err) : reel_error_pass(err, &why);
}

int store_open_pack(struct store *store, const char *content, bool again, char *out, size_t size,
                    struct reel_error *err) {
    return store->ops->open_file(store, content, STORE_PACK, again, out, size, err);
}

bool store_remove_pack(struct store *store, const char *content, struct reel_error *err) {
    return store->ops->remove_file(store, content, STORE_PACK, err);
}

bool store_keep_statistics(struct store *store, const char *content, const void *data, size_t size,
                           struct reel_error *err) {
    char from[STORE_PATH], to[STORE_PATH];
    AUTO_FD int fd =
        store->ops->place(store, content, STORE_STATISTICS, to, sizeof to, err) ? store_new_file(store, from, err) : -1;
    if (fd < 0) {
        return false;
    }
    bool good = (disk_write_all(fd, data, size) || reel_fail_errno(err, "statistics cannot be written")) &&
                (rename(from, to) == 0 || reel_fail_errno(err, "statistics cannot be kept"));
    if (!good) {
        unlink(from);
    }
    return good && keep(store, content, STORE_STATISTICS, err);
}

int store_open_statistics(struct store *store, const char *content, struct reel_error *err) {
    char path[STORE_PATH];
    return store->ops->open_file(store, content, STORE_STATISTICS, false, path, sizeof path, err);
}

bool store_remove_statistics(struct store *store, const char *content, struct reel_error *err) {
    return store->ops->remove_file(store, content, STORE_STATISTICS, err);
}
