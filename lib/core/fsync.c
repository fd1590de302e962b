/* See fsync.h. */
#include "core/fsync.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reel/cleanup.h"
#include "wire/cleanup.h"

bool folder_of(const char *path, char out[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path) : snprintf(out, PATH_MAX, ".");
    return n >= 0 && n < PATH_MAX;
}

bool fsync_folder_of(const char *path, struct reel_error *err) {
    char folder[PATH_MAX];
    if (!folder_of(path, folder)) {
        return reel_fail(err, REEL_ARGUMENT, "the path of a folder is too long");
    }
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        return reel_fail_errno(err, "could not make a rename durable");
    }
    return true;
}
