/* Replies that turn the connection into a WebSocket. The library gives the socket away once the head of the answer is
 * sent; a thread of ours then has the conversation. The connection's own thread cannot: over TLS it passes the bytes
 * on, between the session and a pair of sockets. The request lives until the thread has ended. */
#include "base/cleanup.h"
#include "http/http_internal.h"
#include "http/websocket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct socket_reply {
    struct http_request *request;
    struct http_socket socket;
    struct websocket *ws;
    struct MHD_UpgradeResponseHandle *handle;
    bool runs; /* the thread does, or has */
};

bool socket_runs(const struct http_request *r) {
    return r->socket && r->socket->runs;
}

void socket_free(struct socket_reply *s) {
    if (s) {
        websocket_free(s->ws);
        if (s->socket.free) {
            s->socket.free(s->socket.context);
        }
        free(s);
    }
}

/* ---- the conversation */

static bool socket_goes_on(void *request) {
    return http_stream_ending(request, false) == HTTP_GOES_ON;
}

static void socket_close(struct socket_reply *s, bool good, const struct reel_error *err) {
    enum http_ending ending = http_stream_ending(s->request, true);
    if (ending == HTTP_REVOKED) {
        websocket_close(s->ws, WEBSOCKET_POLICY, "the token or the link is not valid any more");
    } else if (ending == HTTP_STOPPING) {
        websocket_close(s->ws, WEBSOCKET_GOING_AWAY, "the server is stopping");
    } else if (good) {
        websocket_close(s->ws, WEBSOCKET_NORMAL, "");
    } else {
        websocket_close(s->ws, WEBSOCKET_INTERNAL, err->text);
    }
    if (!good && err->code != REEL_CANCELLED) {
        reply_note_error(s->request, err->text);
    }
}

static void *socket_run(void *context) {
    struct socket_reply *s = context;
    struct http_request *r = s->request;
    struct http_server *server = r->server;
    struct reel_error err = {0};
    cancel_set(&server->cancel);
    bool good = s->socket.run(s->socket.context, s->ws, &err);
    socket_close(s, good, &err);
    r->sent_bytes = websocket_sent(s->ws);
    r->body_bytes = websocket_received(s->ws);
    connection_ended(r, !good);
    if (s->socket.free) {
        s->socket.free(s->socket.context);
        s->socket.free = NULL;
    }
    memory_release(r);
    atomic_fetch_sub(&server->running, 1);
    MHD_upgrade_action(s->handle, MHD_UPGRADE_ACTION_CLOSE); /* request and connection may be gone after this */
    atomic_fetch_sub(&server->sockets, 1);
    return NULL;
}

static bool start_thread(struct socket_reply *s) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, HTTP_STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&s->request->server->sockets, 1);
    s->runs = true;
    bool good = pthread_create(&thread, &attributes, socket_run, s) == 0;
    if (!good) {
        s->runs = false;
        atomic_fetch_sub(&s->request->server->sockets, 1);
    }
    pthread_attr_destroy(&attributes);
    return good;
}

/* The library's: `early` are bytes that came after the head of the request. */
static void on_upgrade(void *context, struct MHD_Connection *mhd, void *request, const char *early, size_t size,
                       MHD_socket fd, struct MHD_UpgradeResponseHandle *handle) {
    struct socket_reply *s = context;
    const int on = 1;
    (void)mhd, (void)request;
    struct reel_error err = {0};
    s->handle = handle;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    (void)setsockopt(s->request->connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    s->ws = websocket_new(&(struct websocket_options){.fd = fd,
                                                      .early = {(const uint8_t *)early, size},
                                                      .message_max = s->socket.message_max,
                                                      .goes_on = socket_goes_on,
                                                      .context = s->request,
                                                      .waits = s->socket.waits,
                                                      .waits_context = s->socket.context},
                          &err);
    if (!s->ws || !start_thread(s)) {
        reply_note_error(s->request, "no memory for the thread of a WebSocket");
        MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
    }
}

/* ---- the reply */

bool http_opens_socket(struct http_request *r) {
    char accept[WEBSOCKET_ACCEPT];
    AUTO_MEM char *connection = http_header_lines(r, "Connection");
    const char *upgrade = http_header(r, "Upgrade"), *version = http_header(r, "Sec-WebSocket-Version");
    const char *key = http_header(r, "Sec-WebSocket-Key");
    bool opens = !r->inner && request_method_is(r, "GET") && connection && websocket_listed(connection, "upgrade") &&
                 upgrade && websocket_listed(upgrade, "websocket");
    if (!opens || !version || strcmp(version, "13") != 0) {
        http_add_header(r, "Upgrade", "websocket");
        http_add_header(r, "Connection", "Upgrade");
        http_add_header(r, "Sec-WebSocket-Version", "13");
        http_reply_problem(r, 426, "upgrade-required", "This address is answered by WebSocket, of version 13.");
        return false;
    }
    if (!key || !websocket_accept(key, accept)) {
        http_reply_problem(r, 400, "bad-request", "Sec-WebSocket-Key is not 16 bytes in base64.");
        return false;
    }
    return guard_socket(r);
}

void http_reply_socket(struct http_request *r, const struct http_socket *socket) {
    char accept[WEBSOCKET_ACCEPT];
    struct socket_reply *s = r->replied ? NULL : calloc(1, sizeof *s);
    struct MHD_Response *response = s ? MHD_create_response_for_upgrade(on_upgrade, s) : NULL;
    if (!response || !websocket_accept(http_header(r, "Sec-WebSocket-Key"), accept)) {
        if (response) {
            MHD_destroy_response(response);
        }
        free(s);
        if (socket->free) {
            socket->free(socket->context);
        }
        http_reply_no_memory(r);
        return;
    }
    s->request = r;
    s->socket = *socket;
    r->socket = s;
    http_add_header(r, "Upgrade", "websocket");
    http_add_header(r, "Sec-WebSocket-Accept", accept);
    if (socket->protocol) {
        http_add_header(r, "Sec-WebSocket-Protocol", socket->protocol);
    }
    reply_take(r, 101, response, 0);
}
