/* See folder.h. */
#include "read/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/order.h"
#include "index/split_name.h"

enum { ENTRIES_MAX = 100000 }; /* of one folder */

void folder_done(struct folder *f) {
    for (uint32_t i = 0; i < f->n_files; i++) {
        free(f->files[i]);
    }
    for (uint32_t i = 0; i < f->n_folders; i++) {
        free(f->folders[i]);
    }
    free(f->files);
    free(f->folders);
    free(f->paths);
    free(f->items);
    *f = (struct folder){0};
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- its entries */

static bool add_path(char ***paths, uint32_t *n, size_t *room, const char *path, struct reel_error *err) {
    if (*n == ENTRIES_MAX) {
        return reel_fail(err, REEL_LIMIT, "the folder has more than %d entries", ENTRIES_MAX);
    }
    if (!GROW_ARRAY(*paths, *n, *room) || !((*paths)[*n] = strdup(path))) {
        return reel_fail_memory(err);
    }
    ++*n;
    return true;
}

static bool add_entry(struct folder *f, const char *path, folder_takes takes, void *context, struct reel_error *err) {
    struct stat link, st;
    bool there = lstat(path, &link) == 0 && stat(path, &st) == 0;
    if (there && S_ISREG(st.st_mode)) {
        return (takes && !takes(context, path)) || add_path(&f->files, &f->n_files, &f->room_files, path, err);
    }
    bool is_folder = there && S_ISDIR(link.st_mode); /* a link may lead upwards */
    return !is_folder || add_path(&f->folders, &f->n_folders, &f->room_folders, path, err);
}

/* NULL: there are no more, or *good is false. */
static struct dirent *next_entry(DIR *dir, const char *path, bool *good, struct reel_error *err) {
    errno = 0;
    struct dirent *e = readdir(dir);
    *good = e || errno == 0 || reel_fail_errno(err, "%s", path);
    return e;
}

static void sort_paths(char **paths, uint32_t n) {
    if (n > 0) {
        qsort(paths, n, sizeof *paths, order_texts);
    }
}

static bool list_entries(struct folder *f, const char *path, folder_takes takes, void *context,
                         struct reel_error *err) {
    size_t size = strlen(path);
    DIR *dir = opendir(path);
    bool good = dir || reel_fail_errno(err, "%s", path);
    for (struct dirent *e; good && (e = next_entry(dir, path, &good, err));) {
        AUTO_MEM char *whole = NULL;
        if (e->d_name[0] == '.') {
            continue;
        }
        if (asprintf(&whole, "%s%s%s", path, size > 0 && path[size - 1] == '/' ? "" : "/", e->d_name) < 0) {
            whole = NULL;
            good = reel_fail_memory(err);
        } else {
            good = add_entry(f, whole, takes, context, err);
        }
    }
    if (dir) {
        closedir(dir);
    }
    sort_paths(f->files, f->n_files);
    sort_paths(f->folders, f->n_folders);
    return good;
}

/* ---- its recordings */

static struct reel_source *open_file(void *context, uint32_t i) {
    return reel_source_open(((const struct folder *)context)->files[i], NULL, NULL);
}

/* A recording, with the leader first; *at: the next of f->paths. */
static void arrange_one(struct folder *f, const struct collect_file *all, uint32_t leader, uint32_t *at) {
    struct folder_recording *item = &f->items[f->n++];
    item->paths = &f->paths[*at];
    item->format = all[leader].format;
    f->paths[(*at)++] = f->files[leader];
    for (uint32_t i = 0; i < f->n_files; i++) {
        if (i != leader && all[i].leader == leader) {
            f->paths[(*at)++] = f->files[i];
        }
    }
    item->n = (uint32_t)(&f->paths[*at] - item->paths);
    item->main = collect_main(item->paths, item->n, item->format);
}

/* In the order of their first file. A file that no format reads counts if it is named as if one did. */
static void arrange(struct folder *f, const struct collect_file *all, bool *done) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < f->n_files; i++) {
        uint32_t leader = all[i].leader;
        bool counts = all[leader].format || reel_format_names(f->files[leader]);
        if (!done[leader] && counts) {
            arrange_one(f, all, leader, &at);
        }
        done[leader] = true;
    }
}

bool folder_read(const char *path, folder_takes takes, void *context, struct folder *out, struct reel_error *err) {
    *out = (struct folder){0};
    if (!list_entries(out, path, takes, context, err)) {
        folder_done(out);
        return false;
    }
    AUTO_MEM struct collect_file *all = calloc((size_t)out->n_files + 1, sizeof *all);
    AUTO_MEM bool *done = calloc((size_t)out->n_files + 1, sizeof *done);
    out->paths = calloc((size_t)out->n_files + 1, sizeof *out->paths);
    out->items = calloc((size_t)out->n_files + 1, sizeof *out->items);
    if (!all || !done || !out->paths || !out->items) {
        folder_done(out);
        return reel_fail_memory(err);
    }
    collect_parts(all, out->n_files, open_file, out);
    arrange(out, all, done);
    return true;
}

const struct folder_recording *folder_only(const struct folder *f) {
    const struct folder_recording *only = f->n == 1 ? &f->items[0] : NULL;
    uint32_t known = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        known += f->items[i].format != NULL;
        only = f->items[i].format ? &f->items[i] : only;
    }
    return known <= 1 ? only : NULL;
}

bool folder_names_file(const char *folder_name, const char *file_name) {
    struct split_name split;
    return split_name_of(bytes_text(file_name), &split) && bytes_is(split.stem, folder_name);
}

bool folder_names(const struct folder *f, const char *folder_name) {
    const struct folder_recording *only = folder_only(f);
    return only && (only->n > 1 || folder_names_file(folder_name, last_part(only->paths[0])));
}
