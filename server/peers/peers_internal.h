/* Shared by peers.c (rows), forward_header.c (the header) and forward.c (requests and answers). */
#ifndef SERVER_PEERS_PEERS_INTERNAL_H
#define SERVER_PEERS_PEERS_INTERNAL_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "peers/peers.h"

enum { PEERS_IDLE_MAX = 16 };

struct peers_handle { /* a connection that is kept */
    CURLM *multi;
    CURL *curl;
};

struct peers {
    pthread_mutex_t mutex; /* for idle */
    struct peers_handle idle[PEERS_IDLE_MAX];
    unsigned n_idle;
    struct catalog_server self;
    atomic_bool serves;
    /* by the monotonic clock: since when the row is renewed in time, and when it was */
    int64_t steady_ns, heartbeat_ns;
};

/* peers.c */
bool peers_is_silent(const struct catalog_server *server); /* it has not renewed its row in time */

/* forward_header.c. The headers of the request as it is forwarded to the server `to`; NULL: err. */
struct curl_slist *forward_headers(const struct http_request *r, const char *to, struct reel_error *err);

#endif
