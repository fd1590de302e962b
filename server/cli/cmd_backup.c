/* reel backup: copies the archive, also while a server is running. */
#include <limits.h>
#include <string.h>

#include "app.h"
#include "catalog/attach.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "json_whole.h"
#include "maintenance/backup.h"
#include "store/inspect.h"

static bool back_up(struct app *app, const char *data, const char *folder, enum backup_blobs blobs, json_t **manifest,
                    struct reel_error *err) {
    char path[PATH_MAX];
    bool alone;
    struct cli_progress progress;
    if (!catalog_location(data, path, err) || !(app->store = store_open_readonly(data, &alone, err)) ||
        !(app->catalog = catalog_open_readonly(path, err)) || !catalog_attach(app->catalog, app->store, err)) {
        return false;
    }
    cli_progress_start(&progress, "backing up", data);
    bool good = backup_run(app, folder, blobs, &progress.report, manifest, err);
    cli_progress_end(&progress);
    return good;
}

static int run_backup(int argc, char **argv) {
    const char *data;
    int first, code, blobs = BACKUP_NO_BLOBS;
    struct app app = {0};
    struct reel_error err = {0};
    json_t *manifest = NULL;
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .initial = "./data", .help = "archive folder"},
        {.name = "blobs",
         .kind = CLI_CHOICE,
         .to = &blobs,
         .value = "HOW",
         .choices = backup_blobs_names,
         .help = "whether to back up the stored files too: as hard links (same disk, no extra space) or as copies"},
        {0},
    };
    if (!cli_options(&cli_backup, options, 1, argc, argv, &first, &code)) {
        return code;
    }
    if (argc - first > 1) {
        return cli_misused(&cli_backup, "expected one folder");
    }
    cli_catch_interrupt();
    bool done = back_up(&app, data, argv[first], (enum backup_blobs)blobs, &manifest, &err);
    char *text = done ? json_whole_text(manifest, JSON_INDENT(1)) : NULL;
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
    .summary = "back up an archive, also while a server is running",
    .details =
        "DIR becomes an archive: a snapshot of catalog.db, blobs.txt (the stored files it refers to, for `sha256sum "
        "-c`), "
        "backup.json (written\n"
        "last: the backup is complete) and, with --blobs, the stored files. DIR must be new, empty or an earlier "
        "backup, which is "
        "updated.\n"
        "To restore, run `reel serve --data` on a copy of DIR; without --blobs, also copy the blobs folder into it.",
    .run = run_backup,
};
