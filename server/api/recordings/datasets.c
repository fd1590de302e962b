/* Reports of datasets, and previews of those that are not saved; saved.c has the rest. */
#include <string.h>

#include "api/body.h"
#include "api/job_reply.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/saved.h"
#include "datasets/layout.h"

enum { PREVIEW_MAX = 20 }; /* recordings */

static void reply_report(struct http_request *r, const json_t *value, uint32_t max) {
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
        http_reply_json(r, 200, layout_report(layout));
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
        reply_report(r, one.value, 0);
    } else {
        http_reply_error(r, &err);
    }
}

void api_dataset_preview(struct http_request *r) {
    static const char *const known[] = {"value", NULL};
    const json_t *body = body_json(r);
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    if (!json_is_object(json_object_get(body, "value"))) {
        body_refuse(r, "value", "must be an object");
        return;
    }
    reply_report(r, json_object_get(body, "value"), PREVIEW_MAX);
}
