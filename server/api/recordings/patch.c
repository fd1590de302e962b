/* PATCH /recordings/{id}: changes annotations, name and collection by a merge patch, and checks If-Match. */
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "index/index.h"
#include "json_whole.h"
#include "recordings/changing.h"
#include "recordings/names.h"
#include "scans/scanning.h"
#include "views/viewer_links.h"
#include "views/views.h"

/* ---- the body */

enum { TAG_CHANGES_MAX = 2 * TAGS_MAX };

struct patch {
    struct catalog_change change;
    struct catalog_tag tags[TAG_CHANGES_MAX]; /* borrowed from the body */
    char *custom;
};

/* A text; with `empty` set, null means that text. False: replied. */
static bool patch_read_text(struct http_request *r, const json_t *body, const char *member, const char *empty,
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

static bool read_clock(struct http_request *r, const json_t *value, struct catalog_change *out) {
    const char *name = json_string_value(value);
    out->sets_clock = value != NULL;
    out->has_clock = name && clock_named(name, &out->clock);
    out->clock_note = INDEX_CLOCK_SET;
    if (value && !out->has_clock && !json_is_null(value)) {
        body_refuse(r, "clock", "must be \"wall\", \"relative\", or null for what the scan found");
        return false;
    }
    return true;
}

static bool read_patch(struct http_request *r, const json_t *body, struct patch *p) {
    static const char *const known[] = {"name", "collection", "description", "clock", "epoch", "custom", "tags", NULL};
    struct catalog_change *c = &p->change;
    const json_t *custom = json_object_get(body, "custom"), *tags = json_object_get(body, "tags");
    if (!body_knows(r, body, known) || !patch_read_text(r, body, "name", NULL, &c->name) ||
        !patch_read_text(r, body, "collection", NULL, &c->collection) ||
        !patch_read_text(r, body, "description", "", &c->description) ||
        !change_read_epoch(r, json_object_get(body, "epoch"), c) || !read_clock(r, json_object_get(body, "clock"), c)) {
        return false;
    }
    if ((custom && !json_is_object(custom) && !json_is_null(custom)) ||
        (tags && !json_is_object(tags) && !json_is_null(tags))) {
        bool of_custom = custom && !json_is_object(custom) && !json_is_null(custom);
        body_refuse(r, of_custom ? "custom" : "tags", "must be an object, or null to empty it");
        return false;
    }
    if (custom && !(p->custom = json_whole_text(custom, JSON_COMPACT | JSON_ENCODE_ANY))) {
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
    change_etag(row, false, 0, etag);
    http_add_header(r, "ETag", etag);
    http_reply_json(r, 200, body);
}

static void change_recording(struct http_request *r, struct api_recording *a, struct patch *p) {
    struct app *app = http_app(r);
    struct reel_error err = {0};
    bool changed;
    char job[33] = "";
    AUTO(reel_index_free) struct reel_index *index = NULL;
    if (p->change.sets_clock && a->row.state != STATE_READY) {
        http_reply_problem(r, 409, "conflict", "the clock can be set when the recording has been scanned; it is %s",
                           recording_state_name(a->row.state));
        return;
    }
    if (p->change.sets_clock && !p->change.has_clock) {
        index = scan_open_summary(app, a->row.content, &err);
        if (!index && (a->recording = api_recording_open(app, &a->row, api_wait_ns(r, 0), job, &err))) { /* made again
                                                                                                          */
            index = scan_open_summary(app, a->row.content, &err);
        }
        if (!index) {
            http_reply_error(r, &err);
            return;
        }
        p->change.clock = reel_index_info(index)->clock;
        p->change.clock_note = reel_index_info(index)->clock_note;
    }
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
