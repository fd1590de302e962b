/* The folders of the store and its files by content. A name under blobs/ stands for complete, durable bytes: files are
 * created in incoming/, fsynced and renamed, and the folder is fsynced. Errors name no path. */
#include <dirent.h>
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
#include "base/hex.h"
#include "base/ownership.h"
#include "store/bucket/bucket.h"
#include "store/reference.h"
#include "store/store_internal.h"

enum { HASH_TEXT = 64 };
#define RESERVE_BYTES (UINT64_C(64) << 20)

REEL_DEFINE_AUTO(struct store, store_close);
/* ---- paths */

bool store_path(const struct store *store, char out[STORE_PATH], const char *format, ...) {
    int used = snprintf(out, STORE_PATH, "%s/", store->folder);
    if (used < 0 || used >= STORE_PATH) {
        return false;
    }
    va_list args;
    va_start(args, format);
    int more = vsnprintf(out + used, (size_t)(STORE_PATH - used), format, args);
    va_end(args);
    return more >= 0 && more < STORE_PATH - used;
}

bool store_content_path(const struct store *store, const char *hex, const char *suffix, char *out, size_t size) {
    if (!hex_is(hex, HASH_TEXT)) {
        return false;
    }
    int used = snprintf(out, size, "%s/blobs/%.2s/%s%s", store->folder, hex, hex, suffix);
    return used > 0 && (size_t)used < size;
}

static bool store_blob_path(const struct store *store, const char *sha256, char *out, size_t size) {
    return store_content_path(store, sha256, "", out, size);
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
    return store_path(store, path, "blobs/%.2s", hex) && store_path(store, parent, "blobs")
               ? store_make_folder(path, parent, err)
               : reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
}

bool store_live_folder(const struct store *store, char *out, size_t size, struct reel_error *err) {
    int used = snprintf(out, size, "%s/live", store->folder);
    return used > 0 && (size_t)used < size ? store_make_folder(out, store->folder, err)
                                           : reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
}

bool store_sync_bucket(const struct store *store, const char *hex, struct reel_error *err) {
    char folder[STORE_PATH];
    return store_path(store, folder, "blobs/%.2s", hex) ? disk_sync_folder(folder, err)
                                                        : reel_fail(err, REEL_ARGUMENT, "not a content address");
}

bool store_sync_incoming(const struct store *store, struct reel_error *err) {
    char folder[STORE_PATH];
    return store_path(store, folder, "incoming") ? disk_sync_folder(folder, err)
                                                 : reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
}

bool store_publish(const struct store *store, const char *from, const char *hex, const char *suffix,
                   struct reel_error *err) {
    char to[STORE_PATH];
    if (!store_content_path(store, hex, suffix, to, sizeof to)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    if (!store_make_place(store, hex, err)) {
        return false;
    }
    if (rename(from, to) != 0) {
        return reel_fail_errno(err, "the store cannot rename a file to its final name");
    }
    return store_sync_bucket(store, hex, err);
}

/* To a file in the data folder itself. */
static bool publish_copy(const struct store *store, const char *from, const char *name, struct reel_error *err) {
    char to[STORE_PATH];
    if (!store_path(store, to, "%s", name)) {
        return reel_fail(err, REEL_ARGUMENT, "the store's path is too long");
    }
    return rename(from, to) == 0 ? disk_sync_folder(store->folder, err)
                                 : reel_fail_errno(err, "the store cannot rename a file to its final name");
}

int store_new_file(const struct store *store, char path[STORE_PATH], struct reel_error *err) {
    int fd = store_path(store, path, "incoming/XXXXXX") ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0) {
        reel_fail_errno(err, "the store cannot make a file");
        return -1;
    }
    reel_own_by_folder(fd, path);
    return fd;
}

bool store_write_text(const struct store *store, const char *name, const char *suffix, const char *text,
                      struct reel_error *err) {
    char from[STORE_PATH];
    if (store->bucket) {
        return bucket_put_text(store->bucket, suffix ? "manifests" : "notes", name, text, err);
    }
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    bool good = (disk_write_all(fd, text, strlen(text)) && fsync(fd) == 0) ||
                reel_fail_errno(err, "the store cannot write a file");
    good = good && (suffix ? store_publish(store, from, name, suffix, err) : publish_copy(store, from, name, err));
    if (!good) {
        unlink(from);
    }
    return good;
}

/* ---- opening */

static bool take_lock(struct store *store, struct reel_error *err) {
    char path[STORE_PATH];
    store->lock = store_path(store, path, "lock") ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
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

static bool make_folders(const struct store *store, struct reel_error *err) {
    static const char *const names[] = {"blobs", "incoming", "derived"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[STORE_PATH];
        if (!store_path(store, path, "%s", names[i])) {
            return reel_fail(err, REEL_ARGUMENT, "the data folder's path is too long");
        }
        if (!store_make_folder(path, store->folder, err)) {
            return false;
        }
    }
    return true;
}

struct store *store_open(const char *folder, struct reel_error *err) {
    AUTO(store_close) struct store *store = calloc(1, sizeof *store);
    if (!store) {
        reel_fail_memory(err);
        return NULL;
    }
    store->lock = -1;
    store_init_locks(store);
    if (!store_make_folder(folder, NULL, err)) {
        return NULL;
    }
    store->folder = realpath(folder, NULL);
    if (!store->folder || asprintf(&store->derived, "%s/derived", store->folder) < 0) {
        store->derived = NULL;
        reel_fail_errno(err, "the data folder cannot be used");
        return NULL;
    }
    if (!take_lock(store, err) || !make_folders(store, err) || !store_sweep_incoming(store, err)) {
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
    uint64_t left;
    if (store->bucket) {
        return UINT64_MAX; /* the bucket says when it has none */
    }
    return !store_free_bytes(store, &left) ? UINT64_MAX : left > RESERVE_BYTES ? left - RESERVE_BYTES : 0;
}

bool store_has_room(struct store *store, uint64_t bytes) {
    uint64_t room = store_room(store);
    return room > 0 && room >= bytes;
}

/* ---- blobs */

int store_open_file(struct store *store, const char *sha256, struct reel_error *err) {
    char path[STORE_PATH];
    int fd =
        store_blob_path(store, sha256, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC) : (errno = ENOENT, -1);
    if (fd >= 0) {
        return fd;
    }
    if (errno == ENOENT) {
        return store_open_reference(store, sha256, err);
    }
    reel_fail_errno(err, "the stored file cannot be opened");
    return -1;
}

struct reel_source *store_open_blob(struct store *store, const char *sha256, const char *file_name,
                                    struct reel_error *err) {
    if (store->bucket) {
        return bucket_source(store->bucket, sha256, file_name, err);
    }
    int fd = store_open_file(store, sha256, err);
    return fd >= 0 ? reel_source_from_fd(fd, file_name, err) : NULL;
}

struct reel_source *store_open_stored(struct store *store, const char *sha256, struct reel_error *err) {
    char path[STORE_PATH];
    struct store_object o;
    if (store->bucket) {
        return bucket_check(store->bucket, sha256, &o, err) ? bucket_direct(store->bucket, &o, sha256, err) : NULL;
    }
    if (!store_blob_path(store, sha256, path, sizeof path)) {
        reel_fail(err, REEL_ARGUMENT, "not a content address");
        return NULL;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        reel_fail(err, REEL_NOT_FOUND, "the stored file is gone");
        return NULL;
    }
    return reel_source_open(path, sha256, err);
}

bool store_examine(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err) {
    struct stat st;
    struct store_object there;
    if (store->bucket) {
        bool good = bucket_check(store->bucket, sha256, &there, err);
        *size = there.size;
        return good;
    }
    AUTO_FD int fd = store_open_file(store, sha256, err);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return fd < 0 ? false : reel_fail_errno(err, "the stored file cannot be read");
    }
    *size = (uint64_t)st.st_size;
    return true;
}

bool store_has_blob(struct store *store, const char *sha256) {
    char path[STORE_PATH];
    struct store_object ignored;
    struct reel_error why = {0};
    if (store->bucket) {
        const struct store_directory *d = bucket_directory(store->bucket);
        return d->find(d->context, sha256, &ignored, &why) || why.code != REEL_NOT_FOUND;
    }
    return store_blob_path(store, sha256, path, sizeof path) && (access(path, F_OK) == 0 || errno != ENOENT);
}

static bool remove_file(const char *path, struct reel_error *err) {
    return unlink(path) == 0 || errno == ENOENT || reel_fail_errno(err, "the store cannot remove a file");
}

bool store_remove_blob(struct store *store, const char *sha256, struct reel_error *err) {
    char path[STORE_PATH];
    if (store->bucket) {
        return bucket_remove(store->bucket, sha256, err);
    }
    store_drop_reference(store, sha256);
    return store_blob_path(store, sha256, path, sizeof path) ? remove_file(path, err)
                                                             : reel_fail(err, REEL_ARGUMENT, "not a content address");
}

static bool remove_named(struct store *store, const char *content, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, content, suffix, path, sizeof path)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    bool is_pack = strcmp(suffix, ".reel") == 0;
    if (store->bucket && is_pack) {
        blocks_drop_file(bucket_blocks(store->bucket), content);
    }
    return remove_file(path, err) &&
           (!store->bucket || bucket_delete(store->bucket, is_pack ? "packs" : "manifests", content, err));
}

bool store_remove_pack(struct store *store, const char *content, struct reel_error *err) {
    return remove_named(store, content, ".reel", err);
}

bool store_remove_content(struct store *store, const char *content, struct reel_error *err) {
    if (!remove_named(store, content, ".json", err) || !remove_named(store, content, ".reel", err) ||
        !store_remove_statistics(store, content, err)) {
        return false;
    }
    store_remove_derived(store, content);
    return true;
}

/* ---- all files */

static bool visit_bucket(const struct store *store, const char *bucket,
                         bool (*visit)(void *, const char *, const char *, int64_t), void *context) {
    char path[STORE_PATH];
    AUTO_FOLDER DIR *d = store_path(store, path, "blobs/%s", bucket) ? opendir(path) : NULL;
    bool more = true;
    for (struct dirent *e; more && d && (e = readdir(d));) {
        char hex[HASH_TEXT + 1];
        struct stat st;
        snprintf(hex, sizeof hex, "%.*s", HASH_TEXT, e->d_name);
        if (hex_span(hex) == HASH_TEXT && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            more = visit(context, hex, e->d_name + HASH_TEXT, store_stamp(st.st_mtim));
        }
    }
    return more;
}

struct visiting {
    bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns);
    void *context;
    const char *suffix;
    bool stopped;
};

static bool visit_object(void *context, const char *name, const struct s3_object *object) {
    struct visiting *v = context;
    bool content = hex_is(name, HASH_TEXT);
    v->stopped = content && !v->visit(v->context, name, v->suffix, object->modified_s * 1000000000);
    return !v->stopped;
}

/* What is kept of a content; in a bucket in folders of their own. Objects are not named by their content: bucket_each()
 * has them. */
static const struct {
    const char *suffix, *folder;
} kinds[] = {{".json", "manifests"}, {".reel", "packs"}, {STORE_STATISTICS_SUFFIX, "statistics"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool store_is_of_content(const char *suffix) {
    bool found = false;
    for (size_t i = 0; i < KINDS; i++) {
        found = found || strcmp(suffix, kinds[i].suffix) == 0;
    }
    return found;
}

static bool each_object(struct store *store, bool (*visit)(void *, const char *, const char *, int64_t), void *context,
                        struct reel_error *err) {
    struct visiting v = {.visit = visit, .context = context};
    for (size_t i = 0; i < KINDS && !v.stopped; i++) {
        v.suffix = kinds[i].suffix;
        if (!bucket_each(store->bucket, kinds[i].folder, visit_object, &v, err)) {
            return false;
        }
    }
    return true;
}

bool store_each(struct store *store,
                bool (*visit)(void *context, const char *hex, const char *suffix, int64_t written_ns), void *context,
                struct reel_error *err) {
    char path[STORE_PATH];
    if (store->bucket) {
        return each_object(store, visit, context, err);
    }
    AUTO_FOLDER DIR *d = store_path(store, path, "blobs") ? opendir(path) : NULL;
    if (!d) {
        return reel_fail_errno(err, "the store cannot read its folder of blobs");
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strlen(e->d_name) == 2 && e->d_name[0] != '.' && !visit_bucket(store, e->d_name, visit, context)) {
            break;
        }
    }
    return true;
}

bool store_remove_leftover(struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    return store_content_path(store, hex, suffix, path, sizeof path)
               ? remove_file(path, err)
               : reel_fail(err, REEL_ARGUMENT, "not a content address");
}
