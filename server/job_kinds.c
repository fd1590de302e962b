#include "job_kinds.h"

#include "app.h"
#include "catalog/maintenance.h"
#include "events/webhooks.h"
#include "imports/import.h"
#include "imports/watch.h"
#include "live/live.h"
#include "maintenance/backup.h"
#include "maintenance/retention.h"
#include "maintenance/scrub.h"
#include "manifests/manifests.h"
#include "peers/peers.h"
#include "recordings/batch.h"
#include "scans/references.h"
#include "scans/scan_job.h"
#include "scans/scanning.h"
#include "scans/statistics.h"
#include "uploads/sessions.h"

#define SECOND_NS INT64_C(1000000000)
enum { ALWAYS = 1000000, SOME = 5 };

/* What is derived for a request (plans of conversions, columns of series) lives in memory: a request that still needs
 * it derives it again.
 */
static bool derive(struct app *app, const struct job_call *call, struct reel_error *err) {
    (void)app;
    (void)call;
    return reel_fail(err, REEL_CANCELLED, "the server was restarted; send the request again");
}

static bool lists_run(struct app *app, const struct job_call *call, struct reel_error *err) {
    (void)call;
    return catalog_lists_prepare(app->catalog, err);
}

const struct job_kind job_kinds[] = {
    {.name = "scan", .lane = LANE_SMALL, .run = scan_job_run},
    {.name = "plan", .lane = LANE_PLANS, .quiet = true, .run = derive},
    {.name = "import", .lane = LANE_IMPORTS, .here = true, .run = import_run},
    {.name = "batch", .lane = LANE_IMPORTS, .retries = SOME, .run = batch_run},
    {.name = "watched-folder",
     .lane = LANE_WATCHES,
     .again = true,
     .quiet = true,
     .brief = true,
     .here = true,
     .run = watch_run},
    {.name = "manifests",
     .lane = LANE_UPKEEP,
     .retries = ALWAYS,
     .again = true,
     .quiet = true,
     .brief = true,
     .run = manifests_run},
    {.name = "references",
     .lane = LANE_MAINTENANCE,
     .again = true,
     .quiet = true,
     .brief = true,
     .run = references_run},
    {.name = "files", .lane = LANE_UPKEEP, .again = true, .quiet = true, .brief = true, .run = references_files_run},
    {.name = "live",
     .lane = LANE_SCANS,
     .retries = SOME,
     .quiet = true,
     .brief = true,
     .here = true,
     .run = live_open_run},
    {.name = "finish", .lane = LANE_SCANS, .retries = SOME, .here = true, .run = live_finish_run},
    {.name = "record", .lane = LANE_SOURCES, .here = true, .run = live_source_run},
    {.name = "unattended",
     .lane = LANE_UPKEEP,
     .retries = SOME,
     .quiet = true,
     .brief = true,
     .run = live_unattended_run},
    {.name = "statistics", .lane = LANE_STATISTICS, .quiet = true, .brief = true, .run = statistics_run},
    {.name = "lists", .lane = LANE_UPKEEP, .quiet = true, .brief = true, .here = true, .run = lists_run},
    {.name = "sweep", .lane = LANE_MAINTENANCE, .retries = SOME, .quiet = true, .run = sweep_run},
    {.name = "expiry", .lane = LANE_UPKEEP, .retries = SOME, .quiet = true, .brief = true, .run = sessions_run},
    {.name = "retention", .lane = LANE_MAINTENANCE, .run = retention_run},
    {.name = "scrub", .lane = LANE_MAINTENANCE, .result = "/api/v1/admin/scrub/last", .run = scrub_job_run},
    {.name = "backup",
     .lane = LANE_MAINTENANCE,
     .result = "/api/v1/admin/backup/last",
     .here = true,
     .run = backup_job_run},
    {.name = "webhook",
     .lane = LANE_WEBHOOKS,
     .retries = ALWAYS,
     .again = true,
     .quiet = true,
     .brief = true,
     .run = webhook_run},
    {0},
};

static int64_t each_second(struct app *app) {
    (void)app;
    return SECOND_NS;
}
static int64_t each_minute(struct app *app) {
    (void)app;
    return 60 * SECOND_NS;
}
static int64_t each_ten_minutes(struct app *app) {
    (void)app;
    return 600 * SECOND_NS;
}
static int64_t each_beat(struct app *app) {
    (void)app;
    return PEERS_HEARTBEAT_NS;
}
static int64_t each_rescan(struct app *app) {
    return (int64_t)app->config.rescan_s * SECOND_NS;
}
static bool lists_are_long(struct app *app) {
    return catalog_lists_are_long(app->catalog);
}
static bool manifests_are_due(struct app *app) {
    return catalog_manifests_any(app->catalog);
}

const struct job_schedule job_schedule[] = {
    {.kind = "lists", .every_ns = each_ten_minutes, .due = lists_are_long},
    {.kind = "manifests", .every_ns = each_minute, .due = manifests_are_due},
    {.kind = "webhook", .every_ns = each_second, .due = webhooks_add_jobs},
    {.kind = "unattended", .every_ns = each_beat, .due = peers_heartbeat},
    {.kind = "statistics", .first_ns = 3 * SECOND_NS, .every_ns = each_minute, .due = statistics_are_due},
    {.kind = "expiry", .every_ns = sessions_every_ns},
    {.kind = "references", .first_ns = -1, .every_ns = each_rescan},
    {.kind = "retention", .first_ns = 60 * SECOND_NS, .every_ns = each_ten_minutes, .due = retention_is_due},
    {0},
};
