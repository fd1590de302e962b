/* Forwards one request, and its answer back. The request's own thread does all of it: the answer is fetched as fast as
 * the client takes it, at most BUFFER bytes of it are here, and no wait is without an end. */
#include "base/ascii.h"
#include "peers/peers_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "reel/time.h"

enum {
    BUFFER = 64 << 10,
    CONNECT_MS = 2000,
    ANSWER_MS = 15000, /* until the answer begins, besides what the client is ready to wait for */
    SLICE_MS = 500,
    ASK_MS = 10000, /* whether the other server still lives, while it says nothing */
    QUIET_MS = 3600000,
    MEMORY = 256 << 10, /* of one forwarded request: the buffers here, of the library and of the answer */
};
#define RETRY_AFTER_S "5"

struct forwarding {
    struct http_request *r; /* while the answer is sent */
    struct app *app;
    struct catalog_server server;
    struct peers_handle handle;
    struct curl_slist *headers;
    bool answered, over, paused; /* answered: its headers are there */
    CURLcode result;             /* once it is over */
    char problem[CURL_ERROR_SIZE];
    size_t at, size;
    char buffer[BUFFER];
};

static int64_t clock_ms(void) {
    return clock_ns() / 1000000;
}

/* ---- connections */

static void give_handle(struct peers *peers, struct peers_handle handle) {
    pthread_mutex_lock(&peers->mutex);
    bool kept = handle.curl && handle.multi && peers->n_idle < PEERS_IDLE_MAX;
    if (kept) {
        peers->idle[peers->n_idle++] = handle;
    }
    pthread_mutex_unlock(&peers->mutex);
    if (!kept) {
        curl_easy_cleanup(handle.curl);
        curl_multi_cleanup(handle.multi);
    }
}

static bool take_handle(struct peers *peers, struct peers_handle *out, struct reel_error *err) {
    pthread_mutex_lock(&peers->mutex);
    bool kept = peers->n_idle > 0;
    if (kept) {
        *out = peers->idle[--peers->n_idle];
    }
    pthread_mutex_unlock(&peers->mutex);
    if (!kept) {
        *out = (struct peers_handle){.multi = curl_multi_init(), .curl = curl_easy_init()};
    }
    return (out->multi && out->curl) || reel_fail_memory(err);
}

static void forwarding_free(void *context) {
    struct forwarding *p = context;
    if (p->handle.multi && p->handle.curl) {
        curl_multi_remove_handle(p->handle.multi, p->handle.curl);
        curl_easy_reset(p->handle.curl); /* nothing of *p is left in it; its connection stays */
    }
    curl_slist_free_all(p->headers);
    give_handle(p->app->peers, p->handle);
    free(p);
}

/* ---- the request */

static size_t on_data(char *data, size_t one, size_t n, void *context) {
    struct forwarding *p = context;
    if (one * n > BUFFER - p->size) {
        p->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    memcpy(p->buffer + p->size, data, one * n);
    p->size += one * n;
    return one * n;
}

static size_t on_header(char *line, size_t one, size_t n, void *context) {
    struct forwarding *p = context;
    long status = 0;
    curl_easy_getinfo(p->handle.curl, CURLINFO_RESPONSE_CODE, &status);
    p->answered = p->answered || (status >= 200 && one * n > 0 && (line[0] == '\r' || line[0] == '\n'));
    return one * n;
}

static void set_method(struct forwarding *p) {
    CURL *c = p->handle.curl;
    size_t size;
    const void *body = http_kept_body(p->r, &size);
    if (http_is_head(p->r)) {
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    } else if (strcmp(http_method(p->r), "GET") != 0) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, body ? body : ""); /* not copied */
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, http_method(p->r));
    }
}

static bool forward_begin(struct forwarding *p, struct reel_error *err) {
    if (!take_handle(p->app->peers, &p->handle, err) || !(p->headers = forward_headers(p->r, p->server.id, err))) {
        return false;
    }
    CURL *c = p->handle.curl;
    curl_easy_setopt(c, CURLOPT_URL, p->server.address);
    curl_easy_setopt(c, CURLOPT_REQUEST_TARGET, http_target(p->r));
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->problem);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
    /* besides the system's authorities: the same certificate, or one of the same issuer */
    if (p->app->config.tls_cert) {
        curl_easy_setopt(c, CURLOPT_CAINFO, p->app->config.tls_cert);
    }
    set_method(p);
    return curl_multi_add_handle(p->handle.multi, c) == CURLM_OK || reel_fail_memory(err);
}

/* ---- waiting */

static void forward_step(struct forwarding *p) {
    int running = 0, left;
    CURLMcode code = curl_multi_perform(p->handle.multi, &running);
    if (code == CURLM_OK && running > 0 && p->size == 0 && !p->paused) {
        curl_multi_poll(p->handle.multi, NULL, 0, SLICE_MS, NULL);
        code = curl_multi_perform(p->handle.multi, &running);
    }
    if (code != CURLM_OK) {
        p->over = true;
        p->result = CURLE_OUT_OF_MEMORY;
    }
    for (CURLMsg *m; (m = curl_multi_info_read(p->handle.multi, &left));) {
        if (m->msg == CURLMSG_DONE) {
            p->over = true;
            p->result = m->data.result;
        }
    }
}

static bool has_fallen_silent(struct forwarding *p) {
    struct catalog_server now;
    struct reel_error why = {0};
    return catalog_server_find(p->app->catalog, p->server.id, &now, &why) ? peers_is_silent(&now)
                                                                          : why.code == REEL_NOT_FOUND;
}

/* Until the answer begins, or more of it is there, or it is over. */
static bool forward_go_on(struct forwarding *p, bool to_begin, int64_t most_ms, struct reel_error *err) {
    int64_t begun_ms = clock_ms(), asked_ms = begun_ms;
    for (;;) {
        forward_step(p);
        if (p->over || (to_begin ? p->answered : p->size > 0)) {
            return true;
        }
        int64_t now_ms = clock_ms();
        if (now_ms - begun_ms > most_ms) {
            return reel_fail(err, REEL_BUSY, "it has not answered for %lld s", (long long)(now_ms - begun_ms) / 1000);
        }
        if (now_ms - begun_ms > SLICE_MS && (http_is_stopping(p->r) || (!to_begin && http_is_gone(p->r)))) {
            return reel_fail(err, REEL_CANCELLED, "this server is stopping, or the client has left");
        }
        if (now_ms - asked_ms > ASK_MS) {
            asked_ms = clock_ms();
            if (has_fallen_silent(p)) {
                return reel_fail(err, REEL_BUSY, "it shows no sign of life any more");
            }
        }
    }
}

/* ---- the answer */

static bool next_bytes(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct forwarding *p = context;
    if (p->at == p->size) {
        p->at = p->size = 0;
        if (p->paused) {
            p->paused = false;
            curl_easy_pause(p->handle.curl, CURLPAUSE_CONT); /* which may bring bytes */
        }
        if (p->size == 0 && !forward_go_on(p, false, QUIET_MS, err)) {
            return reel_error_at(err, "%s", p->server.address);
        }
    }
    *got = p->size - p->at < size ? p->size - p->at : size;
    memcpy(buffer, p->buffer + p->at, *got);
    p->at += *got;
    return *got > 0 || p->result == CURLE_OK ||
           reel_fail(err, REEL_IO, "%s broke the answer off: %s", p->server.address, p->problem);
}

static void take_headers(struct forwarding *p, uint64_t *length, const char **media_type) {
    struct curl_header *h = NULL;
    *media_type = NULL;
    while ((h = curl_easy_nextheader(p->handle.curl, CURLH_HEADER, -1, h))) {
        if (ascii_casecmp(h->name, "Content-Length") == 0) {
            *length = strtoull(h->value, NULL, 10);
        } else if (ascii_casecmp(h->name, "Content-Type") == 0) {
            *media_type = h->value;
        } else {
            http_add_header(p->r, h->name, h->value);
        }
    }
}

/* 503: the request cannot be forwarded. */
static void forward_refuse(struct http_request *r, const struct catalog_server *server, const char *why) {
    char address[SERVER_ADDRESS_MAX + 4];
    snprintf(address, sizeof address, server->address[0] ? " (%s)" : "", server->address);
    http_add_header(r, "Retry-After", RETRY_AFTER_S);
    http_reply_problem(r, 503, "other-server", "only the server %s%s can answer this, and %s", server->id, address,
                       why);
}

static void forward_reply(struct forwarding *p) {
    long status = 0;
    const char *media_type;
    uint64_t length = UINT64_MAX;
    struct http_request *r = p->r;
    curl_easy_getinfo(p->handle.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 421) { /* it does not know the signature, or it is another one */
        forward_refuse(r, &p->server, "at that address is another one, or their clocks differ; see --peer-address");
        forwarding_free(p);
        return;
    }
    http_catch_problems(r, NULL); /* this is the answer to the whole request */
    take_headers(p, &length, &media_type);
    length = status == 204 ? 0 : length;
    http_reply_from_peer(
        r, (unsigned)status, length,
        &(struct http_stream){.media_type = media_type, .next = next_bytes, .free = forwarding_free, .context = p});
}

static void pass(struct http_request *r, const struct catalog_server *server, int64_t wait_ns) {
    struct reel_error err = {0};
    char why[400];
    if (!http_reserve(r, MEMORY)) {
        return;
    }
    struct forwarding *p = calloc(1, sizeof *p);
    if (!p) {
        http_reply_no_memory(r);
        return;
    }
    p->r = r;
    p->app = http_app(r);
    p->server = *server;
    bool good = forward_begin(p, &err) && forward_go_on(p, true, ANSWER_MS + wait_ns / 1000000, &err);
    if (good && !p->answered) {
        good = reel_fail(&err, REEL_BUSY, "it cannot be reached: %s",
                         p->problem[0] ? p->problem : curl_easy_strerror(p->result));
    }
    if (good) {
        forward_reply(p);
        return;
    }
    snprintf(why, sizeof why, "%s", err.text);
    forward_refuse(r, server, why);
    forwarding_free(p);
}

bool peers_forward(struct http_request *r, const char *home, bool needed, int64_t wait_ns) {
    struct catalog_server server = {0};
    struct reel_error err = {0};
    char why[80];
    bool known = catalog_server_find(http_app(r)->catalog, home, &server, &err);
    if (!known && err.code != REEL_NOT_FOUND) {
        http_reply_error(r, &err);
        return true;
    }
    bool silent = !known || peers_is_silent(&server);
    if (silent && !needed) {
        return false;
    }
    snprintf(server.id, sizeof server.id, "%s", home);
    if (http_is_forwarded(r)) {
        forward_refuse(r, &server, "a request is passed on once: what two servers have cannot be read together");
    } else if (silent) {
        snprintf(why, sizeof why, "it has shown no sign of life for %lld s",
                 (long long)((reel_now_ns() - server.heartbeat_ns) / 1000000000));
        forward_refuse(r, &server, known ? why : "no server has that id any more");
    } else if (!server.address[0]) {
        forward_refuse(r, &server, "it has no --peer-address");
    } else {
        http_key_leave(r);
        pass(r, &server, wait_ns);
    }
    return true;
}
