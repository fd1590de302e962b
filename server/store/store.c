/* The folders of the store and its files by content. A name under blobs/ stands for complete, durable bytes: files are
 * created in incoming/, fsynced and renamed, and the folder is fsynced. Errors name no path. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/heap.h"
#include "base/hex.h"
#include "base/ownership.h"
#include "store/bucket/bucket.h"
#include "store/store_internal.h"

enum { FOLDER_MAX = STORE_PATH - NAME_MAX - 32 }; /* so that the path of no file is too long */
REEL_DEFINE_AUTO(struct store, store_close);

/* ---- paths */

const char *store_path(const struct store *store, char out[STORE_PATH], const char *format, ...) {
    va_list args;
    int used = snprintf(out, STORE_PATH, "%s/", store->folder);
    va_start(args, format);
    vsnprintf(out + used, (size_t)(STORE_PATH - used), format, args);
    va_end(args);
    return out;
}

bool store_content_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size,
                        struct reel_error *err) {
    int used = hex_is(hex, STORE_HEX) ? snprintf(out, size, "%s/blobs/%.2s/%s%s", store->folder, hex, hex, suffix) : -1;
    return (used > 0 && (size_t)used < size) || reel_fail(err, REEL_ARGUMENT, "not a content address");
}

bool store_make_folder(const char *path, const char *parent, struct reel_error *err) {
    if (mkdir(path, 0755) == 0) {
        AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        reel_own_by_folder(fd, path);
        bool lasts = !parent || disk_sync_folder(parent, err);
        return lasts || (rmdir(path), false); /* else the next one would take it for lasting */
    }
    return errno == EEXIST || reel_fail_errno(err, "the store cannot make a folder");
}

bool store_make_place(const struct store *store, const char *hex, struct reel_error *err) {
    char path[STORE_PATH], parent[STORE_PATH];
    return store_make_folder(store_path(store, path, "blobs/%.2s", hex), store_path(store, parent, "blobs"), err);
}

bool store_live_folder(const struct store *store, char *out, size_t size, struct reel_error *err) {
    int used = snprintf(out, size, "%s/live", store->folder);
    return used > 0 && (size_t)used < size ? store_make_folder(out, store->folder, err)
                                           : reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
}

bool store_sync_place(const struct store *store, const char *hex, struct reel_error *err) {
    char folder[STORE_PATH];
    return disk_sync_folder(store_path(store, folder, "blobs/%.2s", hex), err);
}

bool store_sync_incoming(const struct store *store, struct reel_error *err) {
    char folder[STORE_PATH];
    return disk_sync_folder(store_path(store, folder, "incoming"), err);
}

bool store_publish(const struct store *store, const char *from, const char *name, const char *suffix,
                   struct reel_error *err) {
    char to[STORE_PATH];
    if (suffix ? !store_content_path(store, name, suffix, to, sizeof to, err) || !store_make_place(store, name, err)
               : !store_path(store, to, "%s", name)) {
        return false;
    }
    if (rename(from, to) != 0) {
        return reel_fail_errno(err, "the store cannot rename a file to its final name");
    }
    return suffix ? store_sync_place(store, name, err) : disk_sync_folder(store->folder, err);
}

int store_new_file(const struct store *store, char path[STORE_PATH], struct reel_error *err) {
    store_path(store, path, "incoming/XXXXXX");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        reel_fail_errno(err, "the store cannot make a file");
        return -1;
    }
    reel_own_by_folder(fd, path);
    return fd;
}

/* A new file in incoming/, gone again when it cannot be written. */
static bool write_new(const struct store *store, char path[STORE_PATH], const void *data, size_t size, bool sync,
                      struct reel_error *err) {
    AUTO_FD int fd = store_new_file(store, path, err);
    if (fd < 0) {
        return false;
    }
    return (disk_write_all(fd, data, size) && (!sync || fsync(fd) == 0)) ||
           (reel_fail_errno(err, "the store cannot write a file"), unlink(path), false);
}

bool store_parse_json(const char *text, size_t size, json_t **out, struct reel_error *err) {
    uint64_t failures = heap_failures();
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    return *out || heap_failures() == failures || reel_fail_memory(err);
}

bool store_read_json(const char *path, json_t **out, struct reel_error *err) {
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        return reel_fail(err, REEL_NOT_FOUND, "the file is not there");
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        return reel_fail_errno(err, "the file cannot be read");
    }
    if (st.st_size > STORE_TEXT_MAX) {
        return reel_fail(err, REEL_LIMIT, "the file has more than %d bytes", STORE_TEXT_MAX);
    }
    AUTO_MEM char *text = malloc((size_t)st.st_size + 1);
    if (!text) {
        return reel_fail_memory(err);
    }
    return disk_read_at(fd, text, (size_t)st.st_size, 0) ? store_parse_json(text, (size_t)st.st_size, out, err)
                                                         : reel_fail(err, REEL_IO, "the file cannot be read");
}

bool store_write_text(const struct store *store, const char *name, const char *suffix, const char *text,
                      struct reel_error *err) {
    char from[STORE_PATH];
    return write_new(store, from, text, strlen(text), true, err) &&
           (store_publish(store, from, name, suffix, err) || (unlink(from), false));
}

bool store_write_unsynced(const struct store *store, const char *path, const void *data, size_t size,
                          struct reel_error *err) {
    char from[STORE_PATH];
    return write_new(store, from, data, size, false, err) &&
           (rename(from, path) == 0 || (reel_fail_errno(err, "the store cannot write a file"), unlink(from), false));
}

/* ---- opening */

static bool take_lock(struct store *store, struct reel_error *err) {
    char path[STORE_PATH];
    store->lock = open(store_path(store, path, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (store->lock < 0) {
        return reel_fail_errno(err, "the data folder cannot be locked");
    }
    reel_own_by_folder(store->lock, path);
    if (flock(store->lock, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? reel_fail(err, REEL_CONFLICT, "another server uses this data folder")
                                    : reel_fail_errno(err, "the data folder cannot be locked");
    }
    return true;
}

static bool store_make_folders(const struct store *store, struct reel_error *err) {
    static const char *const names[] = {"blobs", "incoming", "derived"};
    bool good = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && good; i++) {
        char path[STORE_PATH];
        good = store_make_folder(store_path(store, path, "%s", names[i]), store->folder, err);
    }
    return good;
}

struct store *store_new(const char *folder, struct reel_error *err) {
    AUTO(store_close) struct store *store = calloc(1, sizeof *store);
    if (!store) {
        reel_fail_memory(err);
        return NULL;
    }
    store->lock = -1;
    store->ops = &store_in_folder;
    store_init_locks(store);
    store->folder = realpath(folder, NULL);
    if (!store->folder || asprintf(&store->derived, "%s/derived", store->folder) < 0) {
        store->derived = NULL;
        reel_fail_errno(err, "the data folder cannot be used");
        return NULL;
    }
    if (strlen(store->folder) > FOLDER_MAX) {
        reel_fail(err, REEL_ARGUMENT, "the data folder's path is too long");
        return NULL;
    }
    return TAKE(store);
}

struct store *store_open(const char *folder, struct reel_error *err) {
    AUTO(store_close)
    struct store *store = store_make_folder(folder, NULL, err) ? store_new(folder, err) : NULL;
    if (!store || !take_lock(store, err) || !store_make_folders(store, err) ||
        !store_sweep_incoming(store, false, err)) {
        return NULL;
    }
    store_sweep_derived(store);
    return TAKE(store);
}

void store_close(struct store *store) {
    if (!store) {
        return;
    }
    bucket_close(store->bucket);
    if (store->lock >= 0) {
        close(store->lock);
    }
    for (unsigned i = 0; i < MANIFEST_LOCKS; i++) {
        pthread_mutex_destroy(&store->manifests[i]);
    }
    free(store->derived);
    free(store->folder);
    free(store);
}

/* ---- room */

bool store_free_bytes(struct store *store, uint64_t *bytes) {
    struct statvfs fs;
    if (statvfs(store->folder, &fs) != 0) {
        return false;
    }
    *bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    return true;
}

uint64_t store_room(struct store *store) {
    return store->ops->room ? store->ops->room(store) : UINT64_MAX;
}

bool store_has_room(struct store *store, uint64_t bytes) {
    uint64_t room = store_room(store);
    return room > 0 && room >= bytes;
}

/* ---- contents */

struct reel_source *store_open_blob(struct store *store, const char *sha256, const char *file_name,
                                    struct reel_error *err) {
    return store->ops->open(store, sha256, file_name, err);
}

struct reel_source *store_resting_blob(struct store *store, const char *sha256, const char *file_name,
                                       struct reel_error *err) {
    return store->ops->open_resting(store, sha256, file_name, err);
}

struct reel_source *store_open_stored(struct store *store, const char *sha256, struct reel_error *err) {
    return store->ops->open_stored(store, sha256, err);
}

bool store_examine(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err) {
    return store->ops->examine(store, sha256, size, err);
}

bool store_has_blob(struct store *store, const char *sha256) {
    return store->ops->has(store, sha256);
}

bool store_remove_blob(struct store *store, const char *sha256, struct reel_error *err) {
    return store->ops->remove(store, sha256, err);
}

bool store_remove_content(struct store *store, const char *content, struct reel_error *err) {
    for (unsigned i = 0; i < STORE_KINDS; i++) {
        if (!store_remove_file(store, content, store_kinds[i].suffix, err)) {
            return false;
        }
    }
    store_remove_derived(store, content);
    return true;
}

/* ---- packs and statistics: files that are read in place, with a bucket copies */

bool store_place_file(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                      struct reel_error *err) {
    return store->ops->place(store, content, suffix, out, size, err);
}

bool store_keep_file(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    return !store->ops->keep || store->ops->keep(store, content, suffix, err);
}

int store_open_file(struct store *store, const char *content, const char *suffix, bool again, char *out, size_t size,
                    struct reel_error *err) {
    return store->ops->open_file(store, content, suffix, again, out, size, err);
}

bool store_remove_file(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    return store->ops->remove_file(store, content, suffix, err);
}

bool store_renew_pack(struct store *store, const char *content, struct reel_error *err) {
    uint64_t size;
    struct reel_error why = {0};
    return store->ops->size(store, content, STORE_PACK, &size, &why) ||
           (why.code == REEL_NOT_FOUND ? store_keep_file(store, content, STORE_PACK, err) : reel_error_pass(err, &why));
}

/* What a power failure damages is refused by its checksum, and made again. */
bool store_keep_small(struct store *store, const char *content, const char *suffix, const void *data, size_t size,
                      struct reel_error *err) {
    char to[STORE_PATH];
    return store_place_file(store, content, suffix, to, sizeof to, err) &&
           store_write_unsynced(store, to, data, size, err) && store_keep_file(store, content, suffix, err);
}

/* ---- all files */

const struct store_kind store_kinds[STORE_KINDS] = {{STORE_MANIFEST, "manifests"},
                                                    {STORE_PACK, "packs"},
                                                    {STORE_STATISTICS, "statistics"},
                                                    {STORE_EVENTS, "derived-events"}};

bool store_is_of_content(const char *suffix) {
    bool found = false;
    for (unsigned i = 0; i < STORE_KINDS; i++) {
        found = found || strcmp(suffix, store_kinds[i].suffix) == 0;
    }
    return found;
}

bool store_each(struct store *store,
                bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns), void *context,
                struct reel_error *err) {
    return store->ops->each(store, visit, context, err);
}

bool store_unlink(const char *path, struct reel_error *err) {
    return unlink(path) == 0 || errno == ENOENT || reel_fail_errno(err, "the store cannot remove a file");
}

bool store_remove_leftover(struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    return store_content_path(store, hex, suffix, path, sizeof path, err) && store_unlink(path, err);
}
