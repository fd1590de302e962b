/* Counts and durations of requests for /metrics, by class of route. The classes are fixed: clients cannot create new
 * ones. */
#include "http/http_internal.h"

#include <string.h>

static const char *const names[HTTP_CLASSES] = {"list",   "recording", "file",    "convert", "messages",
                                                "upload", "change",    "grafana", "service", "none"};
static const int64_t bounds_ms[HTTP_BUCKETS - 1] = {5, 20, 50, 100, 250, 1000, 5000, 30000, 120000};

const char *http_class_name(unsigned class) {
    return names[class];
}
double http_bucket_bound(unsigned bucket) {
    return (double)bounds_ms[bucket] / 1000.0;
}

static bool metrics_has(const char *path, const char *part) {
    return strstr(path, part) != NULL;
}

/* The class of a route, by its template and method. */
static unsigned class_of(const struct http_route *route) {
    if (!route) {
        return 9;
    }
    const char *path = route->path;
    if (metrics_has(path, "/grafana")) {
        return 7;
    }
    if (metrics_has(path, "/uploads") ||
        (route->piece && metrics_has(path, "/recordings") && !metrics_has(path, "{id}"))) {
        return 5;
    }
    if (strcmp(route->method, "GET") != 0) {
        return 6;
    }
    if (metrics_has(path, "/as/") || metrics_has(path, "/plot") || metrics_has(path, "/frame")) {
        return 3;
    }
    if (metrics_has(path, "/file/") || metrics_has(path, "/attachments/") || metrics_has(path, ".tar")) {
        return 2;
    }
    if (metrics_has(path, "/message") || metrics_has(path, "/series")) {
        return 4;
    }
    return metrics_has(path, "/recordings/{id}") ? 1 : metrics_has(path, "/api/v1/") ? 0 : 8;
}

void metrics_count(struct http_request *r) {
    struct http_class_counters *c = &r->server->counters.classes[class_of(r->route)];
    int64_t ms = http_clock_ms() - r->started_ms;
    unsigned bucket = 0, status = r->status / 100 < 6 ? r->status / 100 : 0;
    while (bucket < HTTP_BUCKETS - 1 && ms > bounds_ms[bucket]) {
        bucket++;
    }
    atomic_fetch_add_explicit(&c->status[status], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->ms, (uint64_t)(ms > 0 ? ms : 0), memory_order_relaxed);
}

void http_server_classes(const struct http_server *server, struct http_class_metrics out[HTTP_CLASSES]) {
    for (unsigned i = 0; i < HTTP_CLASSES; i++) {
        const struct http_class_counters *c = &server->counters.classes[i];
        out[i] = (struct http_class_metrics){.ms = atomic_load_explicit(&c->ms, memory_order_relaxed)};
        for (unsigned k = 0; k < 6; k++) {
            out[i].status[k] = atomic_load_explicit(&c->status[k], memory_order_relaxed);
        }
        for (unsigned k = 0; k < HTTP_BUCKETS; k++) {
            out[i].buckets[k] = atomic_load_explicit(&c->buckets[k], memory_order_relaxed);
        }
    }
}
