/* reel health: checks that a running server is ready; for health checks of containers. */
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/cli.h"
#include "wire/cleanup.h"

enum { RESPONSE_BYTES = 4096, TIMEOUT_S = 5 };

struct target {
    char host[256], port[16];
};

/* "http://HOST:PORT" or "HOST:PORT", with or without a path; [::1] in brackets. */
static bool read_url(const char *url, struct target *t, struct reel_error *err) {
    const char *at = strncmp(url, "http://", 7) == 0 ? url + 7 : url;
    size_t n = strcspn(at, "/?#");
    const char *bracket = at[0] == '[' ? memchr(at, ']', n) : NULL;
    const char *colon = memrchr(bracket ? bracket : at, ':', n - (bracket ? (size_t)(bracket - at) : 0));
    size_t host = bracket ? (size_t)(bracket - at) - 1 : colon ? (size_t)(colon - at) : n, port = colon ? n - (size_t)(colon - at) - 1 : 0;
    if (strstr(url, "https://") == url || host == 0 || host >= sizeof t->host || port >= sizeof t->port) {
        return reel_fail(err, REEL_ARGUMENT, "\"%.100s\" is not an address such as http://127.0.0.1:8040", url);
    }
    snprintf(t->host, sizeof t->host, "%.*s", (int)host, bracket ? at + 1 : at);
    snprintf(t->port, sizeof t->port, "%.*s", port > 0 ? (int)port : 2, port > 0 ? colon + 1 : "80");
    return true;
}

static int connect_to(const struct target *t, struct reel_error *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    struct addrinfo *found = NULL;
    int problem = getaddrinfo(t->host, t->port, &hints, &found), fd = -1;
    if (problem != 0) {
        reel_fail(err, REEL_NOT_FOUND, "%s: %s", t->host, gai_strerror(problem));
        return -1;
    }
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout); /* bounds connect() too */
        }
        if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            reel_fail_errno(err, "no server at %s port %s", t->host, t->port);
            fd = fd >= 0 ? (close(fd), -1) : -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

/* The status of GET /readyz, and the response's body to print. */
static bool get_ready(const struct target *t, int *status, char body[RESPONSE_BYTES], struct reel_error *err) {
    AUTO_MEM char *request = NULL;
    AUTO_FD int fd = connect_to(t, err);
    bool v6 = strchr(t->host, ':') != NULL;
    if (fd < 0) {
        return false;
    }
    int n = asprintf(&request, "GET /readyz HTTP/1.1\r\nHost: %s%s%s:%s\r\nConnection: close\r\n\r\n", v6 ? "[" : "", t->host,
                     v6 ? "]" : "", t->port);
    if (n < 0) {
        request = NULL;
        return reel_fail_memory(err);
    }
    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n) {
        return reel_fail_errno(err, "sending the request");
    }
    char response[RESPONSE_BYTES];
    size_t size = 0;
    ssize_t got;
    while (size < sizeof response - 1 && (got = recv(fd, response + size, sizeof response - 1 - size, 0)) > 0) {
        size += (size_t)got;
    }
    response[size] = '\0';
    if (sscanf(response, "HTTP/1.%*d %d", status) != 1) {
        return reel_fail(err, REEL_IO, "no response within %d s", TIMEOUT_S);
    }
    const char *end = strstr(response, "\r\n\r\n");
    snprintf(body, RESPONSE_BYTES, "%s", end ? end + 4 : "");
    return true;
}

static int run(int argc, char **argv) {
    const struct cli_option options[] = {{0}};
    struct reel_error err = {0};
    struct target target;
    char body[RESPONSE_BYTES];
    int first, code, status = 0;
    if (!cli_options(&cli_health, options, 0, argc, argv, &first, &code)) {
        return code;
    }
    const char *url = first < argc ? argv[first] : "http://127.0.0.1:8040";
    if (argc - first > 1 || !read_url(url, &target, &err)) {
        return cli_misused(&cli_health, "%s", argc - first > 1 ? "expected one address" : err.text);
    }
    if (!get_ready(&target, &status, body, &err)) {
        return cli_fail(&cli_health, NULL, &err);
    }
    if (status != 200) {
        fprintf(stderr, "reel health: not ready (%d)\n%s", status, body);
        return CLI_FAILED;
    }
    puts("ready");
    return CLI_DONE;
}

const struct cli_command cli_health = {
    .name = "health",
    .arguments = "[URL]",
    .summary = "check that a running server is ready",
    .details = "URL defaults to http://127.0.0.1:8040. Exit status: 0 if the server is ready, 1 otherwise.",
    .run = run,
};
