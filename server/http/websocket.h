/* Messages of a WebSocket (RFC 6455) over a connected socket, in either role. The library wslay reads and writes the
 * frames; here are waiting and what bounds memory and time: a message is sent before the next is made, and who sends
 * much without reading is not read. Used by one thread. */
#ifndef SERVER_HTTP_WEBSOCKET_H
#define SERVER_HTTP_WEBSOCKET_H

#include <stdint.h>
#include <sys/types.h>

#include "reel/bytes.h"
#include "reel/cleanup.h"
#include "reel/error.h"

enum websocket_close {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL = 1002,
    WEBSOCKET_NO_CODE = 1005, /* only of websocket_close_code(): a close frame without one */
    WEBSOCKET_POLICY = 1008,
    WEBSOCKET_TOO_BIG = 1009,
    WEBSOCKET_INTERNAL = 1011
};

/* What carries the bytes, where that is not the socket alone (TLS): as recv() and send() that do not wait. */
struct websocket_carrier {
    ssize_t (*receive)(void *context, void *buffer, size_t size);
    ssize_t (*send)(void *context, const void *data, size_t size);
    void *context;
};

struct websocket_options {
    int fd;                           /* stays the caller's */
    struct websocket_carrier carrier; /* functions NULL: the socket */
    bool client;
    struct reel_bytes early;        /* received after the handshake already; copied */
    size_t message_max;             /* bytes of one received */
    bool (*goes_on)(void *context); /* asked at least twice a second; false: it is over. NULL: always */
    void (*waits)(void *context);   /* a message cannot be sent at once: gives back memory until then. NULL: none */
    void *context, *waits_context;
};

struct websocket;
struct websocket *websocket_new(const struct websocket_options *options, struct reel_error *err);
void websocket_free(struct websocket *ws); /* NULL is fine */
REEL_DEFINE_AUTO(struct websocket, websocket_free);

/* Returns when the system has the whole message; what is received meanwhile waits. False: the connection is over, or
 * nothing could be sent for half a minute. */
bool websocket_send(struct websocket *ws, bool text, struct reel_bytes message, struct reel_error *err);

struct websocket_message {
    bool text;
    struct reel_bytes bytes; /* until the next call */
};
/* Waits until there is a message, `until_ns` of the monotonic clock is reached or `wake` (a descriptor; -1: none) is
 * readable; reads at least once. Pings are answered, and sent where the other side is silent. */
enum websocket_got { WEBSOCKET_QUIET, WEBSOCKET_MESSAGE, WEBSOCKET_OVER };
enum websocket_got websocket_wait(struct websocket *ws, int wake, int64_t until_ns, struct websocket_message *out);

/* Sends a close frame, unless one was sent, and waits a moment for the other side's. */
void websocket_close(struct websocket *ws, enum websocket_close code, const char *reason);
unsigned websocket_close_code(const struct websocket *ws); /* that the other side sent; 0: none */
unsigned websocket_own_code(const struct websocket *ws);   /* that this side sent: TOO_BIG, PROTOCOL …; 0: none */
uint64_t websocket_received(const struct websocket *ws);   /* bytes */
uint64_t websocket_sent(const struct websocket *ws);

/* ---- the opening handshake */
enum { WEBSOCKET_KEY = 25, WEBSOCKET_ACCEPT = 29 }; /* with the NUL */
/* Sec-WebSocket-Accept for a key. False: the key is not one. */
bool websocket_accept(const char *key, char out[WEBSOCKET_ACCEPT]);
/* Whether a list of HTTP tokens, separated by commas, has this one, whatever its case. */
bool websocket_listed(const char *list, const char *token);

#endif
