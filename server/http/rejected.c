/* The answer to requests that libmicrohttpd 0.9.75 refuses by itself because of Content-Length or a missing Host. Its
 * own answer has the head twice, which a client takes for a response and the next one. When the library logs that it is
 * going to refuse, the answer is sent here, and the socket is closed for what the library sends. */
#include "base/cleanup.h"
#include "http/http_internal.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HEAD_MAX = 512 };

static _Thread_local struct http_connection *reading; /* one thread serves one connection */

void rejected_watch(struct http_connection *c) {
    reading = c;
}

static const struct refusal {
    const char *message; /* of the library, from its begin */
    unsigned status;
    const char *slug, *detail;
} refusals[] = {
    {"Failed to parse `Content-Length'", 400, "bad-request", "Content-Length is not a number."},
    {"Too large value of 'Content-Length'", 413, "limit", "Content-Length is too large."},
    {"Received HTTP/1.1 request without `Host'", 400, "bad-request", "A request needs exactly one Host header."},
};

static void send_bytes(const struct http_connection *c, const char *data, size_t size) {
    const union MHD_ConnectionInfo *tls =
        c->server->tls ? MHD_get_connection_info(c->request.mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
    if (tls) {
        (void)gnutls_record_send(tls->tls_session, data, size);
        (void)gnutls_bye(tls->tls_session, GNUTLS_SHUT_WR);
    } else if (!c->server->tls) {
        (void)send(c->fd, data, size, MSG_NOSIGNAL);
    }
}

static void answer(struct http_connection *c, const struct refusal *why) {
    struct http_request *r = &c->request;
    char date[HTTP_DATE_TEXT], head[HEAD_MAX];
    request_take_id(r);
    http_date_text(reel_now_ns(), date);
    json_auto_t *problem = reply_problem_json(r, why->status, why->slug, why->detail);
    AUTO_MEM char *body = json_dumps(problem, JSON_COMPACT), *all = NULL;
    if (body) {
        snprintf(head, sizeof head,
                 "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
                 "X-Request-Id: %s\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 why->status, MHD_get_reason_phrase_for(why->status), date, r->id, strlen(body) + 1);
        if (asprintf(&all, "%s%s\n", head, body) > 0) {
            send_bytes(c, all, strlen(all));
        }
    }
    shutdown(c->fd, SHUT_WR);
    r->status = why->status;
    r->sent_bytes = all ? strlen(body) + 1 : 0;
    r->rejected = true;
}

void rejected_on_message(void *context, const char *format, va_list args) {
    (void)context, (void)args;
    struct http_connection *c = reading;
    if (!c || !c->request.buffer || c->request.started || c->request.rejected || !library_parses_in_place()) {
        return;
    }
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (strncmp(format, refusals[i].message, strlen(refusals[i].message)) == 0) {
            answer(c, &refusals[i]);
        }
    }
}
