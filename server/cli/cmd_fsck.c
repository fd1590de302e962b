/* reel fsck: checks and repairs the archive. Exit status 0 means that no problems were found. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "json_whole.h"
#include "maintenance/fsck.h"
#include "store/tokens_record.h"

enum { SHOWN_MAX = 10000 }; /* findings listed by --json; the count includes all */

struct findings {
    json_t *items; /* NULL: each is printed at once */
};

static void found(void *context, enum fsck_kind kind, const char *subject, const char *text, const char *repaired) {
    struct findings *t = context;
    if (!t->items) {
        printf("%s: %s: %s%s%s\n", fsck_kind_name(kind), subject, text, repaired ? " – " : "",
               repaired ? repaired : "");
        fflush(stdout);
    } else if (json_array_size(t->items) < SHOWN_MAX) {
        json_array_append_new(t->items, json_pack("{s:s, s:s, s:s, s:s?}", "kind", fsck_kind_name(kind), "subject",
                                                  subject, "text", text, "repaired", repaired));
    }
}

static bool fsck_print_json(const struct findings *t, const struct fsck_report *r, struct reel_error *err) {
    json_t *all =
        json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:O}", "clean", r->found == 0, "found",
                  (json_int_t)r->found, "repaired", (json_int_t)r->repaired, "recordings", (json_int_t)r->recordings,
                  "files", (json_int_t)r->files, "elsewhere", (json_int_t)r->elsewhere, "under_way",
                  (json_int_t)r->under_way, "server_runs", !r->alone, "findings", t->items);
    if (r->old_catalog[0]) {
        json_object_set_new(all, "old_catalog", json_string(r->old_catalog));
    }
    if (r->tokens_lost) {
        json_object_set_new(all, "tokens_lost", json_true());
    }
    char *text = all ? json_whole_text(all, JSON_INDENT(1)) : NULL;
    json_decref(all);
    bool good = text ? puts(text) >= 0 && cli_flush(err) : reel_fail_memory(err);
    free(text);
    return good;
}

static void print_text(const struct fsck_report *r, const char *data) {
    if (r->old_catalog[0]) {
        printf("The catalog was rebuilt from the manifests; the old one is now %s. Manifests hold no tokens and no "
               "audit log.\n",
               r->old_catalog);
    }
    if (r->tokens_lost) {
        printf("%s: requests are refused until you create one: reel token create --role admin --name admin --data %s\n",
               r->tokens_unknown ? "The old catalog cannot be read, so the archive may have had tokens"
                                 : "The archive has had tokens, and its catalog has none",
               data);
    }
    if (r->tokens_unknown) {
        printf("If it never had tokens, delete the file " TOKENS_RECORD " in %s instead.\n", data);
    }
    printf("%llu recordings, %llu stored files: ", (unsigned long long)r->recordings, (unsigned long long)r->files);
    if (r->elsewhere > 0) {
        printf("%llu referenced files were not checked (--import-root); ", (unsigned long long)r->elsewhere);
    }
    if (r->under_way > 0) {
        printf("%llu objects in the bucket may belong to uploads that go on (--leftover-hours); ",
               (unsigned long long)r->under_way);
    }
    if (r->found == 0) {
        puts(r->alone ? "no problems"
                      : "no problems (a server is running: its uploads and jobs in progress were not checked)");
    } else {
        printf("%llu problems found, %llu repaired\n", (unsigned long long)r->found, (unsigned long long)r->repaired);
    }
}

static int run_fsck(int argc, char **argv) {
    struct findings findings = {0};
    struct fsck_report report;
    struct reel_error err = {0};
    struct cli_progress progress;
    struct fsck_options o = {.found = found, .context = &findings};
    bool json = false;
    AUTO(option_list_done) struct option_list roots = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data",
         .kind = CLI_TEXT,
         .to = &o.data,
         .value = "DIR",
         .initial = "./data",
         .help = "archive folder"},
        {.name = "import-root",
         .kind = CLI_LIST,
         .to = &roots,
         .value = "DIR",
         .help = "folder with referenced files, as for serve: check these too; may be repeated"},
        {.name = "repair",
         .kind = CLI_FLAG,
         .to = &o.repair,
         .help = "repair the problems found; no server may be running"},
        {.name = "rebuild",
         .kind = CLI_FLAG,
         .to = &o.rebuild,
         .help =
             "rebuild the catalog from the stored files and their manifests; the old one is kept under another name"},
        {.name = "leftover-hours",
         .kind = CLI_UINT,
         .to = &o.leftover_s,
         .value = "N",
         .initial = "24",
         .most = 24 * 365,
         .unit = 3600,
         .help = "in a bucket: what uploads left is reported, and by --repair removed, when it is older; 0 only while "
                 "no server "
                 "of the archive runs"},
        {.name = "json", .kind = CLI_FLAG, .to = &json, .help = "print the findings as JSON"},
        {0},
    };
    if (!cli_options(&cli_fsck, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_fsck, "unexpected argument \"%s\"", argv[first]);
    }
    o.roots = roots.items;
    findings.items = json ? json_array() : NULL;
    cli_catch_interrupt();
    cli_progress_start(&progress, "checking", "the archive");
    o.progress = &progress.report;
    bool done = fsck_run(&o, &report, &err);
    cli_progress_end(&progress);
    if (done && json) {
        done = fsck_print_json(&findings, &report, &err);
    } else if (done) {
        print_text(&report, o.data);
    }
    json_decref(findings.items);
    if (!done) {
        cli_fail(&cli_fsck, NULL, &err);
        return CLI_USAGE; /* 1 means that problems were found */
    }
    return report.found > 0 ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_fsck = {
    .name = "fsck",
    .arguments = "[OPTION]…",
    .summary = "check the catalog against the stored files, and repair it",
    .details = "Without --repair or --rebuild nothing is changed, and a server may be running. --repair rebuilds "
               "indexes, manifests and counts.\n"
               "Stored files that no recording uses become recordings again if a manifest describes them; others are "
               "moved to lost+found in\n"
               "the archive folder, and nothing is deleted. In a bucket, --repair deletes objects that no recording, "
               "manifest or upload names, "
               "and\n"
               "what uploads left that nobody can resume. To verify the contents of stored files, use `reel scrub`.\n"
               "Exit status: 0 if no problems were found, 1 if problems were found (repaired or not), 2 on failure.",
    .run = run_fsck,
};
