/* Groups the files of a command line into recordings, with those below its folders. A file that cannot be opened
 * becomes a recording of its own; opening it reports the error. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "read/folder.h"

_Static_assert((int)CLI_PARTS_MAX == (int)COLLECT_PARTS_MAX, "both are the largest number of parts");

enum { DEPTH_MAX = 64 }; /* folders in folders */

struct gathering {
    const struct cli_gather_options *options;
    struct cli_recordings *out;
    struct stat except;
    const char *given; /* the folder of the command line, and its own name */
    char *given_name;
};

void cli_recordings_done(struct cli_recordings *r) {
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->items[i].name);
    }
    for (uint32_t i = 0; i < r->n_folders; i++) {
        folder_done(r->folders[i]);
        free(r->folders[i]);
    }
    free(r->folders);
    free(r->paths);
    free(r->items);
}

/* `name` is malloc'd, NULL: there was no memory. */
static bool add_recording(struct cli_recordings *out, struct cli_files files, char *name, struct reel_error *err) {
    if (!name || !GROW_ARRAY(out->items, out->n, out->room)) {
        free(name);
        return reel_fail_memory(err);
    }
    files.name = name;
    out->items[out->n++] = files;
    return true;
}

/* ---- folders */

/* "my_bag" of "./my_bag/", and of "." in it. malloc'd. */
static char *folder_name_of(const char *path) {
    AUTO_MEM char *whole = realpath(path, NULL);
    const char *name = whole ? cli_file_name(whole) : "";
    return strdup(*name ? name : "recording");
}

/* A recording is named by its path below the folder that was given; the one that fills a folder is named as that. */
static char *name_in_folder(const struct gathering *g, const char *folder, const char *main_file, bool by_folder) {
    size_t given = strlen(g->given);
    by_folder = by_folder && !(g->options->own_names && strcmp(folder, g->given) == 0);
    const char *path = by_folder ? folder : main_file, *below = path + given + strspn(path + given, "/");
    return strdup(*below ? below : g->given_name);
}

static void report_passed(const struct gathering *g, const struct folder *f) {
    for (uint32_t i = 0; i < f->n_files && g->options->passed; i++) {
        bool is_part = false;
        for (uint32_t k = 0; k < f->n_files && f->paths[k] && !is_part; k++) {
            is_part = f->paths[k] == f->files[i];
        }
        if (!is_part) {
            g->options->passed(g->options->context, f->files[i]);
        }
    }
}

static bool add_folder_items(const struct gathering *g, const char *path, const struct folder *f,
                             struct reel_error *err) {
    AUTO_MEM char *own = folder_name_of(path);
    bool by_folder = own && folder_names(f, own), good = own || reel_fail_memory(err);
    const struct folder_recording *only = folder_only(f);
    report_passed(g, f);
    for (uint32_t i = 0; i < f->n && good; i++) {
        const struct folder_recording *r = &f->items[i];
        if (!g->options->deep && r != only) {
            continue;
        }
        const struct cli_files files = {
            .paths = r->paths, .n = r->n, .main = r->main, .format = r->format, .in_folder = true};
        good = add_recording(g->out, files, name_in_folder(g, path, r->paths[r->main], by_folder && r == only), err);
    }
    return good;
}

static bool is_excepted(const struct gathering *g, const char *path) {
    struct stat st;
    return g->except.st_ino != 0 && stat(path, &st) == 0 && st.st_dev == g->except.st_dev &&
           st.st_ino == g->except.st_ino;
}

/* Several recordings where one is expected. */
static bool check_only(const struct gathering *g, const struct folder *f, struct reel_error *err) {
    if (g->options->deep || folder_only(f)) {
        return true;
    }
    return f->n > 0 ? reel_fail(err, REEL_ARGUMENT, "%s holds %u recordings: %s", g->given, f->n, g->options->several)
           : f->n_folders > 0
               ? reel_fail(err, REEL_NOT_FOUND, "%s itself holds no recording: %s", g->given, g->options->several)
               : reel_fail(err, REEL_NOT_FOUND, "%s holds no recording", g->given);
}

static bool walk_folder(const struct gathering *g, const char *path, unsigned depth, struct reel_error *err) {
    struct cli_recordings *out = g->out;
    struct reel_error why = {0};
    if (is_excepted(g, path) || depth > DEPTH_MAX) {
        return true;
    }
    if (!GROW_ARRAY(out->folders, out->n_folders, out->room_folders) ||
        !(out->folders[out->n_folders] = calloc(1, sizeof *out->folders[0]))) {
        return reel_fail_memory(err);
    }
    struct folder *f = out->folders[out->n_folders++];
    if (cli_interrupted()) {
        return reel_fail(err, REEL_CANCELLED, "interrupted");
    }
    if (!folder_read(path, g->options->takes, g->options->context, f, &why)) {
        if (depth == 0 || !g->options->refused || why.code == REEL_NO_MEMORY) {
            return reel_error_pass(err, &why);
        }
        g->options->refused(g->options->context, path, &why);
        return true;
    }
    bool good = check_only(g, f, err) && add_folder_items(g, path, f, err);
    for (uint32_t i = 0; good && g->options->deep && i < f->n_folders; i++) {
        good = walk_folder(g, f->folders[i], depth + 1, err);
    }
    return good;
}

static bool add_folder(struct gathering *g, const char *path, struct reel_error *err) {
    AUTO_MEM char *own = folder_name_of(path);
    if (!own) {
        return reel_fail_memory(err);
    }
    g->given = path;
    g->given_name = own;
    return walk_folder(g, path, 0, err);
}

/* ---- files */

static struct reel_source *open_path(void *context, uint32_t i) {
    char *const *paths = context;
    return reel_source_open(paths[i], NULL, NULL);
}

static void find_folder(const char *path, uint64_t folder[2]) {
    struct stat st;
    size_t size = (size_t)(cli_file_name(path) - path);
    AUTO_MEM char *name = size > 0 ? strndup(path, size) : strdup(".");
    if (name && stat(name, &st) == 0) {
        folder[0] = (uint64_t)st.st_dev;
        folder[1] = (uint64_t)st.st_ino;
    }
}

static bool gather_is_folder(const char *path) {
    struct stat st;
    return path[0] && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The recording with this leader: the file whose format reads all parts comes first. *at: the next of out->paths. */
static bool add_group(struct cli_recordings *out, char *const *paths, const struct collect_file *all, uint32_t n,
                      uint32_t leader, uint32_t *at, struct reel_error *err) {
    struct cli_files files = {.paths = &out->paths[*at], .format = all[leader].format};
    out->paths[(*at)++] = paths[leader];
    for (uint32_t k = 0; k < n; k++) {
        if (k != leader && all[k].leader == leader) {
            out->paths[(*at)++] = paths[k];
        }
    }
    files.n = (uint32_t)(&out->paths[*at] - files.paths);
    files.main = collect_main(files.paths, files.n, files.format);
    return add_recording(out, files, strdup(cli_file_name(files.paths[files.main])), err);
}

/* ---- both, in the order of the command line */

static bool gather_all(struct gathering *g, char *const *paths, uint32_t n, struct collect_file *all, bool *done,
                       struct reel_error *err) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is_folder = gather_is_folder(paths[i]);
        uint32_t leader = all[i].leader;
        if (is_folder ? !add_folder(g, paths[i], err)
                      : !done[leader] && !add_group(g->out, paths, all, n, leader, &at, err)) {
            return false;
        }
        done[is_folder ? i : leader] = true;
    }
    return g->out->n > 0 || reel_fail(err, REEL_NOT_FOUND, "no recording is in these folders");
}

bool cli_gather(char *const *paths, uint32_t n, const struct cli_gather_options *options, struct cli_recordings *out,
                struct reel_error *err) {
    struct gathering g = {.options = options, .out = out};
    AUTO_MEM struct collect_file *all = calloc((size_t)n + 1, sizeof *all);
    AUTO_MEM bool *done = calloc((size_t)n + 1, sizeof *done);
    out->paths = calloc((size_t)n + 1, sizeof *out->paths);
    if (!all || !done || !out->paths) {
        return reel_fail_memory(err);
    }
    if (!options->except || stat(options->except, &g.except) != 0) {
        g.except = (struct stat){0};
    }
    for (uint32_t i = 0; i < n; i++) {
        find_folder(paths[i], all[i].folder);
    }
    collect_parts(all, n, open_path, (void *)paths);
    return gather_all(&g, paths, n, all, done, err);
}

bool cli_gather_one(char *const *paths, uint32_t n, struct cli_recordings *out, struct reel_error *err) {
    const struct cli_gather_options options = {.several = "name one of its files"};
    if (!cli_gather(paths, n, &options, out, err)) {
        return false;
    }
    return out->n == 1 || reel_fail(err, REEL_ARGUMENT, "expected one recording, these are %u: %s, %s%s", out->n,
                                    out->items[0].name, out->items[1].name, out->n > 2 ? ", …" : "");
}
