/* See change.h. The entity tag is the row's version, which is checked again inside the transaction that
 * changes the row. */
#include "api/change.h"

#include <stdio.h>
#include <string.h>

#include "api/body.h"
#include "decode/own_definitions.h"

void change_etag(const struct catalog_recording *row, bool topics, char out[CHANGE_ETAG]) {
    uint64_t grown = row->state == STATE_RECORDING && topics ? row->size : 0;
    uint32_t definitions = topics ? own_definitions_version() : 0; /* of which topics have their schema_source */
    int n = snprintf(out, CHANGE_ETAG, "\"%.8s-%llx-%llx%s", row->id, (unsigned long long)row->updated_ns,
                     (unsigned long long)grown, topics ? "-topics" : "");
    snprintf(out + n, CHANGE_ETAG - (size_t)n, definitions ? "-%x\"" : "\"", definitions);
}

bool change_if_match(struct http_request *r, const struct catalog_recording *row) {
    char with[CHANGE_ETAG], without[CHANGE_ETAG];
    change_etag(row, true, with);
    change_etag(row, false, without);
    if (http_if_match(r, with) || http_if_match(r, without)) {
        return true;
    }
    http_reply_problem(r, 412, "precondition-failed",
                       "the recording is not the one of that If-Match any more; get it again");
    return false;
}

int64_t change_version(const struct http_request *r, const struct catalog_recording *row) {
    const char *match = http_header(r, "If-Match");
    return match && strcmp(match, "*") != 0 ? row->updated_ns : CATALOG_ANY_VERSION;
}

void change_version_etag(int64_t version, char out[CHANGE_ETAG]) {
    snprintf(out, CHANGE_ETAG, "\"%llx\"", (unsigned long long)version);
}

bool change_expected(struct http_request *r, int64_t now, int64_t *version) {
    const char *match = http_header(r, "If-Match");
    char etag[CHANGE_ETAG];
    change_version_etag(now, etag);
    *version = http_if_absent(r) ? CATALOG_ABSENT : match ? now : CATALOG_ANY_VERSION;
    if (match && (now == CATALOG_ABSENT || !http_if_match(r, etag))) {
        http_reply_problem(r, 412, "precondition-failed", "it is not the one of that If-Match any more; get it again");
        return false;
    }
    return true;
}

void change_refuse(struct http_request *r, const struct reel_error *err) {
    if (err->code == REEL_CHANGED) {
        http_reply_problem(r, 412, "precondition-failed", "%s", err->text);
    } else {
        http_reply_error(r, err);
    }
}

/* ---- the body */

bool change_read_epoch(struct http_request *r, const json_t *value, struct catalog_change *out) {
    struct reel_time t = {0};
    struct reel_error err = {0};
    out->sets_epoch = value != NULL;
    out->has_epoch = value && !json_is_null(value);
    if (!out->has_epoch) {
        return true;
    }
    if (json_is_integer(value)) {
        out->epoch_ns = json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (!text || !reel_time_parse(text, 1, &t, &err) || t.kind == REEL_TIME_FROM_START ||
        t.kind == REEL_TIME_FROM_END) {
        body_refuse(r, "epoch", "must be an instant of the calendar, in RFC 3339 or as nanoseconds since 1970%s%s",
                    err.text[0] ? ": " : "", err.text);
        return false;
    }
    out->epoch_ns = reel_time_resolve(&t, 0, 0, reel_now_ns());
    return true;
}

bool change_read_tags(struct http_request *r, const json_t *tags, struct catalog_tag *out, uint32_t max, uint32_t *n) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tags, key, value) {
        if (*n == max) {
            body_refuse(r, "tags", "has more than %u members", max);
            return false;
        }
        if (!json_is_string(value) && !json_is_null(value)) {
            body_refuse(r, key, "must be a text, or null to take the tag away");
            return false;
        }
        out[(*n)++] = (struct catalog_tag){.key = (char *)key, .value = (char *)json_string_value(value)};
    }
    return true;
}
