/* See reference.h. A file is opened only if it has the size and time it had when it was hashed. */
#include "store/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "json_whole.h"
#include "store/roots.h"
#include "store/store_internal.h"

enum { EDGE_BYTES = 1 << 20 };

void store_set_roots(struct store *store, const struct roots *roots) {
    store->roots = roots;
}
const struct roots *store_roots(const struct store *store) {
    return store->roots;
}

/* ---- what a file is like */

static bool digest_edge(struct digest *hash, int fd, uint64_t at, uint64_t size, uint8_t *buffer,
                        struct reel_error *err) {
    for (uint64_t done = 0; done < size;) {
        ssize_t n = pread(fd, buffer, (size_t)(size - done), (off_t)(at + done));
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the file cannot be read");
        }
        if (n == 0) {
            return reel_fail(err, REEL_CHANGED, "the file has become shorter while it was read");
        }
        if (n > 0) {
            digest_add(hash, buffer, (size_t)n);
            done += (uint64_t)n;
        }
    }
    return true;
}

static bool digest_edges(struct digest *hash, int fd, uint64_t size, uint8_t *buffer, struct reel_error *err) {
    uint8_t length[8];
    uint64_t first = size < EDGE_BYTES ? size : EDGE_BYTES,
             last = size - first < EDGE_BYTES ? size - first : EDGE_BYTES;
    for (unsigned i = 0; i < sizeof length; i++) {
        length[i] = (uint8_t)(size >> (8 * i));
    }
    digest_add(hash, length, sizeof length);
    return digest_edge(hash, fd, 0, first, buffer, err) && digest_edge(hash, fd, size - last, last, buffer, err);
}

bool store_fingerprint(int fd, uint64_t size, char out[65], struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = malloc(EDGE_BYTES);
    struct digest hash;
    digest_start(&hash, DIGEST_SHA256);
    bool good = buffer ? digest_edges(&hash, fd, size, buffer, err) : reel_fail_memory(err);
    if (good) {
        digest_end_hex(&hash, out);
    }
    return good;
}

static void take_stat(const struct stat *st, struct store_reference *out) {
    out->device = (uint64_t)st->st_dev;
    out->inode = (uint64_t)st->st_ino;
    out->size = (uint64_t)st->st_size;
    out->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

bool store_inspect(int fd, const char *path, struct store_reference *out, struct reel_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return reel_fail_errno(err, "the file cannot be inspected");
    }
    if (!S_ISREG(st.st_mode)) {
        return reel_fail(err, REEL_ARGUMENT, "it is not a regular file");
    }
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path) {
        return reel_fail(err, REEL_ARGUMENT, "the path is too long");
    }
    take_stat(&st, out);
    return true;
}

/* ---- the note in the store */

static json_t *as_json(const struct store_reference *ref) {
    json_t *path = json_string(ref->path); /* NULL for what is no UTF-8 */
    return path ? json_pack("{s:i, s:o, s:I, s:I, s:I, s:I, s:s}", "reel_reference", 1, "path", path, "device",
                            (json_int_t)ref->device, "inode", (json_int_t)ref->inode, "size", (json_int_t)ref->size,
                            "mtime_ns", (json_int_t)ref->mtime_ns, "fingerprint", ref->fingerprint)
                : NULL;
}

bool store_write_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                           struct reel_error *err) {
    char blob[STORE_PATH];
    struct stat st;
    if (store_content_path(store, sha256, "", blob, sizeof blob, NULL) && stat(blob, &st) == 0 &&
        (uint64_t)st.st_size == ref->size) {
        return true;
    }
    AUTO_FD int there = store_open_reference(store, sha256, NULL);
    if (there >= 0) {
        return true; /* another file of the same content will do */
    }
    json_t *note = as_json(ref);
    AUTO_MEM char *text = note ? json_whole_text(note, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    json_decref(note);
    return text ? store_write_text(store, sha256, ".ref", text, err)
                : reel_fail(err, REEL_ARGUMENT, "a file whose path is not UTF-8 cannot be referenced");
}

bool store_load_reference(struct store *store, const char *sha256, struct store_reference *out,
                          struct reel_error *err) {
    char path[STORE_PATH];
    const char *where, *fingerprint;
    json_int_t device, inode, size, mtime;
    if (!store_content_path(store, sha256, ".ref", path, sizeof path, err)) {
        return false;
    }
    json_auto_t *note = NULL;
    struct reel_error why = {0};
    if (!store_read_json(path, &note, &why) && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    bool good = note &&
                json_unpack(note, "{s:s, s:I, s:I, s:I, s:I, s:s}", "path", &where, "device", &device, "inode", &inode,
                            "size", &size, "mtime_ns", &mtime, "fingerprint", &fingerprint) == 0 &&
                where[0] == '/' && strlen(where) < sizeof out->path && strlen(fingerprint) < sizeof out->fingerprint;
    if (good) {
        *out = (struct store_reference){
            .device = (uint64_t)device, .inode = (uint64_t)inode, .size = (uint64_t)size, .mtime_ns = mtime};
        memcpy(out->path, where, strlen(where) + 1);
        memcpy(out->fingerprint, fingerprint, strlen(fingerprint) + 1);
    }
    return good || reel_fail(err, REEL_NOT_FOUND, "the stored file is gone");
}

void store_drop_reference(struct store *store, const char *sha256) {
    char path[STORE_PATH];
    if (store_content_path(store, sha256, ".ref", path, sizeof path, NULL)) {
        unlink(path);
    }
}

bool store_keep_reference(struct store *store, const char *sha256, const struct store_reference *ref,
                          struct reel_error *err) {
    return store->ops->keep_reference(store, sha256, ref, err);
}

bool store_is_reference(struct store *store, const char *sha256) {
    return store->ops->is_reference(store, sha256);
}

int store_open_reference(struct store *store, const char *sha256, struct reel_error *err) {
    struct store_reference ref, now;
    if (!store_load_reference(store, sha256, &ref, err)) {
        return -1;
    }
    AUTO_FD int fd = roots_open_file(store->roots, ref.path, O_RDONLY, err);
    if (fd < 0) {
        if (err && err->code == REEL_NOT_FOUND) {
            reel_fail(err, REEL_NOT_FOUND,
                      roots_below(store->roots, ref.path) ? "the referenced file is gone"
                                                          : "the referenced file is not below any import root");
        }
        return -1;
    }
    if (!store_inspect(fd, ref.path, &now, err)) {
        return -1;
    }
    if (now.size != ref.size || now.mtime_ns != ref.mtime_ns) {
        reel_fail(err, REEL_CHANGED, "the referenced file has changed since it was imported");
        return -1;
    }
    int out = fd;
    fd = -1;
    return out;
}
