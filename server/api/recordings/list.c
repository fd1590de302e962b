/* /recordings: the list. */
#include <stdio.h>

#include "api/paging.h"
#include "api/recordings/recordings.h"
#include "api/recordings/search_values.h"
#include "views/viewer_links.h"
#include "views/views.h"

enum { ROW_MEMORY = 4 << 10 }; /* of a recording, as values and as text */

static json_t *view_page(struct http_request *r, const struct catalog_page *page) {
    json_t *items = json_array();
    for (uint32_t i = 0; i < page->n_items; i++) {
        json_t *item = view_recording(&page->items[i], NULL);
        viewer_add_links(r, item, &page->items[i]);
        json_array_append_new(items, item);
    }
    return items;
}

static void add_number(struct http_request *r, const char *header, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    http_add_header(r, header, text);
}

void api_recordings_list(struct http_request *r) {
    static const char *const columns[] = {
        "id",      "collection", "name",        "revision", "group", "state",  "problem",  "created", "updated",
        "format",  "size",       "messages",    "clock",    "start", "end",    "start_ns", "end_ns",  "duration_ns",
        "damaged", "lost_bytes", "description", "epoch",    "tags",  "custom", NULL};
    struct recordings_query query;
    struct rows_form form;
    if (!rows_form(r, &form) || !recordings_read_query(r, &query)) {
        return;
    }
    if (http_param(r, "for") && !http_param(r, "where")) {
        http_reply_bad_param(r, "for", "it is about where=");
        return;
    }
    if (http_param(r, "where")) {
        search_values_list(r, &query, &form);
        return;
    }
    if (!http_reserve(r, (uint64_t)query.q.limit * ROW_MEMORY)) {
        return;
    }
    struct catalog_page page = {0};
    struct reel_error err = {0};
    if (!catalog_list(http_app(r)->catalog, &query.q, &page, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = view_page(r, &page), *body = json_pack("{s:O}", "items", items);
    json_object_set_new(body, "next", page.next ? json_string(page.next) : json_null());
    if (page.next) {
        api_add_next_link(r, page.next);
    }
    if (query.q.count) {
        add_number(r, "X-Total-Count", page.total);
        json_object_set_new(body, "total", view_u64(page.total));
        json_object_set_new(body, "total_capped", json_boolean(page.total_capped));
    }
    catalog_page_done(&page);
    rows_reply(r, &form, body, items, columns);
}
