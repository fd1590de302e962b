/* The folder of derived files: what is computed from recordings and kept while there is room. They are not flushed:
 * readers check them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/store_internal.h"

const char *store_derived_folder(struct store *store) {
    return store->derived;
}

struct derived {
    char name[NAME_MAX + 1];
    uint64_t bytes;
    int64_t used_ns; /* last read or written */
};

static int older_first(const void *a, const void *b) {
    int64_t x = ((const struct derived *)a)->used_ns, y = ((const struct derived *)b)->used_ns;
    return (x > y) - (x < y);
}

/* Complete files: decompressed chunks (chunks/spool.c), pictures, and videos with their notes (datasets/videos.c). The
 * others are being written, or were when a server ended. */
static bool is_derived(const char *name) {
    static const char *const suffixes[] = {".raw", ".jpg", ".mp4", ".note"};
    const char *suffix = strrchr(name, '.');
    size_t i = 0, n = sizeof suffixes / sizeof *suffixes;
    while (suffix && i < n && strcmp(suffix, suffixes[i]) != 0) {
        i++;
    }
    return suffix && i < n;
}

/* At start none is being written. */
void store_sweep_derived(const struct store *store) {
    AUTO_FOLDER DIR *d = opendir(store->derived);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] != '.' && !is_derived(e->d_name)) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
}

static bool list_derived(DIR *d, struct derived **out, size_t *count, uint64_t *total, struct reel_error *err) {
    size_t room = 0;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (!is_derived(e->d_name) || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode)) {
            continue;
        }
        if (*count == room) {
            room = room ? 2 * room : 64;
            struct derived *more = realloc(*out, room * sizeof *more);
            if (!more) {
                return reel_fail_memory(err);
            }
            *out = more;
        }
        struct derived *file = &(*out)[(*count)++];
        int64_t read = store_stamp(st.st_atim), written = store_stamp(st.st_mtim);
        snprintf(file->name, sizeof file->name, "%s", e->d_name);
        file->bytes = (uint64_t)st.st_blocks * 512;
        file->used_ns = read > written ? read : written;
        *total += file->bytes;
    }
    return true;
}

bool store_trim_derived(struct store *store, uint64_t max_bytes, struct reel_error *err) {
    AUTO_FOLDER DIR *d = opendir(store->derived);
    AUTO_MEM struct derived *files = NULL;
    size_t count = 0;
    uint64_t total = 0;
    if (!d) {
        return reel_fail_errno(err, "the store cannot read its folder of derived files");
    }
    if (!list_derived(d, &files, &count, &total, err)) {
        return false;
    }
    if (count > 0) {
        qsort(files, count, sizeof *files, older_first);
    }
    for (size_t i = 0; i < count && total > max_bytes; i++) {
        if (unlinkat(dirfd(d), files[i].name, 0) == 0) {
            total -= files[i].bytes;
        }
    }
    return true;
}

void store_remove_derived(const struct store *store, const char *content) {
    AUTO_FOLDER DIR *d = opendir(store->derived);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, content, strlen(content)) == 0) {
            unlinkat(dirfd(d), e->d_name, 0);
        }
    }
}

/* ---- pictures */

static bool picture_path(const struct store *store, const char *content, const char *name, char out[STORE_PATH],
                         struct reel_error *err) {
    return snprintf(out, STORE_PATH, "%s/%s-%s.jpg", store->derived, content, name) < STORE_PATH ||
           reel_fail(err, REEL_ARGUMENT, "the path of the data folder is too long");
}

/* A power failure may have left it empty, or cut it off. */
static bool is_whole_jpeg(int fd, uint64_t *size) {
    struct stat st;
    uint8_t end[2] = {0};
    bool whole = fstat(fd, &st) == 0 && st.st_size > 2 && pread(fd, end, 2, st.st_size - 2) == 2 && end[0] == 0xff &&
                 end[1] == 0xd9;
    *size = whole ? (uint64_t)st.st_size : 0;
    return whole;
}

int store_open_picture(struct store *store, const char *content, const char *name, uint64_t *size) {
    char path[STORE_PATH];
    int fd = picture_path(store, content, name, path, NULL) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && !is_whole_jpeg(fd, size)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool store_keep_picture(struct store *store, const char *content, const char *name, const void *data, size_t size,
                        struct reel_error *err) {
    char to[STORE_PATH];
    return picture_path(store, content, name, to, err) && store_write_unsynced(store, to, data, size, err);
}
