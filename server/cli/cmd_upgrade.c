/* reel upgrade: brings the catalog to the version of this program, as starting the server does, or says what that would
 * change. */
#include <limits.h>

#include "base/cleanup.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "catalog/maintenance.h"
#include "cli/cli.h"
#include "store/store.h"

REEL_DEFINE_AUTO(struct store, store_close);
REEL_DEFINE_AUTO(struct catalog, catalog_close);

bool cli_print_pending(const char *data, const char *prefix, struct reel_error *err) {
    char path[PATH_MAX];
    struct catalog_pending p;
    struct reel_error why = {0};
    if (!catalog_location(data, path, err)) {
        return false;
    }
    bool good = catalog_pending(path, &p, &why);
    if (!good && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    if (!good || p.version == 0) {
        printf("%scatalog: none yet, the first start of a server creates it\n", prefix);
    } else if (p.version == p.newest) {
        printf("%scatalog: version %llu, nothing to upgrade\n", prefix, (unsigned long long)p.version);
    } else {
        printf("%scatalog: version %llu, to be upgraded to %llu\n", prefix, (unsigned long long)p.version,
               (unsigned long long)p.newest);
        for (uint64_t i = p.version; i < p.newest; i++) {
            printf("%spending migration: %s\n", prefix, catalog_migration(i));
        }
        if (!db_is_server(path)) {
            printf("%sthe catalog of version %llu will be kept as %s.version-%llu\n", prefix,
                   (unsigned long long)p.version, path, (unsigned long long)p.version);
        }
    }
    return true;
}

/* The store's lock is held meanwhile: no server runs on the folder. */
static bool upgrade(const char *data, struct reel_error *err) {
    char path[PATH_MAX];
    struct catalog_pending p;
    if (!catalog_location(data, path, err) || !catalog_pending(path, &p, err)) {
        return false;
    }
    AUTO(store_close) struct store *store = store_open(data, err);
    AUTO(catalog_close) struct catalog *catalog = store ? catalog_open_upgrading(path, err) : NULL;
    return catalog;
}

static int run_upgrade(int argc, char **argv) {
    const char *data;
    bool dry = false;
    int first, code;
    struct reel_error err = {0};
    const struct cli_option options[] = {
        {.name = "data", .kind = CLI_TEXT, .to = &data, .value = "DIR", .initial = "./data", .help = "archive folder"},
        {.name = "dry-run", .kind = CLI_FLAG, .to = &dry, .help = "print what would be done, and change nothing"},
        {0},
    };
    if (!cli_options(&cli_upgrade, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (first < argc) {
        return cli_misused(&cli_upgrade, "unexpected argument \"%s\"", argv[first]);
    }
    bool good = (dry || upgrade(data, &err)) && cli_print_pending(data, "", &err) && cli_flush(&err);
    return good ? CLI_DONE : cli_fail(&cli_upgrade, NULL, &err);
}

const struct cli_command cli_upgrade = {
    .name = "upgrade",
    .arguments = "[OPTION]…",
    .summary = "upgrade the catalog of an archive to this version of Reel",
    .details = "Starting the server does the same; no server may be running on the folder. Each migration is one "
               "transaction; an interrupted\n"
               "upgrade continues when it is started again. The catalog of before is kept as catalog.db.version-N, of "
               "the last three versions.\n"
               "PostgreSQL keeps no copy: make one with pg_dump first.",
    .run = run_upgrade,
};
