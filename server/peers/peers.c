/* See peers.h: this server's row, and those of the others. */
#include "peers/peers_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "log_queue.h"
#include "reel/time.h"

#define SECOND_NS INT64_C(1000000000)
const int64_t PEERS_HEARTBEAT_NS = 10 * SECOND_NS;
/* As the leases of jobs. GONE: a recording is given up then, so that is for servers that do not come back. */
static const int64_t SILENT_NS = 30 * SECOND_NS, GONE_NS = 3600 * SECOND_NS, FORGOTTEN_NS = 30 * 86400 * SECOND_NS;

struct peers *peers_new(struct app *app, struct reel_error *err) {
    struct peers *peers = calloc(1, sizeof *peers);
    if (!peers || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(peers);
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&peers->mutex, NULL);
    memcpy(peers->self.id, app->id, sizeof peers->self.id);
    return peers;
}

void peers_free(struct peers *peers) {
    if (peers) {
        while (peers->n_idle > 0) {
            struct peers_handle *h = &peers->idle[--peers->n_idle];
            curl_easy_cleanup(h->curl);
            curl_multi_cleanup(h->multi);
        }
        pthread_mutex_destroy(&peers->mutex);
        free(peers);
        curl_global_cleanup();
    }
}

/* ---- this server */

static bool heartbeat(struct app *app, struct reel_error *err) {
    struct peers *peers = app->peers;
    int64_t now = clock_ns();
    peers->self.heartbeat_ns = reel_now_ns();
    if (!catalog_server_heartbeat(app->catalog, &peers->self, err)) {
        return false;
    }
    peers->steady_ns = peers->heartbeat_ns > 0 && now - peers->heartbeat_ns < SILENT_NS ? peers->steady_ns : now;
    peers->heartbeat_ns = now;
    return true;
}

bool peers_serve(struct app *app, struct reel_error *err) {
    struct peers *peers = app->peers;
    const char *given = app->config.peer_address;
    if (!app->shared) {
        return true;
    }
    const char *address = given ? given : http_server_listens_everywhere(app->http) ? "" : http_server_url(app->http);
    size_t size = strlen(address);
    if (size >= sizeof peers->self.address) {
        return reel_fail(err, REEL_ARGUMENT, "--peer-address is too long");
    }
    memcpy(peers->self.address, address, size + 1);
    if (!address[0]) {
        log_queue_line(app->log, "reel: the other servers cannot reach live recordings and playbacks of this one: set "
                                 "--peer-address");
    }
    if (!heartbeat(app, err) || !catalog_servers_trim(app->catalog, reel_now_ns() - FORGOTTEN_NS, err)) {
        return false;
    }
    atomic_store(&peers->serves, true);
    return true;
}

int64_t peers_gone_since(void) {
    return reel_now_ns() - GONE_NS;
}

bool peers_heartbeat(struct app *app) {
    struct peers *peers = app->peers;
    struct catalog_unattended one;
    struct reel_error ignored;
    uint32_t n = 0;
    if (!app->shared || !atomic_load(&peers->serves) || !heartbeat(app, &ignored)) {
        return false;
    }
    /* After a time without the catalog the others have to renew their rows, too. */
    return clock_ns() - peers->steady_ns > SILENT_NS &&
           catalog_unattended(app->catalog, peers_gone_since(), &one, 1, &n, &ignored) && n > 0;
}

/* ---- the others */

bool peers_is_other(const struct app *app, const char *home) {
    return app->shared && home[0] && strcmp(home, app->id) != 0;
}

bool peers_is_silent(const struct catalog_server *server) {
    return reel_now_ns() - server->heartbeat_ns > SILENT_NS;
}
