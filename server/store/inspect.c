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
#include "reel/cleanup.h"
#include "store/store_internal.h"
#include "store/store_ops.h"

enum { ID_TEXT = 32 };

REEL_DEFINE_AUTO(struct store, store_close);

static bool is_unlocked(const struct store *store) {
    char path[STORE_PATH];
    AUTO_FD int fd = store_path(store, path, "lock") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    return fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0; /* released at once */
}

struct store *store_open_readonly(const char *folder, bool *alone, struct reel_error *err) {
    AUTO(store_close) struct store *store = calloc(1, sizeof *store);
    struct stat st;
    char path[STORE_PATH];
    if (!store) {
        reel_fail_memory(err);
        return NULL;
    }
    store->lock = -1;
    store->ops = &store_in_folder;
    store_init_locks(store);
    store->folder = realpath(folder, NULL);
    if (!store->folder || !store_path(store, path, "blobs") || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        reel_fail(err, REEL_NOT_FOUND, "there is no archive in %.200s", folder);
        return NULL;
    }
    if (asprintf(&store->derived, "%s/derived", store->folder) < 0) {
        store->derived = NULL;
        reel_fail_memory(err);
        return NULL;
    }
    *alone = is_unlocked(store);
    return TAKE(store);
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

bool store_each_incoming(const struct store *store, void (*visit)(void *context, const char *name, const char *id),
                         void *context, struct reel_error *err) {
    char path[STORE_PATH];
    DIR *d = store_path(store, path, "incoming") ? opendir(path) : NULL;
    if (!d) {
        return errno == ENOENT || reel_fail_errno(err, "the store cannot read its folder of uploads");
    }
    for (struct dirent *e; (e = readdir(d));) {
        char id[ID_TEXT + 1];
        bool partial = strspn(e->d_name, "0123456789abcdef") == ID_TEXT && strcmp(e->d_name + ID_TEXT, ".part") == 0;
        snprintf(id, sizeof id, "%.*s", ID_TEXT, e->d_name);
        if (e->d_name[0] != '.') {
            visit(context, e->d_name, partial ? id : NULL);
        }
    }
    closedir(d);
    return true;
}

bool store_remove_incoming(const struct store *store, const char *name, struct reel_error *err) {
    char path[STORE_PATH];
    if (strchr(name, '/') || !store_path(store, path, "incoming/%s", name)) {
        return reel_fail(err, REEL_ARGUMENT, "no such file");
    }
    return store_unlink(path, err);
}
