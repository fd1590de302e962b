/* The files of a command line, with those below its folders. */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "index/format.h"

void cli_tree_done(struct cli_tree *tree) {
    for (uint32_t i = 0; i < tree->n; i++) {
        free(tree->paths[i]);
    }
    free(tree->paths);
    free(tree->below);
}

/* Whether its name ends as recordings do. */
static bool is_recording(const char *name) {
    size_t size = strlen(name);
    for (size_t f = 0; reel_formats[f]; f++) {
        for (const char *const *s = reel_formats[f]->suffixes; *s; s++) {
            size_t n = strlen(*s);
            if (n < size && ascii_casecmp(name + size - n, *s) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool cli_tree_add(struct cli_tree *tree, const char *path, size_t below, struct reel_error *err) {
    if (!GROW_ARRAY(tree->paths, tree->n, tree->room) || !GROW_ARRAY(tree->below, tree->n, tree->room_below) ||
        !(tree->paths[tree->n] = strdup(path))) {
        return reel_fail_memory(err);
    }
    tree->below[tree->n++] = (uint32_t)below;
    return true;
}

static int tree_compare(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Files below a folder, by name; neither links, nor what is hidden, nor what is in `except`. */
static bool tree_walk(struct cli_tree *tree, char *folder, const struct stat *except, struct reel_error *err) {
    char *roots[] = {folder, NULL};
    FTS *all = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, tree_compare);
    size_t size = strlen(folder);
    bool good = all || reel_fail_errno(err, "%s", folder);
    size += folder[size - 1] != '/';
    for (FTSENT *e; good && (e = fts_read(all));) {
        bool hidden = e->fts_level > 0 && e->fts_name[0] == '.';
        if (e->fts_info == FTS_D &&
            (hidden || (e->fts_statp->st_dev == except->st_dev && e->fts_statp->st_ino == except->st_ino))) {
            fts_set(all, e, FTS_SKIP);
        } else if (e->fts_info == FTS_F && !hidden && is_recording(e->fts_name)) {
            good = cli_tree_add(tree, e->fts_path, size, err);
        } else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR) {
            errno = e->fts_errno;
            good = reel_fail_errno(err, "%s", e->fts_path);
        }
    }
    if (all) {
        fts_close(all);
    }
    return good;
}

bool cli_tree(char *const *paths, uint32_t n, const char *except, struct cli_tree *out, struct reel_error *err) {
    struct stat st, folder = {0};
    if (stat(except, &folder) != 0) {
        folder = (struct stat){0};
    }
    for (uint32_t i = 0; i < n; i++) {
        bool is_folder = paths[i][0] && stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode);
        if (is_folder ? !tree_walk(out, paths[i], &folder, err)
                      : !cli_tree_add(out, paths[i], (size_t)(cli_file_name(paths[i]) - paths[i]), err)) {
            return false;
        }
    }
    return out->n > 0 || reel_fail(err, REEL_NOT_FOUND, "no recording is in these folders");
}
