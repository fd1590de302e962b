/* /collections: their totals and descriptions. */
#include <stdlib.h>

#include "api/annotation_views.h"
#include "api/body.h"
#include "api/paging.h"
#include "api/routes.h"
#include "catalog/notes.h"
#include "ingest/manifests.h"

void api_collections_list(struct http_request *r) {
    struct catalog_collections page;
    struct reel_error err = {0};
    static const char *const columns[] = {"name", "recordings", "size", "messages", "duration_s", "start", "end", "description", NULL};
    uint32_t limit;
    char *after = NULL;
    if (!paging_limit(r, &limit) || !paging_after(r, &after)) {
        return;
    }
    if (catalog_collections_list(http_app(r)->catalog, after, limit, &page, &err)) {
        json_t *items = json_array();
        for (uint32_t i = 0; i < page.n; i++) {
            if (http_caller_sees(http_caller(r), page.items[i].name)) {
                json_array_append_new(items, view_collection(&page.items[i]));
            }
        }
        paging_reply(r, items, page.more ? page.items[page.n - 1].name : NULL, columns);
        catalog_collections_done(&page);
    } else {
        http_reply_error(r, &err);
    }
    free(after);
}

/* False: replied. */
static bool find(struct http_request *r, struct catalog_collection *out) {
    const char *name = http_segment(r, "name");
    struct reel_error err = {0};
    if (!http_caller_sees(http_caller(r), name)) {
        http_reply_problem(r, 404, "not-found", "there is no collection of that name");
        return false;
    }
    if (!catalog_collection_get(http_app(r)->catalog, name, out, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

void api_collection_get(struct http_request *r) {
    struct catalog_collection c;
    if (find(r, &c)) {
        http_reply_json(r, 200, view_collection(&c));
        catalog_collection_done(&c);
    }
}

void api_collection_patch(struct http_request *r) {
    static const char *const known[] = {"description", NULL};
    const json_t *body = body_json(r), *value = json_object_get(body, "description");
    struct catalog_collection c;
    struct reel_error err = {0};
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    const char *text = !value || json_is_null(value) ? "" : json_string_value(value);
    if (!text) {
        body_refuse(r, "description", "must be a text");
        return;
    }
    if (!find(r, &c)) {
        return;
    }
    if (!value ||
        (catalog_collection_describe(http_app(r)->catalog, c.name, text, &err) && manifests_write_collections(http_app(r), &err))) {
        struct catalog_collection now;
        if (find(r, &now)) {
            http_reply_json(r, 200, view_collection(&now));
            catalog_collection_done(&now);
        }
    } else {
        http_reply_error(r, &err);
    }
    catalog_collection_done(&c);
}
