/* Requests from pages of other origins (CORS). Only origins listed by name may send credentials or write; the viewer's
 * may read, and "*" lets all read. Without any of these no response is readable by another origin. */
#include "base/ascii.h"
#include "http/http_internal.h"

#include <string.h>

static const char allowed_headers[] =
    "Authorization, Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Content-Type, "
    "Accept, Prefer, Last-Event-ID, X-Request-Id, Api-Version, Idempotency-Key, Repr-Digest, Content-Digest, "
    "Want-Repr-Digest, Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, Upload-Concat, "
    "Upload-Defer-Length, Upload-Complete, Upload-Draft-Interop-Version, X-HTTP-Method-Override";
static const char exposed_headers[] =
    "Accept-Ranges, Content-Length, Content-Range, Content-Disposition, Content-Location, Deprecation, ETag, "
    "Idempotent-Replayed, "
    "Last-Modified, Link, "
    "Location, Repr-Digest, Retry-After, Server-Timing, Sunset, X-Matched, X-Next-Cursor, X-Warning, X-Total-Count, "
    "X-Request-Id, Upload-Offset, "
    "Upload-Length, "
    "Upload-Expires, Upload-Complete, Upload-Limit, Upload-Metadata, Upload-Concat, Upload-Defer-Length, "
    "Tus-Resumable, Tus-Version, "
    "Tus-Extension, Tus-Max-Size";

bool cors_origin_listed(const struct http_server *server, const char *origin) {
    for (const char *const *known = server->options.origins; known && *known; known++) {
        if (strcmp(*known, "*") != 0 && ascii_casecmp(*known, origin) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with_origin(const char *viewer, const char *origin) {
    const char *slashes = strstr(origin, "://");
    size_t size = strlen(origin);
    return viewer && slashes && slashes[3] && ascii_ncasecmp(viewer, origin, size) == 0 &&
           strchr("/?#", viewer[size]); /* also the NUL */
}

/* Whether the address of a viewer begins with this origin. */
static bool is_viewer(const struct http_server *server, const char *origin) {
    const char *const *viewers = server->options.viewers;
    return begins_with_origin(viewers[0], origin) || begins_with_origin(viewers[1], origin);
}

/* Whether origins are treated differently, so that responses need Vary: Origin. */
static bool origins_differ(const struct http_server *server) {
    const char *const *known = server->options.origins;
    bool listed = known && known[0];
    return listed ? !(strcmp(known[0], "*") == 0 && !known[1])
                  : server->options.viewers[0] || server->options.viewers[1];
}

/* The value of Access-Control-Allow-Origin for reading; NULL: none. */
static const char *reading_origin(const struct http_server *server, const char *origin) {
    return is_viewer(server, origin) ? origin : server->any_origin ? "*" : NULL;
}

bool cors_origin_reads(const struct http_server *server, const char *origin) {
    return reading_origin(server, origin) != NULL;
}

void cors_headers(const struct http_request *r, struct MHD_Response *response) {
    const char *origin = http_header(r, "Origin");
    if (origins_differ(r->server)) {
        reply_header(response, "Vary", "Origin");
    } else if (!r->server->any_origin) { /* nor may other pages embed pictures or run rows as a script */
        reply_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    }
    if (!origin) {
        return;
    }
    if (cors_origin_listed(r->server, origin)) {
        reply_header(response, "Access-Control-Allow-Origin", origin);
        reply_header(response, "Access-Control-Allow-Credentials", "true");
    } else if (!request_writes(r) && reading_origin(r->server, origin)) {
        reply_header(response, "Access-Control-Allow-Origin", reading_origin(r->server, origin));
    } else {
        return;
    }
    reply_header(response, "Access-Control-Expose-Headers", exposed_headers);
}

bool cors_is_preflight(const struct http_request *r) {
    return request_method_is(r, "OPTIONS") && http_header(r, "Origin") &&
           http_header(r, "Access-Control-Request-Method");
}

void cors_preflight(struct http_request *r, const char *allow) {
    const char *origin = http_header(r, "Origin");
    bool listed = cors_origin_listed(r->server, origin);
    if (listed || reading_origin(r->server, origin)) {
        http_add_header(r, "Access-Control-Allow-Methods", listed ? allow : "GET, HEAD");
        http_add_header(r, "Access-Control-Allow-Headers", allowed_headers);
        http_add_header(r, "Access-Control-Max-Age", "7200");
    }
    http_add_header(r, "Allow", allow);
    http_add_header(r, "Vary", "Access-Control-Request-Method");
    http_reply_empty(r, 204);
}
