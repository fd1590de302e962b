/* Everything the running server has, opened and closed in order. */
#ifndef SERVER_APP_H
#define SERVER_APP_H

#include "catalog/catalog.h"
#include "http/http.h"
#include "reel/write.h"
#include "store/store.h"

struct jobs;
struct made;
struct recordings;

struct app_config {
    const char *data, *listen;
    const char *viewer; /* a viewer's address, for links; NULL: none */
    const char *const *hosts, *const *origins;
    uint64_t cache_bytes, derived_bytes, upload_max_bytes;
    unsigned header_timeout_s, idle_timeout_s, drain_s, connections_max, scan_threads;
    uint64_t body_min_rate;
};

struct app {
    struct app_config config;
    struct store *store;
    struct catalog *catalog;
    struct jobs *jobs;             /* ingest/jobs.h */
    struct recordings *recordings; /* ingest/recordings.h: opened recordings, kept while used, least recently used go */
    struct made *made;             /* api/made.h: plans of conversions and columns of series, bounded */
    struct reel_cache *cache;
    struct http_server *http;
    int64_t started_ns;
};

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err);
bool app_serve(struct app *app, const struct http_route *routes, struct reel_error *err); /* starts http, returns at once */
void app_close(struct app *app);                                                          /* half-opened is fine */

#endif
