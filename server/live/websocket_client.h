/* A connection to another server's WebSocket, ws:// or wss://. libcurl connects and encrypts; the rest is
 * http/websocket.h. Used by one thread. */
#ifndef SERVER_LIVE_WEBSOCKET_CLIENT_H
#define SERVER_LIVE_WEBSOCKET_CLIENT_H

#include "http/websocket.h"

enum { WEBSOCKET_URL_MAX = 2048 };
/* "ws://HOST:PORT", with the default port where there is none, of an address that may be connected to; it has no user
 * or password. REEL_ARGUMENT with the reason. */
bool websocket_origin(const char *url, char out[WEBSOCKET_URL_MAX + 8], struct reel_error *err);

/* Whether a pattern of addresses, with * for any run of characters, has this origin. Except where it is the whole host,
 * * stands for no dot: 10.0.0.* has no name such as 10.0.0.1.example.net, which others may let resolve to any address.
 */
bool websocket_allows(const char *pattern, const char *origin);

struct websocket_client_options {
    const char *url;
    const char *token;              /* NULL, "": none */
    size_t message_max;             /* bytes of one received */
    bool (*goes_on)(void *context); /* called at least twice a second; false: it is over */
    void *context;
};
struct websocket_client;
/* Connects and opens the WebSocket. Everything that `options` points to must outlive it. The certificates of wss:// are
 * those of the system, or of the file that SSL_CERT_FILE names. */
struct websocket_client *websocket_client_open(const struct websocket_client_options *options, struct reel_error *err);
void websocket_client_free(struct websocket_client *client); /* NULL is fine */
REEL_DEFINE_AUTO(struct websocket_client, websocket_client_free);
struct websocket *websocket_client_socket(struct websocket_client *client);
/* After its end (WEBSOCKET_OVER): true if the server ended it, else why it is over. */
bool websocket_client_ended(struct websocket_client *client, struct reel_error *err);

#endif
