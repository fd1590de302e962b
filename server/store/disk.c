/* See disk.h. Errors name no path. */
#include "store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reel/cleanup.h"
#include "wire/cleanup.h"

bool disk_join(char out[PATH_MAX], const char *folder, const char *name, struct reel_error *err) {
    int n = snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return (n > 0 && n < PATH_MAX) || reel_fail(err, REEL_ARGUMENT, "the path is too long");
}

bool disk_write_all(int fd, const void *data, size_t size) {
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n == 0) {
            errno = EIO; /* write() returned 0 without an error */
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool disk_sync_folder(const char *folder, struct reel_error *err) {
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (fd >= 0 && fsync(fd) == 0) || reel_fail_errno(err, "a folder cannot be written to disk");
}

bool disk_sync_folder_of(const char *path, struct reel_error *err) {
    char copy[PATH_MAX];
    int n = snprintf(copy, sizeof copy, "%s", path);
    return n >= 0 && n < PATH_MAX ? disk_sync_folder(dirname(copy), err) : reel_fail(err, REEL_ARGUMENT, "the path is too long");
}
