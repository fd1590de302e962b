/* Walks the folders and files of an import. A folder that cannot be opened is reported, and the walk continues. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/number.h"
#include "imports/import_internal.h"
#include "store/inspect.h"
#include "store/roots.h"
#include "stream/stream.h"

/* Only files whose path below the base matches. */
static void filter_by_glob(const struct import_run *run, const char *folder, struct folder_listing *l) {
    uint32_t kept = 0;
    const char *glob = run->options->glob, *below = folder + strlen(run->base);
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

/* A folder that cannot be read is recorded as a failure with the name ".". */
static void report_folder(struct import_run *run, const char *folder, const struct reel_error *why) {
    char self[] = ".", request[] = "", text[sizeof why->text];
    struct reel_error ignored;
    struct catalog_import row = {.name = self};
    struct catalog_failure f = {
        .name = self, .collection = (char *)run->options->collection, .code = why->code, .request = request};
    snprintf(text, sizeof text, "%s", why->text);
    f.reason = text;
    f.folder = (char *)folder;
    if (!run->options->dry && why->code != REEL_NOT_FOUND) {
        catalog_failure_put(run->app->catalog, &f, &row, 1, &ignored);
    }
    run_report(run, &(struct import_report){.outcome = IMPORT_FAILED, .folder = folder, .why = why});
}

/* Whether the folder is inside the archive's own data folder, which is never imported. */
static bool is_data_folder(const struct import_run *run, const char *folder) {
    const char *data = store_folder(run->app->store);
    size_t n = strlen(data);
    return strncmp(folder, data, n) == 0 && (folder[n] == '\0' || folder[n] == '/');
}

static bool enter_folder(struct import_run *run, const char *folder, struct reel_error *err) {
    const struct import_options *t = run->options;
    if (!run_check(run, err)) {
        return false;
    }
    if (t->entered && !t->entered(t->context, folder)) {
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    run->folder++;
    run->item = 0;
    run->out->folders++;
    return true;
}

static enum folder_decision walk_enter(void *context, const char *folder, struct reel_error *err) {
    const struct import_run *run = context;
    return run->full || is_data_folder(run, folder) ? FOLDER_PASS
           : enter_folder(context, folder, err)     ? FOLDER_ENTER
                                                    : FOLDER_STOP;
}

static bool inspect_files(void *context, const char *folder, int fd, struct folder_listing *l, struct reel_error *err) {
    struct import_run *run = context;
    struct reel_error why = {0};
    filter_by_glob(run, folder, l);
    bool passed = run->options->dry && run->folder < run->from_folder;
    if (passed || import_inspect(run, folder, fd, l->files, l->n_files, !run->options->glob, &why)) {
        return true;
    }
    if (run->full) {
        return true;
    }
    if (why.code == REEL_CANCELLED || why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    report_folder(run, folder, &why);
    return true;
}

static void walk_refused(void *context, const char *folder, const struct reel_error *why) {
    report_folder(context, folder, why);
}

static bool walk_walk(struct import_run *run, const char *folder, int fd, struct reel_error *err) {
    return folder_walk(
        &(struct folder_visit){.enter = walk_enter, .files = inspect_files, .refused = walk_refused, .context = run},
        folder, fd, err);
}

/* ---- the requested paths */

static void report_path(struct import_run *run, const char *path, const struct reel_error *why) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *names[] = {slash + 1};
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    run_report(run,
               &(struct import_report){.outcome = IMPORT_FAILED, .folder = folder, .names = names, .n = 1, .why = why});
}

/* Requested files of one folder. */
static bool inspect_named(struct import_run *run, const char *folder, struct folder_listing *l,
                          struct reel_error *err) {
    struct reel_error why = {0};
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, &why);
    run->base = folder;
    run->named = true;
    run->folder++;
    run->item = 0;
    bool good = fd >= 0 && import_inspect(run, folder, fd, l->files, l->n_files, false, &why);
    run->named = false;
    if (!good && (why.code == REEL_CANCELLED || why.code == REEL_NO_MEMORY)) { /* then it is tried again */
        return reel_error_pass(err, &why);
    }
    if (!good && !run->full) {
        report_folder(run, folder, &why);
    }
    return true;
}

/* A path of the request: a folder is walked; a file is added to `named`, the files of the folder *of. */
static bool imports_walk_begin(struct import_run *run, const char *path, struct folder_listing *named,
                               char of[PATH_MAX], struct reel_error *err) {
    struct reel_error why = {0};
    struct stat st;
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), path, O_RDONLY, &why);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (run->options->flat) {
            reel_fail(&why, REEL_ARGUMENT, "is a folder; --recursive takes the files in it");
            report_path(run, path, &why);
            return true;
        }
        run->base = path;
        return walk_walk(run, path, fd, err);
    }
    if (fd >= 0 && !S_ISREG(st.st_mode)) {
        reel_fail(&why, REEL_ARGUMENT, "it is not a regular file");
    } else if (fd >= 0 && is_data_folder(run, path)) {
        reel_fail(&why, REEL_ARGUMENT, "it is a file of the archive itself");
    }
    if (why.code != REEL_OK) {
        report_path(run, path, &why);
        return true;
    }
    const char *slash = strrchr(path, '/');
    snprintf(of, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return folder_listing_add(named, slash + 1, &st, err);
}

/* The order of a walk, in which the files of one folder are adjacent. */
static int path_order(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const char *sx = strrchr(x, '/'), *sy = strrchr(y, '/');
    size_t nx = (size_t)(sx - x), ny = (size_t)(sy - y);
    int folders = strncmp(x, y, nx < ny ? nx : ny);
    return folders ? folders : nx != ny ? (nx > ny) - (nx < ny) : strcmp(sx, sy);
}

static bool go_through(struct import_run *run, const char **paths, uint32_t n, struct reel_error *err) {
    AUTO_STRUCT(folder_listing_done) struct folder_listing named = {0};
    AUTO_MEM char *folder = calloc(1, PATH_MAX), *of = calloc(1, PATH_MAX);
    bool good = (folder && of) || reel_fail_memory(err);
    qsort(paths, n, sizeof *paths, path_order);
    for (uint32_t i = 0; good && i < n && !run->full; i++) {
        uint32_t before = named.n_files;
        if (i > 0 && strcmp(paths[i], paths[i - 1]) == 0) {
            continue;
        }
        good = import_is_url(paths[i]) ? run_objects(run, paths[i], err)
                                       : imports_walk_begin(run, paths[i], &named, of, err);
        if (good && named.n_files > before && before > 0 && strcmp(of, folder) != 0) { /* the first of another folder */
            struct folder_file next = named.files[--named.n_files];
            good = inspect_named(run, folder, &named, err);
            while (named.n_files > 0) {
                free(named.files[--named.n_files].name);
            }
            named.files[named.n_files++] = next;
        }
        memcpy(folder, of, PATH_MAX);
    }
    return good && (named.n_files == 0 || run->full || inspect_named(run, folder, &named, err));
}

static bool walk_read_cursor(struct import_run *run, struct reel_error *err) {
    const char *cursor = run->options->cursor, *dot = cursor ? strchrnul(cursor, '.') : NULL;
    return !cursor ||
           (number_u64_of(cursor, (size_t)(dot - cursor), &run->from_folder) && *dot &&
            number_u64(dot + 1, &run->from_item)) ||
           reel_fail(err, REEL_ARGUMENT, "not a cursor of this server");
}

bool import_paths(struct app *app, const char *const *paths, uint32_t n, const struct import_options *options,
                  const struct reel_progress *progress, struct import_statistics *out, struct reel_error *err) {
    struct import_run run = {.app = app, .options = options, .progress = progress, .base = "", .out = out};
    AUTO_MEM const char **sorted = calloc((size_t)n + 1, sizeof *sorted);
    *out = (struct import_statistics){0};
    if (!sorted) {
        return reel_fail_memory(err);
    }
    memcpy(sorted, paths, n * sizeof *paths);
    run_begin(&run);
    bool good = walk_read_cursor(&run, err) && go_through(&run, sorted, n, err);
    run_wait(&run);
    bool cancelled = good && (atomic_load(&run.cancelled) || jobs_stopping(app->jobs));
    run_end(&run);
    return good && (!cancelled || reel_fail(err, REEL_CANCELLED, "cancelled"));
}

bool run_folder(struct import_run *run, const char *folder, struct reel_error *err) {
    AUTO_STRUCT(folder_listing_done) struct folder_listing l = {0};
    struct reel_error why = {0};
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, err);
    if (fd < 0 || is_data_folder(run, folder)) {
        return fd >= 0;
    }
    if (!enter_folder(run, folder, err)) {
        return false;
    }
    if (!folder_list(fd, &l, &why)) {
        report_folder(run, folder, &why);
        return true;
    }
    return inspect_files(run, folder, fd, &l, err);
}

bool run_tree(struct import_run *run, const char *folder, struct reel_error *err) {
    AUTO_FD int fd = roots_open_file(store_roots(run->app->store), folder, O_RDONLY | O_DIRECTORY, err);
    return fd >= 0 && walk_walk(run, folder, fd, err);
}
