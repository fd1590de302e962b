/* What will be removed: its answers say so (RFC 9745, RFC 8594), and it is counted who still uses it. */
#include "http/http_internal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A date such as "2027-01-31" in seconds since 1970; it is written by us. */
static int64_t seconds_of(const char *date) {
    struct reel_time time = {0};
    return reel_time_parse(date, 1, &time, NULL) ? time.ns / 1000000000 : 0;
}

/* Tokens by their number, others by how they are authenticated: /metrics may be open to all. */
static void name_caller(const struct http_caller *caller, char out[HTTP_DEPRECATED_CALLER]) {
    if (caller->token) {
        snprintf(out, HTTP_DEPRECATED_CALLER, "token:%" PRId64, caller->token);
    } else {
        snprintf(out, HTTP_DEPRECATED_CALLER, "%s", caller->how);
    }
}

static pthread_mutex_t uses_mutex = PTHREAD_MUTEX_INITIALIZER;

/* What is full counts no further callers. */
static void count_use(struct deprecations *d, const char *what, const char *caller) {
    size_t i = 0;
    pthread_mutex_lock(&uses_mutex);
    while (i < d->n && (d->uses[i].what != what || strcmp(d->uses[i].caller, caller) != 0)) {
        i++;
    }
    if (i == d->n && d->n < HTTP_DEPRECATED_USES_MAX) {
        d->uses[d->n].what = what;
        snprintf(d->uses[d->n++].caller, HTTP_DEPRECATED_CALLER, "%s", caller);
    }
    if (i < d->n) {
        d->uses[i].requests++;
    }
    pthread_mutex_unlock(&uses_mutex);
}

void http_uses_deprecated(struct http_request *r, const struct http_deprecation *what) {
    char caller[HTTP_DEPRECATED_CALLER];
    for (size_t i = 0; i < r->n_deprecated; i++) {
        if (r->deprecated[i] == what) {
            return;
        }
    }
    if (r->n_deprecated == HTTP_DEPRECATED_MAX) {
        return;
    }
    r->deprecated[r->n_deprecated++] = what;
    if (!r->forwarded) { /* else the first server has counted it */
        name_caller(http_caller(r), caller);
        count_use(&r->server->deprecations, what->what, caller);
    }
}

void deprecation_of_route(struct http_request *r) {
    const struct http_deprecation *route = key_policy(r).deprecated;
    if (route) {
        http_uses_deprecated(r, route);
    }
    for (size_t i = 0; i < r->query.n_deprecated; i++) {
        http_uses_deprecated(r, r->query.deprecated[i]);
    }
}

size_t http_server_deprecated(const struct http_server *server,
                              struct http_deprecated_use out[HTTP_DEPRECATED_USES_MAX]) {
    const struct deprecations *d = &server->deprecations;
    pthread_mutex_lock(&uses_mutex);
    size_t n = d->n;
    memcpy(out, d->uses, n * sizeof *out);
    pthread_mutex_unlock(&uses_mutex);
    return n;
}

/* Of several: the earliest dates. */
void deprecation_headers(const struct http_request *r, struct MHD_Response *response) {
    int64_t since_s = INT64_MAX, sunset_s = INT64_MAX;
    char text[HTTP_DATE_TEXT], link[256];
    for (size_t i = 0; i < r->n_deprecated; i++) {
        const struct http_deprecation *d = r->deprecated[i];
        int64_t since = seconds_of(d->since), sunset = seconds_of(d->sunset);
        since_s = since < since_s ? since : since_s;
        sunset_s = sunset < sunset_s ? sunset : sunset_s;
        snprintf(link, sizeof link, "<%s%s>; rel=\"deprecation\"", d->link[0] == '/' ? r->server->options.prefix : "",
                 d->link);
        reply_header(response, "Link", link);
    }
    if (r->n_deprecated > 0) {
        snprintf(text, sizeof text, "@%" PRId64, since_s);
        reply_header(response, "Deprecation", text);
        conditional_format_date(sunset_s, text);
        reply_header(response, "Sunset", text);
    }
}

void deprecation_names(const struct http_request *r, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < r->n_deprecated && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", r->deprecated[i]->what);
    }
}
