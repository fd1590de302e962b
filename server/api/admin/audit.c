/* /audit: the audit log, newest first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/admin/admin.h"
#include "api/paging.h"
#include "app.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "reel/time.h"
#include "views/views.h"

static json_t *view_audit(const struct audit_row *a) {
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "time", view_time(a->time_ns, REEL_CLOCK_WALL),
                     "caller", a->caller, "how", a->how, "peer", a->peer, "method", a->method, "path", a->path,
                     "status", (json_int_t)a->status, "request_id", a->request);
}

/* "403", "4xx", or 0: no answer. */
static bool read_status(const char *text, struct audit_filter *out) {
    bool one_digit = strcmp(text, "0") == 0;
    if (!one_digit && (strlen(text) != 3 || text[0] < '1' || text[0] > '5')) {
        return false;
    }
    uint64_t status = 0;
    if (!one_digit && strcmp(text + 1, "xx") == 0) {
        out->status_min = (uint32_t)(text[0] - '0') * 100;
        out->status_max = out->status_min + 99;
        return true;
    }
    bool good = number_u64(text, &status);
    out->status_min = out->status_max = (uint32_t)status;
    return good;
}

static bool audit_read_time(struct http_request *r, const char *name, int64_t *ns) {
    struct reel_time t;
    if (http_param_time(r, name, &t)) {
        if (t.kind != REEL_TIME_ABSOLUTE && t.kind != REEL_TIME_FROM_NOW) {
            http_reply_bad_param(r, name, "is a time such as 2024-05-01T10:00:00Z or now-1d");
            return false;
        }
        *ns = reel_time_resolve(&t, 0, 0, reel_now_ns());
    }
    return true;
}

/* False: replied. */
static bool read_filter(struct http_request *r, struct audit_filter *out) {
    const char *caller = http_param(r, "caller"), *method = http_param(r, "method"), *path = http_param(r, "path"),
               *status = http_param(r, "status");
    *out = (struct audit_filter){.caller = caller ? caller : "",
                                 .method = method ? method : "",
                                 .path = path ? path : "",
                                 .status_max = UINT32_MAX,
                                 .start_ns = INT64_MIN,
                                 .end_ns = INT64_MAX};
    if (status && !read_status(status, out)) {
        http_reply_bad_param(r, "status", "is a status such as 403, a class such as 4xx, or 0");
        return false;
    }
    return audit_read_time(r, "start", &out->start_ns) && audit_read_time(r, "end", &out->end_ns);
}

void api_audit(struct http_request *r) {
    static const char *const columns[] = {"time", "caller", "how",        "peer", "method",
                                          "path", "status", "request_id", NULL};
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r), n = 0;
    int64_t before = INT64_MAX;
    struct audit_filter filter;
    if (!read_filter(r, &filter) || !paging_after_row(r, &before)) {
        return;
    }
    AUTO_MEM struct audit_row *rows = calloc((size_t)limit + 1, sizeof *rows); /* one more, to see if there is a next
                                                                                  page */
    if (!(rows || reel_fail_memory(&err)) ||
        !catalog_audit(http_app(r)->catalog, &filter, before, rows, limit + 1, &n, &err)) {
        http_reply_error(r, &err);
        return;
    }
    bool more = n > limit;
    json_t *items = json_array();
    for (uint32_t i = 0; i < n && i < limit; i++) {
        json_array_append_new(items, view_audit(&rows[i]));
    }
    char next[24];
    snprintf(next, sizeof next, "%lld", more ? (long long)rows[limit - 1].row : 0LL);
    audit_rows_done(rows, n);
    paging_reply(r, items, more ? next : NULL, columns);
}
