/* See switch.h. */
#include "store/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "store/store_internal.h"

enum { NAMES_MAX = 1000, OPEN_MAX = 16 };

struct store *store_open_moving(const struct store *store, struct reel_error *err) {
    char folder[STORE_PATH];
    return store_open(store_path(store, folder, STORE_MOVING), err);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return remove(path);
}

/* With all that is in it. What cannot be removed stays, and does no harm. */
static void remove_folder(const struct store *store, const char *name) {
    char path[STORE_PATH];
    nftw(store_path(store, path, "%s", name), remove_one, OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}

/* In one step: there is always a folder blobs. What the cache of a bucket is on can do that. */
static bool exchange_blobs(const struct store *store, struct reel_error *err) {
    char a[STORE_PATH], b[STORE_PATH];
    return renameat2(AT_FDCWD, store_path(store, a, "blobs"), AT_FDCWD, store_path(store, b, STORE_MOVING "/blobs"),
                     RENAME_EXCHANGE) == 0 ||
           reel_fail_errno(err, "the folder blobs cannot be replaced");
}

/* blobs becomes blobs.moved-N, and is empty. */
static bool switch_set_aside(const struct store *store, struct reel_error *err) {
    char from[STORE_PATH], to[STORE_PATH];
    for (unsigned i = 1; i <= NAMES_MAX; i++) {
        if (disk_rename_new(store_path(store, from, "blobs"), store_path(store, to, "blobs.moved-%u", i))) {
            return store_make_folder(from, store->folder, err);
        }
        if (errno != EEXIST) {
            return reel_fail_errno(err, "the folder blobs cannot be renamed");
        }
    }
    return reel_fail(err, REEL_CONFLICT, "the data folder has too many folders blobs.moved-N: remove some");
}

bool store_switch_to_bucket(struct store *store, const char *address, struct reel_error *err) {
    if (!store_mark_bucket(store, address, err) || !switch_set_aside(store, err)) {
        return false;
    }
    remove_folder(store, STORE_MOVING);
    return disk_sync_folder(store->folder, err);
}

bool store_switch_to_folder(struct store *store, struct reel_error *err) {
    char mark[STORE_PATH];
    bool good = exchange_blobs(store, err) && disk_sync_folder(store->folder, err) &&
                (unlink(store_path(store, mark, STORE_MARK)) == 0 ||
                 reel_fail_errno(err, "the file %s cannot be removed", STORE_MARK)) &&
                disk_sync_folder(store->folder, err);
    if (good) {
        remove_folder(store, "objects");
        remove_folder(store, STORE_MOVING);
    }
    return good;
}
