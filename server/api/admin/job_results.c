/* /jobs/{id}/results: what became of each recording that a job changes (catalog/batches.h). */
#include <stdio.h>

#include "api/admin/admin.h"
#include "api/paging.h"
#include "app.h"
#include "base/cleanup.h"
#include "catalog/batches.h"
#include "work/jobs.h"

void api_job_results(struct http_request *r) {
    static const char *const columns[] = {"recording", "collection", "name", "new_name", "result", "problem", NULL};
    AUTO_STRUCT(catalog_job_done) struct catalog_job job = {0};
    struct catalog_batch_items page;
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    int64_t after = 0;
    char next[24] = "";
    if (!paging_after_row(r, &after) || !jobs_find_shown(r, &job)) {
        return;
    }
    if (!catalog_batch_after(http_app(r)->catalog, job.key, after, limit, &page, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < page.n; i++) {
        const struct catalog_batch_item *item = &page.items[i];
        if (http_caller_sees(http_caller(r), item->collection)) {
            json_array_append_new(items, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "recording", item->recording,
                                                   "collection", item->collection, "name", item->name, "new_name",
                                                   item->new_name[0] ? item->new_name : item->name, "result",
                                                   batch_state_name(item->state), "problem", item->problem));
        }
    }
    if (page.more) {
        snprintf(next, sizeof next, "%lld", (long long)page.items[page.n - 1].position);
    }
    paging_reply(r, items, page.more ? next : NULL, columns);
    catalog_batch_items_done(&page);
}
