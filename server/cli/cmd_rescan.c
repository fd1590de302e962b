/* reel rescan: scans recordings of an archive again, while no server is running. */
#include <string.h>

#include "app.h"
#include "cli/cli.h"
#include "scans/scan_job.h"

struct rescan {
    struct app app;
    const char *format; /* NULL: any */
    unsigned done, failed;
};

static void scan_one(struct rescan *s, const struct catalog_recording *r) {
    struct reel_error err = {0};
    char id[JOB_ID_TEXT];
    bool good = scan_again(&s->app, r, id, &err) && jobs_wait(s->app.jobs, id, INT64_MAX, &err);
    s->failed += !good;
    s->done += good;
    if (good) {
        printf("%s %s/%s: scanned\n", r->id, r->collection, r->name);
        fflush(stdout);
    } else {
        cli_fail(&cli_rescan, r->id, &err);
    }
}

static bool rescan_visit(void *context, const struct catalog_recording *r) {
    struct rescan *s = context;
    if (r->state != STATE_TRASHED && r->state != STATE_ANNOUNCED && (!s->format || strcmp(r->format, s->format) == 0)) {
        scan_one(s, r);
    }
    return !cli_interrupted();
}

static bool rescan(struct rescan *s, char **ids, int n, bool many, struct reel_error *err) {
    if (many) {
        return catalog_each(s->app.catalog, rescan_visit, s, err);
    }
    for (int i = 0; i < n && !cli_interrupted(); i++) {
        struct catalog_recording r;
        if (!catalog_get(s->app.catalog, ids[i], &r, err)) {
            return reel_error_at(err, "%.64s", ids[i]);
        }
        scan_one(s, &r);
        catalog_recording_done(&r);
    }
    return true;
}

static int run_rescan(int argc, char **argv) {
    struct rescan s = {.format = NULL};
    struct app_config config = {
        .cache_bytes = 64 << 20, .memory_bytes = 64 << 20, .scan_threads = 1, .derived_bytes = UINT64_MAX};
    struct reel_error err = {0};
    bool all = false;
    int first, code;
    const struct cli_option options[] = {
        {.name = "data",
         .kind = CLI_TEXT,
         .to = &config.data,
         .value = "DIR",
         .initial = "./data",
         .help = "archive folder"},
        {.name = "all", .kind = CLI_FLAG, .to = &all, .help = "all recordings"},
        {.name = "format",
         .kind = CLI_TEXT,
         .to = &s.format,
         .value = "NAME",
         .help = "all recordings of this container format: rosbag-1.2, mcap, …"},
        {0},
    };
    if (!cli_options(&cli_rescan, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    if (s.format && !reel_format_named(s.format)) {
        return cli_misused(&cli_rescan, "unknown format \"%s\"", s.format);
    }
    if ((first < argc) == (all || s.format != NULL)) {
        return cli_misused(&cli_rescan, "give either recording ids, --all or --format");
    }
    cli_catch_interrupt();
    bool good = app_open(&s.app, &config, &err) && rescan(&s, argv + first, argc - first, all || s.format, &err);
    app_close(&s.app);
    if (!good) {
        cli_fail(&cli_rescan, NULL, &err);
        if (err.code == REEL_CONFLICT) {
            fputs("reel rescan: use that server instead: curl -X POST http://127.0.0.1:8040/api/v1/admin/rescan/ID (or "
                  "its address)\n",
                  stderr);
        }
    }
    return good && s.failed == 0 && !cli_interrupted() ? CLI_DONE : CLI_FAILED;
}

const struct cli_command cli_rescan = {
    .name = "rescan",
    .arguments = "[ID…] [OPTION]…",
    .summary = "scan recordings again, for example after an upgrade",
    .details = "No server may be running on the archive. Annotations are kept. The old index is used until the new one "
               "is complete.",
    .run = run_rescan,
};
