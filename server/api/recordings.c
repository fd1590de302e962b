/* /recordings and /recordings/{id}. */
#include <stdio.h>
#include <string.h>

#include "api/common.h"
#include "api/routes.h"
#include "api/viewer.h"
#include "api/views.h"
#include "ingest/ingest.h"
#include "ingest/recordings.h"
#include "ingest/scanning.h"

static bool read_interval(struct http_request *r, struct catalog_query *q) {
    struct reel_time t;
    int64_t now = reel_now_ns();
    const char *const names[] = {"start", "end"};
    for (unsigned i = 0; i < 2; i++) {
        if (!http_param_time(r, names[i], &t)) {
            continue;
        }
        if (t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END) {
            http_reply_bad_param(r, names[i], "a time across recordings cannot be relative to one of them");
            return false;
        }
        *(i == 0 ? &q->has_start : &q->has_end) = true;
        *(i == 0 ? &q->start_ns : &q->end_ns) = reel_time_resolve(&t, 0, 0, now);
    }
    return true;
}

static bool read_query(struct http_request *r, struct catalog_query *q, const char **topics, const char **types) {
    uint64_t limit = 100;
    size_t n_topics = http_params(r, "topic", topics, API_GLOBS_MAX), n_types = http_params(r, "type", types, API_GLOBS_MAX);
    if (n_topics > API_GLOBS_MAX || n_types > API_GLOBS_MAX) {
        http_reply_bad_param(r, n_topics > API_GLOBS_MAX ? "topic" : "type", "at most %d of them", API_GLOBS_MAX);
        return false;
    }
    if (http_param_u64(r, "limit", &limit) && limit == 0) {
        http_reply_bad_param(r, "limit", "1 to 1000");
        return false;
    }
    *q = (struct catalog_query){.words = http_param(r, "q"),
                                .format = http_param(r, "format"),
                                .collection = http_param(r, "collection"),
                                .topics = topics,
                                .n_topics = (uint32_t)n_topics,
                                .types = types,
                                .n_types = (uint32_t)n_types,
                                .sort = http_param(r, "sort"),
                                .limit = limit > 1000 ? 1000 : (uint32_t)limit,
                                .cursor = http_param(r, "cursor")};
    q->has_state = http_param(r, "state") && recording_state_parse(http_param(r, "state"), &q->state);
    http_param_u64(r, "offset", &q->offset);
    http_param_bool(r, "count", &q->count);
    http_param_bool(r, "damaged", &q->damaged_only);
    return read_interval(r, q);
}

void api_recordings_list(struct http_request *r) {
    const char *topics[API_GLOBS_MAX], *types[API_GLOBS_MAX];
    struct catalog_query q;
    if (!read_query(r, &q, topics, types)) {
        return;
    }
    struct catalog_page page = {0};
    struct reel_error err = {0};
    if (!catalog_list(http_app(r)->catalog, &q, &page, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < page.n_items; i++) {
        json_t *item = view_recording(&page.items[i], NULL);
        viewer_add_links(r, item, &page.items[i]);
        json_array_append_new(items, item);
    }
    json_t *body = json_pack("{s:o}", "items", items);
    json_object_set_new(body, "next", page.next ? json_string(page.next) : json_null());
    if (page.next) {
        api_add_next_link(r, page.next);
    }
    if (q.count) {
        char total[24];
        snprintf(total, sizeof total, "%llu", (unsigned long long)page.total);
        http_add_header(r, "X-Total-Count", total);
        json_object_set_new(body, "total", view_u64(page.total));
    }
    catalog_page_done(&page);
    http_reply_json(r, 200, body);
}

void api_recording_get(struct http_request *r) {
    struct api_recording a;
    if (!api_find(r, &a)) {
        return;
    }
    struct app *app = http_app(r);
    char job[33] = "";
    AUTO(reel_index_free) struct reel_index *outline = NULL;
    if (a.row.state == STATE_READY) {
        a.recording = recordings_get(app->recordings, &a.row, api_wait_ns(r, 0), job, NULL);
    } else if (a.row.state == STATE_SCANNING) {
        outline = scan_open_outline(app, a.row.content, NULL);
    }
    json_t *body = view_recording(&a.row, a.recording ? reel_recording_index(a.recording) : outline);
    viewer_add_links(r, body, &a.row);
    http_reply_json(r, 200, body);
    api_recording_done(&a);
}

/* Trash or restore, then the manifest says so too; `row` is read anew. */
static bool change_state(struct app *app, struct catalog_recording *row, bool (*change)(struct catalog *c, const char *id, struct reel_error *err),
                         struct reel_error *err) {
    char id[RECORDING_ID_TEXT];
    memcpy(id, row->id, sizeof id);
    catalog_recording_done(row);
    return change(app->catalog, id, err) && catalog_get(app->catalog, id, row, err) && store_write_manifest(app->store, row, err);
}

void api_recording_delete(struct http_request *r) {
    struct api_recording a;
    bool purge = false;
    struct reel_error err = {0};
    http_param_bool(r, "purge", &purge);
    if (!api_find(r, &a)) {
        return;
    }
    bool good = true;
    if (purge) {
        good = ingest_purge(http_app(r), a.row.id, &err);
    } else if (a.row.state != STATE_TRASHED) {
        good = change_state(http_app(r), &a.row, catalog_trash, &err);
    }
    if (good) {
        http_reply_empty(r, 204);
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}

void api_recording_restore(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    if (!api_find(r, &a)) {
        return;
    }
    if (change_state(http_app(r), &a.row, catalog_restore, &err)) {
        http_reply_json(r, 200, view_recording(&a.row, NULL));
    } else {
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}
