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
#include "base/hex.h"
#include "reel/cleanup.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { AGAIN_MAX = 1000, ID_TEXT = 32 };

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
    return store_content_path(store, hex, suffix, out, size);
}

static bool object_size(const struct store *store, const char *hex, const char *suffix, uint64_t *size) {
    struct store_object o;
    struct s3_object there;
    struct reel_error ignored;
    char key[S3_KEY_MAX + 1];
    bool pack = strcmp(suffix, ".reel") == 0;
    if (pack || strcmp(suffix, ".json") == 0) {
        bool found = s3_head(bucket_s3(store->bucket),
                             bucket_name(store->bucket, pack ? "packs" : "manifests", hex, key), &there, &ignored);
        *size = there.size;
        return found;
    }
    bool borrowed = bucket_is_borrowed(store->bucket, hex),
         found = borrowed == (strcmp(suffix, ".ref") == 0) && bucket_check(store->bucket, hex, &o, &ignored);
    *size = found ? o.size : 0;
    return found;
}

bool store_file_size(const struct store *store, const char *hex, const char *suffix, uint64_t *size) {
    char path[STORE_PATH];
    struct stat st;
    if (store->bucket) {
        return object_size(store, hex, suffix, size);
    }
    if (!store_content_path(store, hex, suffix, path, sizeof path) || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return false;
    }
    *size = (uint64_t)st.st_size;
    return true;
}

/* ---- unused files */

/* lost+found/<hex><suffix>, or with a number appended when that is taken. */
static bool move_to_free_name(const struct store *store, const char *from, const char *hex, const char *suffix,
                              struct reel_error *err) {
    char to[STORE_PATH];
    for (unsigned i = 0; i < AGAIN_MAX; i++) {
        char again[16] = "";
        if (i > 0) {
            snprintf(again, sizeof again, ".%u", i);
        }
        if (!store_path(store, to, "lost+found/%s%s%s", hex, suffix, again)) {
            return reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
        }
        if (disk_rename_new(from, to)) {
            return true;
        }
        if (errno != EEXIST) {
            return reel_fail_errno(err, "a file cannot be set aside");
        }
    }
    return reel_fail(err, REEL_CONFLICT, "lost+found has %d files of that name already", AGAIN_MAX);
}

/* A manifest goes to lost+found/, a pack, which can be made again, is removed; an object stays until nothing names it.
 */
static bool set_object_aside(const struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    if (strcmp(suffix, ".reel") == 0) {
        return bucket_delete(store->bucket, "packs", hex, err);
    }
    if (strcmp(suffix, STORE_STATISTICS_SUFFIX) == 0) {
        return bucket_delete(store->bucket, "statistics", hex, err);
    }
    if (strcmp(suffix, ".json") != 0) {
        return true;
    }
    AUTO_MEM char *text = bucket_get_text(store->bucket, "manifests", hex, 64 << 20, err);
    return text && bucket_put_text(store->bucket, "lost+found", hex, text, err) &&
           bucket_delete(store->bucket, "manifests", hex, err);
}

bool store_set_aside(const struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char from[STORE_PATH], folder[STORE_PATH];
    if (store->bucket) {
        return set_object_aside(store, hex, suffix, err);
    }
    if (!store_content_path(store, hex, suffix, from, sizeof from) || !store_path(store, folder, "lost+found")) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    return store_make_folder(folder, store->folder, err) && move_to_free_name(store, from, hex, suffix, err);
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
        bool partial = hex_span(e->d_name) == ID_TEXT && strcmp(e->d_name + ID_TEXT, ".part") == 0;
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
    return unlink(path) == 0 || errno == ENOENT || reel_fail_errno(err, "the store cannot remove a file");
}
