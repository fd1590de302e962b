/* Through folders, in one order: the files of each by name, then the folders in it by name. Its one rule: a folder is opened from the one
 * above it, and no link is followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ingest/import_own.h"
#include "reel/iterate.h"
#include "store/look.h"
#include "store/roots.h"

enum { ENTRIES_MAX = 100000 }; /* of one folder */

struct listing {
    struct import_file *files;
    uint32_t n_files, files_room;
    char **folders;
    uint32_t n_folders, folders_room;
};
static void listing_done(struct listing *l) {
    while (l->n_files > 0) {
        free(l->files[--l->n_files].name);
    }
    while (l->n_folders > 0) {
        free(l->folders[--l->n_folders]);
    }
    free(l->files);
    free(l->folders);
    *l = (struct listing){0};
}
static inline void reel_auto_listing_done(struct listing *l) {
    listing_done(l);
}

bool import_passes_name(const char *name) {
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

static struct import_file file_of(const char *name, const struct stat *st) {
    return (struct import_file){.name = strdup(name),
                                .device = (uint64_t)st->st_dev,
                                .inode = (uint64_t)st->st_ino,
                                .size = (uint64_t)st->st_size,
                                .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
                                .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec};
}

static bool make_room(void **items, uint32_t n, uint32_t *room, size_t size) {
    if (n < *room) {
        return true;
    }
    uint32_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*items, more * size);
    *items = grown ? grown : *items;
    *room = grown ? more : *room;
    return grown;
}

static bool add_entry(struct listing *l, int fd, const char *name, struct reel_error *err) {
    struct stat st;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
        return true; /* gone already, a link, a pipe */
    }
    if (l->n_files + l->n_folders == ENTRIES_MAX) {
        return reel_fail(err, REEL_LIMIT, "a folder has more than %d entries", ENTRIES_MAX);
    }
    if (S_ISREG(st.st_mode)) {
        if (!make_room((void **)&l->files, l->n_files, &l->files_room, sizeof *l->files)) {
            return reel_fail_memory(err);
        }
        l->files[l->n_files] = file_of(name, &st);
        l->n_files += l->files[l->n_files].name != NULL;
        return true;
    }
    if (!make_room((void **)&l->folders, l->n_folders, &l->folders_room, sizeof *l->folders)) {
        return reel_fail_memory(err);
    }
    l->folders[l->n_folders] = strdup(name);
    l->n_folders += l->folders[l->n_folders] != NULL;
    return true;
}

static int file_order(const void *a, const void *b) {
    return strcmp(((const struct import_file *)a)->name, ((const struct import_file *)b)->name);
}
static int folder_order(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list(int fd, struct listing *l, struct reel_error *err) {
    int own = dup(fd);
    DIR *d = own >= 0 ? fdopendir(own) : NULL;
    bool good = d || reel_fail_errno(err, "a folder cannot be read");
    if (!d && own >= 0) {
        close(own);
    }
    for (struct dirent *e; good && d && (e = readdir(d));) {
        good = import_passes_name(e->d_name) || add_entry(l, fd, e->d_name, err);
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

/* Only files whose path below the base matches. */
static void keep_matching(const struct import_run *run, const char *folder, struct listing *l) {
    uint32_t kept = 0;
    const char *glob = run->terms->glob, *below = folder + strlen(run->base);
    below += *below == '/';
    for (uint32_t i = 0; glob && i < l->n_files; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s%s", below, *below ? "/" : "", l->files[i].name);
        if (reel_glob_match(glob, path)) {
            l->files[kept++] = l->files[i];
        } else {
            free(l->files[i].name);
        }
    }
    l->n_files = glob ? kept : l->n_files;
}

/* ---- walking */

/* A folder that cannot be gone through is a failure, too, noted under the name ".". */
static void tell_folder(struct import_run *run, const char *folder, const struct reel_error *why) {
    char self[] = ".", request[] = "", text[sizeof why->text];
    struct reel_error ignored;
    struct catalog_import row = {.name = self};
    struct catalog_failure f = {.name = self, .collection = (char *)run->terms->collection, .code = why->code, .request = request};
    snprintf(text, sizeof text, "%s", why->text);
    f.reason = text;
    f.folder = (char *)folder;
    if (!run->terms->dry && why->code != REEL_NOT_FOUND) {
        catalog_failure_put(run->app->catalog, &f, &row, 1, &ignored);
    }
    run_tell(run, &(struct import_told){.outcome = IMPORT_FAILED, .folder = folder, .why = why});
}

/* What a server keeps is not for taking in. */
static bool is_own(const struct import_run *run, const char *folder) {
    const char *data = store_folder(run->app->store);
    size_t n = strlen(data);
    return strncmp(folder, data, n) == 0 && (folder[n] == '\0' || folder[n] == '/');
}

static bool join_path(char out[PATH_MAX], const char *folder, const char *name) {
    int n = snprintf(out, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return n > 0 && n < PATH_MAX;
}

static bool enter(struct import_run *run, const char *folder, int fd, struct listing *l, struct reel_error *err) {
    struct reel_error why = {0};
    const struct import_terms *t = run->terms;
    if (!run_goes_on(run) || (t->entered && !t->entered(t->context, folder))) {
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    run->folder++;
    run->item = 0;
    run->out->folders++;
    if (!list(fd, l, &why)) {
        tell_folder(run, folder, &why);
        listing_done(l);
        return true;
    }
    keep_matching(run, folder, l);
    if (t->dry && run->folder < run->from_folder) {
        return true;
    }
    if (import_look(run, folder, fd, l->files, l->n_files, !t->glob, &why) || run->full) {
        return true;
    }
    if (why.code == REEL_CANCELLED) {
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    tell_folder(run, folder, &why);
    return true;
}

static bool walk(struct import_run *run, const char *folder, int fd, unsigned depth, struct reel_error *err) {
    AUTO(listing_done) struct listing l = {0};
    struct reel_error why = {0};
    if (is_own(run, folder)) {
        return true;
    }
    if (!enter(run, folder, fd, &l, err)) {
        return false;
    }
    AUTO_MEM char *path = malloc(PATH_MAX);
    bool good = path || reel_fail_memory(err);
    for (uint32_t i = 0; good && i < l.n_folders && !run->full; i++) {
        if (depth == IMPORT_DEPTH_MAX || !join_path(path, folder, l.folders[i])) {
            reel_fail(&why, REEL_LIMIT, "folders lie deeper than %d in each other", IMPORT_DEPTH_MAX);
            tell_folder(run, folder, &why);
            break;
        }
        AUTO_FD int below = openat(fd, l.folders[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0) {
            reel_fail_errno(&why, "the folder cannot be opened");
            tell_folder(run, path, &why);
            continue;
        }
        good = walk(run, path, below, depth + 1, err);
    }
    return good;
}

/* ---- what was asked for */

static void tell_path(struct import_run *run, const char *path, const struct reel_error *why) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *names[] = {slash + 1};
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    run_tell(run, &(struct import_told){.outcome = IMPORT_FAILED, .folder = folder, .names = names, .n = 1, .why = why});
}

/* Files that were named, of one folder. */
static bool look_at_named(struct import_run *run, const char *folder, struct listing *l, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, &why);
    run->base = folder;
    run->named = true;
    run->folder++;
    run->item = 0;
    bool good = fd >= 0 && import_look(run, folder, fd, l->files, l->n_files, false, &why);
    run->named = false;
    if (!good && why.code == REEL_CANCELLED) {
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    if (!good && !run->full) {
        tell_folder(run, folder, &why);
    }
    return true;
}

/* A path of the request: a folder is walked through, a file goes into `named`, which is of the folder *of. */
static bool begin(struct import_run *run, const char *path, struct listing *named, char of[PATH_MAX], struct reel_error *err) {
    struct reel_error why = {0};
    struct stat st;
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), path, O_RDONLY, &why);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (run->terms->flat) {
            reel_fail(&why, REEL_ARGUMENT, "is a folder; --recursive takes the files in it");
            tell_path(run, path, &why);
            return true;
        }
        run->base = path;
        return walk(run, path, fd, 0, err);
    }
    if (fd >= 0 && !S_ISREG(st.st_mode)) {
        reel_fail(&why, REEL_ARGUMENT, "it is no plain file");
    } else if (fd >= 0 && is_own(run, path)) {
        reel_fail(&why, REEL_ARGUMENT, "it is a file of the archive itself");
    }
    if (why.code != REEL_OK) {
        tell_path(run, path, &why);
        return true;
    }
    const char *slash = strrchr(path, '/');
    snprintf(of, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (!make_room((void **)&named->files, named->n_files, &named->files_room, sizeof *named->files)) {
        return reel_fail_memory(err);
    }
    named->files[named->n_files] = file_of(slash + 1, &st);
    named->n_files += named->files[named->n_files].name != NULL;
    return true;
}

/* Two files of one folder lie side by side in this order, which is that of a walk. */
static int path_order(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const char *sx = strrchr(x, '/'), *sy = strrchr(y, '/');
    size_t nx = (size_t)(sx - x), ny = (size_t)(sy - y);
    int folders = strncmp(x, y, nx < ny ? nx : ny);
    return folders ? folders : nx != ny ? (nx > ny) - (nx < ny) : strcmp(sx, sy);
}

static bool go_through(struct import_run *run, const char **paths, uint32_t n, struct reel_error *err) {
    AUTO(listing_done) struct listing named = {0};
    AUTO_MEM char *folder = calloc(1, PATH_MAX), *of = calloc(1, PATH_MAX);
    bool good = (folder && of) || reel_fail_memory(err);
    qsort(paths, n, sizeof *paths, path_order);
    for (uint32_t i = 0; good && i < n && !run->full; i++) {
        uint32_t before = named.n_files;
        if (i > 0 && strcmp(paths[i], paths[i - 1]) == 0) {
            continue;
        }
        good = begin(run, paths[i], &named, of, err);
        if (good && named.n_files > before && before > 0 && strcmp(of, folder) != 0) { /* the first of another folder */
            struct import_file next = named.files[--named.n_files];
            good = look_at_named(run, folder, &named, err);
            listing_done(&named);
            good = make_room((void **)&named.files, 0, &named.files_room, sizeof *named.files) && good;
            if (named.files) {
                named.files[named.n_files++] = next;
            }
        }
        memcpy(folder, of, PATH_MAX);
    }
    return good && (named.n_files == 0 || run->full || look_at_named(run, folder, &named, err));
}

static bool read_cursor(struct import_run *run, struct reel_error *err) {
    unsigned long long folder = 0, item = 0;
    if (run->terms->cursor && sscanf(run->terms->cursor, "%llu.%llu", &folder, &item) != 2) {
        return reel_fail(err, REEL_ARGUMENT, "the cursor is none that this server gave");
    }
    run->from_folder = folder;
    run->from_item = item;
    return true;
}

bool import_paths(struct app *app, const char *const *paths, uint32_t n, const struct import_terms *terms,
                  const struct reel_progress *progress, struct import_figures *out, struct reel_error *err) {
    struct import_run run = {.app = app, .terms = terms, .progress = progress, .base = "", .out = out};
    AUTO_MEM const char **sorted = calloc((size_t)n + 1, sizeof *sorted);
    *out = (struct import_figures){0};
    if (!sorted) {
        return reel_fail_memory(err);
    }
    memcpy(sorted, paths, n * sizeof *paths);
    run_begin(&run);
    bool good = read_cursor(&run, err) && go_through(&run, sorted, n, err);
    run_wait(&run);
    bool cancelled = good && (atomic_load(&run.cancelled) || imports_stopping(app->imports));
    run_end(&run);
    return good && (!cancelled || reel_fail(err, REEL_CANCELLED, "cancelled"));
}

bool run_folder(struct import_run *run, const char *folder, struct reel_error *err) {
    AUTO(listing_done) struct listing l = {0};
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, err);
    return fd >= 0 && (is_own(run, folder) || enter(run, folder, fd, &l, err));
}

bool run_tree(struct import_run *run, const char *folder, struct reel_error *err) {
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, err);
    return fd >= 0 && walk(run, folder, fd, 0, err);
}
