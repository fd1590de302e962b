/* reel fsck: the archive looked through, and mended. Its one rule: exit code 0 means that nothing was found. */
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "maintenance/fsck.h"
#include "wire/cleanup.h"

enum { SHOWN_MAX = 10000 }; /* findings that --json lists; all are counted */

struct told {
    json_t *items; /* NULL: printed as they come */
};

static void found(void *context, enum fsck_kind kind, const char *subject, const char *text, const char *repaired) {
    struct told *t = context;
    if (!t->items) {
        printf("%s: %s: %s%s%s\n", fsck_kind_name(kind), subject, text, repaired ? " – " : "", repaired ? repaired : "");
        fflush(stdout);
    } else if (json_array_size(t->items) < SHOWN_MAX) {
        json_array_append_new(t->items, json_pack("{s:s, s:s, s:s, s:s?}", "kind", fsck_kind_name(kind), "subject", subject, "text", text,
                                                  "mended", repaired));
    }
}

static bool print_json(const struct told *t, const struct fsck_report *r, struct reel_error *err) {
    json_t *all = json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:b, s:O}", "clean", r->found == 0, "found", (json_int_t)r->found, "mended",
                            (json_int_t)r->repaired, "recordings", (json_int_t)r->recordings, "files", (json_int_t)r->files, "elsewhere",
                            (json_int_t)r->elsewhere, "server_runs", !r->alone, "findings", t->items);
    if (r->old_catalog[0]) {
        json_object_set_new(all, "old_catalog", json_string(r->old_catalog));
    }
    char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
    json_decref(all);
    bool good = text ? puts(text) >= 0 && cli_flush(err) : reel_fail_memory(err);
    free(text);
    return good;
}

static void print_text(const struct fsck_report *r) {
    if (r->old_catalog[0]) {
        printf("the catalog was made again from the manifests; what was there is %s now. Tokens and the audit are not in manifests: make "
               "tokens anew\n",
               r->old_catalog);
    }
    printf("%llu recordings, %llu stored files: ", (unsigned long long)r->recordings, (unsigned long long)r->files);
    if (r->elsewhere > 0) {
        printf("%llu files lie elsewhere and were not looked at (--import-root); ", (unsigned long long)r->elsewhere);
    }
    if (r->found == 0) {
        puts(r->alone ? "all is well" : "all is well (a server runs: what it has under way was not looked at)");
    } else {
        printf("%llu found, %llu mended\n", (unsigned long long)r->found, (unsigned long long)r->repaired);
    }
}

static int run(int argc, char **argv) {
    struct told told = {0};
    struct fsck_report report;
    struct reel_error err = {0};
    struct cli_progress progress;
    struct fsck_options o = {.data = "./data", .found = found, .context = &told};
    bool json = false;
    AUTO(cli_list_done) struct cli_list roots = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &o.data, .value = "DIR", .help = "folder of the archive (./data)"},
        {.name = "import-root",
         .kind = CLI_LIST,
         .to = &roots,
         .value = "DIR",
         .help = "a folder below which files lie that are not copied (as of serve): they are looked at too; may be repeated"},
        {.name = "repair", .kind = CLI_FLAG, .to = &o.repair, .help = "mend what is found; no server may run"},
        {.name = "rebuild",
         .kind = CLI_FLAG,
         .to = &o.rebuild,
         .help = "make the catalog again from the stored files and their manifests; the old one is kept aside"},
        {.name = "json", .kind = CLI_FLAG, .to = &json, .help = "the findings as JSON"},
        {0},
    };
    if (!cli_options(&cli_fsck, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_fsck, "\"%s\" is no option", argv[first]);
    }
    o.roots = roots.items;
    told.items = json ? json_array() : NULL;
    cli_catch_interrupt();
    cli_progress_start(&progress, "checking", "the archive");
    o.progress = &progress.report;
    bool done = fsck_run(&o, &report, &err);
    cli_progress_end(&progress);
    if (done && json) {
        done = print_json(&told, &report, &err);
    } else if (done) {
        print_text(&report);
    }
    json_decref(told.items);
    if (!done) {
        cli_fail(&cli_fsck, NULL, &err);
        return CLI_USAGE; /* "cannot": 1 is for what was found */
    }
    return report.found > 0 ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_fsck = {
    .name = "fsck",
    .arguments = "[OPTION]…",
    .summary = "looks an archive through, catalog against stored files and back; mends it",
    .details = "Without options it only looks, beside a running server too. --repair makes indexes, manifests and figures again; files "
               "that nobody uses but a manifest\n"
               "knows become recordings again, others are moved to lost+found in the data folder: nothing is deleted. Whether a file's "
               "bytes are still right,\n"
               "`reel scrub` tells.\nExit code 0: nothing found. 1: something found, mended or not. 2: it could not be done.",
    .run = run,
};
