/* Opens the running server's parts in order of their dependencies, and closes them in reverse order. */
#include "app.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "access/access.h"
#include "api/derived_cache.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "events/webhooks.h"
#include "http/line.h"
#include "ingest/import.h"
#include "ingest/ingest.h"
#include "ingest/manifests.h"
#include "ingest/recordings.h"
#include "ingest/scanning.h"
#include "ingest/sessions.h"
#include "ingest/watch.h"
#include "maintenance/rebuild.h"
#include "maintenance/retention.h"
#include "maintenance/settings.h"
#include "store/reference.h"
#include "store/roots.h"
#include "wire/cleanup.h"

enum { LINE_BYTES = 2048 };
static const int64_t MANIFESTS_WAIT_NS = 5000000000;

static struct catalog *open_catalog(const char *data, struct reel_error *err) {
    char path[PATH_MAX];
    return catalog_location(data, path, err) ? catalog_open(path, err) : NULL;
}

/* Rebuilds a lost or outdated catalog from the manifests. Must come before any sweep, which deletes files that the catalog does not know.
 */
static bool rebuild_catalog(struct app *app, struct reel_error *err) {
    uint64_t n = 0;
    bool good = rebuild_if_lost(app, &n, err);
    if (n > 0) {
        fprintf(stderr, "reel: %llu recordings were restored to the catalog from their manifests\n", (unsigned long long)n);
    }
    return good;
}

/* Where files may be imported from: the roots and the watched folders. */
static bool open_roots(struct app *app, struct reel_error *err) {
    const char **watch = app->config.watches.items;
    bool good = (app->roots = roots_open(app->config.import_roots.items, err));
    for (; good && watch && *watch; watch++) {
        const char *collection;
        AUTO_MEM char *folder = watch_folder(*watch, &collection);
        good = folder ? roots_add(app->roots, folder, err) : reel_fail_memory(err);
    }
    if (good) {
        store_set_roots(app->store, app->roots);
    }
    return good;
}

static void write_line(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "%s\n", line);
}

static void job_ended(void *context, const struct job_view *view) {
    struct app *app = context;
    char line[LINE_BYTES], when[REEL_TIME_TEXT];
    job_statistics_count(&app->job_statistics, view);
    bool cut = view->state != JOB_DONE && jobs_closing(app->jobs); /* it starts again with the server */
    if (!view->quiet && !cut) {
        const struct change_job change = {.id = view->id,
                                          .kind = view->kind,
                                          .state = job_state_name(view->state),
                                          .subject = view->subject,
                                          .collection = view->collection};
        catalog_change_job(app->catalog, &change, NULL);
    }
    if (!app->logs) {
        return;
    }
    reel_time_rfc3339(view->ended_ns, when);
    const struct line_field fields[] = {{.key = "ts", .text = when},
                                        {.key = "job", .text = view->id},
                                        {.key = "kind", .text = view->kind},
                                        {.key = "subject", .text = view->subject},
                                        {.key = "state", .text = job_state_name(view->state)},
                                        {.key = "ms", .number = (view->ended_ns - view->created_ns) / 1000000},
                                        {.key = "error", .text = view->state == JOB_DONE ? "" : view->error.text}};
    line_write(app->config.log_format == LOG_JSON, fields, sizeof fields / sizeof *fields, line, sizeof line);
    write_line(NULL, line);
}

static bool watch_jobs(struct app *app) {
    const struct jobs_watch watch = {.ended = job_ended, .context = app};
    jobs_watch(app->jobs, &watch);
    return true;
}

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err) {
    *app = (struct app){.config = *config, .started_ns = reel_now_ns()};
    bool ok = (app->store = store_open(config->data, err)) && open_roots(app, err) && (app->catalog = open_catalog(config->data, err)) &&
              rebuild_catalog(app, err) && (app->feed = feed_open(app->catalog, err)) &&
              (app->cache = reel_cache_new(config->cache_bytes, err)) && (app->jobs = jobs_open(config->scan_threads, err)) &&
              watch_jobs(app) && (app->recordings = recordings_new(app, err)) && (app->sessions = sessions_open(app, err)) &&
              (app->derived = derived_cache_new(app->jobs, config->cache_bytes / 4, err)) &&
              (app->imports = imports_open(app, config->scan_threads, err)) && settings_save(app, err) && ingest_resume(app, err);
    if (!ok) {
        app_close(app);
    }
    return ok;
}

/* For Server-Timing: waiting for scans and other jobs, for the catalog, for the store's disk. */
static const struct http_elapsed elapsed[] = {{"scan", job_waited_ns}, {"db", db_elapsed_ns}, {"io", store_elapsed_ns}, {0}};

bool app_serve(struct app *app, const struct http_route *routes, struct reel_error *err) {
    app->logs = true;
    const struct app_config *c = &app->config;
    const struct access_options access = {.data = c->data,
                                          .catalog = app->catalog,
                                          .insecure_open = c->insecure_open,
                                          .metrics_open = c->metrics_open,
                                          .trusted = c->trusted_proxies.items,
                                          .user_header = c->proxy_user_header,
                                          .role = c->proxy_role};
    if (!(app->access = access_open(&access, err))) {
        return false;
    }
    struct http_options options = {
        .listen = c->listen,
        .listen_fd = c->listen_fd,
        .tls_cert = c->tls_cert,
        .tls_key = c->tls_key,
        .routes = routes,
        .hosts = c->hosts.items,
        .origins = c->origins.items,
        .viewer = c->viewer,
        .connections_max = c->connections_max,
        .header_timeout_s = c->header_timeout_s,
        .idle_timeout_s = c->idle_timeout_s,
        .connections_per_address = c->connections_per_address,
        .body_min_rate = c->body_min_rate,
        .reader_min_rate = c->reader_min_rate,
        .log = write_line,
        .log_json = c->log_format == LOG_JSON,
        .elapsed = elapsed,
        .everywhere = access_params,
        .authorize = access_authorize,
        .is_proxy = access_is_proxy,
        .finished = access_finished,
        .app = app,
    };
    /* Everything that requests use must exist before the HTTP server starts. */
    return import_resume(app, err) && watches_start(app, &app->watches, err) &&
           (app->webhooks = webhooks_start(app->catalog, app->feed, c->webhook_private, err)) &&
           (app->daily = retention_daily_start(app, err)) && (app->http = http_server_start(&options, err));
}

void app_close(struct app *app) {
    feed_stop(app->feed); /* before the drain: ends open change feeds */
    if (app->http) {
        http_server_stop(app->http, app->config.drain_s);
    }
    access_close(app->access);
    retention_daily_stop(app->daily);
    webhooks_stop(app->webhooks);
    watches_stop(app->watches);
    imports_stop(app->imports);
    sessions_close(app->sessions);
    jobs_close(app->jobs); /* before the objects that jobs use */
    watches_free(app->watches);
    imports_free(app->imports);
    if (app->catalog && app->store) {
        struct reel_error ignored;
        manifests_write_due(app, reel_now_ns() + MANIFESTS_WAIT_NS, NULL, &ignored); /* the rest is written at the next start */
        if (app->swept) {
            sweep_record_stop(app);
        }
    }
    feed_free(app->feed); /* no thread uses it any more */
    derived_cache_free(app->derived);
    recordings_free(app->recordings);
    reel_cache_free(app->cache);
    catalog_close(app->catalog);
    store_close(app->store);
    roots_close(app->roots);
    *app = (struct app){0};
}
