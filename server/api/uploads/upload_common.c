/* See upload.h. */
#include "api/change.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/uploads/upload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "views/addresses.h"
#include "views/viewer_links.h"
#include "views/views.h"

bool upload_read_query(struct http_request *r, struct upload_options *w) {
    static const char *const names[] = {"name",    "file_name", "collection", "format",
                                        "part_of", "group",     "replace",    "keep"};
    struct reel_error err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = http_param(r, names[i]);
        bool flag = i >= 6, known, yes = false; /* a bare ?replace means yes */
        if (!text) {
            continue;
        }
        json_t *value = flag && http_param_bool(r, names[i], &yes) ? json_boolean(yes) : json_string(text);
        bool good = upload_options_set(w, names[i], value, &known, &err);
        json_decref(value);
        if (!good) {
            http_reply_error(r, &err);
            return false;
        }
    }
    const char *tags[UPLOAD_TAG_PARAMS_MAX];
    size_t n = http_params(r, "tag", tags, UPLOAD_TAG_PARAMS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(tags[i], '=');
        AUTO_MEM char *key = strndup(tags[i], equals ? (size_t)(equals - tags[i]) : strlen(tags[i]));
        if (!key || !equals || !catalog_tag_check(key, equals + 1, &err) ||
            !catalog_annotations_set_tag(&w->annotations, key, equals + 1, &err)) {
            http_reply_bad_param(r, "tag", "%s", equals ? err.text : "a tag is written key=value");
            return false;
        }
    }
    return true;
}

bool upload_may(struct http_request *r, const struct upload_options *w, uint64_t length) {
    const struct ingest_request q = upload_options_request(w);
    struct reel_error err = {0};
    if (!api_may_use(r, q.collection)) {
        return false;
    }
    if (!ingest_check(http_app(r), &q, length, &err)) {
        change_refuse(r, &err);
        return false;
    }
    return true;
}

json_t *upload_view(const struct http_request *r, const struct ingest_result *result, struct upload_answer *out) {
    bool there = result->outcome == INGEST_EXISTS || result->outcome == INGEST_JOINED;
    *out = (struct upload_answer){.status = result->outcome == INGEST_CREATED    ? 201
                                            : result->outcome == INGEST_SCANNING ? 202
                                                                                 : 200,
                                  .header = there ? "Content-Location" : "Location"};
    snprintf(out->address, sizeof out->address, "/api/v1/recordings/%s", result->recording.id);
    json_t *body = view_recording(&result->recording, NULL);
    json_object_set_new(body, "links", address_links(r, &result->recording));
    viewer_add_links(r, body, &result->recording);
    if (result->outcome == INGEST_SCANNING || (result->outcome == INGEST_CREATED && result->job[0])) {
        json_object_set_new(body, "job", api_view_job(r, result->job));
    }
    return body;
}

void upload_refuse(struct http_request *r, const struct ingest_result *result, const struct reel_error *err) {
    if (result->outcome == INGEST_REFUSED) {
        change_refuse(r, err);
        return;
    }
    json_t *extra = json_pack("{s:o}", "recording", view_recording(&result->recording, NULL));
    http_reply_problem_with(r, err->code == REEL_NOT_MINE ? 415 : 422, "unreadable", err->text, extra);
}
