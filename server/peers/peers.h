/* The servers of one archive among themselves. Each keeps a row of itself in the catalog, and forwards requests that
 * only another one can answer: a live recording is a file of the server that began it, a playback runs in one process.
 *
 * A request is forwarded as it came, with one header more (forward_header.c): the address it came from, and a signature
 * by the keys of signed links, which all servers of the archive share. It is forwarded once.
 *
 * Threads: every function may be called from any thread, peers_heartbeat() from one. */
#ifndef SERVER_PEERS_PEERS_H
#define SERVER_PEERS_PEERS_H

#include "catalog/servers.h"
#include "http/http.h"

struct peers;
struct peers *peers_new(struct app *app, struct reel_error *err);
void peers_free(struct peers *peers); /* no request uses it any more; NULL is fine */

/* From now on this server is known to the others, under --peer-address or the address that it listens on. */
bool peers_serve(struct app *app, struct reel_error *err);
/* For the schedule, every PEERS_HEARTBEAT_NS: renews the row. True: there are live recordings of servers that are gone
 * (peers_gone_since()). */
extern const int64_t PEERS_HEARTBEAT_NS;
bool peers_heartbeat(struct app *app);
/* A server that has not renewed its row since then is gone. */
int64_t peers_gone_since(void);

/* Whether what belongs to the server `home` ("": to none) has to be asked for there. */
bool peers_is_other(const struct app *app, const char *home);
/* Forwards the request to the server `home`, which may let it wait for wait_ns: it has been replied to, with 503 where
 * that cannot be. False only without `needed`: that server is silent, and the caller goes on with what the catalog has.
 */
bool peers_forward(struct http_request *r, const char *home, bool needed, int64_t wait_ns);

/* For struct http_options. */
enum http_forwarding peers_forwarded(const struct http_request *r, char remote[HTTP_REMOTE]);

#endif
