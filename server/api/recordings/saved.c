/* /collections/{name}/layouts, /searches and /datasets: what users save by name (catalog/saved.h). */
#include "catalog/saved.h"
#include "api/recording.h"

#include <stdio.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/paging.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "datasets/definition.h"
#include "maintenance/settings.h"
#include "views/views.h"

/* The one in the path, its texts borrowed; in the path of a list it has no name. */
static struct saved saved_key_of(const struct http_request *r) {
    static const char datasets[] = "/api/v1/datasets";
    const char *collection = http_segment(r, "name");
    bool is_dataset = strncmp(http_path(r), datasets, sizeof datasets - 1) == 0;
    const char *kind = collection ? "layout" : is_dataset ? "dataset" : "search", *name = http_segment(r, kind);
    return (struct saved){
        .kind = (char *)kind, .collection = (char *)(collection ? collection : ""), .name = (char *)name};
}

/* A search or a dataset may name any collection. False: replied. */
static bool may_use(struct http_request *r, const struct saved *key) {
    if (key->collection[0]) {
        return api_may_use(r, key->collection);
    }
    if (http_caller(r)->collections) {
        http_reply_problem(r, 403, "forbidden",
                           "searches and datasets are of the whole archive, and %s is limited to some collections",
                           http_caller(r)->name);
        return false;
    }
    return true;
}

static json_t *saved_view(const struct saved *one) {
    return json_pack("{s:s, s:o, s:O, s:s, s:o, s:o}", "name", one->name, "collection",
                     one->collection[0] ? json_string(one->collection) : json_null(), "value", one->value, "author",
                     one->author, "created", view_time(one->created_ns, REEL_CLOCK_WALL), "updated",
                     view_time(one->updated_ns, REEL_CLOCK_WALL));
}

void api_saved_list(struct http_request *r) {
    static const char *const columns[] = {"name", "collection", "value", "author", "created", "updated", NULL};
    const struct saved key = saved_key_of(r);
    AUTO_STRUCT(saved_list_done) struct saved_list list = {0};
    struct reel_error err = {0};
    bool hidden = !key.collection[0] && http_caller(r)->collections;
    if (!hidden && !may_use(r, &key)) {
        return;
    }
    if (!hidden && !catalog_saved_list(http_app(r)->catalog, key.kind, key.collection, &list, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < list.n; i++) {
        json_array_append_new(items, saved_view(&list.items[i]));
    }
    paging_reply(r, items, NULL, columns);
}

static void reply_saved(struct http_request *r, unsigned status, const struct saved *one) {
    char etag[CHANGE_ETAG];
    change_version_etag(one->updated_ns, etag);
    http_add_header(r, "ETag", etag);
    http_reply_json(r, status, saved_view(one));
}

void api_saved_get(struct http_request *r) {
    const struct saved key = saved_key_of(r);
    AUTO_STRUCT(saved_done) struct saved one = {0};
    struct reel_error err = {0};
    if (!may_use(r, &key)) {
        return;
    }
    if (catalog_saved_get(http_app(r)->catalog, &key, &one, &err)) {
        reply_saved(r, 200, &one);
    } else {
        http_reply_error(r, &err);
    }
}

/* What is there of the key (zeroed if nothing is), and the version that the request expects. False: replied. */
static bool saved_find(struct http_request *r, const struct saved *key, struct saved *now, int64_t *version) {
    struct reel_error err = {0};
    if (!may_use(r, key)) {
        return false;
    }
    if (!catalog_saved_get(http_app(r)->catalog, key, now, &err) && err.code != REEL_NOT_FOUND) {
        http_reply_error(r, &err);
        return false;
    }
    return change_expected(r, now->name ? now->updated_ns : CATALOG_ABSENT, version);
}

/* The member value. NULL: replied. */
static json_t *saved_read_value(struct http_request *r) {
    static const char *const known[] = {"value", NULL};
    const json_t *body = body_json(r);
    json_t *value = json_object_get(body, "value");
    if (!body || !body_knows(r, body, known)) {
        return NULL;
    }
    if (!json_is_object(value)) {
        body_refuse(r, "value", "must be an object");
        return NULL;
    }
    return value;
}

/* A layout is one of a collection that is there; a dataset is understood. */
static bool check_saved(struct http_request *r, const struct saved *key, struct reel_error *err) {
    AUTO_STRUCT(catalog_collection_done) struct catalog_collection c = {0};
    struct dataset_definition definition;
    if (strcmp(key->kind, "dataset") == 0) {
        return dataset_definition_read(key->value, &definition, err);
    }
    return !key->collection[0] || catalog_collection_get(http_app(r)->catalog, key->collection, &c, err);
}

void api_saved_put(struct http_request *r) {
    struct app *app = http_app(r);
    struct saved one = saved_key_of(r);
    AUTO_STRUCT(saved_done) struct saved now = {0};
    struct reel_error err = {0};
    int64_t version;
    if (!(one.value = saved_read_value(r)) || !saved_find(r, &one, &now, &version)) {
        return;
    }
    one.author = (char *)http_caller(r)->name;
    if (check_saved(r, &one, &err) && catalog_saved_put(app->catalog, &one, version, &err) &&
        settings_save(app, &err)) {
        reply_saved(r, now.name ? 200 : 201, &one);
    } else {
        change_refuse(r, &err);
    }
}

void api_saved_delete(struct http_request *r) {
    const struct saved key = saved_key_of(r);
    AUTO_STRUCT(saved_done) struct saved now = {0};
    struct reel_error err = {0};
    int64_t version;
    if (!saved_find(r, &key, &now, &version)) {
        return;
    }
    if (catalog_saved_delete(http_app(r)->catalog, &key, version, &err) && settings_save(http_app(r), &err)) {
        http_reply_empty(r, 204);
    } else {
        change_refuse(r, &err);
    }
}
