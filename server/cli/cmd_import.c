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

static void tell_result(struct import *i, const char *path, const struct ingest_result *result, const struct reel_error *err) {
    const struct catalog_recording *r = &result->recording;
    if (result->outcome == INGEST_REFUSED || result->outcome == INGEST_KEPT) {
        tell_failure(i, path, err);
        return;
    }
    const char *what = result->outcome == INGEST_EXISTS     ? "was there already"
                       : result->outcome == INGEST_SCANNING ? "is being scanned"
                       : r->damaged                         ? "added, damaged"
                                                            : "added";
    printf("%s: %s as %s/%s, %llu messages, id %s\n", path, what, r->collection, r->name, (unsigned long long)r->messages, r->id);
    fflush(stdout);
}

static void import_file(struct import *i, const char *path) {
    const struct ingest_request q = {.collection = i->collection, .name = cli_file_name(path), .replace = i->replace};
    struct ingest_result result = {0};
    struct reel_error err = {0};
    struct cli_progress progress;
    cli_progress_start(&progress, "importing", q.name);
    ingest_file(&i->app, path, &q, &progress.report, &result, &err);
    cli_progress_end(&progress);
    tell_result(i, path, &result, &err);
    ingest_result_done(&result);
}

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* The plain files of a folder, in the order of their names; hidden ones and links are left out. */
static void import_folder(struct import *i, char *path) {
    char *paths[] = {path, NULL};
    struct reel_error err = {0};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *e; walk && (e = fts_read(walk)) && !cli_interrupted();) {
        if (e->fts_level > 0 && e->fts_name[0] == '.') {
            fts_set(walk, e, FTS_SKIP);
        } else if (e->fts_info == FTS_F) {
            import_file(i, e->fts_path);
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

static void import_path(struct import *i, char *path) {
    struct stat st;
    struct reel_error err = {0};
    if (stat(path, &st) != 0) {
        reel_fail_errno(&err, "cannot be opened");
        tell_failure(i, path, &err);
    } else if (!S_ISDIR(st.st_mode)) {
        import_file(i, path);
    } else if (i->recursive) {
        import_folder(i, path);
    } else {
        reel_fail(&err, REEL_ARGUMENT, "is a folder; --recursive takes the files in it");
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
    for (int k = first; code == CLI_DONE && k < argc && !cli_interrupted(); k++) {
        import_path(&i, argv[k]);
    }
    app_close(&i.app);
    return code != CLI_DONE || i.failed > 0 || cli_interrupted() ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "PATH… [OPTION]…",
    .summary = "files of this machine into an archive no server runs on",
    .details = "Says one line a file; goes on after a file that cannot be read, and then ends with exit code 1.",
    .run = run,
};
