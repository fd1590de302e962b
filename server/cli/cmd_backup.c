/* reel backup: a copy of the archive while a server writes to it. */
#include <limits.h>
#include <string.h>

#include "app.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "maintenance/backup.h"
#include "store/inspect.h"

static bool back_up(struct app *app, const char *data, const char *folder, enum backup_blobs blobs, json_t **manifest,
                    struct reel_error *err) {
    char path[PATH_MAX];
    bool alone;
    struct cli_progress progress;
    if (!catalog_location(data, path, err) || !(app->store = store_open_readonly(data, &alone, err)) ||
        !(app->catalog = catalog_open_readonly(path, err))) {
        return false;
    }
    cli_progress_start(&progress, "backing up", data);
    bool good = backup_run(app, folder, blobs, &progress.report, manifest, err);
    cli_progress_end(&progress);
    return good;
}

static int run(int argc, char **argv) {
    const char *data = "./data";
    int first, code, blobs = BACKUP_NO_BLOBS;
    struct app app = {0};
    struct reel_error err = {0};
    json_t *manifest = NULL;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .help = "folder of the archive (./data)"},
        {.name = "blobs",
         .kind = CLI_CHOICE,
         .to = &blobs,
         .value = "HOW",
         .choices = backup_blobs_names,
         .help = "the stored files too: linked (the same disk, no second copy of the bytes) or copied"},
        {0},
    };
    if (!cli_options(&cli_backup, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first > 1) {
        return cli_misused(&cli_backup, "one folder at a time");
    }
    cli_catch_interrupt();
    bool done = back_up(&app, data, argv[first], (enum backup_blobs)blobs, &manifest, &err);
    char *text = done ? json_dumps(manifest, JSON_INDENT(1)) : NULL;
    done = done && (text ? puts(text) >= 0 && cli_flush(&err) : reel_fail_memory(&err));
    free(text);
    json_decref(manifest);
    catalog_close(app.catalog);
    store_close(app.store);
    return done ? CLI_DONE : cli_fail(&cli_backup, NULL, &err);
}

const struct cli_command cli_backup = {
    .name = "backup",
    .arguments = "DIR [OPTION]…",
    .summary = "a copy of an archive, while a server writes to it too",
    .details = "DIR becomes an archive itself: catalog.db of one instant, blobs.txt (each stored file it needs, for `sha256sum -c`), "
               "backup.json, which says that it\n"
               "is whole, and with --blobs the files. DIR is new, empty, or an earlier backup: that one is brought up to date. To restore: "
               "`reel serve --data` on a\n"
               "copy of it; without --blobs the blobs folder has to be put there too.",
    .run = run,
};
