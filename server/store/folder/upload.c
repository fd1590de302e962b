/* Uploads into the folder. The disk starts writing while bytes still arrive, so that the final fsync has little left to
 * do. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/ownership.h"
#include "store/reference.h"
#include "store/upload_internal.h"

enum { WRITEBACK_BYTES = 8 << 20 };

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

static bool share(struct store_upload *u, int fd, bool whole) {
    struct stat st;
    if (!(whole && link_whole(u, fd)) && ioctl(u->fd, FICLONE, fd) != 0) {
        return false;
    }
    u->written = u->started = fstat(u->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    return true;
}

/* ---- bytes */

static bool open_session(struct store_upload *u, bool create, const char *note, struct reel_error *err) {
    struct stat st;
    (void)note;
    u->fd = open(u->path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600);
    if (u->fd < 0 || fstat(u->fd, &st) != 0 || lseek(u->fd, 0, SEEK_END) < 0) {
        return errno == ENOENT && !create ? reel_fail(err, REEL_NOT_FOUND, "what was uploaded so far is gone")
                                          : reel_fail_errno(err, "the upload's file cannot be opened");
    }
    if (create) {
        reel_own_by_folder(u->fd, u->path);
    }
    u->written = u->started = u->sure = (uint64_t)st.st_size; /* each request ends with an fsync */
    if (create && !store_sync_incoming(u->store, err)) {      /* the client will resume it by its name */
        u->lasting = false;
        return false;
    }
    return true;
}

static bool folder_upload_put(struct store_upload *u, const void *data, size_t size, struct reel_error *err) {
    if (!upload_write(u, data, size, err)) {
        return false;
    }
    if (u->written - u->started >= WRITEBACK_BYTES) {
        (void)sync_file_range(u->fd, (off_t)u->started, (off_t)(u->written - u->started),
                              SYNC_FILE_RANGE_WRITE); /* a
                                                         hint:
                                                         fsync
                                                         reports
                                                         errors
                                                       */
        u->started = u->written;
    }
    return true;
}

static bool folder_upload_cut(struct store_upload *u, struct reel_error *err) {
    (void)err;
    if (u->hashed > u->written) {
        upload_hash_restart(u);
    }
    return true;
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

static bool sync_bytes(struct store_upload *u, bool full, uint64_t *sure, char **note, struct reel_error *err) {
    bool good = note_sync(u, fdatasync(u->fd) == 0, err);
    (void)full, (void)note;
    *sure = u->sure;
    return good;
}

/* ---- the end */

static bool upload_finish(struct store_upload *u, struct reel_error *err) {
    if (!upload_hash_all(u, err)) {
        return false;
    }
    upload_hash_restart(u);
    int64_t began_ns = clock_ns();
    bool synced = fsync(u->fd) == 0;
    upload_waited(began_ns);
    return note_sync(u, synced, err);
}

/* A blob of this hash and size exists. It has the same content, and blobs are flushed before they get their name. */
static bool upload_is_there(const struct store_upload *u) {
    char path[STORE_PATH];
    struct stat st;
    return store_content_path(u->store, u->sha256, "", path, sizeof path, NULL) && stat(path, &st) == 0 &&
           (uint64_t)st.st_size == u->written;
}

static bool folder_upload_keep(struct store_upload *u, bool replace, struct reel_error *err) {
    if (!upload_may_be_kept(u, err)) {
        return false;
    }
    if (!replace && upload_is_there(u)) {
        return store_sync_place(u->store, u->sha256, err);
    }
    if (store_upload_is_whole(u)) {
        reel_own_by_folder(u->fd, u->path); /* a linked file gets the owner of the archive's folder */
    }
    bool lasts = store_publish(u->store, u->path, u->sha256, "", err);
    u->placed = lasts || access(u->path, F_OK) != 0; /* after a failure the file may have been renamed without being
                                                        durable */
    if (lasts) {
        store_drop_reference(u->store, u->sha256); /* the stored copy replaces the reference */
    }
    return lasts;
}

static bool withdraw(struct store_upload *u) {
    char path[STORE_PATH];
    if (store_content_path(u->store, u->sha256, "", path, sizeof path, NULL)) {
        u->placed = rename(path, u->path) != 0;
    }
    return !u->placed;
}

static struct reel_source *open_partial(struct store *store, const char *id, const char *note, uint64_t size,
                                        struct reel_error *err) {
    char path[STORE_PATH];
    (void)note, (void)size;
    return store_partial_path(store, id, path, err) ? reel_source_open(path, "part", err) : NULL;
}

const struct store_upload_ops store_upload_in_folder = {.open = open_session,
                                                        .share = share,
                                                        .put = folder_upload_put,
                                                        .cut = folder_upload_cut,
                                                        .sync = sync_bytes,
                                                        .finish = upload_finish,
                                                        .keep = folder_upload_keep,
                                                        .withdraw = withdraw,
                                                        .open_partial = open_partial};
