/* See websocket_client.h. */
#include "live/websocket_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/glob.h"
#include "syntax/base64.h"

enum { HEAD_MAX = 16 << 10, CONNECT_S = 10, LOOK_MS = 400 };
static const int64_t HEAD_NS = INT64_C(10000000000); /* for the answer to the handshake */

struct websocket_client {
    struct websocket_client_options options;
    CURL *curl;
    curl_socket_t fd;
    bool encrypted;
    int named; /* bytes of the URL that messages show: parameters may be secret */
    struct websocket *ws;
    char key[WEBSOCKET_KEY];
    char head[HEAD_MAX + 1]; /* of the answer, and what came with it */
    size_t size, body;       /* bytes in it; where what follows the head begins */
};

void websocket_client_free(struct websocket_client *c) {
    if (c) {
        websocket_free(c->ws);
        curl_easy_cleanup(c->curl);
        free(c);
    }
}

/* ---- addresses */

/* The same as an address of HTTP, whose ports it has; malloc'd. NULL: it is no address of a WebSocket, or err. */
static char *http_address(const char *url, bool *encrypted, struct reel_error *err) {
    char *http = NULL;
    bool plain = ascii_ncasecmp(url, "ws://", 5) == 0;
    *encrypted = ascii_ncasecmp(url, "wss://", 6) == 0;
    if (!plain && !*encrypted) {
        reel_fail(err, REEL_ARGUMENT, "it is not an address such as ws://192.168.1.7:38801");
    } else if (asprintf(&http, "http%s", url + 2) < 0) {
        http = NULL;
        reel_fail_memory(err);
    }
    return http;
}

static bool is_printable(const char *url) {
    while (*url > ' ' && *url < 0x7f) {
        url++;
    }
    return !*url;
}

static bool read_origin(CURLU *parts, const char *http, bool encrypted, char out[WEBSOCKET_URL_MAX + 8],
                        struct reel_error *err) {
    char *host = NULL, *port = NULL, *user = NULL, *fragment = NULL;
    bool good = curl_url_set(parts, CURLUPART_URL, http, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    bool has_more = curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK ||
                    curl_url_get(parts, CURLUPART_FRAGMENT, &fragment, 0) == CURLUE_OK;
    if (good) {
        snprintf(out, WEBSOCKET_URL_MAX + 8, "%s://%s:%s", encrypted ? "wss" : "ws", host, port);
    }
    curl_free(host);
    curl_free(port);
    curl_free(user);
    curl_free(fragment);
    return (good || reel_fail(err, REEL_ARGUMENT, "it is not an address such as ws://192.168.1.7:38801")) &&
           (!has_more || reel_fail(err, REEL_ARGUMENT, "it must not have a user, password or fragment"));
}

bool websocket_origin(const char *url, char out[WEBSOCKET_URL_MAX + 8], struct reel_error *err) {
    bool encrypted;
    if (strlen(url) > WEBSOCKET_URL_MAX) {
        return reel_fail(err, REEL_ARGUMENT, "it is longer than %d bytes", WEBSOCKET_URL_MAX);
    }
    if (!is_printable(url)) {
        return reel_fail(err, REEL_ARGUMENT, "it has characters that must be escaped");
    }
    AUTO_MEM char *http = http_address(url, &encrypted, err);
    CURLU *parts = http ? curl_url() : NULL;
    bool good = parts ? read_origin(parts, http, encrypted, out, err) : !http ? false : reel_fail_memory(err);
    curl_url_cleanup(parts);
    return good;
}

static size_t dots(const char *text) {
    size_t n = 0;
    while ((text = strchr(text, '.'))) {
        text++;
        n++;
    }
    return n;
}

static bool any_host(const char *pattern) {
    const char *scheme = strstr(pattern, "://"), *host = scheme ? scheme + 3 : pattern;
    return host[0] == '*' && (host[1] == '\0' || host[1] == ':');
}

bool websocket_allows(const char *pattern, const char *origin) {
    char given[WEBSOCKET_URL_MAX + 8];
    struct reel_error ignored;
    return (websocket_origin(pattern, given, &ignored) && strcmp(given, origin) == 0) ||
           ((any_host(pattern) || dots(pattern) == dots(origin)) && reel_glob_match(pattern, origin));
}

/* ---- connecting */

static bool client_goes_on(const struct websocket_client *c) {
    return c->options.goes_on(c->options.context);
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e) {
    (void)a, (void)b, (void)d, (void)e;
    return !client_goes_on(context);
}

static bool client_connect(struct websocket_client *c, struct reel_error *err) {
    AUTO_MEM char *http = http_address(c->options.url, &c->encrypted, err);
    const char *trusted = getenv("SSL_CERT_FILE");
    if (!http) {
        return false;
    }
    curl_easy_setopt(c->curl, CURLOPT_URL, http);
    curl_easy_setopt(c->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    if (trusted) {
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, trusted);
    }
    CURLcode code = curl_easy_perform(c->curl);
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return reel_fail(err, REEL_CANCELLED, "cancelled");
    }
    return (code == CURLE_OK && curl_easy_getinfo(c->curl, CURLINFO_ACTIVESOCKET, &c->fd) == CURLE_OK &&
            c->fd != CURL_SOCKET_BAD) ||
           reel_fail(err, REEL_IO, "%.*s: %s", c->named, c->options.url, curl_easy_strerror(code));
}

static bool client_ask(struct websocket_client *c, struct reel_error *err) {
    const char *token = c->options.token && *c->options.token ? c->options.token : NULL;
    AUTO_MEM char *text = NULL;
    uint8_t random[16];
    size_t sent = 0;
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return reel_fail(err, REEL_IO, "no random numbers");
    }
    base64_write(bytes_of(random, sizeof random), c->key);
    const char *host = strstr(c->options.url, "://") + 3, *path = host + strcspn(host, "/?#");
    int size = asprintf(&text,
                        "GET %s%.*s HTTP/1.1\r\nHost: %.*s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s%s%s\r\n",
                        *path == '/' ? "" : "/", (int)strcspn(path, "#"), path, (int)(path - host), host, c->key,
                        token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "");
    if (size < 0) {
        text = NULL;
        return reel_fail_memory(err);
    }
    return (curl_easy_send(c->curl, text, (size_t)size, &sent) == CURLE_OK && sent == (size_t)size) ||
           reel_fail(err, REEL_IO, "%.*s: the request cannot be sent", c->named, c->options.url);
}

/* The value of a header in the head of the answer; its size, 0: there is none. */
static size_t head_value(const char *head, const char *name, const char **value) {
    size_t size = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (ascii_ncasecmp(line + 2, name, size) == 0 && line[2 + size] == ':') {
            *value = line + 3 + size + strspn(line + 3 + size, " \t");
            return strcspn(*value, " \t\r\n");
        }
    }
    return 0;
}

static ssize_t carrier_receive(void *context, void *buffer, size_t size) {
    const struct websocket_client *c = context;
    size_t got = 0;
    CURLcode code = curl_easy_recv(c->curl, buffer, size, &got);
    errno = code == CURLE_AGAIN ? EAGAIN : EIO;
    return code == CURLE_OK ? (ssize_t)got : -1;
}

static ssize_t carrier_send(void *context, const void *data, size_t size) {
    const struct websocket_client *c = context;
    size_t sent = 0;
    CURLcode code = curl_easy_send(c->curl, data, size, &sent);
    errno = code == CURLE_AGAIN ? EAGAIN : EIO;
    return code == CURLE_OK ? (ssize_t)sent : -1;
}

/* Some of the head of the answer. */
static bool read_some(struct websocket_client *c, int64_t until_ns, struct reel_error *err) {
    struct pollfd in = {.fd = c->fd, .events = POLLIN};
    ssize_t got;
    while ((got = carrier_receive(c, c->head + c->size, HEAD_MAX - c->size)) < 0 && errno == EAGAIN) {
        if (!client_goes_on(c)) {
            return reel_fail(err, REEL_CANCELLED, "cancelled");
        }
        if (clock_ns() >= until_ns) {
            break;
        }
        (void)poll(&in, 1, LOOK_MS);
    }
    if (got <= 0) {
        return reel_fail(err, REEL_IO, "%.*s does not answer", c->named, c->options.url);
    }
    c->size += (size_t)got;
    c->head[c->size] = '\0';
    return true;
}

static bool client_read_head(struct websocket_client *c, struct reel_error *err) {
    char accept[WEBSOCKET_ACCEPT] = "";
    const char *end = NULL, *value = NULL;
    const int64_t until_ns = clock_ns() + HEAD_NS;
    while (!(end = strstr(c->head, "\r\n\r\n")) && c->size < HEAD_MAX) {
        if (!read_some(c, until_ns, err)) {
            return false;
        }
    }
    c->body = end ? (size_t)(end + 4 - c->head) : c->size;
    size_t size = end && websocket_accept(c->key, accept) ? head_value(c->head, "Sec-WebSocket-Accept", &value) : 0;
    return (size > 0 && strncmp(c->head, "HTTP/1.1 101", 12) == 0 && size == strlen(accept) &&
            strncmp(value, accept, size) == 0) ||
           reel_fail(err, REEL_IO, "%.*s does not answer as a WebSocket: %.*s", c->named, c->options.url,
                     (int)strcspn(c->head, "\r\n"), c->head);
}

static bool client_begin(struct websocket_client *c, struct reel_error *err) {
    struct websocket_options options = {.fd = c->fd,
                                        .client = true,
                                        .early = bytes_of(c->head + c->body, c->size - c->body),
                                        .message_max = c->options.message_max,
                                        .goes_on = c->options.goes_on,
                                        .context = c->options.context};
    if (c->encrypted) {
        options.carrier = (struct websocket_carrier){carrier_receive, carrier_send, c};
    }
    c->ws = websocket_new(&options, err);
    return c->ws;
}

struct websocket_client *websocket_client_open(const struct websocket_client_options *options, struct reel_error *err) {
    AUTO(websocket_client_free) struct websocket_client *c = calloc(1, sizeof *c);
    if (!c || !(c->curl = curl_easy_init())) {
        reel_fail_memory(err);
        return NULL;
    }
    c->options = *options;
    size_t named = strcspn(options->url, "?#");
    c->named = named < 200 ? (int)named : 200;
    return client_connect(c, err) && client_ask(c, err) && client_read_head(c, err) && client_begin(c, err) ? TAKE(c)
                                                                                                            : NULL;
}

/* ---- once it is open */

struct websocket *websocket_client_socket(struct websocket_client *c) {
    return c->ws;
}

bool websocket_client_ended(struct websocket_client *c, struct reel_error *err) {
    unsigned code = websocket_close_code(c->ws);
    if (websocket_own_code(c->ws) == WEBSOCKET_TOO_BIG) {
        return reel_fail(err, REEL_LIMIT, "%.*s sent a message of more than %zu MiB; what came before is recorded",
                         c->named, c->options.url, c->options.message_max >> 20);
    }
    return code == WEBSOCKET_NORMAL || code == WEBSOCKET_GOING_AWAY || code == WEBSOCKET_NO_CODE ||
           reel_fail(err, REEL_IO, "%.*s: the connection broke; what came before is recorded", c->named,
                     c->options.url);
}
