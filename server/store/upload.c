/* An incoming file: buffered, hashed and written in large pieces. Bytes that were written before a restart are read
 * back and hashed at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "index/scan.h"
#include "store/hasher.h"
#include "store/s3/s3.h"
#include "store/upload_internal.h"

enum {
    BUFFER_BYTES = 1 << 20,
    LONG_BYTES = 16 << 20,   /* what is longer has a thread that hashes */
    WRITE_BYTES = 128 << 10, /* for a larger write the page cache allocates huge pages, which a virtual machine may
                                first have to get back from its host */
};

void upload_hash_restart(struct store_upload *u) {
    u->hashed = 0;
    digest_start(&u->hash, DIGEST_SHA256);
}

static _Thread_local int64_t elapsed_ns;

int64_t store_elapsed_ns(void) {
    return elapsed_ns + s3_elapsed_ns();
}

void upload_waited(int64_t began_ns) {
    elapsed_ns += clock_ns() - began_ns;
}

struct store_upload *upload_new(struct store *store, struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = calloc(1, sizeof *u);
    if (!u) {
        reel_fail_memory(err);
        return NULL;
    }
    u->store = store;
    u->ops = store->ops->upload;
    u->fd = u->leased = -1;
    upload_hash_restart(u);
    return TAKE(u);
}

struct store_upload *store_upload_begin(struct store *store, struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = upload_new(store, err);
    if (!u) {
        return NULL;
    }
    u->fd = store_new_file(store, u->path, err);
    if (u->fd < 0) {
        u->path[0] = '\0';
        return NULL;
    }
    return !u->ops->begin || u->ops->begin(u, err) ? TAKE(u) : NULL;
}

bool store_upload_share(struct store_upload *u, int fd, bool whole) {
    return u->ops->share && u->ops->share(u, fd, whole);
}

bool store_upload_is_whole(const struct store_upload *u) {
    return u->leased >= 0;
}

/* ---- over several requests */

struct store_upload *store_upload_open(struct store *store, const char *id, bool create, const char *note,
                                       struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = upload_new(store, err);
    if (!u) {
        return NULL;
    }
    u->lasting = true;
    return store_partial_path(store, id, u->path, err) && u->ops->open(u, create, note, err) ? TAKE(u) : NULL;
}

struct store_upload *store_upload_known(struct store *store, const char *sha256, const char *note, uint64_t size,
                                        struct reel_error *err) {
    return store->ops->upload->known ? store->ops->upload->known(store, sha256, note, size, err)
                                     : (reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone"), NULL);
}

uint64_t store_upload_size(const struct store_upload *u) {
    return u->written + u->held;
}

bool store_upload_cut(struct store_upload *u, uint64_t size, struct reel_error *err) {
    u->held = 0;
    if (u->written <= size) {
        return true;
    }
    if (u->fd >= 0 && (ftruncate(u->fd, (off_t)size) != 0 || lseek(u->fd, (off_t)size, SEEK_SET) < 0)) {
        return reel_fail_errno(err, "the upload cannot be cut");
    }
    u->written = size;
    u->started = u->started < size ? u->started : size;
    u->sure = u->sure < size ? u->sure : size;
    return !u->ops->cut || u->ops->cut(u, err);
}

bool store_upload_mark(struct store_upload *u, struct reel_error *err) {
    if (!store_upload_flush(u, err)) {
        return false;
    }
    u->marked = u->hash;
    if (u->ops->hold) {
        u->ops->hold(u);
    }
    return true;
}

bool store_upload_back(struct store_upload *u, uint64_t size, struct reel_error *err) {
    if (u->marked.size > 0 && u->marked.size <= size && u->marked.size < u->hashed) {
        u->hash = u->marked;
        u->hashed = u->marked.size;
    }
    return store_upload_cut(u, size, err);
}

bool store_upload_sync(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err) {
    *note = NULL;
    *sure = u->sure;
    return store_upload_flush(u, err) && u->ops->sync(u, full, sure, note, err);
}

void store_upload_noted(struct store_upload *u) {
    if (u->ops->noted) {
        u->ops->noted(u);
    }
}

bool store_notes_uploads(const struct store *store) {
    return store->ops->upload->noted;
}

static bool write_all(struct store_upload *u, const uint8_t *from, size_t size, struct reel_error *err) {
    int64_t began_ns = clock_ns();
    for (size_t at = 0; at < size;) {
        ssize_t n = write(u->fd, from + at, size - at < WRITE_BYTES ? size - at : WRITE_BYTES);
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the upload cannot be stored");
        }
        at += n > 0 ? (size_t)n : 0;
        u->written += n > 0 ? (uint64_t)n : 0;
    }
    upload_waited(began_ns);
    return true;
}

/* Both take as long: a thread hashes the bytes of a long upload while they are written. */
static bool write_and_hash(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    struct digest hash = u->hash;
    if (u->hasher) {
        hasher_start(u->hasher, &hash, data, size);
    }
    bool good = write_all(u, data, size, err);
    if (u->hasher) {
        hasher_wait(u->hasher);
    } else if (good) {
        digest_add(&hash, data, size);
    }
    if (good) {
        u->hash = hash;
        u->hashed = u->written;
    }
    return good;
}

bool upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    if (!u->hasher && u->written >= LONG_BYTES && u->written < LONG_BYTES + BUFFER_BYTES) {
        u->hasher = hasher_new();
    }
    return u->hashed == u->written ? write_and_hash(u, data, size, err) : write_all(u, data, size, err);
}

bool store_upload_flush(struct store_upload *u, struct reel_error *err) {
    size_t held = u->held;
    AUTO_MEM uint8_t *buffer = TAKE(u->buffer);
    u->held = 0;
    return held == 0 || u->ops->put(u, buffer, held, err);
}

bool store_upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    const uint8_t *at = data;
    if (!u->buffer && !(u->buffer = malloc(BUFFER_BYTES))) {
        return reel_fail_memory(err);
    }
    while (size > 0) {
        size_t n = size < BUFFER_BYTES - u->held ? size : BUFFER_BYTES - u->held;
        bool large = n == BUFFER_BYTES; /* it is not buffered */
        if (!large) {
            memcpy(u->buffer + u->held, at, n);
        }
        u->held += n;
        if (u->held == BUFFER_BYTES) {
            u->held = 0;
            if (!u->ops->put(u, large ? at : u->buffer, BUFFER_BYTES, err)) {
                return false;
            }
        }
        at += n;
        size -= n;
    }
    return true;
}

/* Reads back what has not been hashed. */
bool store_upload_hash(struct store_upload *u, const struct reel_progress *progress, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = u->hashed < u->written ? malloc(BUFFER_BYTES) : NULL;
    while (u->hashed < u->written) {
        uint64_t left = u->written - u->hashed;
        size_t n = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
        if (!buffer) {
            return reel_fail_memory(err);
        }
        if (!disk_read_at(u->fd, buffer, n, u->hashed)) {
            return errno ? reel_fail_errno(err, "the upload cannot be read back")
                         : reel_fail(err, REEL_CHANGED, "the upload's file has become shorter");
        }
        digest_add(&u->hash, buffer, n);
        u->hashed += n;
        if (!cancel_check(err)) {
            return false;
        }
        if (progress && progress->report && !progress->report(progress->context, u->hashed, u->written)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
    return true;
}

bool upload_hash_all(struct store_upload *u, struct reel_error *err) {
    if (!store_upload_hash(u, NULL, err)) {
        return false;
    }
    digest_end_hex(&u->hash, u->sha256);
    return true;
}

bool store_upload_finish(struct store_upload *u, char sha256[65], uint64_t *size, struct reel_error *err) {
    if (!store_upload_flush(u, err) || (u->ops->finish && !u->ops->finish(u, err))) {
        return false;
    }
    memcpy(sha256, u->sha256, sizeof u->sha256);
    *size = u->written;
    return true;
}

bool store_upload_finish_partial(struct store_upload *u, char **note, struct reel_error *err) {
    *note = NULL;
    return store_upload_flush(u, err) && (!u->ops->finish_partial || u->ops->finish_partial(u, note, err));
}

struct reel_source *store_open_partial(struct store *store, const char *id, const char *note, uint64_t size,
                                       struct reel_error *err) {
    return store->ops->upload->open_partial(store, id, note, size, err);
}

bool upload_may_be_kept(const struct store_upload *u, struct reel_error *err) {
    return (u->sha256[0] && !u->placed) || reel_fail(err, REEL_ARGUMENT, "the upload is not finished, or kept already");
}

bool store_upload_keep(struct store_upload *u, struct reel_error *err) {
    return u->ops->keep(u, false, err);
}

bool store_upload_replace(struct store_upload *u, struct reel_error *err) {
    return u->ops->keep(u, true, err);
}

bool store_upload_is_here(const struct store_upload *u) {
    return !u->placed || !u->ops->withdraw; /* what cannot be withdrawn is found again by its content */
}

bool store_upload_withdraw(struct store_upload *u) {
    return !u->lasting || !u->placed || !u->ops->withdraw || u->ops->withdraw(u);
}

void store_upload_drop(struct store_upload *u) {
    u->lasting = false;
}

void store_upload_free(struct store_upload *u) {
    if (!u) {
        return;
    }
    if (u->path[0] && !u->placed && !u->lasting) {
        unlink(u->path);
    }
    hasher_free(u->hasher);
    if (u->ops->free) {
        u->ops->free(u);
    }
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->leased >= 0) {
        close(u->leased);
    }
    free(u->buffer);
    free(u);
}
