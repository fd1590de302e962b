/* The parts of the running server. */
#ifndef SERVER_APP_H
#define SERVER_APP_H

#include "app_config.h"
#include "catalog/catalog.h"
#include "convert/writer.h"
#include "http/http.h"
#include "imports/totals.h"
#include "reel/threads.h"
#include "store/store.h"

struct access;
struct feed;
struct jobs;
struct live;
struct locks;
struct log_queue;
struct definitions;
struct derived_cache;
struct known_datasets;
struct peers;
struct plays;
struct recordings;
struct roots;
struct sessions;
struct watches;

struct app {
    struct app_config config;
    struct roots *roots; /* store/roots.h: folders whose files may be imported */
    struct store *store;
    struct catalog *catalog;
    struct feed *feed;             /* events/feed.h */
    struct locks *locks;           /* work/locks.h */
    struct jobs *jobs;             /* work/jobs.h */
    struct recordings *recordings; /* scans/open_recordings.h: open recordings, an LRU cache */
    struct peers *peers;           /* peers/peers.h: the other servers; NULL unless shared */
    struct live *live;             /* live/live.h: recordings that grow */
    struct sessions *sessions;     /* uploads/sessions.h: upload sessions */
    struct watches *watches;       /* imports/watch.h; while it serves */
    struct plays *plays;           /* api/contents/plays.h: running playbacks */
    struct derived_cache *derived; /* work/derived_cache.h: plans of conversions and columns of series, bounded */
    struct known_datasets *known;  /* datasets/known.h */
    struct reel_cache *cache;
    struct reel_threads *threads;     /* that large exports are rendered on */
    struct access *access;            /* access/access.h: tokens, signed links, audit; while it serves */
    struct http_server *_Atomic http; /* while it serves */
    struct log_queue *_Atomic log;    /* log_queue.h; while it serves */
    char prefix[HTTP_PREFIX];         /* of --public-url, while it serves */
    int64_t started_ns;
    struct import_totals imports;
    struct {
        _Atomic uint64_t delivered, failed, dropped; /* changes delivered, failed attempts, changes given up; since the
                                                        start */
        _Atomic bool any;                            /* there are webhooks */
    } webhooks;
    bool shared; /* other servers may use this archive: its catalog is in PostgreSQL and its files are in a bucket */
    struct definitions *definitions; /* definitions/set.h */
    char id[RECORDING_ID_TEXT];      /* of this server's data folder; "" unless shared */
    _Atomic bool swept;              /* the sweep after start has finished */
};

bool app_open(struct app *app, const struct app_config *config, struct reel_error *err);
/* Starts http, returns at once. `hint`, `unknown`, `protocol`: see struct http_options. */
bool app_serve(struct app *app, const struct http_route *routes, const struct http_policy *policies,
               const char *(*hint)(const struct http_request *r), bool (*unknown)(struct http_request *r),
               const struct http_protocol *protocol, struct reel_error *err);
void app_close(struct app *app); /* also if partly open */

#endif
