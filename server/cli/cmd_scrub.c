/* reel scrub: every stored file read once more, beside a running server too. */
#include <limits.h>
#include <string.h>

#include "app.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "ingest/manifests.h"
#include "maintenance/scrub.h"
#include "store/inspect.h"

enum { MB = 1000000 };

static bool scrub(struct app *app, const char *data, const struct scrub_options *options, struct scrub_result *result,
                  struct reel_error *err) {
    char path[PATH_MAX];
    bool alone;
    struct cli_progress progress;
    if (!catalog_location(data, path, err) || !(app->store = store_open_readonly(data, &alone, err)) ||
        (access(path, F_OK) != 0 && !reel_fail_errno(err, "there is no catalog")) || !(app->catalog = catalog_open(path, err))) {
        return false;
    }
    cli_progress_start(&progress, "reading", "stored files");
    bool good = scrub_run(app, options, &progress.report, result, err);
    cli_progress_end(&progress);
    return good && manifests_write_due(app, 0, NULL, err);
}

static void tell(json_t *last) {
    size_t i, k;
    json_t *rot, *recording;
    json_array_foreach(json_object_get(last, "corrupted_files"), i, rot) {
        json_array_foreach(json_object_get(rot, "recordings"), k, recording) {
            printf("%s/%s (%s): %s: %s\n", json_string_value(json_object_get(recording, "collection")),
                   json_string_value(json_object_get(recording, "name")), json_string_value(json_object_get(recording, "id")),
                   json_string_value(json_object_get(rot, "sha256")), json_string_value(json_object_get(rot, "problem")));
        }
    }
}

static int run(int argc, char **argv) {
    const char *data = "./data";
    uint64_t rate = 0;
    struct scrub_options limits = {0};
    struct scrub_result result = {0};
    struct app app = {0};
    struct reel_error err = {0};
    int first, code;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .help = "folder of the archive (./data)"},
        {.name = "rate",
         .kind = CLI_UINT,
         .to = &rate,
         .value = "MB/S",
         .help = "read no more than so much (as fast as it goes)",
         .least = 1,
         .most = 100000},
        {.name = "restart", .kind = CLI_FLAG, .to = &limits.from_start, .help = "from the first file, not where the last one was stopped"},
        {0},
    };
    if (!cli_options(&cli_scrub, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_scrub, "\"%s\" is no option", argv[first]);
    }
    limits.bytes_per_s = rate * MB;
    cli_catch_interrupt();
    bool done = scrub(&app, data, &limits, &result, &err);
    json_t *last = done ? scrub_last(&app, NULL, NULL, &err) : NULL;
    bool corrupted = json_array_size(json_object_get(last, "corrupted_files")) > 0;
    done = done && last;
    if (done) {
        char bytes[16];
        tell(last);
        printf("%s%llu files, %s: %s\n", result.resumed ? "gone on with; all in all " : "", (unsigned long long)result.files,
               cli_size_text(result.bytes, bytes), corrupted ? "not all are what they were" : "all are what they were");
    }
    json_decref(last);
    catalog_close(app.catalog);
    store_close(app.store);
    if (!done) {
        cli_fail(&cli_scrub, NULL, &err);
        return CLI_USAGE;
    }
    return corrupted ? CLI_FAILED : CLI_DONE;
}

const struct cli_command cli_scrub = {
    .name = "scrub",
    .arguments = "[OPTION]…",
    .summary = "reads every stored file once more and compares it with its SHA-256",
    .details =
        "Beside a running server too. Stopped by Ctrl-C, the next one goes on where it was. What is no longer what it was is listed, and "
        "is told as the\n"
        "problem of its recordings until the file is sent again.\nExit code 0: all is right. 1: something is not. 2: it could not be done.",
    .run = run,
};
