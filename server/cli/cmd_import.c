/* reel import: files of this machine into an archive no server runs on. Its one rule: a bad file is told and the others still go in. */
#include <string.h>

#include "app.h"
#include "catalog/notes.h"
#include "cli/cli.h"
#include "ingest/import.h"
#include "store/reference.h"
#include "wire/cleanup.h"

struct command {
    struct app app;
    struct import_terms terms;
    struct cli_progress progress;
    unsigned failed;
};

static void tell_failure(struct command *c, const char *path, const struct reel_error *err) {
    fflush(stdout);
    cli_fail(&cli_import, path, err);
    c->failed++;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "folder/a, folder/b: " */
static void print_files(const struct import_report *t) {
    AUTO_MEM const char **names = calloc((size_t)t->n + 1, sizeof *names);
    if (names && t->n > 0) {
        memcpy(names, t->names, t->n * sizeof *names);
        qsort(names, t->n, sizeof *names, by_name);
    }
    for (uint32_t i = 0; names && i < t->n; i++) {
        printf("%s%s/%s", i > 0 ? ", " : "", strcmp(t->folder, "/") == 0 ? "" : t->folder, names[i]);
    }
}

static void tell_result(const struct import_report *t) {
    static const char *const words[] = {
        "would be taken in", "added", "was there already", "is being scanned", "was there already", "", "", ""};
    const struct catalog_recording *r = t->recording;
    print_files(t);
    if (t->outcome == IMPORT_PASSED) {
        printf(": passed over, it is no recording\n");
    } else if (r) {
        const char *what = t->outcome == IMPORT_CREATED && r->damaged ? "added, damaged" : words[t->outcome];
        printf(": %s as %s/%s, %llu messages, id %s\n", what, r->collection, r->name, (unsigned long long)r->messages, r->id);
    } else if (t->outcome == IMPORT_WOULD) {
        printf(": would be taken in as %s, %s\n", t->name, t->format ? t->format->name : "format unknown");
    } else if (t->outcome == IMPORT_UNCHANGED) {
        printf(": could not be read before, and has not changed since\n");
    } else {
        printf(": %s\n", import_outcome_name(t->outcome));
    }
    fflush(stdout);
}

/* Called by whatever thread took it, one at a time. */
static void on_report(void *context, const struct import_report *told) {
    struct command *c = context;
    static const struct reel_error unknown = {.code = REEL_NOT_MINE, .text = "no format knows it"};
    cli_progress_end(&c->progress);
    if (told->outcome != IMPORT_FAILED) {
        tell_result(told);
        return;
    }
    char path[PATH_MAX];
    const char *folder = strcmp(told->folder, "/") == 0 ? "" : told->folder;
    snprintf(path, sizeof path, "%s%s%s", folder, told->n > 0 ? "/" : "", told->n > 0 ? told->names[0] : "");
    tell_failure(c, path, told->why ? told->why : &unknown);
}

static int open_archive(struct command *c, const char *data) {
    static const char *const everywhere[] = {"/", NULL}; /* whoever runs this may read what he names */
    const struct app_config config = {
        .data = data, .cache_bytes = 64 << 20, .scan_threads = 1, .derived_bytes = UINT64_MAX, .import_roots = everywhere};
    struct reel_error err = {0};
    if (app_open(&c->app, &config, &err)) {
        return CLI_DONE;
    }
    cli_fail(&cli_import, NULL, &err);
    if (err.code == REEL_CONFLICT) {
        fprintf(stderr,
                "reel import: hand the files to that server: curl -T FILE http://127.0.0.1:8040/api/v1/recordings/by-name/%s/ (or where it "
                "listens)\n",
                c->terms.collection);
    }
    return CLI_FAILED;
}

static void import_all(struct command *c, char *const *given, int n) {
    AUTO_MEM char **paths = calloc((size_t)n + 1, sizeof *paths);
    struct import_statistics statistics;
    struct reel_error err = {0};
    uint32_t found = 0;
    for (int i = 0; paths && i < n; i++) {
        if ((paths[found] = realpath(given[i], NULL))) {
            found++;
        } else {
            reel_fail_errno(&err, "cannot be opened");
            tell_failure(c, given[i], &err);
        }
    }
    cli_progress_start(&c->progress, "importing", found == 1 ? cli_file_name(paths[0]) : "files");
    if (!paths || !import_paths(&c->app, (const char *const *)paths, found, &c->terms, &c->progress.report, &statistics, &err)) {
        cli_progress_end(&c->progress);
        tell_failure(c, NULL, &err);
    }
    cli_progress_end(&c->progress);
    for (uint32_t i = 0; i < found; i++) {
        free(paths[i]);
    }
}

static int run(int argc, char **argv) {
    struct command c = {.terms = {.collection = "default", .patient = true, .on_report = on_report}};
    const char *data = "./data";
    bool recursive = false;
    int first, code, mode = IMPORT_COPY;
    AUTO(cli_list_done) struct cli_list tags = {0};
    struct catalog_annotations annotations = {0};
    struct reel_error err = {0};
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .help = "folder of the archive, made when missing (./data)"},
        {.name = "collection", .kind = CLI_TEXT, .to = &c.terms.collection, .value = "NAME", .help = "where the recordings go (default)"},
        {.name = "tag",
         .kind = CLI_LIST,
         .to = &tags,
         .value = "KEY=VALUE",
         .help = "a tag for each recording that is added; may be repeated"},
        {.name = "mode",
         .kind = CLI_CHOICE,
         .to = &mode,
         .value = "MODE",
         .choices = import_modes,
         .help = "copied (usual), moved once they are safe, or only referred to where they lie (serve then needs --import-root)"},
        {.name = "recursive",
         .kind = CLI_FLAG,
         .to = &recursive,
         .help = "of a folder: all files in it and below, called by their path in it"},
        {.name = "glob",
         .kind = CLI_TEXT,
         .to = &c.terms.glob,
         .value = "GLOB",
         .help = "of folders: only files whose path in it matches (* any run, ? one)"},
        {.name = "replace", .kind = CLI_FLAG, .to = &c.terms.replace, .help = "other content under a taken name becomes its next revision"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &c.terms.dry, .help = "only says what would be taken in"},
        {0},
    };
    if (!cli_options(&cli_import, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (!cli_tags(&tags, &annotations, &err)) {
        catalog_annotations_done(&annotations);
        return cli_misused(&cli_import, "%s", err.text);
    }
    c.terms.annotations = &annotations;
    c.terms.mode = (enum import_mode)mode;
    c.terms.flat = !recursive && !c.terms.glob;
    c.terms.context = &c;
    cli_catch_interrupt();
    code = open_archive(&c, data);
    if (code == CLI_DONE) {
        import_all(&c, &argv[first], argc - first);
    }
    app_close(&c.app);
    catalog_annotations_done(&annotations);
    return code != CLI_DONE || c.failed > 0 || cli_interrupted() ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "PATH… [OPTION]…",
    .summary = "files of this machine into an archive no server runs on",
    .details = "Files that belong together become one recording: run.traj and run.state, the files of a rosbag2 folder. Files that have "
               "not changed since they\n"
               "were taken in are not read again. Says one line a recording; goes on after a file that cannot be read, and then ends with "
               "exit code 1.",
    .run = run,
};
