/* PATCH /recordings/{id}: changes annotations, name and collection by a merge patch, and checks If-Match. The entity
 * tag is the row's version, which is checked again inside the transaction that changes the row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/routes.h"
#include "api/viewer.h"
#include "api/views.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "ingest/changing.h"
#include "ingest/names.h"

enum { TAG_CHANGES_MAX = 2 * TAGS_MAX };

void change_etag(const struct catalog_recording *row, bool topics, char out[CHANGE_ETAG]) {
    uint64_t grown = row->state == STATE_RECORDING && topics ? row->size : 0;
    snprintf(out, CHANGE_ETAG, "\"%.8s-%llx-%llx%s\"", row->id, (unsigned long long)row->updated_ns,
             (unsigned long long)grown, topics ? "-topics" : "");
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

void change_refuse(struct http_request *r, const struct reel_error *err) {
    if (err->code == REEL_CHANGED) {
        http_reply_problem(r, 412, "precondition-failed", "%s", err->text);
    } else {
        http_reply_error(r, err);
    }
}

/* ---- the body */

struct patch {
    struct catalog_change change;
    struct catalog_tag tags[TAG_CHANGES_MAX]; /* borrowed from the body */
    char *custom;
};

/* A text; with `empty` set, null means that text. False: replied. */
static bool read_text(struct http_request *r, const json_t *body, const char *member, const char *empty,
                      const char **out) {
    const json_t *value = json_object_get(body, member);
    if (!value) {
        return true;
    }
    *out = json_is_null(value) ? empty : json_string_value(value);
    if (!*out) {
        body_refuse(r, member, "must be a text");
    }
    return *out;
}

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

static bool read_patch(struct http_request *r, const json_t *body, struct patch *p) {
    static const char *const known[] = {"name", "collection", "description", "epoch", "custom", "tags", NULL};
    struct catalog_change *c = &p->change;
    const json_t *custom = json_object_get(body, "custom"), *tags = json_object_get(body, "tags");
    if (!body_knows(r, body, known) || !read_text(r, body, "name", NULL, &c->name) ||
        !read_text(r, body, "collection", NULL, &c->collection) ||
        !read_text(r, body, "description", "", &c->description) ||
        !change_read_epoch(r, json_object_get(body, "epoch"), c)) {
        return false;
    }
    if ((custom && !json_is_object(custom) && !json_is_null(custom)) ||
        (tags && !json_is_object(tags) && !json_is_null(tags))) {
        bool of_custom = custom && !json_is_object(custom) && !json_is_null(custom);
        body_refuse(r, of_custom ? "custom" : "tags", "must be an object, or null to empty it");
        return false;
    }
    if (custom && !(p->custom = json_dumps(custom, JSON_COMPACT | JSON_ENCODE_ANY))) {
        http_reply_no_memory(r);
        return false;
    }
    c->custom = p->custom;
    c->clears_tags = json_is_null(tags);
    c->tags = p->tags;
    return !json_is_object(tags) || change_read_tags(r, tags, p->tags, TAG_CHANGES_MAX, &c->n_tags);
}

/* Checks the new name, and that the caller may use the collection. False: replied. */
static bool check_names(struct http_request *r, const struct catalog_recording *row, const struct catalog_change *c) {
    struct reel_error err = {0};
    const char *collection = c->collection ? c->collection : row->collection;
    if (!names_check(collection, c->name ? c->name : row->name, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return api_may_use(r, collection);
}

/* ---- the request */

/* 200 with the recording as it is now, and its tag; reads the row anew. */
static void change_reply(struct http_request *r, struct catalog_recording *row) {
    char etag[CHANGE_ETAG], id[RECORDING_ID_TEXT];
    struct reel_error err = {0};
    memcpy(id, row->id, sizeof id);
    catalog_recording_done(row);
    if (!catalog_get(http_app(r)->catalog, id, row, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *body = view_recording(row, NULL);
    viewer_add_links(r, body, row);
    change_etag(row, false, etag);
    http_add_header(r, "ETag", etag);
    http_reply_json(r, 200, body);
}

static void change_recording(struct http_request *r, struct api_recording *a, struct patch *p) {
    struct app *app = http_app(r);
    struct reel_error err = {0};
    bool changed;
    p->change.version = change_version(r, &a->row);
    p->change.has_version = p->change.version != CATALOG_ANY_VERSION;
    if (!changing_apply(app, &a->row, &p->change, &changed, &err)) {
        change_refuse(r, &err);
        return;
    }
    change_reply(r, &a->row);
}

void api_recording_patch(struct http_request *r) {
    const json_t *body = body_json(r);
    struct patch p = {0};
    struct api_recording a;
    if (!body || !api_find(r, &a)) {
        return;
    }
    if (change_if_match(r, &a.row) && read_patch(r, body, &p) && check_names(r, &a.row, &p.change)) {
        change_recording(r, &a, &p);
    }
    free(p.custom);
    api_recording_done(&a);
}
