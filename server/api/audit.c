/* /audit: the audit log, newest first. */
#include <stdio.h>
#include <stdlib.h>

#include "access/access.h"
#include "api/common.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/views.h"
#include "wire/cleanup.h"

static json_t *view_audit(const struct audit_row *a) {
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "time", view_time(a->time_ns, REEL_CLOCK_WALL), "caller", a->caller, "how",
                     a->how, "peer", a->peer, "method", a->method, "path", a->path, "status", (json_int_t)a->status, "request_id",
                     a->request);
}

void api_audit(struct http_request *r) {
    static const char *const columns[] = {"time", "caller", "how", "peer", "method", "path", "status", "request_id", NULL};
    struct reel_error err = {0};
    uint32_t limit, n = 0;
    int64_t before = INT64_MAX;
    if (!paging_limit(r, &limit) || !paging_after_row(r, &before)) {
        return;
    }
    AUTO_MEM struct audit_row *rows = calloc((size_t)limit + 1, sizeof *rows); /* one more, to see if there is a next page */
    if (!(rows || reel_fail_memory(&err)) || !catalog_audit(http_app(r)->catalog, before, rows, limit + 1, &n, &err)) {
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
