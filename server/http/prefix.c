/* The path of --public-url, under which a proxy offers this server: "/reel" of https://lab.example/reel/. Proxies
 * remove it from the requests that they pass on, or do not: both are answered. */
#include "http/http_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"

/* A request for /api/v1 is one without the prefix. So that this is certain, no path of the server may begin as the
 * prefix does. */
static bool is_free(const struct http_route *routes, const char *prefix, struct reel_error *err) {
    size_t first = *prefix ? 1 + strcspn(prefix + 1, "/") : 0;
    for (const struct http_route *route = routes; first > 0 && route->path; route++) {
        if (strncmp(route->path, prefix, first) == 0 && (route->path[first] == '/' || route->path[first] == '\0')) {
            return reel_fail(err, REEL_ARGUMENT,
                             "the path of --public-url begins with %.*s, as paths of this server do: choose another "
                             "one, such as /reel",
                             (int)first, prefix);
        }
    }
    return true;
}

bool http_prefix_read(const char *public_url, const struct http_route *routes, char out[HTTP_PREFIX],
                      struct reel_error *err) {
    const char *host = public_url ? strstr(public_url, "://") : NULL, *path = host ? strchr(host + 3, '/') : NULL;
    size_t size = path ? strlen(path) : 0;
    while (size > 0 && path[size - 1] == '/') {
        size--;
    }
    if (size >= HTTP_PREFIX || (size > 0 && strpbrk(path, "\"'<>&\\;, \t\r\n"))) {
        return reel_fail(err, REEL_ARGUMENT,
                         "the path of --public-url may have at most %d characters, none of \"'<>&\\;, and no spaces",
                         HTTP_PREFIX - 1);
    }
    memcpy(out, size > 0 ? path : "", size);
    out[size] = '\0';
    return is_free(routes, out, err);
}

/* The size of the prefix that a target begins with; 0: it does not. */
static size_t prefix_of(const struct http_server *server, const char *target) {
    size_t size = strlen(server->options.prefix);
    return strncmp(target, server->options.prefix, size) == 0 && strchr("/?", target[size]) ? size : 0;
}

void prefix_take(struct http_request *r) {
    size_t size = prefix_of(r->server, r->target);
    r->target += size;
    if (size > 0 && *r->target != '/') { /* /reel is /reel/ */
        *--r->target = '/';
    }
}

const char *http_without_prefix(const struct http_request *r, const char *target) {
    return target + prefix_of(r->server, target);
}

const char *http_prefix(const struct http_request *r) {
    return r->server->options.prefix;
}

void http_add_address(struct http_request *r, const char *name, const char *path) {
    AUTO_MEM char *text = NULL;
    if (asprintf(&text, "%s%s", r->server->options.prefix, path) >= 0) {
        http_add_header(r, name, text);
    } else {
        heap_failed();
    }
}
