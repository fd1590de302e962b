/* reel migrate: moves the catalog of an archive into PostgreSQL, its files into a bucket, or either back. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/size_text.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "catalog/move.h"
#include "cli/cli.h"
#include "maintenance/move_files.h"
#include "reel/cleanup.h"
#include "store/inspect.h"

REEL_DEFINE_AUTO(struct store, store_close);

/* Only while no server runs: what it would write meanwhile would be lost. */
static bool is_idle(const char *data, struct reel_error *err) {
    bool alone;
    AUTO(store_close) struct store *store = store_open_readonly(data, &alone, err);
    return store && (alone || reel_fail(err, REEL_BUSY, "a server is running on %s: stop it first", data));
}

static bool migrate(const char *data, const char *to, struct catalog_moved *moved, struct reel_error *err) {
    char from[PATH_MAX], made[PATH_MAX];
    struct cli_progress progress;
    bool server = db_is_server(to);
    if (!server && strcmp(to, "sqlite") != 0) {
        return reel_fail(err, REEL_ARGUMENT, "--to is postgresql://USER@HOST/DATABASE or sqlite");
    }
    if ((server && !db_check_address(to, err)) || !is_idle(data, err) || !catalog_location(data, from, err) ||
        !disk_join(made, data, "catalog.db.new", err)) {
        return false;
    }
    if (server == db_is_server(from)) {
        return reel_fail(err, REEL_CONFLICT, "the catalog is %s already", server ? from : "a file");
    }
    unlink(made); /* of a move that was interrupted */
    cli_progress_start(&progress, "moving", "rows");
    bool good = catalog_move(from, server ? to : made, &progress.report, moved, err);
    cli_progress_end(&progress);
    return good && catalog_switch(data, from, server ? to : NULL, made, err);
}

static bool migrate_catalog(const char *data, const char *to, struct reel_error *err) {
    struct catalog_moved moved;
    bool good = migrate(data, to, &moved, err);
    if (good) {
        printf("%llu rows of %llu tables moved and compared\n", (unsigned long long)moved.rows,
               (unsigned long long)moved.tables);
    }
    return good;
}

static bool migrate_files(const char *data, const char *to, struct reel_error *err) {
    struct moved_files moved;
    struct cli_progress progress;
    char size[16];
    bool folder = strcmp(to, "folder") == 0;
    if (!folder && strncmp(to, "s3://", 5) != 0) {
        return reel_fail(err, REEL_ARGUMENT, "--store is s3://BUCKET/PREFIX or folder");
    }
    cli_progress_start(&progress, "moving", "files");
    bool good = is_idle(data, err) && move_files(data, folder ? NULL : to, &progress.report, &moved, err);
    cli_progress_end(&progress);
    if (good) {
        printf("%llu files (%s) and %llu indexes are there, %llu of the files copied now; %llu were missing before\n",
               (unsigned long long)moved.files, size_text(moved.bytes, size), (unsigned long long)moved.indexes,
               (unsigned long long)moved.copied, (unsigned long long)moved.gone);
    }
    return good;
}

static int run_migrate(int argc, char **argv) {
    const char *data, *to = NULL, *store = NULL;
    int first, code;
    struct reel_error err = {0};
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .initial = "./data", .help = "archive folder"},
        {.name = "to",
         .kind = CLI_TEXT,
         .to = &to,
         .value = "URL",
         .help = "where the catalog goes: postgresql://USER@HOST/DATABASE, or sqlite: a file in the archive folder"},
        {.name = "store",
         .kind = CLI_TEXT,
         .to = &store,
         .value = "URL",
         .help = "where the files go: s3://BUCKET/PREFIX, or folder: the archive folder"},
        {0},
    };
    if (!cli_options(&cli_migrate, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if ((!to && !store) || argc > first) {
        return cli_misused(&cli_migrate, "expected --to or --store");
    }
    cli_catch_interrupt();
    if ((to && !migrate_catalog(data, to, &err)) || (store && !migrate_files(data, store, &err))) {
        return cli_fail(&cli_migrate, NULL, &err);
    }
    return CLI_DONE;
}

const struct cli_command cli_migrate = {
    .name = "migrate",
    .arguments = "[--to URL] [--store URL] [OPTION]…",
    .summary = "move an archive into PostgreSQL and S3, or back",
    .details = "All servers must be stopped. The catalog is copied in one transaction and compared; an interrupted "
               "move changes nothing.\n"
               "The database must be empty. A file that the catalog was in is kept as catalog.db.moved-N.\n"
               "Files are hashed on their way. An interrupted move goes on when the same command is run again; the "
               "archive switches\n"
               "when all files are there. Files that the archive folder had are kept in blobs.moved-N, a bucket stays "
               "as it is.",
    .run = run_migrate,
};
