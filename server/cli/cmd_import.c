/* reel import: imports local files into an archive while no server is running. A file that fails is reported; the
 * others are still imported. */
#include <string.h>

#include "app.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "catalog/notes.h"
#include "cli/cli.h"
#include "imports/import.h"
#include "store/reference.h"

struct command {
    struct app app;
    struct import_options options;
    struct cli_progress progress;
    unsigned failed;
};

static void report_failure(struct command *c, const char *path, const struct reel_error *err) {
    fflush(stdout);
    cli_fail(&cli_import, path, err);
    c->failed++;
}

/* "folder/a, folder/b: " */
static void print_files(const struct import_report *t) {
    AUTO_MEM const char **names = calloc((size_t)t->n + 1, sizeof *names);
    if (names && t->n > 0) {
        memcpy(names, t->names, t->n * sizeof *names);
        qsort(names, t->n, sizeof *names, order_texts);
    }
    for (uint32_t i = 0; names && i < t->n; i++) {
        printf("%s%s/%s", i > 0 ? ", " : "", strcmp(t->folder, "/") == 0 ? "" : t->folder, names[i]);
    }
}

static void print_result(const struct import_report *t) {
    static const char *const words[] = {
        "would be imported", "added", "already stored", "being scanned", "already stored", "", "", ""};
    const struct catalog_recording *r = t->recording;
    print_files(t);
    if (t->outcome == IMPORT_PASSED) {
        printf(": skipped: not a recording\n");
    } else if (r) {
        const char *what = t->outcome == IMPORT_CREATED && r->damaged ? "added, damaged" : words[t->outcome];
        printf(": %s as %s/%s, %llu messages, id %s\n", what, r->collection, r->name, (unsigned long long)r->messages,
               r->id);
    } else if (t->outcome == IMPORT_WOULD) {
        printf(": would be imported as %s, %s\n", t->name, t->format ? t->format->name : "format unknown");
    } else if (t->outcome == IMPORT_UNCHANGED) {
        printf(": skipped: it could not be read earlier and has not changed since\n");
    } else {
        printf(": %s\n", import_outcome_name(t->outcome));
    }
    fflush(stdout);
}

/* Called by the importing threads, one call at a time. */
static void import_on_report(void *context, const struct import_report *report) {
    struct command *c = context;
    static const struct reel_error unknown = {.code = REEL_NOT_MINE, .text = "unknown format"};
    cli_progress_end(&c->progress);
    if (report->outcome != IMPORT_FAILED) {
        print_result(report);
        return;
    }
    char path[PATH_MAX];
    const char *folder = strcmp(report->folder, "/") == 0 ? "" : report->folder;
    snprintf(path, sizeof path, "%s%s%s", folder, report->n > 0 ? "/" : "", report->n > 0 ? report->names[0] : "");
    report_failure(c, path, report->why ? report->why : &unknown);
}

static int open_archive(struct command *c, const char *data) {
    const char *everywhere[] = {"/", NULL}; /* this user may read the files named on the command line */
    const struct app_config config = {.data = data,
                                      .cache_bytes = 64 << 20,
                                      .memory_bytes = 64 << 20,
                                      .scan_threads = 1,
                                      .derived_bytes = UINT64_MAX,
                                      .import_roots = {.items = everywhere, .count = 1}};
    struct reel_error err = {0};
    if (app_open(&c->app, &config, &err)) {
        return CLI_DONE;
    }
    cli_fail(&cli_import, NULL, &err);
    if (err.code == REEL_CONFLICT) {
        fprintf(stderr,
                "reel import: send the files to that server instead: reel push --collection %s FILE… "
                "http://127.0.0.1:8040 (or its address)\n",
                c->options.collection);
    }
    return CLI_FAILED;
}

static void import_all(struct command *c, char *const *names, int n) {
    AUTO_MEM char **paths = calloc((size_t)n + 1, sizeof *paths);
    struct import_statistics statistics;
    struct reel_error err = {0};
    uint32_t found = 0;
    for (int i = 0; paths && i < n; i++) {
        if ((paths[found] = realpath(names[i], NULL))) {
            found++;
        } else {
            reel_fail_errno(&err, "cannot be opened");
            report_failure(c, names[i], &err);
        }
    }
    cli_progress_start(&c->progress, "importing", found == 1 ? cli_file_name(paths[0]) : "files");
    if (!paths || !import_paths(&c->app, (const char *const *)paths, found, &c->options, &c->progress.report,
                                &statistics, &err)) {
        cli_progress_end(&c->progress);
        report_failure(c, NULL, &err);
    }
    cli_progress_end(&c->progress);
    for (uint32_t i = 0; i < found; i++) {
        free(paths[i]);
    }
}

static int run_import(struct command *c, const char *data, char *const *paths, int n) {
    int code = open_archive(c, data);
    if (code == CLI_DONE) {
        import_all(c, paths, n);
    }
    app_close(&c->app);
    return code;
}

static int cmd_import_run(int argc, char **argv) {
    struct command c = {.options = {.collection = "default", .wait_for_scans = true, .on_report = import_on_report}};
    const char *data;
    bool recursive = false;
    int first, code, mode = IMPORT_COPY;
    AUTO(option_list_done) struct option_list tags = {0};
    struct catalog_annotations annotations = {0};
    struct reel_error err = {0};
    const struct cli_option options[] = {
        {.name = "data",
         .kind = CLI_TEXT,
         .to = &data,
         .value = "DIR",
         .initial = "./data",
         .help = "archive folder, created if missing"},
        {.name = "collection",
         .kind = CLI_TEXT,
         .to = &c.options.collection,
         .value = "NAME",
         .help = "collection of the recordings (default: \"default\")"},
        {.name = "tag",
         .kind = CLI_LIST,
         .to = &tags,
         .value = "KEY=VALUE",
         .help = "tag for each recording that is added; may be repeated"},
        {.name = "mode",
         .kind = CLI_CHOICE,
         .to = &mode,
         .value = "MODE",
         .choices = import_modes,
         .help = "copy the files (default), move them once they are stored safely, or reference them in place (serve "
                 "then needs "
                 "--import-root)"},
        {.name = "recursive",
         .kind = CLI_FLAG,
         .to = &recursive,
         .help = "also import subfolders; recordings are named by their path in the folder"},
        {.name = "glob",
         .kind = CLI_TEXT,
         .to = &c.options.glob,
         .value = "GLOB",
         .help = "only files whose path in the folder matches (*: any characters, ?: one character)"},
        {.name = "replace",
         .kind = CLI_FLAG,
         .to = &c.options.replace,
         .help = "if a name is taken by other content, add a new revision"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &c.options.dry, .help = "only print what would be imported"},
        {0},
    };
    if (!cli_options(&cli_import, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (!cli_tags(&tags, &annotations, &err)) {
        catalog_annotations_done(&annotations);
        return cli_misused(&cli_import, "%s", err.text);
    }
    c.options.annotations = &annotations;
    c.options.mode = (enum import_mode)mode;
    c.options.flat = !recursive && !c.options.glob;
    c.options.context = &c;
    cli_catch_interrupt();
    code = run_import(&c, data, &argv[first], argc - first);
    catalog_annotations_done(&annotations);
    return code != CLI_DONE || c.failed > 0 || cli_interrupted() ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "PATH… [OPTION]…",
    .summary = "import local files into an archive while no server is running",
    .details = "Files that belong together become one recording: run.traj and run.state, or the files of a rosbag2 "
               "folder. Files that have not\n"
               "changed since they were imported are not read again. Prints one line for each recording. If a file "
               "cannot be read, the others\n"
               "are still imported, and the exit status is 1.",
    .run = cmd_import_run,
};
