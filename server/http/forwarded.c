/* Requests that one server of an archive forwards to another: the address that such a request came from, what of it is
 * forwarded, and the other's answer. Who may forward a request is not known here (http_options.forwarded). */
#include "base/ascii.h"
#include "http/http_internal.h"

#include <stdlib.h>
#include <string.h>

/* Of one connection, or of how the body is framed on it. */
static bool is_of_connection(const char *name) {
    static const char *const names[] = {"Connection", "Keep-Alive",     "Proxy-Connection",  "Proxy-Authorization",
                                        "TE",         "Trailer",        "Upgrade",           "Expect",
                                        "Host",       "Content-Length", "Transfer-Encoding", NULL};
    for (const char *const *n = names; *n; n++) {
        if (ascii_casecmp(*n, name) == 0) {
            return true;
        }
    }
    return false;
}

struct each_header {
    const char *but;
    bool inner;
    void (*visit)(void *context, const char *name, const char *value);
    void *context;
};

static enum MHD_Result visit_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    const struct each_header *each = context;
    (void)kind;
    bool hidden = each->inner && inner_hides(name);
    if (!hidden && !is_of_connection(name) && ascii_casecmp(name, each->but) != 0) {
        each->visit(each->context, name, value ? value : "");
    }
    return MHD_YES;
}

void http_each_header(const struct http_request *r, const char *but,
                      void (*visit)(void *context, const char *name, const char *value), void *context) {
    struct each_header each = {but, r->inner, visit, context};
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, visit_header, &each);
    if (r->inner) {
        visit(context, "Accept", r->inner->accept);
    }
}

const char *http_remote(const struct http_request *r) {
    return r->forwarded ? r->remote : r->connection->remote;
}

bool http_is_forwarded(const struct http_request *r) {
    return r->forwarded;
}

bool http_is_answered_by_peer(const struct http_request *r) {
    return r->answered_by_peer;
}

void http_keep_body(struct http_request *r, const void *data, size_t size) {
    r->kept_body = data;
    r->kept_size = size;
}

const void *http_kept_body(const struct http_request *r, size_t *size) {
    *size = r->kept_size;
    return r->kept_body;
}

bool forwarded_check(struct http_request *r) {
    enum http_forwarding forwarding =
        r->server->options.forwarded ? r->server->options.forwarded(r, r->remote) : HTTP_DIRECT;
    if (forwarding == HTTP_FORWARDED) {
        r->forwarded = true;
        deadline_exempt(r->connection);
    } else if (forwarding == HTTP_FORGED) {
        r->close = true;
        http_reply_problem(r, 421, "not-passed-on",
                           "The request looks as if another server of this archive had passed it on, but the signature "
                           "is not one for this "
                           "server and this time.");
    }
    return forwarding != HTTP_FORGED;
}

/* What reply_take() sets by itself. */
static bool is_ours(const char *name) {
    static const char *const names[] = {
        "X-Request-Id", "X-Content-Type-Options",       "Referrer-Policy", "Server-Timing",
        "Date",         "Cross-Origin-Resource-Policy", "Content-Type",    NULL};
    for (const char *const *n = names; *n; n++) {
        if (ascii_casecmp(*n, name) == 0) {
            return true;
        }
    }
    return is_of_connection(name) || ascii_ncasecmp(name, "Access-Control-", 15) == 0;
}

static void drop_ours(struct http_request *r) {
    struct http_extra_header **at = &r->extra_headers;
    while (*at) {
        struct http_extra_header *header = *at;
        if (is_ours(header->name)) {
            *at = header->next;
            free(header);
        } else {
            at = &header->next;
        }
    }
    r->extra_headers_end = at;
}

void http_reply_from_peer(struct http_request *r, unsigned status, uint64_t length, const struct http_stream *stream) {
    drop_ours(r);
    r->answered_by_peer = true;
    reply_take(r, status, stream_response(r, length == UINT64_MAX ? MHD_SIZE_UNKNOWN : length, stream), 0);
}
