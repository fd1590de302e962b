/* See record_socket.h. libcurl connects; the rest is http/websocket.h. */
#include "cli/record_socket.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "cli/push_http.h"
#include "formats/nanover/message.h"
#include "http/websocket.h"
#include "reel/time.h"
#include "syntax/base64.h"

enum { HEAD_MAX = 16 << 10, CONNECT_S = 20 };
static const int64_t SYNC_NS = 1000000000, FLUSH_NS = 200000000;
static const int64_t HEAD_NS = INT64_C(20000000000); /* for the answer to the handshake */

bool record_is_socket(const char *text) {
    return ascii_ncasecmp(text, "ws://", 5) == 0;
}

/* ---- connecting */

struct record_socket {
    struct record_socket_options options;
    CURL *curl;
    curl_socket_t fd;
    char key[WEBSOCKET_KEY];
    char head[HEAD_MAX + 1]; /* of the answer, and what came with it */
    size_t size, body;       /* bytes in it; where what follows the head begins */
};

void record_socket_free(struct record_socket *l) {
    if (l) {
        curl_easy_cleanup(l->curl);
        free(l);
    }
}
static bool link_connect(struct record_socket *l, const char *url, struct reel_error *err) {
    AUTO_MEM char *http = NULL;
    if (asprintf(&http, "http%s", url + 2) < 0) {
        http = NULL;
        return reel_fail_memory(err);
    }
    curl_easy_setopt(l->curl, CURLOPT_URL, http);
    curl_easy_setopt(l->curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(l->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(l->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(l->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    CURLcode code = curl_easy_perform(l->curl);
    if (code != CURLE_OK || curl_easy_getinfo(l->curl, CURLINFO_ACTIVESOCKET, &l->fd) != CURLE_OK ||
        l->fd == CURL_SOCKET_BAD) {
        return reel_fail(err, REEL_IO, "%.200s: %s", url, curl_easy_strerror(code));
    }
    return true;
}

static bool link_ask(struct record_socket *l, const struct record_socket_options *o, struct reel_error *err) {
    char token[PUSH_TOKEN_MAX] = "", *text = NULL;
    uint8_t random[16];
    if ((o->token_file && !push_http_token(o->token_file, token, err))) {
        return false;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return reel_fail(err, REEL_IO, "no random numbers");
    }
    base64_write(bytes_of(random, sizeof random), l->key);
    const char *host = o->url + strlen("ws://"), *path = host + strcspn(host, "/?#");
    int size = asprintf(&text,
                        "GET %s%.*s HTTP/1.1\r\nHost: %.*s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s%s%s\r\n",
                        *path == '/' ? "" : "/", (int)strcspn(path, "#"), path, (int)(path - host), host, l->key,
                        token[0] ? "Authorization: Bearer " : "", token, token[0] ? "\r\n" : "");
    bool good = size > 0 && send(l->fd, text, (size_t)size, MSG_NOSIGNAL) == size;
    free(size < 0 ? NULL : text);
    return good || reel_fail(err, REEL_IO, "%.200s: the request cannot be sent", o->url);
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

static bool link_read_head(struct record_socket *l, const char *url, struct reel_error *err) {
    char accept[WEBSOCKET_ACCEPT] = "";
    const char *end = NULL, *value = NULL;
    const int64_t until_ns = clock_ns() + HEAD_NS;
    while (!(end = strstr(l->head, "\r\n\r\n")) && l->size < HEAD_MAX) {
        struct pollfd in = {.fd = l->fd, .events = POLLIN};
        int64_t left = until_ns - clock_ns();
        ssize_t got = left > 0 && poll(&in, 1, (int)(left / 1000000) + 1) > 0
                          ? recv(l->fd, l->head + l->size, HEAD_MAX - l->size, MSG_DONTWAIT)
                          : 0;
        if (got <= 0) {
            return reel_fail(err, REEL_IO, "%.200s does not answer", url);
        }
        l->size += (size_t)got;
        l->head[l->size] = '\0';
    }
    l->body = end ? (size_t)(end + 4 - l->head) : l->size;
    size_t size = end && websocket_accept(l->key, accept) ? head_value(l->head, "Sec-WebSocket-Accept", &value) : 0;
    return (size > 0 && strncmp(l->head, "HTTP/1.1 101", 12) == 0 && size == strlen(accept) &&
            strncmp(value, accept, size) == 0) ||
           reel_fail(err, REEL_IO, "%.200s does not answer as a WebSocket: %.*s", url, (int)strcspn(l->head, "\r\n"),
                     l->head);
}

struct record_socket *record_socket_open(const struct record_socket_options *o, struct reel_error *err) {
    AUTO(record_socket_free) struct record_socket *l = calloc(1, sizeof *l);
    if (!l || !(l->curl = curl_easy_init())) {
        reel_fail_memory(err);
        return NULL;
    }
    l->options = *o;
    return link_connect(l, o->url, err) && link_ask(l, o, err) && link_read_head(l, o->url, err) ? TAKE(l) : NULL;
}

/* ---- recording */

struct socket_recording {
    const struct record_socket_options *options;
    struct reel_recorder *recorder;
    struct hash_table channels; /* of lists of types: name → id + 1 */
    struct arena arena;         /* names */
    int64_t start_ns, synced_ns, flushed_ns;
    uint64_t messages, others; /* others: no message of NanoVer, dropped */
};

static void socket_recording_done(struct socket_recording *r) {
    hash_table_free(&r->channels);
    arena_free(&r->arena);
}

static bool channel_of(struct socket_recording *r, const struct nanover_message *m, uint32_t *id,
                       struct reel_error *err) {
    struct arena arena = {.max = 1 << 20};
    struct reel_channel channel;
    bool good = nanover_channel(&arena, m->types, m->n_types, &channel) || reel_fail_memory(err);
    size_t known = good ? hash_table_get(&r->channels, hash_key_bytes(bytes_text(channel.name))) : 0;
    *id = (uint32_t)known - 1;
    if (good && known == 0) {
        const char *name = arena_text(&r->arena, channel.name);
        good = (name || reel_fail_memory(err)) && reel_recorder_copy_channel(r->recorder, &channel, id, err) &&
               hash_table_set(&r->channels, hash_key_bytes(bytes_text(name)), (size_t)*id + 1, err);
    }
    arena_free(&arena);
    return good;
}

static bool record_message(struct socket_recording *r, struct reel_bytes message, struct reel_error *err) {
    struct cursor c = cursor_of(message);
    struct nanover_message m = {0};
    const char *why;
    struct reel_record record = {.size = sizeof record, .payload = message};
    if (nanover_message_read(&c, &m, NULL, &why) != MSGPACK_OK || !cursor_done(&c)) {
        r->others++;
        return true;
    }
    record.log_time_ns = r->options->from_zero ? clock_ns() - r->start_ns : reel_now_ns();
    r->messages++;
    return channel_of(r, &m, &record.channel, err) && reel_recorder_message(r->recorder, &record, err);
}

/* So that what was received survives the end of the program, and once a second a power failure. */
static bool record_save(struct socket_recording *r, struct reel_error *err) {
    int64_t now = clock_ns();
    if (now - r->synced_ns >= SYNC_NS) {
        r->synced_ns = r->flushed_ns = now;
        return reel_recorder_sync(r->recorder, err);
    }
    if (now - r->flushed_ns >= FLUSH_NS) {
        r->flushed_ns = now;
        return reel_recorder_flush(r->recorder, err);
    }
    return true;
}

static bool link_goes_on(void *context) {
    return ((const struct record_socket_options *)context)->go_on();
}

static bool record_all(struct socket_recording *r, struct websocket *ws, struct reel_error *err) {
    struct websocket_message m;
    enum websocket_got got;
    while ((got = websocket_wait(ws, -1, clock_ns() + FLUSH_NS, &m)) != WEBSOCKET_OVER) {
        bool good = got != WEBSOCKET_MESSAGE || m.text || record_message(r, m.bytes, err);
        if (!good || !record_save(r, err)) {
            return false;
        }
    }
    unsigned code = websocket_close_code(ws);
    bool ended = code == WEBSOCKET_NORMAL || code == WEBSOCKET_GOING_AWAY || code == WEBSOCKET_NO_CODE;
    return ended || !r->options->go_on() ||
           reel_fail(err, REEL_IO, "the connection broke; what came before is recorded");
}

bool record_socket_run(struct record_socket *l, struct reel_recorder *recorder, uint64_t *messages,
                       struct reel_error *err) {
    const struct websocket_options ws_options = {.fd = l->fd,
                                                 .client = true,
                                                 .early = bytes_of(l->head + l->body, l->size - l->body),
                                                 .message_max = REEL_SOCKET_RECORDED_MAX,
                                                 .goes_on = link_goes_on,
                                                 .context = &l->options};
    AUTO(websocket_free) struct websocket *ws = websocket_new(&ws_options, err);
    AUTO_STRUCT(socket_recording_done)
    struct socket_recording r = {.options = &l->options, .recorder = recorder, .start_ns = clock_ns()};
    bool good = ws && record_all(&r, ws, err);
    if (ws) {
        websocket_close(ws, good ? WEBSOCKET_NORMAL : WEBSOCKET_INTERNAL, "");
    }
    if (r.others > 0) {
        fprintf(stderr, "reel record: %llu messages were not NanoVer's and are not recorded\n",
                (unsigned long long)r.others);
    }
    *messages = r.messages;
    return good;
}
