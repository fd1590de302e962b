/* See roots.h. The kernel resolves a path from the root's descriptor without following links (openat2()); where that is
 * missing, the same is done here for each segment. */
#include "store/roots.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct root {
    char *folder; /* its real path */
    int fd;
};
struct roots {
    struct root *items;
    unsigned n;
};

static atomic_bool no_openat2;

void roots_without_openat2(bool without) {
    atomic_store(&no_openat2, without);
}

void roots_close(struct roots *roots) {
    for (unsigned i = 0; roots && i < roots->n; i++) {
        close(roots->items[i].fd);
        free(roots->items[i].folder);
    }
    free(roots ? roots->items : NULL);
    free(roots);
}

unsigned roots_count(const struct roots *roots) {
    return roots ? roots->n : 0;
}
const char *roots_folder(const struct roots *roots, unsigned i) {
    return roots->items[i].folder;
}

bool roots_add(struct roots *roots, const char *folder, struct reel_error *err) {
    AUTO_MEM char *real = realpath(folder, NULL);
    AUTO_FD int fd = real ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return reel_fail_errno(err, "the folder %.200s cannot be opened", folder);
    }
    for (unsigned i = 0; i < roots->n; i++) {
        if (strcmp(roots->items[i].folder, real) == 0) {
            return true;
        }
    }
    struct root *items = realloc(roots->items, (roots->n + 1) * sizeof *items);
    if (!items) {
        return reel_fail_memory(err);
    }
    roots->items = items;
    items[roots->n++] = (struct root){.folder = TAKE(real), .fd = fd};
    fd = -1;
    return true;
}

struct roots *roots_open(const char *const *folders, struct reel_error *err) {
    AUTO(roots_close) struct roots *roots = calloc(1, sizeof *roots);
    if (!roots) {
        reel_fail_memory(err);
        return NULL;
    }
    for (; folders && *folders; folders++) {
        if (!roots_add(roots, *folders, err)) {
            return NULL;
        }
    }
    return TAKE(roots);
}

/* ---- paths as texts */

/* Without empty segments and "."; false: it has "..", or is too long. */
static bool tidy(const char *path, char out[PATH_MAX], struct reel_error *err) {
    size_t used = 0;
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.') {
            return reel_fail(err, REEL_ARGUMENT, "a path must not have \"..\" in it");
        }
        if (n > 0 && !(n == 1 && at[0] == '.')) {
            if (used + n + 2 > PATH_MAX || n > NAME_MAX) {
                return reel_fail(err, REEL_ARGUMENT, "the path is too long");
            }
            out[used] = '/';
            memcpy(out + used + 1, at, n);
            used += n + 1;
        }
        at += n + (at[n] == '/');
    }
    out[used] = '\0';
    if (used == 0) {
        memcpy(out, "/", 2);
    }
    return true;
}

/* The innermost root above a tidy path. */
static const struct root *root_of(const struct roots *roots, const char *path, const char **below) {
    const struct root *found = NULL;
    size_t longest = 0;
    for (unsigned i = 0; i < roots_count(roots); i++) {
        const char *folder = roots->items[i].folder;
        size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
        if (strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]) && (!found || n > longest)) {
            found = &roots->items[i];
            longest = n;
            *below = path[n] && path[n + 1] ? path + n + 1 : ".";
        }
    }
    return found;
}

const char *roots_below(const struct roots *roots, const char *path) {
    const char *below = NULL;
    return root_of(roots, path, &below) ? below : NULL;
}

/* ---- opening */

static int roots_walk(int root, const char *below, int flags) {
    char segment[NAME_MAX + 1];
    int at = dup(root);
    for (const char *rest = below; at >= 0 && *rest;) {
        size_t n = strcspn(rest, "/");
        bool last = !rest[n];
        if (n > NAME_MAX) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        snprintf(segment, sizeof segment, "%.*s", (int)n, rest);
        int next = openat(at, segment, last ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && errno == ENOTDIR && !last) { /* so it answers for a link, too */
            struct stat st;
            errno = fstatat(at, segment, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
        }
        int failed = errno;
        close(at);
        errno = failed;
        at = next;
        rest += n + !last;
    }
    return at;
}

static int open_beneath(int root, const char *below, int flags) {
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = -1;
    errno = ENOSYS;
    for (unsigned again = 0; again < 8 && !atomic_load(&no_openat2); again++) {
        fd = (int)syscall(SYS_openat2, root, below, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN) { /* EAGAIN: something was renamed at that moment */
            break;
        }
    }
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) { /* EPERM: a container's filter that does not know it */
        return roots_walk(root, below, flags);
    }
    return fd;
}

static int open_at(const struct root *root, const char *below, int flags, struct reel_error *err) {
    int more = flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY; /* which do not go with it */
    int fd = open_beneath(root->fd, below, flags | more | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        return fd;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        reel_fail(err, REEL_NOT_FOUND, "there is no such file");
    } else if (errno == ELOOP || errno == EXDEV) {
        reel_fail(err, REEL_ARGUMENT, "the path contains a symbolic link: use the path of its target");
    } else if (errno == ENXIO) { /* a socket, or a device that is not there */
        reel_fail(err, REEL_ARGUMENT, "it is not a regular file");
    } else {
        reel_fail_errno(err, "the file cannot be opened");
    }
    return -1;
}

int roots_open_file(const struct roots *roots, const char *path, int flags, struct reel_error *err) {
    const char *below;
    const struct root *root = root_of(roots, path, &below);
    if (!root) {
        reel_fail(err, REEL_NOT_FOUND, "it is not below an import root");
        return -1;
    }
    return open_at(root, below, flags, err);
}

bool roots_resolve(const struct roots *roots, const char *path, char out[PATH_MAX], struct reel_error *err) {
    char tidied[PATH_MAX];
    const char *below;
    if (roots_count(roots) == 0) {
        return reel_fail(err, REEL_NOT_FOUND, "this server has no import roots: --import-root DIR names one");
    }
    if (!tidy(path, tidied, err)) {
        return false;
    }
    if (path[0] == '/') {
        memcpy(out, tidied, strlen(tidied) + 1);
        return root_of(roots, out, &below) || reel_fail(err, REEL_NOT_FOUND, "the path is not below an import root");
    }
    const char *inside = tidied[1] ? tidied + 1 : ".";
    unsigned found = 0;
    for (unsigned i = 0; i < roots->n; i++) {
        AUTO_FD int fd = open_at(&roots->items[i], inside, O_PATH, NULL);
        if (fd >= 0) {
            found = i;
            break;
        }
    }
    const char *folder = roots->items[found].folder;
    int n = snprintf(out, PATH_MAX, "%s%s", strcmp(folder, "/") == 0 ? "" : folder, tidied[1] ? tidied : "");
    if (n == 0) {
        memcpy(out, "/", 2);
    }
    return (n >= 0 && n < PATH_MAX) || reel_fail(err, REEL_ARGUMENT, "the path is too long");
}

bool roots_unlink(const struct roots *roots, const char *path, struct reel_error *err) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash && slash > path ? (size_t)(slash - path) : 1;
    if (!slash || n >= sizeof folder) {
        return reel_fail(err, REEL_ARGUMENT, "not the path of a file");
    }
    memcpy(folder, path, n);
    folder[n] = '\0';
    AUTO_FD int fd = roots_open_file(roots, folder, O_RDONLY | O_DIRECTORY, err);
    return fd >= 0 && (unlinkat(fd, slash + 1, 0) == 0 || reel_fail_errno(err, "the file cannot be removed"));
}
