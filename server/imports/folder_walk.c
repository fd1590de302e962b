/* See folder_walk.h. Each folder is opened relative to its parent, and no symbolic link is followed. */
#include "imports/folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"

enum { ENTRIES_MAX = 100000 }; /* of one folder */

void folder_listing_done(struct folder_listing *l) {
    while (l->n_files > 0) {
        free(l->files[--l->n_files].name);
    }
    while (l->n_folders > 0) {
        free(l->folders[--l->n_folders]);
    }
    free(l->files);
    free(l->folders);
    *l = (struct folder_listing){0};
}

bool folder_passes_name(const char *name) {
    static const char *const unfinished[] = {".active", ".part", ".tmp", ".partial", ".crdownload", ".swp", "~"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++) {
        size_t end = strlen(unfinished[i]);
        if (n >= end && strcmp(name + n - end, unfinished[i]) == 0) {
            return true;
        }
    }
    return name[0] == '.';
}

/* ---- listing */

static struct folder_file file_of(const char *name, const struct stat *st) {
    return (struct folder_file){.name = strdup(name),
                                .device = (uint64_t)st->st_dev,
                                .inode = (uint64_t)st->st_ino,
                                .size = (uint64_t)st->st_size,
                                .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
                                .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec};
}

static bool folder_walk_make_room(void **items, uint32_t n, uint32_t *room, size_t size) {
    if (n < *room) {
        return true;
    }
    uint32_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*items, more * size);
    *items = grown ? grown : *items;
    *room = grown ? more : *room;
    return grown;
}

bool folder_listing_add(struct folder_listing *l, const char *name, const struct stat *st, struct reel_error *err) {
    if (!folder_walk_make_room((void **)&l->files, l->n_files, &l->files_room, sizeof *l->files)) {
        return reel_fail_memory(err);
    }
    l->files[l->n_files] = file_of(name, st);
    if (!l->files[l->n_files].name) {
        return reel_fail_memory(err);
    }
    l->n_files++;
    return true;
}

static bool folder_walk_add_entry(struct folder_listing *l, int fd, const char *name, struct reel_error *err) {
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
        return true; /* deleted meanwhile, a link, a pipe */
    }
    if (l->n_files + l->n_folders == ENTRIES_MAX) {
        return reel_fail(err, REEL_LIMIT, "a folder has more than %d entries", ENTRIES_MAX);
    }
    if (S_ISREG(st.st_mode)) {
        return folder_listing_add(l, name, &st, err);
    }
    if (!folder_walk_make_room((void **)&l->folders, l->n_folders, &l->folders_room, sizeof *l->folders)) {
        return reel_fail_memory(err);
    }
    if (!(l->folders[l->n_folders] = strdup(name))) {
        return reel_fail_memory(err);
    }
    l->n_folders++;
    return true;
}

static int file_order(const void *a, const void *b) {
    return strcmp(((const struct folder_file *)a)->name, ((const struct folder_file *)b)->name);
}
static int folder_order(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool folder_list(int fd, struct folder_listing *l, struct reel_error *err) {
    int own = dup(fd);
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    bool good = d || reel_fail_errno(err, "a folder cannot be read");
    if (!d && own >= 0) {
        close(own);
    }
    for (struct dirent *e; good && d && (e = readdir(d));) {
        good = folder_passes_name(e->d_name) || folder_walk_add_entry(l, fd, e->d_name, err);
    }
    if (d) {
        closedir(d);
    }
    if (good && l->n_files > 0) {
        qsort(l->files, l->n_files, sizeof *l->files, file_order);
    }
    if (good && l->n_folders > 0) {
        qsort(l->folders, l->n_folders, sizeof *l->folders, folder_order);
    }
    return good;
}

/* ---- walking */

static bool folder_walk_walk(const struct folder_visit *v, const char *folder, int fd, unsigned depth,
                             struct reel_error *err) {
    AUTO_STRUCT(folder_listing_done) struct folder_listing l = {0};
    struct reel_error why = {0};
    enum folder_decision options = v->enter(v->context, folder, err);
    if (options != FOLDER_ENTER) {
        return options == FOLDER_PASS;
    }
    if (!folder_list(fd, &l, &why)) {
        v->refused(v->context, folder, &why);
        return true;
    }
    AUTO_MEM char *path = malloc(PATH_MAX);
    if (!path) {
        return reel_fail_memory(err);
    }
    bool good = v->files(v->context, folder, fd, &l, err);
    for (uint32_t i = 0; good && i < l.n_folders; i++) {
        bool fits = depth < FOLDER_DEPTH_MAX
                        ? disk_join(path, folder, l.folders[i], &why)
                        : reel_fail(&why, REEL_LIMIT, "folders are nested deeper than %d", FOLDER_DEPTH_MAX);
        if (!fits) {
            v->refused(v->context, folder, &why);
            break;
        }
        AUTO_FD int below = openat(fd, l.folders[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0) {
            reel_fail_errno(&why, "the folder cannot be opened");
            v->refused(v->context, path, &why);
            continue;
        }
        good = folder_walk_walk(v, path, below, depth + 1, err);
    }
    return good;
}

bool folder_walk(const struct folder_visit *visit, const char *folder, int fd, struct reel_error *err) {
    return folder_walk_walk(visit, folder, fd, 0, err);
}
