/* reel import: files of this machine into an archive no server runs on. Its one rule: a bad file is told and the others still go in. */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "cli/cli.h"
#include "ingest/ingest.h"

struct import {
    struct app app;
    const char *collection;
    bool recursive, replace;
    unsigned failed;
};

static void tell_failure(struct import *i, const char *path, const struct reel_error *err) {
    fflush(stdout);
    cli_fail(&cli_import, path, err);
    i->failed++;
}

static void tell_result(struct import *i, const struct cli_files *files, const struct ingest_result *result, const struct reel_error *err) {
    const struct catalog_recording *r = &result->recording;
    if (result->outcome == INGEST_REFUSED || result->outcome == INGEST_KEPT) {
        tell_failure(i, files->paths[0], err);
        return;
    }
    const char *what = result->outcome == INGEST_EXISTS     ? "was there already"
                       : result->outcome == INGEST_SCANNING ? "is being scanned"
                       : r->damaged                         ? "added, damaged"
                                                            : "added";
    for (uint32_t k = 0; k < files->n; k++) {
        printf("%s%s", k > 0 ? ", " : "", files->paths[k]);
    }
    printf(": %s as %s/%s, %llu messages, id %s\n", what, r->collection, r->name, (unsigned long long)r->messages, r->id);
    fflush(stdout);
}

static void import_files(struct import *i, const struct cli_files *files, const char *name) {
    const struct ingest_request q = {.collection = i->collection, .name = name, .replace = i->replace};
    struct ingest_result result = {0};
    struct reel_error err = {0};
    struct cli_progress progress;
    cli_progress_start(&progress, "importing", name);
    ingest_files(&i->app, files->paths, files->n, &q, &progress.report, &result, &err);
    cli_progress_end(&progress);
    tell_result(i, files, &result, &err);
    ingest_result_done(&result);
}

/* ---- names */

/* The first file with the ending that is usual for the format (run.traj, not run.state); else the first behind the one that holds them together. */
static const char *name_of(const struct cli_files *files) {
    const char *usual = files->n > 1 ? files->format->suffixes[0] : NULL;
    for (uint32_t k = 0; usual && k < files->n; k++) {
        size_t n = strlen(files->paths[k]), end = strlen(usual);
        if (n > end && strcmp(files->paths[k] + n - end, usual) == 0) {
            return cli_file_name(files->paths[k]);
        }
    }
    return cli_file_name(files->paths[files->n > 1]);
}

/* The name of the folder that the file lies in; from malloc. NULL: it has none, as the root. */
static char *folder_of(const char *path) {
    AUTO_MEM char *folder = strndup(path, (size_t)(cli_file_name(path) - path));
    AUTO_MEM char *whole = folder ? realpath(folder[0] ? folder : ".", NULL) : NULL;
    const char *name = whole ? cli_file_name(whole) : "";
    return name[0] ? strdup(name) : NULL;
}

/* ---- files and folders */

struct paths {
    char **items;
    uint32_t n;
};
static void paths_done(struct paths *p) {
    while (p->n > 0) {
        free(p->items[--p->n]);
    }
    free(TAKE(p->items));
}
static inline void reel_auto_paths_done(struct paths *p) {
    paths_done(p);
}
static bool paths_add(struct paths *p, const char *path) {
    char **items = realloc(p->items, (p->n + 1) * sizeof *items);
    p->items = items ? items : p->items;
    bool good = items && (items[p->n] = strdup(path));
    p->n += good;
    return good;
}

/* Each file, or those that are one recording together. Those that make up a folder are called by its name: the first of them, should there be
 * more. */
static void import_all(struct import *i, const struct paths *paths, bool by_folder) {
    struct reel_error err = {0};
    AUTO(cli_recordings_done) struct cli_recordings all = {.n = 0};
    if (!cli_gather(paths->items, paths->n, &all, &err)) {
        tell_failure(i, NULL, &err);
    }
    for (uint32_t k = 0; k < all.n && !cli_interrupted(); k++) {
        const struct cli_files *files = &all.items[k];
        AUTO_MEM char *folder = by_folder && files->n > 1 && files->format->is_folder ? folder_of(files->paths[0]) : NULL;
        by_folder = by_folder && !folder;
        import_files(i, files, folder ? folder : name_of(files));
    }
}

/* Files before folders, each by name. */
static int files_first(const FTSENT **a, const FTSENT **b) {
    int x = (*a)->fts_info == FTS_D, y = (*b)->fts_info == FTS_D;
    return x != y ? x - y : strcmp((*a)->fts_name, (*b)->fts_name);
}

/* The plain files of a folder and those below; hidden ones and links are left out. */
static void import_folder(struct import *i, char *path) {
    char *paths[] = {path, NULL};
    struct reel_error err = {0};
    AUTO(paths_done) struct paths files = {.n = 0}; /* of one folder */
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, files_first);
    for (FTSENT *e; walk && (e = fts_read(walk)) && !cli_interrupted();) {
        if (e->fts_level > 0 && e->fts_name[0] == '.') {
            fts_set(walk, e, FTS_SKIP);
        } else if (e->fts_info == FTS_D || e->fts_info == FTS_DP) { /* its files have been listed */
            import_all(i, &files, true);
            paths_done(&files);
        } else if (e->fts_info == FTS_F && !paths_add(&files, e->fts_path)) {
            reel_fail_memory(&err);
            tell_failure(i, e->fts_path, &err);
        } else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS) {
            errno = e->fts_errno;
            reel_fail_errno(&err, "cannot be read");
            tell_failure(i, e->fts_path, &err);
        }
    }
    if (!walk) {
        reel_fail_errno(&err, "cannot be read");
        tell_failure(i, path, &err);
    } else {
        fts_close(walk);
    }
}

/* Files go into `files`, folders are imported. */
static void import_path(struct import *i, char *path, struct paths *files) {
    struct stat st;
    struct reel_error err = {0};
    if (stat(path, &st) != 0) {
        reel_fail_errno(&err, "cannot be opened");
        tell_failure(i, path, &err);
    } else if (S_ISDIR(st.st_mode) && i->recursive) {
        import_folder(i, path);
    } else if (S_ISDIR(st.st_mode)) {
        reel_fail(&err, REEL_ARGUMENT, "is a folder; --recursive takes the files in it");
        tell_failure(i, path, &err);
    } else if (!paths_add(files, path)) {
        reel_fail_memory(&err);
        tell_failure(i, path, &err);
    }
}

static int open_archive(struct import *i, const char *data) {
    const struct app_config config = {.data = data, .cache_bytes = 64 << 20, .scan_threads = 1, .derived_bytes = UINT64_MAX};
    struct reel_error err = {0};
    if (app_open(&i->app, &config, &err)) {
        return CLI_DONE;
    }
    cli_fail(&cli_import, NULL, &err);
    if (err.code == REEL_CONFLICT) {
        fprintf(stderr,
                "reel import: hand the files to that server: curl -T FILE http://127.0.0.1:8040/api/v1/recordings/by-name/%s/ (or where it "
                "listens)\n",
                i->collection);
    }
    return CLI_FAILED;
}

static int run(int argc, char **argv) {
    struct import i = {.collection = "default"};
    const char *data = "./data";
    int first, code;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .help = "folder of the archive, made when missing (./data)"},
        {.name = "collection", .kind = CLI_TEXT, .to = &i.collection, .value = "NAME", .help = "where the recordings go (default)"},
        {.name = "recursive", .kind = CLI_FLAG, .to = &i.recursive, .help = "of a folder: all files in it and below"},
        {.name = "replace", .kind = CLI_FLAG, .to = &i.replace, .help = "other content under a taken name becomes its next revision"},
        {0},
    };
    if (!cli_options(&cli_import, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    cli_catch_interrupt();
    code = open_archive(&i, data);
    AUTO(paths_done) struct paths files = {.n = 0};
    for (int k = first; code == CLI_DONE && k < argc && !cli_interrupted(); k++) {
        import_path(&i, argv[k], &files);
    }
    import_all(&i, &files, false);
    app_close(&i.app);
    return code != CLI_DONE || i.failed > 0 || cli_interrupted() ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "PATH… [OPTION]…",
    .summary = "files of this machine into an archive no server runs on",
    .details = "Files that belong together become one recording: run.traj and run.state, the files of a rosbag2 folder. Says one line a recording; goes\n"
               "on after a file that cannot be read, and then ends with exit code 1.",
    .run = run,
};
