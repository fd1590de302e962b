/* reel scrub: verifies every stored file, also while a server is running. */
#include <limits.h>
#include <string.h>

#include "app.h"
#include "base/size_text.h"
#include "catalog/attach.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "maintenance/scrub.h"
#include "manifests/manifests.h"
#include "store/inspect.h"

enum { MB = 1000000 };

static bool scrub(struct app *app, const char *data, const struct scrub_options *options, struct scrub_result *result,
                  struct reel_error *err) {
    char path[PATH_MAX];
    bool alone;
    struct cli_progress progress;
    if (!catalog_location(data, path, err) || !(app->store = store_open_readonly(data, &alone, err)) ||
        (!db_is_server(path) && access(path, F_OK) != 0 && !reel_fail_errno(err, "no catalog")) ||
        !(app->catalog = catalog_open(path, err)) || !catalog_attach(app->catalog, app->store, err)) {
        return false;
    }
    cli_progress_start(&progress, "reading", "stored files");
    bool good = scrub_run(app, options, &progress.report, result, err);
    cli_progress_end(&progress);
    return good && manifests_write_due(app, 0, NULL, err);
}

static void print_corrupted(json_t *last) {
    size_t i, k;
    json_t *file, *recording;
    json_array_foreach(json_object_get(last, "corrupted_files"), i, file) {
        json_array_foreach(json_object_get(file, "recordings"), k, recording) {
            printf("%s/%s (%s): %s: %s\n", json_string_value(json_object_get(recording, "collection")),
                   json_string_value(json_object_get(recording, "name")),
                   json_string_value(json_object_get(recording, "id")),
                   json_string_value(json_object_get(file, "sha256")),
                   json_string_value(json_object_get(file, "problem")));
        }
    }
}

static int run_scrub(int argc, char **argv) {
    const char *data;
    uint64_t rate = 0;
    struct scrub_options limits = {0};
    struct scrub_result result = {0};
    struct app app = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .initial = "./data", .help = "archive folder"},
        {.name = "rate",
         .kind = CLI_UINT,
         .to = &rate,
         .value = "MB/S",
         .help = "highest read rate (default: unlimited)",
         .least = 1,
         .most = 100000},
        {.name = "restart",
         .kind = CLI_FLAG,
         .to = &limits.from_start,
         .help = "start with the first file instead of continuing an interrupted check"},
        {0},
    };
    if (!cli_options(&cli_scrub, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_scrub, "unexpected argument \"%s\"", argv[first]);
    }
    limits.bytes_per_s = rate * MB;
    cli_catch_interrupt();
    bool done = scrub(&app, data, &limits, &result, &err);
    json_t *last = done ? scrub_last(&app, NULL, NULL, &err) : NULL;
    bool corrupted = json_array_size(json_object_get(last, "corrupted_files")) > 0;
    done = done && last;
    if (done) {
        char bytes[16];
        print_corrupted(last);
        printf("%s%llu files, %s: %s\n", result.resumed ? "resumed; in total " : "", (unsigned long long)result.files,
               size_text(result.bytes, bytes), corrupted ? "corrupted files found" : "all intact");
        if (result.corrupted_packs > 0) {
            printf("index packs that were corrupted, or of another version: %llu; each is rebuilt when it is needed, "
                   "but for "
                   "announced recordings, which reel fsck names\n",
                   (unsigned long long)result.corrupted_packs);
        }
    }
    json_decref(last);
    catalog_close(app.catalog);
    store_close(app.store);
    if (!done) {
        cli_fail(&cli_scrub, NULL, &err);
        return CLI_USAGE;
    }
    return corrupted || result.corrupted_packs > 0 ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_scrub = {
    .name = "scrub",
    .arguments = "[OPTION]…",
    .summary = "verify every stored file and index pack (integrity check)",
    .details = "A server may be running. After Ctrl-C, the next check continues where this one stopped. Corrupted "
               "files are printed, and their\n"
               "recordings show the problem until the file is uploaded again. Corrupted index packs are removed, and "
               "rebuilt when they are "
               "needed.\n"
               "Exit status: 0 if everything is intact, 1 if files or index packs are corrupted, 2 on failure.",
    .run = run_scrub,
};
