/* Starting and stopping. Stopping waits for running requests, up to the drain time. */
#include "base/cleanup.h"
#include "http/http_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { BACKLOG = 511, DRAIN_STEP_NS = 5000000 };

/* "127.0.0.1:8040", "[::1]:0", ":8040" (all addresses). */
static bool split_listen(const char *listen, char *host, size_t host_size, const char **port, struct reel_error *err) {
    const char *colon = strrchr(listen, ':');
    bool bracketed = listen[0] == '[' && colon > listen && colon[-1] == ']';
    size_t size = colon ? (size_t)(colon - listen) - 2u * bracketed : 0;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] || size >= host_size ||
        (!bracketed && memchr(listen, ':', size)) || strlen(colon + 1) > 5 || strtoul(colon + 1, NULL, 10) > 65535) {
        return reel_fail(err, REEL_ARGUMENT, "\"%s\" is not an address to listen on; use HOST:PORT or [IPV6]:PORT",
                         listen);
    }
    memcpy(host, listen + bracketed, size);
    host[size] = '\0';
    *port = colon + 1;
    return true;
}

static bool is_any(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET6) {
        return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)address)->sin6_addr);
    }
    return ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
}

/* Reads the actual address and port from the socket. */
static bool read_address(struct http_server *server, struct reel_error *err) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char port[16];
    if (getsockname(server->fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, server->address, sizeof server->address, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return reel_fail(err, REEL_IO, "the listening socket has no address");
    }
    bool v6 = address.ss_family == AF_INET6;
    server->any_address = is_any(&address);
    const char *host = !server->any_address ? server->address : v6 ? "::1" : "127.0.0.1";
    snprintf(server->url, sizeof server->url, v6 ? "%s://[%s]:%s" : "%s://%s:%s", server->tls ? "https" : "http", host,
             port);
    return true;
}

static void addrinfo_free(struct addrinfo *info) {
    if (info) {
        freeaddrinfo(info);
    }
}
REEL_DEFINE_AUTO(struct addrinfo, addrinfo_free);

static bool listen_on(struct http_server *server, struct reel_error *err) {
    const char *listen_text = server->options.listen;
    char host[256];
    const char *port = NULL;
    AUTO(addrinfo_free) struct addrinfo *found = NULL;
    if (server->options.listen_fd > 0) {
        server->fd = server->options.listen_fd;
        if (fcntl(server->fd, F_SETFL, O_NONBLOCK) != 0) {
            return reel_fail_errno(err, "the socket that systemd passed");
        }
        return read_address(server, err);
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    if (!split_listen(listen_text, host, sizeof host, &port, err)) {
        return false;
    }
    int failed = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (failed) {
        return reel_fail(err, REEL_ARGUMENT, "cannot listen on %s: %s", listen_text, gai_strerror(failed));
    }
    server->fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    if (server->fd < 0 || setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(server->fd, found->ai_addr, found->ai_addrlen) != 0 || listen(server->fd, BACKLOG) != 0) {
        const char *hint = errno == EADDRINUSE ? " (another program does; choose another address with --listen)" : "";
        return reel_fail_errno(err, "cannot listen on %s%s", listen_text, hint);
    }
    return read_address(server, err);
}

/* Paths and parameters are decoded by router.c and params.c, not by the library. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    return strlen(text);
}

/* The certificate for a new connection. */
static int present_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,
                               const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **chain,
                               unsigned *n, gnutls_privkey_t *key) {
    struct MHD_Connection *mhd = gnutls_session_get_ptr(session); /* set by the library */
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const struct http_connection *c = info ? info->socket_context : NULL;
    (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    if (!c) { /* out of memory when the connection began */
        return -1;
    }
    tls_certificate(c->server->tls, chain, n, key);
    return 0;
}

static bool start_daemon(struct http_server *server, struct reel_error *err) {
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
                     MHD_USE_ERROR_LOG | MHD_ALLOW_UPGRADE;
    struct MHD_OptionItem strictness,
        tls_options[] = {
            {.option = MHD_OPTION_HTTPS_CERT_CALLBACK, .ptr_value = (void *)present_certificate},
            {.option = MHD_OPTION_HTTPS_PRIORITIES,
             .ptr_value = (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"},
            {.option = MHD_OPTION_END},
        };
    flags |= server->tls ? MHD_USE_TLS : 0;
    library_strictness(&strictness);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* its threads inherit the mask: only the main thread handles signals */
    if (deadline_start(server, err)) {         /* before the first connection */
        server->daemon =
            MHD_start_daemon(flags, 0, NULL, NULL, connection_on_request, server,                                     //
                             MHD_OPTION_EXTERNAL_LOGGER, rejected_on_message, NULL,                                   //
                             MHD_OPTION_LISTEN_SOCKET, server->fd,                                                    //
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_POOL_BYTES,                             //
                             MHD_OPTION_THREAD_STACK_SIZE, (size_t)HTTP_STACK_BYTES,                                  //
                             MHD_OPTION_CONNECTION_LIMIT, server->options.connections_max + HTTP_CONNECTIONS_LEAVING, //
                             MHD_OPTION_CONNECTION_TIMEOUT, server->options.idle_timeout_s,                           //
                             MHD_OPTION_ARRAY, server->tls ? tls_options : tls_options + 2,                           //
                             MHD_OPTION_STRICT_FOR_CLIENT, 1,                                                         //
                             MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,                                       //
                             MHD_OPTION_URI_LOG_CALLBACK, connection_on_target, server,                               //
                             MHD_OPTION_NOTIFY_CONNECTION, connection_on_change, server,                              //
                             MHD_OPTION_NOTIFY_COMPLETED, connection_on_completed, server,                            //
                             strictness.option, (int)strictness.value,                                                //
                             MHD_OPTION_END);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!server->daemon) {
        return server->watch.running && reel_fail(err, REEL_IO, "cannot start the HTTP library");
    }
    return true;
}

/* Ends its threads. */
static void server_end(struct http_server *server) {
    if (server->daemon) {
        MHD_stop_daemon(server->daemon); /* closes the socket too, unless quiesced */
    } else if (server->fd >= 0) {
        close(server->fd);
    }
    server->daemon = NULL;
    server->fd = -1;
    deadline_stop(server);
}

void http_server_free(struct http_server *server) {
    if (!server) {
        return;
    }
    server_end(server);
    router_free(server->router);
    tls_close(server->tls);
    memory_free(&server->memory);
    free(server);
}
REEL_DEFINE_AUTO(struct http_server, http_server_free);

static bool requests_go_on(void *context) {
    return !atomic_load_explicit(&((struct http_server *)context)->cutting, memory_order_relaxed);
}

struct http_server *http_server_start(const struct http_options *options, struct reel_error *err) {
    AUTO(http_server_free) struct http_server *server = calloc(1, sizeof *server);
    if (!server) {
        reel_fail_memory(err);
        return NULL;
    }
    server->fd = -1;
    server->cancel = (struct cancel){.goes_on = requests_go_on, .context = server};
    server->options = *options;
    server->options.prefix = options->prefix ? options->prefix : "";
    memory_open(&server->memory, options->memory_max);
    unsigned most = server->options.connections_max = options->connections_max ? options->connections_max : 1000;
    server->options.connections_per_address =
        options->connections_per_address ? options->connections_per_address : (most + 3) / 4;
    for (const char *const *origin = options->origins; origin && *origin; origin++) {
        server->any_origin = server->any_origin || strcmp(*origin, "*") == 0;
    }
    if (options->tls_cert && !(server->tls = tls_open(options->tls_cert, options->tls_key, err))) {
        return NULL;
    }
    server->router = router_new(options->routes, err);
    if (!server->router || !listen_on(server, err) || !start_daemon(server, err)) {
        return NULL;
    }
    library_report(server);
    return TAKE(server);
}

const char *http_server_url(const struct http_server *server) {
    return server->url;
}

bool http_server_listens_everywhere(const struct http_server *server) {
    return server->any_address;
}

bool http_server_is_tls(const struct http_server *server) {
    return server->tls != NULL;
}

bool http_server_reload(struct http_server *server, struct reel_error *err) {
    return !server->tls || tls_reload(server->tls, err);
}

void http_server_stop(struct http_server *server, unsigned drain_s) {
    if (!server) {
        return;
    }
    int64_t until_ms = http_clock_ms() + (int64_t)drain_s * 1000;
    atomic_store(&server->draining, true);
    memory_close(&server->memory);
    int fd = MHD_quiesce_daemon(server->daemon);
    if (fd >= 0) {
        close(fd);
    }
    while (atomic_load(&server->running) > 0 && http_clock_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_STEP_NS}, NULL);
    }
    atomic_store(&server->cutting, true);
    while (atomic_load(&server->sockets) > 0) { /* the library cannot stop before */
        nanosleep(&(struct timespec){.tv_nsec = DRAIN_STEP_NS}, NULL);
    }
    server_end(server);
}

void http_server_metrics(const struct http_server *server, struct http_metrics *out) {
    const struct http_counters *c = &server->counters;
    *out = (struct http_metrics){
        .requests = atomic_load_explicit(&c->requests, memory_order_relaxed),
        .connections = atomic_load_explicit(&c->connections, memory_order_relaxed),
        .bytes_in = atomic_load_explicit(&c->bytes_in, memory_order_relaxed),
        .bytes_out = atomic_load_explicit(&c->bytes_out, memory_order_relaxed),
        .streams_cut = atomic_load_explicit(&c->streams_cut, memory_order_relaxed),
        .slow_writers = atomic_load_explicit(&c->slow_writers, memory_order_relaxed),
        .slow_readers = atomic_load_explicit(&c->slow_readers, memory_order_relaxed),
        .over_address = atomic_load_explicit(&c->over_address, memory_order_relaxed),
    };
    for (size_t i = 0; i < sizeof out->status / sizeof out->status[0]; i++) {
        out->status[i] = atomic_load_explicit(&c->status[i], memory_order_relaxed);
    }
    out->memory_held = atomic_load_explicit(&server->memory.held, memory_order_relaxed);
    out->memory_waiting = atomic_load_explicit(&server->memory.waiting, memory_order_relaxed);
    out->memory_refused = atomic_load_explicit(&server->memory.refused, memory_order_relaxed);
}
