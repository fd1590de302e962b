/* The running server's parts, opened in the order they need each other and closed in the opposite one. */
#include "app.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/made.h"
#include "ingest/ingest.h"
#include "ingest/recordings.h"

static struct catalog *open_catalog(const char *data, struct reel_error *err) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/catalog.db", data);
    if (n < 0 || (size_t)n >= sizeof path) {
        reel_fail(err, REEL_ARGUMENT, "the data folder's path is too long");
        return NULL;
    }
    return catalog_open(path, err);
}

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err) {
    *app = (struct app){.config = *config, .started_ns = reel_now_ns()};
    bool ok = (app->store = store_open(config->data, err)) && (app->catalog = open_catalog(config->data, err)) &&
              (app->cache = reel_cache_new(config->cache_bytes, err)) && (app->jobs = jobs_open(config->scan_threads, err)) &&
              (app->recordings = recordings_new(app, err)) && (app->made = made_new(app->jobs, config->cache_bytes / 4, err)) &&
              ingest_resume(app, err);
    if (!ok) {
        app_close(app);
    }
    return ok;
}

static void write_line(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "%s\n", line);
}

bool app_serve(struct app *app, const struct http_route *routes, struct reel_error *err) {
    const struct app_config *c = &app->config;
    struct http_options options = {
        .listen = c->listen,
        .routes = routes,
        .hosts = c->hosts,
        .origins = c->origins,
        .connections_max = c->connections_max,
        .header_timeout_s = c->header_timeout_s,
        .idle_timeout_s = c->idle_timeout_s,
        .body_min_rate = c->body_min_rate,
        .log = write_line,
        .app = app,
    };
    app->http = http_server_start(&options, err);
    return app->http;
}

void app_close(struct app *app) {
    if (app->http) {
        http_server_stop(app->http, app->config.drain_s);
    }
    jobs_close(app->jobs); /* before what they work on */
    made_free(app->made);
    recordings_free(app->recordings);
    reel_cache_free(app->cache);
    catalog_close(app->catalog);
    store_close(app->store);
    *app = (struct app){0};
}
