/* The callbacks of libmicrohttpd, in the order they are called: a connection opens, a request's target arrives, its
 * headers, its body in pieces, its end; then the next request. A route's functions run as http.h says: begin, piece …,
 * then exactly one of handle (which replies), an earlier reply, or aborted. */
#include "base/heap.h"
#include "http/http_internal.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { LONG_WORK_MS = 500 };

/* ---- connections */

static void name_remote(struct http_connection *c, const struct sockaddr *address) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char text[INET6_ADDRSTRLEN] = "?";
    if (address && address->sa_family == AF_INET) {
        memcpy(c->address, mapped, sizeof mapped);
        memcpy(c->address + sizeof mapped, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    } else if (address && address->sa_family == AF_INET6) {
        memcpy(c->address, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, sizeof c->address);
    }
    if (memcmp(c->address, mapped, sizeof mapped) == 0) {
        inet_ntop(AF_INET, c->address + sizeof mapped, text, sizeof text);
    } else if (address && address->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, c->address, text, sizeof text);
        memset(c->address + 8, 0, 8);
    }
    snprintf(c->remote, sizeof c->remote, "%s", text);
    c->is_proxy = c->server->options.is_proxy && c->server->options.is_proxy(c->server->options.app, c->remote);
}

static void connection_count(struct http_request *r, bool cut);

/* Counts and logs a request that the library's parser rejected before calling us: the connection closes on a request
 * that never started, or on bytes that are not even a request line. */
static void note_unparsed(struct http_connection *c) {
    struct http_request *r = &c->request;
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    bool unread = !c->got_line && !c->server->tls && getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                  info.tcpi_bytes_received > 0;
    if (unread && !request_open(r, c, NULL, "")) {
        return;
    }
    if (r->buffer && !r->started) {
        snprintf(r->method, sizeof r->method, "-");
        r->status = 400;
        request_take_id(r);
        connection_count(r, false);
        log_request(r, false);
    }
}

void connection_on_change(void *context, struct MHD_Connection *mhd, void **slot,
                          enum MHD_ConnectionNotificationCode code) {
    struct http_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct http_connection *c = calloc(1, sizeof *c);
        if (!c) {
            return; /* its requests are refused */
        }
        c->server = server;
        c->file_fd = -1;
        c->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        name_remote(c, MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
        *slot = c;
        deadline_add(c);
        atomic_fetch_add_explicit(&server->counters.connections, 1, memory_order_relaxed);
        return;
    }
    struct http_connection *c = *slot;
    *slot = NULL;
    if (c) {
        note_unparsed(c);
        deadline_remove(c); /* the library closes the socket after this */
        request_close(&c->request);
        rejected_watch(NULL);
        free(c);
        atomic_fetch_sub_explicit(&server->counters.connections, 1, memory_order_relaxed);
    }
}

/* params.c parses the query, from a copy. The library would parse it too, and close the connection when its pool is too
 * small for all parameters: version 0.9.75, which has found the "?" already, gets an empty query instead. The text is
 * in its buffer. */
static void hide_query(const char *target) {
    char *query = strchr(target, '?');
    if (query && library_parses_in_place()) {
        query[1] = '\0';
    }
}

void *connection_on_target(void *context, const char *target, struct MHD_Connection *mhd) {
    (void)context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *c = info ? info->socket_context : NULL;
    if (!c) {
        return NULL;
    }
    cancel_set(&c->server->cancel);
    rejected_watch(c);
    deadline_phase(c, PHASE_HEADERS);
    request_close(&c->request);
    c->got_line = true;
    if (!request_open(&c->request, c, mhd, target)) {
        return NULL;
    }
    hide_query(target);
    return &c->request;
}

/* The library's idle timeout would count our own long work: restart it. */
void connection_worked(struct http_request *r, int64_t begun_ms) {
    if (http_clock_ms() - begun_ms > LONG_WORK_MS) {
        (void)MHD_set_connection_option(r->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
        (void)MHD_set_connection_option(r->mhd, MHD_CONNECTION_OPTION_TIMEOUT, r->server->options.idle_timeout_s);
    }
}

/* ---- headers */

static void take_method(struct http_request *r, const char *method) {
    snprintf(r->method, sizeof r->method, "%s",
             guard_token(method) && strlen(method) <= HTTP_METHOD_MAX ? method : "?");
}

static void take_body_length(struct http_request *r) {
    const char *length = http_header(r, "Content-Length");
    r->body_known = http_header(r, "Transfer-Encoding") == NULL;
    r->body_length = length && r->body_known ? strtoull(length, NULL, 10) : 0;
    r->has_body = !r->body_known || r->body_length > 0;
}

/* Finds the route; false when it has replied. */
static bool find_route(struct http_request *r) {
    char allow[128];
    enum http_match match = router_match(r->server->router, r->method, &r->path, &r->route);
    if (match == MATCH_NONE && r->server->options.unknown && r->server->options.unknown(r)) {
        return false;
    }
    if (match == MATCH_NONE) {
        const char *hint = r->server->options.hint ? r->server->options.hint(r) : NULL;
        http_reply_problem(r, 404, "not-found", "No such path.%s%s", hint ? " " : "", hint ? hint : "");
        return false;
    }
    if (match == MATCH_FOUND && !cors_is_preflight(r)) {
        return true;
    }
    router_allow(r->server->router, &r->path, allow, sizeof allow);
    if (cors_is_preflight(r)) {
        cors_preflight(r, allow);
        return false;
    }
    http_add_header(r, "Allow", allow);
    if (request_method_is(r, "OPTIONS")) {
        http_reply_empty(r, 204);
    } else {
        const char *hint = r->server->options.hint ? r->server->options.hint(r) : NULL;
        http_reply_problem(r, 405, "method-not-allowed", "%s is not answered here, but %s.%s%s", r->method, allow,
                           hint ? " " : "", hint ? hint : "");
    }
    return false;
}

/* Names in the path, then parameters; returns their problems, or NULL. */
static json_t *read_arguments(struct http_request *r) {
    size_t target_size = strlen(r->target);
    size_t path_size = request_raw_path_size(r);
    char *captures = r->target + target_size + 1 + path_size + 1;
    char *decoded = captures + path_size + 1;
    const char *query = r->target + path_size + (r->target[path_size] == '?');
    r->captured_count = router_capture(r->route, &r->path, captures, r->captured, r->captured_values);
    json_t *errors = json_array();
    if (params_parse(query, decoded, r->route->params, r->server->options.everywhere, &r->query, errors)) {
        json_decref(errors);
        return NULL;
    }
    return errors;
}

/* Checks the caller, then the parameters: an unauthorized caller does not learn which are invalid. */
static bool check_caller(struct http_request *r) {
    if (params_count(r->target + request_raw_path_size(r)) > HTTP_PARAMS_MAX) {
        http_reply_problem(r, 414, "too-many-parameters", "A request may have at most %d parameters.", HTTP_PARAMS_MAX);
        return false;
    }
    json_t *errors = read_arguments(r);
    if (!caller_authorize(r)) {
        json_decref(errors);
        return false;
    }
    deprecation_of_route(r);
    if (errors) {
        reply_bad_params(r, errors);
    }
    return !errors;
}

bool connection_admit_inner(struct http_request *r) {
    return request_split_target(r) && find_route(r) && check_caller(r);
}

static bool body_is_wanted(struct http_request *r) {
    if (r->route->begin || r->body_length <= HTTP_BODY_IGNORED_MAX) {
        return true;
    }
    http_reply_problem(r, 413, "unexpected-body", "This path accepts no request body.");
    return false;
}

static void begin_request(struct http_request *r, const char *method, const char *version) {
    take_body_length(r);
    if (!guard_request(r, method, version) || !forwarded_check(r) || !(r->forwarded || guard_host(r))) {
        return;
    }
    if (request_method_is(r, "OPTIONS") && strcmp(r->target, "*") == 0) {
        http_reply_empty(r, 204);
        return;
    }
    if (!protocol_claim(r) || !request_split_target(r) || !find_route(r) || !guard_origin(r) || !check_caller(r) ||
        !body_is_wanted(r) || !key_admit(r)) {
        return;
    }
    if (r->route->begin && !r->key.first.status) {
        r->began = true;
        r->route->begin(r);
    }
}

/* Passes the reply to the library. */
static enum MHD_Result send_reply(struct http_request *r) {
    struct MHD_Response *response = r->response;
    if (!response) {
        return MHD_NO;
    }
    if (!r->socket && (r->close || atomic_load_explicit(&r->server->draining, memory_order_relaxed))) {
        reply_header(response, "Connection", "close");
    }
    r->response = NULL;
    enum MHD_Result result = MHD_queue_response(r->mhd, r->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_headers(struct http_request *r, const char *method, const char *version) {
    int64_t begun_ms = http_clock_ms();
    r->started = true;
    r->heap_failures = heap_failures();
    (void)heap_lacks(); /* of the request before */
    atomic_fetch_add(&r->server->running, 1);
    deadline_phase(r->connection, PHASE_BUSY);
    take_method(r, method);
    request_take_id(r);
    begin_request(r, method, version);
    connection_worked(r, begun_ms);
    if (r->has_body && !r->replied) {
        deadline_phase(r->connection, PHASE_BODY);
    }
    if (r->replied && r->has_body) {
        r->refused = r->close = true;
        return send_reply(r);
    }
    return MHD_YES; /* the library calls us again at once if there is no body */
}

/* ---- body */

static bool connection_drop(struct http_request *r, size_t size) {
    r->dropped_bytes += size;
    if (!r->replied && !r->route->begin && r->dropped_bytes > HTTP_BODY_IGNORED_MAX) {
        http_reply_problem(r, 413, "unexpected-body", "This path accepts no request body.");
    }
    return r->dropped_bytes <= HTTP_BODY_DRAINED_MAX;
}

static enum MHD_Result on_piece(struct http_request *r, const char *data, size_t size) {
    struct http_connection *c = r->connection;
    r->body_bytes += size;
    atomic_fetch_add_explicit(&c->window_bytes, size, memory_order_relaxed);
    key_piece(r, data, size);
    if (r->key.first.status && r->route->begin) {
        return MHD_YES;
    }
    if (!r->route->piece || r->gave_up) {
        return connection_drop(r, size) ? MHD_YES : MHD_NO;
    }
    int64_t begun_ms = http_clock_ms();
    atomic_store_explicit(&c->phase, PHASE_BUSY, memory_order_release);
    r->gave_up = !r->route->piece(r, data, size);
    atomic_fetch_add_explicit(&c->since_ms, http_clock_ms() - begun_ms, memory_order_relaxed);
    atomic_store_explicit(&c->phase, PHASE_BODY, memory_order_release);
    connection_worked(r, begun_ms);
    return MHD_YES;
}

static enum MHD_Result connection_on_end(struct http_request *r) {
    int64_t begun_ms = http_clock_ms();
    r->body_ended = true;
    deadline_phase(r->connection, PHASE_BUSY);
    if (!r->replied) {
        (r->key.first.status ? key_repeat : r->route->handle)(r);
        connection_worked(r, begun_ms);
    }
    if (!r->replied) {
        http_reply_problem(r, 500, "internal", "The server failed to answer the request.");
    }
    return send_reply(r);
}

enum MHD_Result connection_on_request(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                                      const char *version, const char *data, size_t *size, void **request) {
    struct http_request *r = *request;
    (void)context, (void)mhd, (void)url;
    if (!r) {
        return MHD_NO;
    }
    if (!r->started) {
        return on_headers(r, method, version);
    }
    if (*size > 0) {
        size_t taken = *size;
        *size = 0;
        return on_piece(r, data, taken);
    }
    return connection_on_end(r);
}

/* ---- end of the request */

/* Closing a socket that still receives bytes resets it, and the response would be lost: keep reading for a moment. */
static void linger(int fd) {
    char bytes[16 << 10];
    int64_t until_ms = http_clock_ms() + HTTP_LINGER_MS;
    shutdown(fd, SHUT_WR);
    for (int64_t left = HTTP_LINGER_MS; left > 0; left = until_ms - http_clock_ms()) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, (int)left) <= 0 || recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) {
            return;
        }
    }
}

bool connection_acknowledged(const struct http_connection *c, uint64_t *bytes) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    bool good = getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
    *bytes = info.tcpi_bytes_acked;
    return good;
}

/* Bytes acknowledged by the client, for a body that the library sent itself and that was cut off. */
static uint64_t acknowledged(const struct http_connection *c, uint64_t length) {
    uint64_t sent;
    if (!connection_acknowledged(c, &sent) || sent < c->sent_before) {
        return 0;
    }
    sent -= c->sent_before;
    return sent < length ? sent : length;
}

static void connection_count(struct http_request *r, bool cut) {
    struct http_counters *counters = &r->server->counters;
    metrics_count(r);
    if (r->by_library && !http_is_head(r)) {
        r->sent_bytes = cut ? acknowledged(r->connection, r->reply_bytes) : r->reply_bytes;
    }
    r->connection->sent_before += r->sent_bytes;
    atomic_fetch_add_explicit(&counters->requests, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->streams_cut, cut, memory_order_relaxed); /* as many as cut=true in the log */
    atomic_fetch_add_explicit(&counters->status[r->status / 100 < 6 ? r->status / 100 : 0], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->bytes_in, r->body_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->bytes_out, r->sent_bytes, memory_order_relaxed);
}

void connection_ended(struct http_request *r, bool cut) {
    connection_count(r, cut);
    log_request(r, cut);
    if (r->server->options.finished) {
        r->server->options.finished(r);
    }
}

void connection_on_completed(void *context, struct MHD_Connection *mhd, void **request,
                             enum MHD_RequestTerminationCode code) {
    struct http_request *r = *request;
    (void)context, (void)mhd;
    *request = NULL;
    if (!r) {
        return;
    }
    if (socket_runs(r)) {
        return;
    }
    bool cut = code != MHD_REQUEST_TERMINATED_COMPLETED_OK && !r->rejected;
    struct http_server *server = r->server;
    struct http_connection *c = r->connection;
    bool started = r->started, refused = r->refused || r->rejected;
    if (r->sends_fd) { /* the library closes the file after this */
        deadline_file(c, -1, 0);
        if (atomic_exchange(&c->file_cut, false)) {
            reply_note_error(r, "the file became shorter");
        }
    }
    if (started) {
        if (code == MHD_REQUEST_TERMINATED_WITH_ERROR && r->has_body && !r->body_ended && !r->replied) {
            r->status = 400; /* the library's response to invalid chunks */
        }
        if (r->began && !r->body_ended && !r->replied && r->route->aborted) {
            r->route->aborted(r);
        }
        connection_ended(r, cut);
    } else if (!cut || code == MHD_REQUEST_TERMINATED_WITH_ERROR) { /* rejected by the library's parser */
        snprintf(r->method, sizeof r->method, "-");
        if (!r->rejected) {
            r->status = 400;
            request_take_id(r);
        }
        connection_count(r, cut);
        log_request(r, cut);
    }
    request_close(r);
    deadline_phase(c, PHASE_IDLE);
    if (refused && !cut) {
        linger(c->fd);
    }
    if (started) {
        atomic_fetch_sub(&server->running, 1);
    }
}
