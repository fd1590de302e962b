/* An incoming file: buffered, hashed and written in large pieces. The disk starts writing while bytes still arrive, so
 * that the final fsync has little left to do. Bytes that were written before a restart are read back and hashed at the
 * end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/hex.h"
#include "base/ownership.h"
#include "reel/scan.h"
#include "store/bucket/send.h"
#include "store/reference.h"
#include "store/store_internal.h"
#include "store/upload_internal.h"

enum {
    BUFFER_BYTES = 1 << 20,
    WRITE_BYTES = 128 << 10, /* for a larger write the page cache allocates huge pages, which a virtual machine may
                                first have to get back from its host */
    WRITEBACK_BYTES = 8 << 20,
};

static void hash_restart(struct store_upload *u) {
    u->hashed = 0;
    digest_start(&u->hash, DIGEST_SHA256);
}

static _Thread_local int64_t elapsed_ns;

int64_t store_elapsed_ns(void) {
    return elapsed_ns + s3_elapsed_ns();
}

static bool sync_file(int fd) {
    int64_t began_ns = clock_ns();
    bool good = fsync(fd) == 0;
    elapsed_ns += clock_ns() - began_ns;
    return good;
}

struct store_upload *upload_new(struct store *store, struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = calloc(1, sizeof *u);
    if (!u) {
        reel_fail_memory(err);
        return NULL;
    }
    u->store = store;
    u->fd = u->leased = -1;
    hash_restart(u);
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
    if (store->bucket && !(u->sending = sending_new(store->bucket, u->fd, err))) {
        return NULL;
    }
    return TAKE(u);
}

/* ---- linking or cloning an existing file instead of copying it */

/* The signal for a broken lease is ignored: the process that opens the file waits. */
static bool lease(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
           fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}

static bool link_whole(struct store_upload *u, int fd) {
    char from[32], name[STORE_PATH + 8];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    snprintf(name, sizeof name, "%s.link", u->path);
    if ((u->leased = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0) {
        return false;
    }
    bool named = lease(fd) && linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    int opened = named ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (opened >= 0 && rename(name, u->path) == 0) {
        close(u->fd);
        u->fd = opened;
        return true;
    }
    if (named) {
        unlink(name);
    }
    if (opened >= 0) {
        close(opened);
    }
    fcntl(fd, F_SETLEASE, F_UNLCK);
    close(u->leased);
    u->leased = -1;
    return false;
}

bool store_upload_share(struct store_upload *u, int fd, bool whole) {
    struct stat st;
    if (u->sending) {
        return false; /* the bytes have to be sent in any case */
    }
    if (!(whole && link_whole(u, fd)) && ioctl(u->fd, FICLONE, fd) != 0) {
        return false;
    }
    u->written = u->started = fstat(u->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return true;
}

bool store_upload_is_whole(const struct store_upload *u) {
    return u->leased >= 0;
}

/* ---- over several requests */

static bool open_partial(struct store_upload *u, bool create, struct reel_error *err) {
    struct stat st;
    u->fd = open(u->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600);
    if (u->fd < 0 || fstat(u->fd, &st) != 0 || lseek(u->fd, 0, SEEK_END) < 0) {
        return errno == ENOENT && !create ? reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone")
                                          : reel_fail_errno(err, "the upload's file cannot be opened");
    }
    if (create) {
        reel_own_by_folder(u->fd, u->path);
    }
    u->written = u->started = u->sure = (uint64_t)st.st_size; /* each request ends with an fsync */
    return true;
}

struct store_upload *store_upload_open(struct store *store, const char *id, bool create, const char *note,
                                       struct reel_error *err) {
    AUTO(store_upload_free) struct store_upload *u = upload_new(store, err);
    if (!u) {
        return NULL;
    }
    u->lasting = true;
    if (!store_partial_path(store, id, u->path)) {
        reel_fail(err, REEL_ARGUMENT, "not an upload's id");
        return NULL;
    }
    if (!(store->bucket ? upload_open_sent(u, note, err) : open_partial(u, create, err))) {
        return NULL;
    }
    if (create && !store->bucket && !store_sync_incoming(store, err)) { /* the client will resume it by its name */
        u->lasting = false;
        return NULL;
    }
    return TAKE(u);
}

uint64_t store_upload_size(const struct store_upload *u) {
    return u->written + u->held;
}

/* Hashes again from the last whole part on: the file has no bytes before it. */
static bool cut_sent(struct store_upload *u, struct reel_error *err) {
    if (!sending_cut(u->sending, u->written, err)) {
        return false;
    }
    u->hashed = sending_hash(u->sending, &u->hash);
    return store_upload_hash(u, NULL, err);
}

bool store_upload_cut(struct store_upload *u, uint64_t size, struct reel_error *err) {
    u->held = 0;
    if (u->written <= size) {
        return true;
    }
    if (!u->known && (ftruncate(u->fd, (off_t)size) != 0 || lseek(u->fd, (off_t)size, SEEK_SET) < 0)) {
        return reel_fail_errno(err, "the upload cannot be cut");
    }
    u->written = size;
    u->started = u->started < size ? u->started : size;
    u->sure = u->sure < size ? u->sure : size;
    if (u->sending) {
        return cut_sent(u, err);
    }
    if (u->hashed > size && !u->known) {
        hash_restart(u);
    }
    return true;
}

bool store_upload_mark(struct store_upload *u, struct reel_error *err) {
    if (!store_upload_flush(u, err)) {
        return false;
    }
    u->marked = u->hash;
    if (u->sending) {
        sending_hold(u->sending, u->written);
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

/* After a failed fsync the next one may succeed although pages are lost, so bytes up to here are never confirmed. */
static bool note_sync(struct store_upload *u, bool synced, struct reel_error *err) {
    struct reel_error ignored;
    if (synced) {
        u->sure = u->written;
        return true;
    }
    reel_fail_errno(err, "the upload cannot be written to disk");
    if (u->lasting) {
        store_upload_cut(u, u->sure, &ignored);
    }
    return false;
}

bool store_upload_sync(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err) {
    *note = NULL;
    *sure = u->sure;
    if (!store_upload_flush(u, err)) {
        return false;
    }
    if (u->sending && !u->known) {
        return (*note = sending_confirm(u->sending, u->written, full, sure, err));
    }
    bool good = u->known || note_sync(u, fdatasync(u->fd) == 0, err);
    *sure = good ? u->written : u->sure;
    return good;
}

void store_upload_noted(struct store_upload *u) {
    if (u->sending) {
        sending_confirmed(u->sending);
    }
}

/* Within one part of an object. */
static bool put_piece(struct store_upload *u, const uint8_t *data, size_t size, struct reel_error *err) {
    int64_t began_ns = clock_ns();
    for (size_t at = 0; at < size && !u->known;) {
        ssize_t n = write(u->fd, data + at, size - at < WRITE_BYTES ? size - at : WRITE_BYTES);
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the upload cannot be stored");
        }
        at += n > 0 ? (size_t)n : 0;
        u->written += n > 0 ? (uint64_t)n : 0;
    }
    elapsed_ns += clock_ns() - began_ns;
    if (u->known) {
        u->written += size;
    } else if (u->hashed == u->written - size) {
        digest_add(&u->hash, data, size);
        u->hashed = u->written;
    }
    if (u->written - u->started >= WRITEBACK_BYTES && !u->sending) {
        (void)sync_file_range(u->fd, (off_t)u->started, (off_t)(u->written - u->started),
                              SYNC_FILE_RANGE_WRITE); /* a hint: fsync reports errors */
        u->started = u->written;
    }
    return true;
}

static bool put(struct store_upload *u, const uint8_t *data, size_t size, struct reel_error *err) {
    while (u->sending && size > 0) {
        uint64_t left = sending_next(u->sending) - u->written;
        size_t n = size < left ? size : (size_t)left;
        if (!put_piece(u, data, n, err) || (n == left && !sending_grow(u->sending, &u->hash, err))) {
            return false;
        }
        data += n;
        size -= n;
    }
    return size == 0 || put_piece(u, data, size, err);
}

bool store_upload_flush(struct store_upload *u, struct reel_error *err) {
    size_t held = u->held;
    AUTO_MEM uint8_t *buffer = TAKE(u->buffer);
    u->held = 0;
    return put(u, buffer, held, err);
}

bool store_upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    const uint8_t *at = data;
    if (!u->buffer && !(u->buffer = malloc(BUFFER_BYTES))) {
        return reel_fail_memory(err);
    }
    while (size > 0) {
        if (u->held == 0 && size >= BUFFER_BYTES) { /* large pieces are not buffered */
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

/* Reads back what has not been hashed. */
bool store_upload_hash(struct store_upload *u, const struct reel_progress *progress, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = u->hashed < u->written ? malloc(BUFFER_BYTES) : NULL;
    while (u->hashed < u->written) {
        uint64_t left = u->written - u->hashed;
        ssize_t n =
            buffer ? pread(u->fd, buffer, left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES, (off_t)u->hashed) : 0;
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "the upload cannot be read back");
        }
        if (n == 0) {
            return buffer ? reel_fail(err, REEL_CHANGED, "the upload's file has become shorter")
                          : reel_fail_memory(err);
        }
        if (n > 0) {
            digest_add(&u->hash, buffer, (size_t)n);
            u->hashed += (uint64_t)n;
        }
        if (progress && progress->report && !progress->report(progress->context, u->hashed, u->written)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
    }
    return true;
}

bool store_upload_finish(struct store_upload *u, char sha256[65], uint64_t *size, struct reel_error *err) {
    if (!store_upload_flush(u, err) || (!u->known && !store_upload_hash(u, NULL, err))) {
        return false;
    }
    if (!u->known) {
        digest_end_hex(&u->hash, u->sha256);
    }
    if (!u->sending && !u->known) {
        hash_restart(u);
        if (!note_sync(u, sync_file(u->fd), err)) {
            return false;
        }
    }
    memcpy(sha256, u->sha256, sizeof u->sha256);
    *size = u->written;
    return true;
}

/* A blob of this hash and size exists. It has the same content, and blobs are flushed before they get their name. */
static bool is_there(const struct store_upload *u) {
    char path[STORE_PATH];
    struct stat st;
    return store_content_path(u->store, u->sha256, "", path, sizeof path) && stat(path, &st) == 0 &&
           (uint64_t)st.st_size == u->written;
}

bool store_upload_keep(struct store_upload *u, struct reel_error *err) {
    if (u->store->bucket) {
        return upload_keep_object(u, false, err);
    }
    return is_there(u) && !u->placed ? store_sync_bucket(u->store, u->sha256, err) : store_upload_replace(u, err);
}

bool store_upload_replace(struct store_upload *u, struct reel_error *err) {
    if (!u->sha256[0] || u->placed) {
        return reel_fail(err, REEL_ARGUMENT, "the upload is not finished, or kept already");
    }
    if (u->store->bucket) {
        return upload_keep_object(u, true, err);
    }
    if (store_upload_is_whole(u)) {
        reel_own_by_folder(u->fd, u->path); /* a linked file gets the owner of the archive's folder */
    }
    bool lasts = store_publish(u->store, u->path, u->sha256, "", err);
    u->placed =
        lasts || access(u->path, F_OK) != 0; /* after a failure the file may have been renamed without being durable */
    if (lasts) {
        store_drop_reference(u->store, u->sha256); /* the stored copy replaces the reference */
    }
    return lasts;
}

bool store_upload_is_here(const struct store_upload *u) {
    return !u->placed || u->store->bucket; /* an object of the bucket is found again by its content */
}

void store_upload_withdraw(struct store_upload *u) {
    char path[STORE_PATH];
    if (u->lasting && u->placed && !u->store->bucket &&
        store_content_path(u->store, u->sha256, "", path, sizeof path)) {
        u->placed = rename(path, u->path) != 0;
    }
}

void store_upload_drop(struct store_upload *u) {
    u->lasting = false;
}

void store_upload_free(struct store_upload *u) {
    if (!u) {
        return;
    }
    if (u->path[0] && !u->placed && (!u->lasting || u->store->bucket)) {
        unlink(u->path);
    }
    if (u->sending && !u->placed && !u->lasting) {
        sending_abandon(u->sending);
    }
    sending_free(u->sending); /* its threads read the file until then */
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->leased >= 0) {
        close(u->leased);
    }
    free(u->buffer);
    free(u);
}
