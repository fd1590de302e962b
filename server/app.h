/* The parts of the running server. */
#ifndef SERVER_APP_H
#define SERVER_APP_H

#include "app_config.h"
#include "catalog/catalog.h"
#include "http/http.h"
#include "ingest/job_statistics.h"
#include "reel/write.h"
#include "store/store.h"

struct access;
struct feed;
struct imports;
struct jobs;
struct derived_cache;
struct recordings;
struct retention_daily;
struct roots;
struct sessions;
struct watches;
struct webhooks;

struct app {
    struct app_config config;
    struct roots *roots; /* store/roots.h: folders whose files may be imported */
    struct store *store;
    struct catalog *catalog;
    struct feed *feed;             /* events/feed.h */
    struct webhooks *webhooks;     /* events/webhooks.h; while it serves */
    struct retention_daily *daily; /* maintenance/retention.h; while it serves */
    struct jobs *jobs;             /* ingest/jobs.h */
    struct recordings *recordings; /* ingest/recordings.h: open recordings, an LRU cache */
    struct sessions *sessions;     /* ingest/sessions.h: upload sessions */
    struct imports *imports;       /* ingest/import.h */
    struct watches *watches;       /* ingest/watch.h; while it serves */
    struct derived_cache *derived; /* api/derived_cache.h: plans of conversions and columns of series, bounded */
    struct reel_cache *cache;
    struct access *access; /* access/access.h: tokens, signed links, audit; while it serves */
    struct http_server *http;
    int64_t started_ns;
    struct job_statistics job_statistics; /* ingest/job_statistics.h */
    _Atomic bool logs;                    /* log events on stderr (while it serves) */
    _Atomic bool swept;                   /* the sweep after start has finished */
    _Atomic bool backs_up, scrubs;        /* maintenance/: one at a time */
    _Atomic bool retains;                 /* maintenance/retention.h: a run is under way */
    _Atomic bool manifests_queued;        /* ingest/manifests.h: a job to write them is queued */
    _Atomic bool manifests_missed;        /* some could not be written and must be retried */
};

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err);
bool app_serve(struct app *app, const struct http_route *routes, struct reel_error *err); /* starts http, returns at once */
void app_close(struct app *app);                                                          /* also if partly open */

#endif
