/* Opens the running server's parts in order of their dependencies, and closes them in reverse order. */
#include "app.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "access/access.h"
#include "access/local.h"
#include "api/contents/plays.h"
#include "base/cleanup.h"
#include "catalog/db.h"
#include "catalog/location.h"
#include "catalog/locks.h"
#include "catalog/objects.h"
#include "datasets/known.h"
#include "definitions/set.h"
#include "events/feed.h"
#include "events/webhooks.h"
#include "http/line.h"
#include "imports/import.h"
#include "imports/watch.h"
#include "job_kinds.h"
#include "live/live.h"
#include "log_queue.h"
#include "maintenance/rebuild.h"
#include "maintenance/settings.h"
#include "manifests/manifests.h"
#include "peers/peers.h"
#include "recordings/ingest.h"
#include "scans/open_recordings.h"
#include "scans/scanning.h"
#include "store/reference.h"
#include "store/roots.h"
#include "uploads/sessions.h"
#include "work/derived_cache.h"
#include "work/jobs.h"
#include "work/keys.h"
#include "work/locks.h"

enum { LINE_BYTES = 2048 };
static const int64_t MANIFESTS_WAIT_NS = 2000000000, LOG_WAIT_NS = 2000000000;

static bool open_store(struct app *app, struct reel_error *err) {
    const struct app_config *c = &app->config;
    return (app->store = store_open(c->data, err)) && store_use_bucket(app->store, c->store, c->store_cache_bytes, err);
}

static bool open_catalog(struct app *app, struct reel_error *err) {
    char path[PATH_MAX];
    const char *data = app->config.data;
    app->catalog = catalog_location(data, path, err) ? catalog_open_upgrading(path, err) : NULL;
    if (app->catalog) {
        const struct store_directory directory = catalog_directory(app->catalog);
        store_set_directory(app->store, &directory);
    }
    return app->catalog && catalog_claim(app->catalog, app->store, data, err);
}

static bool open_locks(struct app *app, struct reel_error *err) {
    app->shared = catalog_is_remote(app->catalog) && store_is_bucket(app->store);
    if (!(app->locks = locks_new(err)) || (app->shared && !catalog_folder_id(app->config.data, app->id, err))) {
        return false;
    }
    if (app->shared) {
        locks_share(app->locks, app->catalog);
    }
    return !app->shared || (app->peers = peers_new(app, err));
}

/* Rebuilds a lost or outdated catalog from the manifests. Must come before any sweep, which deletes files that the
 * catalog does not know.
 */
static bool rebuild_catalog(struct app *app, struct reel_error *err) {
    uint64_t n = 0;
    bool good = rebuild_if_lost(app, &n, err);
    if (n > 0) {
        fprintf(stderr, "reel: %llu recordings were restored to the catalog from their manifests\n",
                (unsigned long long)n);
    }
    return good;
}

/* Where files may be imported from: the roots and the watched folders. */
static bool open_roots(struct app *app, struct reel_error *err) {
    const char **watch = app->config.watches.items;
    const char **root = app->config.import_roots.items;
    bool good = (app->roots = roots_open(NULL, err));
    for (; good && root && *root; root++) {
        good = import_is_url(*root) || roots_add(app->roots, *root, err);
    }
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
    const struct app *app = context;
    log_queue_line(app->log, line);
}

static void job_ended(struct app *app, const struct catalog_job *job) {
    char line[LINE_BYTES], when[REEL_TIME_TEXT];
    if (!app->log) {
        return;
    }
    reel_time_rfc3339(job->ended_ns, when);
    const struct line_field fields[] = {{.key = "ts", .text = when},
                                        {.key = "job", .text = job->id},
                                        {.key = "kind", .text = job->kind},
                                        {.key = "subject", .text = job->subject},
                                        {.key = "state", .text = job_state_name(job->state)},
                                        {.key = "ms", .number = (job->ended_ns - job->created_ns) / 1000000},
                                        {.key = "error", .text = job->state == JOB_DONE ? "" : job->error.text}};
    line_write(app->config.log_format == LOG_JSON, fields, sizeof fields / sizeof *fields, line, sizeof line);
    log_queue_line(app->log, line);
}

static void on_commit(void *context) {
    struct app *app = context;
    if (atomic_load(&app->webhooks.any)) {
        jobs_poke(app->jobs, "webhook");
    }
}

/* Before any thread writes to the catalog. */
static bool open_feed(struct app *app, struct reel_error *err) {
    if ((app->feed = feed_open(app->catalog, err))) {
        feed_on_commit(app->feed, on_commit, app);
    }
    return app->feed;
}

static struct jobs *open_jobs(struct app *app, struct reel_error *err) {
    const struct jobs_options options = {.app = app,
                                         .catalog = app->catalog,
                                         .scan_threads = app->config.scan_threads,
                                         .kinds = job_kinds,
                                         .ended = job_ended,
                                         .home = app->id};
    return jobs_open(&options, err);
}

static struct derived_cache *open_derived(struct app *app, struct reel_error *err) {
    const struct derived_options options = {.jobs = app->jobs,
                                            .memory_bytes = app->config.memory_bytes / 8,
                                            .disk_bytes = app_kept_bytes(&app->config),
                                            .folder = store_derived_folder(app->store)};
    return derived_cache_new(&options, err);
}

static struct reel_threads *open_threads(const struct app_config *config, struct reel_error *err) {
    return reel_threads_new(
        &(struct reel_threads_options){.size = sizeof(struct reel_threads_options), .threads = config->render_threads},
        err);
}

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err) {
    *app = (struct app){.config = *config, .started_ns = reel_now_ns()};
    bool ok = open_store(app, err) && open_roots(app, err) && open_catalog(app, err) && open_locks(app, err) &&
              rebuild_catalog(app, err) && (app->definitions = definitions_new(config, err)) &&
              definitions_refresh(app, err) && open_feed(app, err) &&
              (app->cache = reel_cache_new(config->cache_bytes, err)) && (app->live = live_new(app, err)) &&
              (app->jobs = open_jobs(app, err)) && (app->recordings = recordings_new(app, err)) &&
              (app->sessions = sessions_open(app, err)) && (app->plays = plays_new(err)) &&
              (app->derived = open_derived(app, err)) && (app->known = known_datasets_new(err)) &&
              (app->threads = open_threads(config, err)) && settings_save(app, err);
    if (ok) {
        jobs_start(app->jobs);
        ok = ingest_resume(app, err);
    }
    if (!ok) {
        app_close(app);
    }
    return ok;
}

/* For Server-Timing: waiting for scans and other jobs, for the catalog, for the store's disk. */
/* From now on jobs run by themselves. */
static bool serve_jobs(struct app *app, struct reel_error *err) {
    struct webhook hooks[WEBHOOKS_MAX];
    uint32_t n;
    if (!catalog_webhooks(app->catalog, hooks, &n, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        webhook_done(&hooks[i]);
    }
    app->webhooks.any = n > 0;
    jobs_serve(app->jobs, job_schedule);
    return true;
}

static const struct http_elapsed elapsed[] = {
    {"scan", job_waited_ns}, {"db", db_elapsed_ns}, {"io", store_elapsed_ns}, {0}};

bool app_serve(struct app *app, const struct http_route *routes, const struct http_policy *policies,
               const char *(*hint)(const struct http_request *r), bool (*unknown)(struct http_request *r),
               const struct http_protocol *protocol, struct reel_error *err) {
    const struct app_config *c = &app->config;
    if (!(app->log = log_queue_open(STDERR_FILENO, c->log_format == LOG_JSON, err)) ||
        !http_prefix_read(c->public_url, routes, app->prefix, err)) {
        return false;
    }
    const struct access_options access = {.data = c->data,
                                          .store = app->store,
                                          .local = local_is_server(c),
                                          .catalog = app->catalog,
                                          .shared = app->shared,
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
        .policies = policies,
        .keys = &key_store,
        .hosts = c->hosts.items,
        .origins = c->origins.items,
        .viewers = {c->viewer, c->viewer_mol},
        .public_url = c->public_url,
        .prefix = app->prefix,
        .connections_max = c->connections_max,
        .header_timeout_s = c->header_timeout_s,
        .idle_timeout_s = c->idle_timeout_s,
        .connections_per_address = c->connections_per_address,
        .body_min_rate = c->body_min_rate,
        .reader_min_rate = c->reader_min_rate,
        .memory_max = c->memory_bytes - c->memory_bytes / 4, /* the rest: plans and opened indexes */
        .log = write_line,
        .log_json = c->log_format == LOG_JSON,
        .elapsed = elapsed,
        .everywhere = access_params,
        .authorize = access_authorize,
        .still_granted = access_still_granted,
        .is_proxy = access_is_proxy,
        .forwarded = peers_forwarded,
        .hint = hint,
        .unknown = unknown,
        .protocol = protocol,
        .finished = access_finished,
        .app = app,
    };
    /* Everything that requests use must exist before the HTTP server starts. */
    return live_start(app->live, err) && watches_start(app, &app->watches, err) && serve_jobs(app, err) &&
           (app->http = http_server_start(&options, err)) && peers_serve(app, err);
}

/* Threads that do not end in time may use anything: the process ends without freeing. What they did is done again at
 * the next start. */
static void stop_jobs(struct app *app) {
    const int64_t wait_ns = (int64_t)(app->config.drain_s > 0 ? app->config.drain_s : 1) * 1000000000;
    if (app->jobs && !jobs_stop(app->jobs, wait_ns)) {
        log_queue_line(app->log, "reel: some work did not stop in time; it continues at the next start");
        log_queue_close(app->log, LOG_WAIT_NS);
        _exit(EXIT_SUCCESS);
    }
}

void app_close(struct app *app) {
    if (app->jobs) {
        jobs_close(app->jobs);
    }
    feed_stop(app->feed); /* before the drain: ends open change feeds */
    live_wake(app->live); /* the same of those who follow recordings */
    if (app->http) {
        http_server_stop(app->http, app->config.drain_s);
    }
    access_close(app->access);
    live_stop(app->live);
    watches_stop(app->watches);
    stop_jobs(app); /* before the objects that jobs use */
    live_free(app->live);
    sessions_close(app->sessions);
    watches_free(app->watches);
    if (app->catalog && app->store) {
        struct reel_error ignored;
        manifests_write_due(app, reel_now_ns() + MANIFESTS_WAIT_NS, NULL, &ignored); /* the rest is written at the next
                                                                                        start */
        if (app->swept) {
            sweep_record_stop(app);
        }
    }
    feed_free(app->feed); /* no thread uses it any more */
    definitions_free(app->definitions);
    derived_cache_free(app->derived);
    known_datasets_free(app->known);
    reel_threads_free(app->threads);
    plays_free(app->plays);
    recordings_free(app->recordings);
    http_server_free(app->http);
    jobs_free(app->jobs);
    peers_free(app->peers);
    locks_free(app->locks);
    reel_cache_free(app->cache);
    catalog_close(app->catalog);
    store_close(app->store);
    roots_close(app->roots);
    log_queue_close(app->log, LOG_WAIT_NS);
    *app = (struct app){0};
}
