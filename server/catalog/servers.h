/* The servers of one catalog, where there are several. Each has an id (catalog_folder_id()) and renews its row. */
#ifndef SERVER_CATALOG_SERVERS_H
#define SERVER_CATALOG_SERVERS_H

#include "catalog/catalog.h"

enum { SERVER_ADDRESS_MAX = 256 };

struct catalog_server {
    char id[RECORDING_ID_TEXT];
    char address[SERVER_ADDRESS_MAX]; /* where the others reach it, as http://10.0.0.5:8040; "": they cannot */
    int64_t heartbeat_ns;             /* when it renewed its row */
};
bool catalog_server_heartbeat(struct catalog *c, const struct catalog_server *server, struct reel_error *err);
/* REEL_NOT_FOUND */
bool catalog_server_find(struct catalog *c, const char *id, struct catalog_server *out, struct reel_error *err);
bool catalog_servers_trim(struct catalog *c, int64_t before_ns, struct reel_error *err);

/* Live recordings of servers that have not renewed their row since then: at most `max`. */
struct catalog_unattended {
    char id[RECORDING_ID_TEXT], home[RECORDING_ID_TEXT];
};
bool catalog_unattended(struct catalog *c, int64_t since_ns, struct catalog_unattended *out, uint32_t max, uint32_t *n,
                        struct reel_error *err);
/* One of them is missing, unless its server has come back meanwhile. */
bool catalog_abandon(struct catalog *c, const char *id, int64_t since_ns, const char *problem, struct reel_error *err);
/* The live recording `id`, which may be missing by now, is written by the server `home`. REEL_NOT_FOUND: it is neither.
 */
bool catalog_take_home(struct catalog *c, const char *id, const char *home, struct reel_error *err);

#endif
