/* Output files appear under their name once complete, or not at all. Existing files that are not regular (a pipe, /dev/stdout) are written
 * directly. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "store/disk.h"
#include "wire/cleanup.h"

enum { MODE = 0666 }; /* before the umask */

bool cli_output_open(struct cli_output *o, const char *path, bool replace, struct reel_error *err) {
    *o = (struct cli_output){.path = path, .fd = -1, .replace = replace};
    struct stat st;
    if (strcmp(path, "-") == 0) {
        o->fd = STDOUT_FILENO;
        return true;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        o->own_fd = true;
        return o->fd >= 0 || reel_fail_errno(err, "%s", path);
    }
    if (!replace && access(path, F_OK) == 0) {
        return reel_fail(err, REEL_CONFLICT, "%s: already exists; --force replaces it", path);
    }
    if (asprintf(&o->temporary, "%s.tmp-%ld", path, (long)getpid()) < 0) {
        o->temporary = NULL;
        return reel_fail_memory(err);
    }
    o->own_fd = true;
    if ((o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE)) < 0) {
        reel_fail_errno(err, "%s", path);
        free(TAKE(o->temporary));
        return false;
    }
    return true;
}

bool cli_output_write(struct cli_output *o, const void *data, size_t size, struct reel_error *err) {
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(o->fd, at, size);
        if (n < 0 && errno != EINTR) {
            return reel_fail_errno(err, "%s", o->own_fd ? o->path : "standard output");
        }
        if (cli_interrupted()) {
            return reel_fail(err, REEL_CANCELLED, "interrupted");
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Makes the new name durable. EACCES: a folder that may be written but not read; EINVAL: a file system that cannot sync folders. */
static bool sync_folder(const char *path, struct reel_error *err) {
    return disk_sync_folder_of(path, NULL) || errno == EACCES || errno == EINVAL || reel_fail_errno(err, "%s: folder", path);
}

/* On file systems without RENAME_NOREPLACE, the check in cli_output_open() has to suffice. */
static bool rename_output(struct cli_output *o) {
    if (o->replace) {
        return rename(o->temporary, o->path) == 0;
    }
    return renameat2(AT_FDCWD, o->temporary, AT_FDCWD, o->path, RENAME_NOREPLACE) == 0 ||
           (errno == EINVAL && rename(o->temporary, o->path) == 0);
}

bool cli_output_finish(struct cli_output *o, struct reel_error *err) {
    if (!o->temporary) {
        return true;
    }
    if (fsync(o->fd) != 0 || !rename_output(o)) {
        return reel_fail_errno(err, "%s", o->path);
    }
    free(TAKE(o->temporary));
    return sync_folder(o->path, err);
}

void cli_output_done(struct cli_output *o) {
    if (o->own_fd && o->fd >= 0) {
        close(o->fd);
    }
    if (o->temporary) {
        unlink(o->temporary);
        free(o->temporary);
    }
    *o = (struct cli_output){.fd = -1};
}
