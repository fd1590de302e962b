/* A file coming in: gathered in an own buffer, hashed and written in large pieces. Its one rule: the disk starts writing while the rest is
 * still on its way, so that the fsync at the end finds little left to do. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/own.h"

enum {
    BUFFER_BYTES = 1 << 20,
    WRITE_BYTES = 128 << 10, /* the page cache meets a larger write with huge blocks of memory, which a virtual machine may first have to
                                get back from its host */
    WRITEBACK_BYTES = 8 << 20,
};

struct store_upload {
    struct store *store;
    int fd;
    char path[STORE_PATH]; /* in incoming/; "" when it is no longer ours */
    uint8_t *buffer;
    size_t held;
    uint64_t written, started; /* bytes given to write(), bytes whose writeback has been started */
    EVP_MD_CTX *hash;
    char sha256[65]; /* "" until finished */
};
REEL_DEFINE_AUTO(struct store_upload, store_upload_free);

struct store_upload *store_upload_begin(struct store *store, struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = calloc(1, sizeof *u);
    if (!u) {
        reel_fail_memory(err);
        return NULL;
    }
    u->store = store;
    u->fd = -1;
    u->buffer = malloc(BUFFER_BYTES);
    u->hash = EVP_MD_CTX_new();
    if (!u->buffer || !u->hash || EVP_DigestInit_ex(u->hash, EVP_sha256(), NULL) != 1) {
        reel_fail_memory(err);
        return NULL;
    }
    u->fd = store_new_file(store, u->path, err);
    if (u->fd < 0) {
        u->path[0] = '\0';
        return NULL;
    }
    return TAKE(u);
}

static bool put(struct store_upload *u, const uint8_t *data, size_t size, struct reel_error *err) {
    if (EVP_DigestUpdate(u->hash, data, size) != 1) {
        return reel_fail_memory(err);
    }
    for (size_t at = 0; at < size;) {
        ssize_t n = write(u->fd, data + at, size - at < WRITE_BYTES ? size - at : WRITE_BYTES);
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the upload cannot be stored");
        }
        at += n > 0 ? (size_t)n : 0;
    }
    u->written += size;
    if (u->written - u->started >= WRITEBACK_BYTES) {
        (void)sync_file_range(u->fd, (off_t)u->started, (off_t)(u->written - u->started),
                              SYNC_FILE_RANGE_WRITE); /* a hint: fsync tells what fails */
        u->started = u->written;
    }
    return true;
}

bool store_upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    const uint8_t *at = data;
    while (size > 0) {
        if (u->held == 0 && size >= BUFFER_BYTES) { /* large pieces need no gathering */
            if (!put(u, at, BUFFER_BYTES, err)) {
                return false;
            }
            at += BUFFER_BYTES;
            size -= BUFFER_BYTES;
            continue;
        }
        size_t n = size < BUFFER_BYTES - u->held ? size : BUFFER_BYTES - u->held;
        memcpy(u->buffer + u->held, at, n);
        u->held += n;
        at += n;
        size -= n;
        if (u->held == BUFFER_BYTES) {
            u->held = 0;
            if (!put(u, u->buffer, BUFFER_BYTES, err)) {
                return false;
            }
        }
    }
    return true;
}

bool store_upload_finish(struct store_upload *u, char sha256[65], uint64_t *size, struct reel_error *err) {
    uint8_t raw[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    size_t held = u->held;
    u->held = 0;
    if (!put(u, u->buffer, held, err)) {
        return false;
    }
    if (EVP_DigestFinal_ex(u->hash, raw, &n) != 1 || n != 32) {
        return reel_fail_memory(err);
    }
    if (fsync(u->fd) != 0) {
        return reel_fail_errno(err, "the upload cannot be made to last");
    }
    for (unsigned i = 0; i < n; i++) {
        snprintf(u->sha256 + (size_t)2 * i, 3, "%02x", raw[i]);
    }
    memcpy(sha256, u->sha256, sizeof u->sha256);
    *size = u->written;
    return true;
}

/* A file of that address and size is there: the same bytes, durable since it got its name. */
static bool is_there(const struct store_upload *u) {
    char path[STORE_PATH];
    struct stat st;
    return store_content_path(u->store, u->sha256, "", path, sizeof path) && stat(path, &st) == 0 && (uint64_t)st.st_size == u->written;
}

bool store_upload_keep(struct store_upload *u, struct reel_error *err) {
    if (!u->sha256[0] || !u->path[0]) {
        return reel_fail(err, REEL_ARGUMENT, "the upload is not finished, or kept already");
    }
    if (is_there(u)) {
        return true;
    }
    if (!store_place(u->store, u->path, u->sha256, "", err)) {
        return false;
    }
    u->path[0] = '\0';
    return true;
}

void store_upload_free(struct store_upload *u) {
    if (!u) {
        return;
    }
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->path[0]) {
        unlink(u->path);
    }
    EVP_MD_CTX_free(u->hash);
    free(u->buffer);
    free(u);
}
