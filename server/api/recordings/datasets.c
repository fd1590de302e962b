/* Reports of datasets, and previews of those that are not saved; saved.c has the rest. */
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "api/body.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/saved.h"
#include "datasets/layout.h"
#include "datasets/propose.h"

enum { PREVIEW_MAX = 20 }; /* recordings */

/* `proposed`: what of `value` the server has proposed; NULL: nothing. */
static void reply_report(struct http_request *r, const json_t *value, uint32_t max, const json_t *proposed) {
    char job[33], owner[HTTP_PRINCIPAL];
    struct reel_error err = {0};
    const struct layout_request q = {.value = value,
                                     .allowed = http_caller(r)->collections,
                                     .owner = http_client(r, owner),
                                     .max = max,
                                     .reports = true,
                                     .wait_ns = api_wait_ns(r, API_PLAN_WAIT_NS)};
    AUTO(layout_free) struct dataset_layout *layout = layout_get(http_app(r), &q, job, &err);
    if (layout) {
        json_t *report = layout_report(layout);
        if (proposed) {
            json_object_set(report, "proposed", (json_t *)proposed);
        }
        http_reply_json(r, 200, report);
    } else if (job[0]) {
        api_reply_busy(r, job, "the dataset is being planned");
    } else {
        http_reply_error(r, &err);
    }
}

void api_dataset_get(struct http_request *r) {
    const struct saved key = {
        .kind = (char *)"dataset", .collection = (char *)"", .name = (char *)http_segment(r, "dataset")};
    AUTO_STRUCT(saved_done) struct saved one = {0};
    struct reel_error err = {0};
    bool report = false;
    http_param_bool(r, "report", &report);
    if (!report || http_caller(r)->collections) { /* who is limited is refused there */
        api_saved_get(r);
    } else if (catalog_saved_get(http_app(r)->catalog, &key, &one, &err)) {
        reply_report(r, one.value, 0, NULL);
    } else {
        http_reply_error(r, &err);
    }
}

static bool find_ids(struct http_request *r, const json_t *ids, struct catalog_page *out, struct reel_error *err) {
    size_t n = json_array_size(ids) < PREVIEW_MAX ? json_array_size(ids) : PREVIEW_MAX;
    if (!(out->items = calloc(PREVIEW_MAX, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    for (; out->n_items < n; out->n_items++) {
        const char *id = json_string_value(json_array_get(ids, out->n_items));
        if (!catalog_get(http_app(r)->catalog, id ? id : "", &out->items[out->n_items], err)) {
            return false;
        }
        if (!access_sees(http_caller(r), &out->items[out->n_items])) {
            out->n_items++;
            return reel_fail(err, REEL_NOT_FOUND, "%s", catalog_not_found(id));
        }
    }
    return true;
}

/* The first recordings of a definition that may lack the rest. */
static bool find_first(struct http_request *r, const json_t *value, struct catalog_page *out, struct reel_error *err) {
    struct catalog_query q;
    const json_t *search = json_object_get(value, "search"), *ids = json_object_get(value, "recordings");
    if (json_is_array(ids)) {
        return find_ids(r, ids, out, err);
    }
    if (!json_is_object(search) || !saved_search_read(search, &q)) {
        return reel_fail(err, REEL_ARGUMENT, "a dataset has either \"search\" or \"recordings\"");
    }
    q.allowed = http_caller(r)->collections;
    q.limit = PREVIEW_MAX;
    return catalog_list(http_app(r)->catalog, &q, out, err);
}

/* The definition with what it lacks, by the first recording that has topics which are known; a new reference, NULL with
 * err or job. */
static json_t *propose_by(struct http_request *r, const json_t *value, const struct catalog_page *first, char job[33],
                          struct reel_error *err) {
    json_t *out = NULL;
    reel_fail(err, REEL_UNSUPPORTED, "no recording is ready, by whose topics features could be proposed");
    for (uint32_t i = 0; i < first->n_items && !out && err->code == REEL_UNSUPPORTED; i++) {
        AUTO(reel_recording_free) struct reel_recording *recording = NULL;
        if (first->items[i].state == STATE_READY) {
            *err = (struct reel_error){0};
            recording = api_recording_open(http_app(r), &first->items[i], api_wait_ns(r, API_PLAN_WAIT_NS), job, err);
        }
        out = recording ? dataset_propose(value, reel_recording_index(recording), err) : NULL;
    }
    return out;
}

/* A new reference, NULL: replied. */
static json_t *propose(struct http_request *r, const json_t *value) {
    struct catalog_page first = {0};
    struct reel_error err = {0};
    char job[33] = "";
    json_t *out = find_first(r, value, &first, &err) ? propose_by(r, value, &first, job, &err) : NULL;
    catalog_page_done(&first);
    if (!out && job[0]) {
        api_reply_busy(r, job, "a recording is being indexed");
    } else if (!out) {
        http_reply_error(r, &err);
    }
    return out;
}

void api_dataset_preview(struct http_request *r) {
    static const char *const known[] = {"value", NULL};
    const json_t *body = body_json(r), *value = json_object_get(body, "value");
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    if (!json_is_object(value)) {
        body_refuse(r, "value", "must be an object");
        return;
    }
    bool whole =
        json_object_get(value, "features") && (json_object_get(value, "fps") || json_object_get(value, "clock"));
    json_auto_t *proposed = whole ? NULL : propose(r, value);
    if (whole || proposed) {
        reply_report(r, whole ? value : proposed, PREVIEW_MAX, proposed);
    }
}
