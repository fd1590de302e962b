/* Rejects ambiguous requests and requests from other sites. Ambiguous requests are refused and the connection is
 * closed, never repaired: a proxy in front may have parsed the same bytes differently (request smuggling). */
#include "base/ascii.h"
#include "http/http_internal.h"

#include <arpa/inet.h>
#include <string.h>

bool guard_token(const char *text) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    const char *p = text;
    for (; *p; p++) {
        bool good =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr(others, *p);
        if (!good) {
            return false;
        }
    }
    return p > text;
}

struct seen {
    unsigned lengths, encodings, hosts;
    const char *length, *encoding, *fault;
};

static enum MHD_Result check_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct seen *seen = context;
    (void)kind;
    value = value ? value : "";
    if (!guard_token(name)) {
        seen->fault = "A header name is not a token.";
    } else if (strpbrk(value, "\r\n")) {
        seen->fault = "A header value contains a line break.";
    } else if (ascii_casecmp(name, "Content-Length") == 0) {
        seen->lengths++;
        seen->length = value;
    } else if (ascii_casecmp(name, "Transfer-Encoding") == 0) {
        seen->encodings++;
        seen->encoding = value;
    } else if (ascii_casecmp(name, "Host") == 0) {
        seen->hosts++;
    }
    return seen->fault ? MHD_NO : MHD_YES;
}

static const char *target_fault(const char *target) {
    for (const char *p = target; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7f) {
            return "The request target contains a space or a control character.";
        }
        if (p[0] == '%' && p[1] == '0' && p[2] == '0') {
            return "The request target contains %00.";
        }
    }
    return NULL;
}

static const char *framing_fault(const struct seen *seen, const char *version) {
    if (seen->fault) {
        return seen->fault;
    }
    if (seen->lengths > 1 || seen->encodings > 1) {
        return "Content-Length or Transfer-Encoding is repeated.";
    }
    if (seen->lengths && seen->encodings) {
        return "Content-Length and Transfer-Encoding cannot be combined.";
    }
    if (seen->length && (*seen->length == '\0' || seen->length[strspn(seen->length, "0123456789")])) {
        return "Content-Length is not a number.";
    }
    if (seen->encoding && ascii_casecmp(seen->encoding, "chunked") != 0) {
        return "The only supported Transfer-Encoding is chunked.";
    }
    if (seen->encoding && strcmp(version, "HTTP/1.1") != 0) {
        return "Transfer-Encoding needs HTTP/1.1.";
    }
    return seen->hosts != 1 ? "A request needs exactly one Host header." : NULL;
}

bool guard_request(struct http_request *r, const char *method, const char *version) {
    struct seen seen = {0};
    MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, check_header, &seen);
    const char *fault = framing_fault(&seen, version);
    if (!fault && !head_is_whole(r->mhd, method, r->buffer, version)) {
        fault = "The request's header contains a line without a name, a NUL, a folded line, or a line that does not "
                "end with CR LF.";
    }
    if (!fault) {
        fault = target_fault(r->target);
    }
    if (fault) {
        r->close = true;
        http_reply_problem(r, 400, "bad-request", "%s", fault);
    }
    return !fault;
}

/* The host without port and brackets. False: not a host. */
static bool host_name(const char *host, char *out, size_t size) {
    bool bracketed = host[0] == '[';
    const char *begin = host + bracketed;
    size_t length = strcspn(begin, bracketed ? "]" : ":");
    const char *after = begin + length;
    if (bracketed) {
        if (*after != ']') {
            return false;
        }
        after++;
    }
    bool port = *after == ':' && after[1 + strspn(after + 1, "0123456789")] == '\0';
    if (length == 0 || length >= size || (*after && !port)) {
        return false;
    }
    memcpy(out, begin, length);
    out[length] = '\0';
    return true;
}

static bool is_literal_address(const char *name) {
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* "" without --public-url */
static void public_host(const struct http_server *server, char out[HTTP_HOST]) {
    const char *host = server->options.public_url ? strstr(server->options.public_url, "://") : NULL;
    snprintf(out, HTTP_HOST, "%.*s", host ? (int)strcspn(host + 3, "/") : 0, host ? host + 3 : "");
}

bool http_public_host(const struct http_request *r, char out[HTTP_HOST]) {
    public_host(r->server, out);
    return out[0];
}

/* Is the name the host of --public-url? */
static bool is_public_host(const struct http_server *server, const char *name) {
    char part[HTTP_HOST], ours[256];
    public_host(server, part);
    return host_name(part, ours, sizeof ours) && ascii_casecmp(ours, name) == 0;
}

bool guard_host_is_ours(const struct http_server *server, const char *host) {
    char name[256], ours[256];
    if (!host_name(host, name, sizeof name)) {
        return false;
    }
    if (is_public_host(server, name) || ascii_casecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, "::1") == 0 || ascii_casecmp(name, server->address) == 0) {
        return true;
    }
    if (server->any_address && is_literal_address(name)) {
        return true; /* DNS rebinding sends a host name, not an address */
    }
    for (const char *const *known = server->options.hosts; known && *known; known++) {
        if (strcmp(*known, "*") == 0 || (host_name(*known, ours, sizeof ours) && ascii_casecmp(ours, name) == 0)) {
            return true;
        }
    }
    return false;
}

bool guard_host(struct http_request *r) {
    const char *host = http_header(r, "Host");
    if (host && guard_host_is_ours(r->server, host)) {
        return true;
    }
    http_reply_problem(r, 421, "unknown-host",
                       "This server does not serve the requested host; add the name with --host.");
    return false;
}

static bool origin_is_own(const struct http_request *r, const char *origin) {
    const char *host = http_header(r, "Host");
    size_t scheme = ascii_ncasecmp(origin, "http://", 7) == 0 ? 7 : ascii_ncasecmp(origin, "https://", 8) == 0 ? 8 : 0;
    return scheme && host && ascii_casecmp(origin + scheme, host) == 0;
}

/* Whether a page of this origin, or one that the browser says is foreign, may not do what it does. */
static bool is_foreign(const struct http_request *r) {
    const char *origin = http_header(r, "Origin");
    const char *site = http_header(r, "Sec-Fetch-Site");
    bool listed = origin && cors_origin_listed(r->server, origin);
    return !listed && ((origin && !origin_is_own(r, origin)) || (site && ascii_casecmp(site, "cross-site") == 0));
}

bool guard_origin(struct http_request *r) {
    if (!request_writes(r) || !is_foreign(r)) {
        return true;
    }
    http_reply_problem(r, 403, "foreign-origin",
                       "Pages of other origins may not write; allow the origin with --origin.");
    return false;
}

bool guard_socket(struct http_request *r) {
    const char *origin = http_header(r, "Origin");
    bool credentials = http_header(r, "Cookie") || http_header(r, "Authorization");
    if (!is_foreign(r) || (origin && !credentials && cors_origin_reads(r->server, origin))) {
        return true;
    }
    http_reply_problem(r, 403, "foreign-origin",
                       "Pages of other origins may not open a WebSocket; allow the origin with --origin.");
    return false;
}
