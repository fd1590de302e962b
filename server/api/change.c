/* See change.h. The entity tag is the row's version, which is checked again inside the transaction that
 * changes the row. */
#include "api/change.h"

#include <stdio.h>
#include <string.h>

#include "api/body.h"

void change_etag(const struct catalog_recording *row, bool topics, uint32_t definitions, char out[CHANGE_ETAG]) {
    uint64_t grown = row->state == STATE_RECORDING && topics ? row->size : 0;
    int n = snprintf(out, CHANGE_ETAG, "\"%.8s-%llx-%llx%s", row->id, (unsigned long long)row->updated_ns,
                     (unsigned long long)grown, topics ? "-topics" : "");
    snprintf(out + n, CHANGE_ETAG - (size_t)n, topics && definitions ? "-%x\"" : "\"", definitions);
}

/* Whether If-Match, if sent, has the tag of this state, or that of another form of it, which has "-" and more after it:
 * the text instead of JSON, topics made with other definitions. */
static bool is_state_matched(const struct http_request *r, const char *etag) {
    const char *list = http_header(r, "If-Match");
    char begin[CHANGE_ETAG];
    int size = snprintf(begin, sizeof begin, "%.*s", (int)strlen(etag) - 1, etag);
    if (http_if_match(r, etag)) {
        return true;
    }
    for (const char *at = list; (at = strstr(at, begin)); at += size) {
        if (at[size] == '-' && (at < list + 2 || memcmp(at - 2, "W/", 2) != 0)) {
            return true;
        }
    }
    return false;
}

bool change_if_match(struct http_request *r, const struct catalog_recording *row) {
    char with[CHANGE_ETAG], without[CHANGE_ETAG];
    change_etag(row, true, 0, with);
    change_etag(row, false, 0, without);
    if (is_state_matched(r, with) || is_state_matched(r, without)) {
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
    if (match && (now == CATALOG_ABSENT || !is_state_matched(r, etag))) {
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
