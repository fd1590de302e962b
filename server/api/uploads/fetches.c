/* Files of announced recordings: users ask for them, robots look for what they are asked for, and answer. */
#include <stdlib.h>
#include <string.h>

#include "api/paging.h"
#include "api/recording.h"
#include "api/uploads/uploads.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/number.h"
#include "catalog/announced.h"
#include "syntax/utf8.h"
#include "views/views.h"

/* ---- asking */

/* The range on the recording's own clock. False: replied. */
static bool read_range(struct http_request *r, const struct catalog_recording *row, struct catalog_fetch *fetch) {
    struct reel_time start, end;
    struct reel_error err = {0};
    bool has_start = http_param_time(r, "start", &start), has_end = http_param_time(r, "end", &end);
    fetch->has_range = has_start || has_end;
    fetch->start_ns = row->start_ns;
    fetch->end_ns = row->end_ns < INT64_MAX ? row->end_ns + 1 : INT64_MAX; /* the end is excluded */
    if (has_start && !reel_time_within(&start, row->start_ns, row->end_ns, &fetch->start_ns, &err)) {
        http_reply_bad_param(r, "start", "%s", err.text);
        return false;
    }
    if (has_end && !reel_time_within(&end, row->start_ns, row->end_ns, &fetch->end_ns, &err)) {
        http_reply_bad_param(r, "end", "%s", err.text);
        return false;
    }
    if (fetch->has_range && fetch->start_ns >= fetch->end_ns) {
        http_reply_bad_param(r, has_end ? "end" : "start", "the range is empty");
        return false;
    }
    return true;
}

static void ask(struct http_request *r, const struct catalog_recording *row) {
    struct catalog_fetch fetch = {0};
    struct announced a;
    struct reel_error err = {0};
    if (row->state != STATE_ANNOUNCED || !announced_read(row->announced, &a)) {
        http_reply_problem(r, 409, "conflict", "only the file of an announced recording can be fetched; this one is %s",
                           recording_state_name(row->state));
        return;
    }
    memcpy(fetch.recording, row->id, sizeof fetch.recording);
    utf8_copy(fetch.author, sizeof fetch.author, http_caller(r)->name);
    if (!read_range(r, row, &fetch)) {
        return;
    }
    if (!catalog_fetch_ask(http_app(r)->catalog, a.agent, &fetch, &err)) {
        err.code == REEL_LIMIT ? http_reply_problem(r, 409, "conflict", "%s", err.text) : http_reply_error(r, &err);
        return;
    }
    http_reply_json(r, 202, view_fetch(&fetch, row->clock));
}

void api_fetch(struct http_request *r) {
    struct api_recording a;
    if (api_find(r, &a)) {
        ask(r, &a.row);
        api_recording_done(&a);
    }
}

/* ---- the robot */

/* False: replied. */
static bool read_agent(struct http_request *r, char agent[ANNOUNCED_AGENT]) {
    const char *text = http_param(r, "agent");
    if (!text || !hex_is(text, ANNOUNCED_AGENT - 1)) {
        http_reply_bad_param(r, "agent", "is not %d hexadecimal digits", ANNOUNCED_AGENT - 1);
        return false;
    }
    memcpy(agent, text, ANNOUNCED_AGENT);
    return true;
}

/* With what the robot needs to find the file; NULL: the caller does not see the recording, or it is gone. */
static json_t *view_wanted(struct http_request *r, const struct catalog_fetch *fetch) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
    struct reel_error ignored = {0};
    struct announced a;
    if (!catalog_get(http_app(r)->catalog, fetch->recording, &row, &ignored) ||
        !http_caller_sees(http_caller(r), row.collection) || !announced_read(row.announced, &a)) {
        return NULL;
    }
    json_t *item = view_fetch(fetch, row.clock);
    json_object_set_new(item, "collection", json_string(row.collection));
    json_object_set_new(item, "name", json_string(row.name));
    json_object_set_new(item, "sha256", json_string(a.sha256));
    return item;
}

void api_fetches(struct http_request *r) {
    static const char *const columns[] = {"id",  "recording", "collection", "name",     "sha256",  "state",  "start",
                                          "end", "author",    "asked",      "answered", "problem", "result", NULL};
    char agent[ANNOUNCED_AGENT];
    struct reel_error err = {0};
    uint32_t n;
    if (!read_agent(r, agent)) {
        return;
    }
    AUTO_MEM struct catalog_fetch *fetches = calloc(FETCHES_MAX, sizeof *fetches);
    if (!fetches) {
        http_reply_no_memory(r);
        return;
    }
    if (!catalog_fetches_waiting(http_app(r)->catalog, agent, fetches, &n, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *item = view_wanted(r, &fetches[i]);
        if (item) {
            json_array_append_new(items, item);
        }
    }
    paging_reply(r, items, NULL, columns);
}

/* The recording that has the part: one that the robot's token sees. False: replied. */
static bool read_result(struct http_request *r, struct catalog_fetch *fetch) {
    const char *result = http_param(r, "recording"), *problem = http_param(r, "problem");
    struct api_recording a;
    if (!result == !problem) {
        http_reply_bad_param(r, "problem", "the answer is either a problem or a recording");
        return false;
    }
    if (problem) {
        utf8_copy(fetch->problem, sizeof fetch->problem, *problem ? problem : "the robot does not say why");
        return true;
    }
    if (!api_find_key(r, result, &a)) {
        return false;
    }
    memcpy(fetch->result, a.row.id, sizeof fetch->result);
    api_recording_done(&a);
    return true;
}

void api_fetch_answer(struct http_request *r) {
    struct catalog_fetch fetch = {0};
    struct reel_error err = {0};
    char agent[ANNOUNCED_AGENT];
    if (!read_agent(r, agent) || !read_result(r, &fetch)) {
        return;
    }
    if (number_i64(http_segment(r, "id"), &fetch.row) &&
        catalog_fetch_answer(http_app(r)->catalog, agent, &fetch, &err)) {
        http_reply_empty(r, 204);
    } else if (err.code == REEL_OK || err.code == REEL_NOT_FOUND) {
        http_reply_problem(r, 404, "not-found", "nothing of this agent waits for that");
    } else {
        http_reply_error(r, &err);
    }
}
