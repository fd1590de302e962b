/* /recordings/{id}. */
#include <stdio.h>
#include <string.h>

#include "api/change.h"
#include "api/job_reply.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/announced.h"
#include "decode/own_definitions.h"
#include "http/json_text.h"
#include "live/live.h"
#include "recordings/changing.h"
#include "recordings/ingest.h"
#include "scans/open_recordings.h"
#include "scans/scanning.h"
#include "views/viewer_links.h"
#include "views/views.h"

/* From malloc, with a newline; NULL: no memory. */
static char *json_line(const json_t *value) {
    AUTO_MEM char *text = json_text(value);
    char *line = NULL;
    return text && asprintf(&line, "%s\n", text) >= 0 ? line : NULL;
}

/* What users asked the robot for, the newest first. */
static void add_fetches(struct app *app, const struct catalog_recording *row, json_t *body) {
    struct catalog_fetch fetches[FETCHES_SHOWN_MAX];
    struct reel_error ignored = {0};
    uint32_t n = 0;
    json_t *list = json_array();
    if (catalog_fetches_of(app->catalog, row->id, fetches, &n, &ignored)) {
        for (uint32_t i = 0; i < n; i++) {
            json_array_append_new(list, view_fetch(&fetches[i], row->clock));
        }
    }
    json_object_set_new(json_object_get(body, "announced"), "fetches", list);
}

void api_recording_get(struct http_request *r) {
    struct api_recording a;
    if (!api_find(r, &a)) {
        return;
    }
    struct app *app = http_app(r);
    char job[33] = "", etag[CHANGE_ETAG];
    if (http_caller(r)->recording[0] && a.row.state != STATE_RECORDING) { /* which the page asks for again and again */
        http_audit(r);
    }
    const uint32_t definitions = own_definitions_version(); /* they may change while the answer is made */
    /* links to a viewer hang on the request's host */
    bool keeps = a.row.state == STATE_READY && !app->config.viewer && !app->config.viewer_mol;
    char *kept = keeps ? catalog_answer(app->catalog, http_segment(r, "id"), &a.row, definitions) : NULL;
    if (kept) {
        change_etag(&a.row, true, definitions, etag);
        http_add_header(r, "ETag", etag);
        http_reply_json_text(r, 200, kept);
        api_recording_done(&a);
        return;
    }
    AUTO(reel_index_free) struct reel_index *summary = NULL;
    if (a.row.state == STATE_READY || a.row.state == STATE_RECORDING) {
        a.recording = api_recording_open(app, &a.row, api_wait_ns(r, 0), job, NULL);
    } else if (a.row.state == STATE_ANNOUNCED) {
        if (!http_reserve(r, scan_pack_memory(app, a.row.content))) {
            api_recording_done(&a);
            return;
        }
        summary = scan_open_announced(app, a.row.content, NULL);
    } else if (a.row.state == STATE_SCANNING) {
        summary = scan_open_summary(app, a.row.content, NULL);
    }
    const struct reel_index *index = a.recording ? reel_recording_index(a.recording) : summary;
    json_t *body = view_recording(&a.row, index);
    if (a.row.state == STATE_ANNOUNCED) {
        add_fetches(app, &a.row, body);
    }
    viewer_add_links(r, body, &a.row);
    change_etag(&a.row, a.recording || summary, definitions, etag);
    http_add_header(r, "ETag", etag);
    struct view_slice slice = {.limit = VIEW_ITEMS_MAX};
    char *text = index ? paging_topics(r, body, index, &slice) : json_line(body);
    if (text && keeps && a.recording && own_definitions_version() == definitions) {
        catalog_keep_answer(app->catalog, http_segment(r, "id"), &a.row, definitions, text);
    }
    if (text) {
        http_reply_json_text(r, 200, text);
    } else {
        http_reply_no_memory(r);
    }
    json_decref(body);
    api_recording_done(&a);
}

void api_recording_delete(struct http_request *r) {
    struct api_recording a;
    bool purge = false;
    struct reel_error err = {0};
    http_param_bool(r, "purge", &purge);
    if (purge && http_caller(r)->role < ROLE_ADMIN) {
        http_reply_problem(r, 403, "forbidden",
                           "This needs the role admin; without purge=true the recording goes to the trash.");
        return;
    }
    if (!api_find(r, &a)) {
        return;
    }
    if (!change_if_match(r, &a.row)) {
        api_recording_done(&a);
        return;
    }
    int64_t version = change_version(r, &a.row);
    bool good = purge ? ingest_purge_at(http_app(r), a.row.id, version, &err)
                      : changing_trash(http_app(r), &a.row, version, &err);
    if (good && purge && a.row.state == STATE_RECORDING) {
        live_drop(http_app(r)->live, a.row.id);
    }
    if (good) {
        http_reply_empty(r, 204);
    } else {
        change_refuse(r, &err);
    }
    api_recording_done(&a);
}

void api_recording_restore(struct http_request *r) {
    struct api_recording a;
    struct reel_error err = {0};
    if (!api_find(r, &a)) {
        return;
    }
    struct catalog_recording now = {0};
    if (changing_restore(http_app(r), &a.row, &err) && catalog_get(http_app(r)->catalog, a.row.id, &now, &err)) {
        http_reply_json(r, 200, view_recording(&now, NULL));
    } else {
        http_reply_error(r, &err);
    }
    catalog_recording_done(&now);
    api_recording_done(&a);
}
