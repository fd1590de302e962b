/* See output_file.h. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/disk.h"

enum { MODE = 0666 }; /* before the umask */

static bool fail_taken(const char *path, struct reel_error *err) {
    return reel_fail(err, REEL_CONFLICT, "%s already exists", path);
}

bool output_file_open(struct output_file *o, const char *path, bool replace, struct reel_error *err) {
    *o = (struct output_file){.path = path, .fd = -1, .replace = replace};
    struct stat st;
    if (strcmp(path, "-") == 0) {
        o->path = NULL;
        o->fd = STDOUT_FILENO;
        return true;
    }
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        o->fd = open(path, O_WRONLY | O_CLOEXEC);
        return o->fd >= 0 || reel_fail_errno(err, "%s", path);
    }
    if (exists && !replace) {
        return fail_taken(path, err);
    }
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".tmp-%ld", (long)getpid());
    if (!(o->temporary = disk_adjacent(path, suffix))) {
        return reel_fail_memory(err);
    }
    if ((o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE)) < 0) {
        reel_fail_errno(err, "%s", o->temporary);
        free(TAKE(o->temporary)); /* another's */
        return false;
    }
    return true;
}

bool output_file_write(void *output_file, const void *data, size_t size, struct reel_error *err) {
    const struct output_file *o = output_file;
    return disk_write_all(o->fd, data, size) || reel_fail_errno(err, "%s", o->path ? o->path : "standard output");
}

bool output_file_rewrite(void *output_file, const void *data, size_t size, struct reel_error *err) {
    const struct output_file *o = output_file;
    return disk_write_at(o->fd, data, size, 0) || reel_fail_errno(err, "%s", o->path);
}

bool output_file_rewrites(const struct output_file *o) {
    return o->temporary != NULL;
}

/* Makes the new name durable. EACCES: a folder that may be written but not read; EINVAL: a file system that cannot sync
 * folders. */
static bool sync_folder(const char *path, struct reel_error *err) {
    return disk_sync_folder_of(path, NULL) || errno == EACCES || errno == EINVAL ||
           reel_fail_errno(err, "%s: folder", path);
}

bool output_file_finish(struct output_file *o, struct reel_error *err) {
    if (!o->temporary) {
        return true;
    }
    if (fsync(o->fd) != 0 ||
        !(o->replace ? rename(o->temporary, o->path) == 0 : disk_rename_new(o->temporary, o->path))) {
        return errno == EEXIST ? fail_taken(o->path, err) : reel_fail_errno(err, "%s", o->path);
    }
    free(TAKE(o->temporary));
    return sync_folder(o->path, err);
}

void reel_auto_output_file_done(struct output_file *o) {
    if (o->path && o->fd >= 0) {
        close(o->fd);
    }
    if (o->temporary) {
        unlink(o->temporary);
        free(o->temporary);
    }
}
