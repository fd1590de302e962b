/* The files of a store in its folder: blobs/ab/<sha256> is a content as uploaded, or <sha256>.ref says where it lies;
 * beside it are the index pack, the manifest and the statistics of a content. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "store/manifest.h"
#include "store/reference.h"
#include "store/store_internal.h"

enum { AGAIN_MAX = 1000 };
#define RESERVE_BYTES (UINT64_C(64) << 20)

/* ---- contents */

/* The blob, or what a reference names; -1. */
static int open_content(struct store *store, const char *sha256, struct reel_error *err) {
    char path[STORE_PATH];
    int fd = store_content_path(store, sha256, "", path, sizeof path, NULL) ? open(path, O_RDONLY | O_CLOEXEC)
                                                                            : (errno = ENOENT, -1);
    if (fd >= 0) {
        return fd;
    }
    if (errno == ENOENT) {
        return store_open_reference(store, sha256, err);
    }
    reel_fail_errno(err, "the stored file cannot be opened");
    return -1;
}

static struct reel_source *open_blob(struct store *store, const char *sha256, const char *file_name,
                                     struct reel_error *err) {
    int fd = open_content(store, sha256, err);
    return fd >= 0 ? reel_source_from_fd(fd, file_name, err) : NULL;
}

static struct reel_source *open_stored(struct store *store, const char *sha256, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, sha256, "", path, sizeof path, err)) {
        return NULL;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        reel_fail(err, REEL_NOT_FOUND, "the stored file is gone");
        return NULL;
    }
    return reel_source_open(path, sha256, err);
}

static bool examine(struct store *store, const char *sha256, uint64_t *size, struct reel_error *err) {
    struct stat st;
    AUTO_FD int fd = open_content(store, sha256, err);
    if (fd < 0 || fstat(fd, &st) != 0) {
        return fd < 0 ? false : reel_fail_errno(err, "the stored file cannot be read");
    }
    *size = (uint64_t)st.st_size;
    return true;
}

/* ---- one that is opened for each read */

struct resting {
    struct reel_source base;
    struct store *store;
    char *sha256; /* behind the name */
    char name[];
};

static bool resting_read(struct reel_source *base, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    struct resting *s = (struct resting *)base;
    AUTO(reel_source_free) struct reel_source *file = open_blob(s->store, s->sha256, s->name, err);
    return file && reel_source_read(file, offset, buffer, size, err);
}
static void resting_free(struct reel_source *base) {
    free(base);
}
static const struct reel_source_ops resting_ops = {.read = resting_read, .free = resting_free};

static struct reel_source *open_resting(struct store *store, const char *sha256, const char *file_name,
                                        struct reel_error *err) {
    size_t name_size = strlen(file_name) + 1, sha256_size = strlen(sha256) + 1;
    struct resting *s = calloc(1, sizeof *s + name_size + sha256_size);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    memcpy(s->name, file_name, name_size);
    s->sha256 = memcpy(s->name + name_size, sha256, sha256_size);
    s->store = store;
    s->base = (struct reel_source){.ops = &resting_ops, .name = s->name};
    if (!examine(store, sha256, &s->base.size, err)) {
        free(s);
        return NULL;
    }
    return &s->base;
}

static bool folder_contents_has(struct store *store, const char *sha256) {
    char path[STORE_PATH];
    return store_content_path(store, sha256, "", path, sizeof path, NULL) &&
           (access(path, F_OK) == 0 || errno != ENOENT);
}

static bool is_reference(struct store *store, const char *sha256) {
    char blob[STORE_PATH], note[STORE_PATH];
    return store_content_path(store, sha256, "", blob, sizeof blob, NULL) && access(blob, F_OK) != 0 &&
           store_content_path(store, sha256, ".ref", note, sizeof note, NULL) && access(note, F_OK) == 0;
}

static bool remove_file(struct store *store, const char *hex, const char *suffix, struct reel_error *err) {
    char path[STORE_PATH];
    return store_content_path(store, hex, suffix, path, sizeof path, err) && store_unlink(path, err);
}

static bool remove_blob(struct store *store, const char *sha256, struct reel_error *err) {
    store_drop_reference(store, sha256);
    return remove_file(store, sha256, "", err);
}

static uint64_t room(struct store *store) {
    uint64_t left;
    return !store_free_bytes(store, &left) ? UINT64_MAX : left > RESERVE_BYTES ? left - RESERVE_BYTES : 0;
}

/* ---- files by name */

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool visit_file(const struct store *store, const char *folder, const char *name,
                       bool (*visit)(void *, const char *, const char *, int64_t), void *context) {
    char hex[STORE_HEX + 1], path[STORE_PATH];
    struct stat st;
    snprintf(hex, sizeof hex, "%.*s", STORE_HEX, name);
    return hex_span(hex) != STORE_HEX || lstat(store_path(store, path, "blobs/%s/%s", folder, name), &st) != 0 ||
           visit(context, hex, name + STORE_HEX, store_stamp(st.st_mtim));
}

static bool visit_folder(const struct store *store, const char *folder,
                         bool (*visit)(void *, const char *, const char *, int64_t), void *context) {
    char path[STORE_PATH];
    struct dirent **names = NULL;
    int n = scandir(store_path(store, path, "blobs/%s", folder), &names, NULL, compare_names);
    bool more = true;
    for (int i = 0; i < n; i++) {
        more = more && visit_file(store, folder, names[i]->d_name, visit, context);
        free(names[i]);
    }
    free(names);
    return more;
}

/* In the order of names. */
static bool folder_contents_each(struct store *store, bool (*visit)(void *, const char *, const char *, int64_t),
                                 void *context, struct reel_error *err) {
    char path[STORE_PATH];
    struct dirent **folders = NULL;
    int n = scandir(store_path(store, path, "blobs"), &folders, NULL, compare_names);
    if (n < 0) {
        return reel_fail_errno(err, "the store cannot read its folder of blobs");
    }
    bool more = true;
    for (int i = 0; i < n; i++) {
        const char *name = folders[i]->d_name;
        more = more && (strlen(name) != 2 || name[0] == '.' || visit_folder(store, name, visit, context));
        free(folders[i]);
    }
    free(folders);
    return true;
}

static bool folder_contents_size_of(const struct store *store, const char *hex, const char *suffix, uint64_t *size,
                                    struct reel_error *err) {
    char path[STORE_PATH];
    struct stat st;
    if (!store_content_path(store, hex, suffix, path, sizeof path, err)) {
        return false;
    }
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no such file");
    }
    *size = (uint64_t)st.st_size;
    return true;
}

/* lost+found/<hex><suffix>, or with a number appended when that is taken. */
static bool move_to_free_name(const struct store *store, const char *from, const char *hex, const char *suffix,
                              struct reel_error *err) {
    char to[STORE_PATH];
    for (unsigned i = 0; i < AGAIN_MAX; i++) {
        char again[16] = "";
        if (i > 0) {
            snprintf(again, sizeof again, ".%u", i);
        }
        if (disk_rename_new(from, store_path(store, to, "lost+found/%s%s%s", hex, suffix, again))) {
            return true;
        }
        if (errno != EEXIST) {
            return reel_fail_errno(err, "a file cannot be set aside");
        }
    }
    return reel_fail(err, REEL_CONFLICT, "lost+found has %d files of that name already", AGAIN_MAX);
}

static bool folder_contents_set_aside(const struct store *store, const char *hex, const char *suffix,
                                      struct reel_error *err) {
    char from[STORE_PATH], folder[STORE_PATH];
    return store_content_path(store, hex, suffix, from, sizeof from, err) &&
           store_make_folder(store_path(store, folder, "lost+found"), store->folder, err) &&
           move_to_free_name(store, from, hex, suffix, err);
}

static bool folder_contents_load(const struct store *store, const char *name, const char *suffix, json_t **out,
                                 struct reel_error *err) {
    char path[STORE_PATH];
    if (suffix && !store_content_path(store, name, suffix, path, sizeof path, err)) {
        return false;
    }
    return store_read_json(suffix ? path : store_path(store, path, "%s", name), out, err);
}

/* ---- packs and statistics */

static bool place(struct store *store, const char *content, const char *suffix, char *out, size_t size,
                  struct reel_error *err) {
    return store_content_path(store, content, suffix, out, size, err) && store_make_place(store, content, err);
}

static int folder_contents_open_file(struct store *store, const char *content, const char *suffix, bool again,
                                     char *out, size_t size, struct reel_error *err) {
    bool is_pack = strcmp(suffix, STORE_PACK) == 0;
    (void)again;
    if (!store_content_path(store, content, suffix, out, size, err)) {
        return -1;
    }
    int fd = open(out, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        reel_fail(err, REEL_NOT_FOUND, is_pack ? "there is no index" : "there are no statistics");
    } else if (fd < 0) {
        reel_fail_errno(err, is_pack ? "the index cannot be opened" : "statistics cannot be opened");
    }
    return fd;
}

const struct store_ops store_in_folder = {.upload = &store_upload_in_folder,
                                          .open = open_blob,
                                          .open_resting = open_resting,
                                          .open_stored = open_stored,
                                          .examine = examine,
                                          .has = folder_contents_has,
                                          .is_reference = is_reference,
                                          .keep_reference = store_write_reference,
                                          .remove = remove_blob,
                                          .room = room,
                                          .each = folder_contents_each,
                                          .size = folder_contents_size_of,
                                          .set_aside = folder_contents_set_aside,
                                          .remove_file = remove_file,
                                          .write_text = store_write_text,
                                          .confirm = store_sync_place,
                                          .load = folder_contents_load,
                                          .place = place,
                                          .open_file = folder_contents_open_file};
