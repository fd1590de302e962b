/* See disk.h. */
#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "reel/cleanup.h"

enum { COPY_BYTES = 8 << 20 };

bool disk_join(char out[PATH_MAX], const char *folder, const char *name, struct reel_error *err) {
    int n = snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return (n > 0 && n < PATH_MAX) || reel_fail(err, REEL_ARGUMENT, "the path is too long");
}

char *disk_adjacent(const char *path, const char *suffix) {
    enum { DIGITS = 16 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = strlen(name), room = NAME_MAX - strlen(suffix), keep = room - 1 - DIGITS;
    char hex[SHA256_HEX] = "", *out = NULL;
    if (size > room) {
        digest_hex(DIGEST_SHA256, bytes_text(name), hex);
        while (keep > 0 && ((unsigned char)name[keep] & 0xc0) == 0x80) { /* between characters */
            keep--;
        }
    }
    int n = size > room ? asprintf(&out, "%.*s~%.*s%s", (int)((size_t)(name - path) + keep), path, DIGITS, hex, suffix)
                        : asprintf(&out, "%s%s", path, suffix);
    return n < 0 ? NULL : out;
}

bool disk_folder_of(const char *path, char out[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(out, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path)
                  : snprintf(out, PATH_MAX, ".");
    return n >= 0 && n < PATH_MAX;
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

bool disk_write_at(int fd, const void *data, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (n == 0) {
            errno = EIO;
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool disk_read_at(int fd, void *data, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));
        if (n == 0) {
            errno = 0;
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool disk_allocate(int fd, uint64_t size) {
    int failed = posix_fallocate(fd, 0, (off_t)size); /* does not set errno */
    errno = failed ? failed : errno;
    return failed == 0;
}

bool disk_rename_new(const char *from, const char *to) {
    int result = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (result != 0 && errno == EINVAL) {
        bool exists = access(to, F_OK) == 0;
        result = exists ? -1 : rename(from, to);
        errno = exists ? EEXIST : errno;
    }
    return result == 0;
}

bool disk_sync_folder(const char *folder, struct reel_error *err) {
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (fd >= 0 && fsync(fd) == 0) || reel_fail_errno(err, "a folder cannot be written to disk");
}

bool disk_sync_all(const char *folder) {
    AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && syncfs(fd) == 0;
}

bool disk_sync_folder_of(const char *path, struct reel_error *err) {
    char folder[PATH_MAX];
    return disk_folder_of(path, folder) ? disk_sync_folder(folder, err)
                                        : reel_fail(err, REEL_ARGUMENT, "the path is too long");
}

static bool copy_bytes(int from, int to, struct reel_error *err) {
    ssize_t n;
    AUTO_MEM char *buffer = NULL;
    bool wanted = true;
    while (wanted && (n = copy_file_range(from, NULL, to, NULL, COPY_BYTES, 0)) > 0) {
        wanted = cancel_check(err);
    }
    if (!wanted || n == 0) {
        return wanted;
    }
    if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS) {
        return reel_fail_errno(err, "a file cannot be copied");
    }
    if (!(buffer = malloc(COPY_BYTES))) {
        return reel_fail_memory(err);
    }
    while ((n = read(from, buffer, COPY_BYTES)) > 0) {
        if (!cancel_check(err)) {
            return false;
        }
        if (!disk_write_all(to, buffer, (size_t)n)) {
            break;
        }
    }
    return n == 0 || reel_fail_errno(err, "a file cannot be copied"); /* read, or written */
}

bool disk_copy(const char *from, const char *to, bool *gone, struct reel_error *err) {
    char part[PATH_MAX];
    AUTO_FD int in = open(from, O_RDONLY | O_CLOEXEC);
    *gone = in < 0 && errno == ENOENT;
    if (in < 0) {
        return *gone || reel_fail_errno(err, "a file cannot be copied");
    }
    snprintf(part, sizeof part, "%.*s.part", (int)sizeof part - 8, to);
    AUTO_FD int out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out < 0) {
        return reel_fail_errno(err, "a file cannot be copied");
    }
    bool good = copy_bytes(in, out, err) && (rename(part, to) == 0 || reel_fail_errno(err, "a file cannot be copied"));
    if (!good) {
        unlink(part);
    }
    return good;
}
