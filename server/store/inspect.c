/* See inspect.h. */
#include "store/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "reel/cleanup.h"
#include "store/store_internal.h"

static bool is_unlocked(const struct store *store) {
    char path[STORE_PATH];
    AUTO_FD int fd = open(store_path(store, path, "lock"), O_RDONLY | O_CLOEXEC);
    return fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0; /* released at once */
}

struct store *store_open_readonly(const char *folder, bool *alone, struct reel_error *err) {
    struct stat st;
    char path[STORE_PATH];
    if (!disk_join(path, folder, "blobs", NULL) || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        reel_fail(err, REEL_NOT_FOUND, "there is no archive in %.200s", folder);
        return NULL;
    }
    struct store *store = store_new(folder, err);
    *alone = store && is_unlocked(store);
    return store;
}

const char *store_folder(const struct store *store) {
    return store->folder;
}

bool store_file_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size) {
    return store_content_path(store, hex, suffix, out, size, NULL);
}

bool store_file_size(const struct store *store, const char *hex, const char *suffix, uint64_t *size) {
    return store->ops->size(store, hex, suffix, size, NULL);
}

bool store_set_aside(const struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    return store->ops->set_aside(store, hex, suffix, err);
}
