/* /collections: their totals and descriptions. */
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "maintenance/settings.h"
#include "manifests/manifests.h"
#include "recordings/names.h"
#include "views/annotations.h"

void api_collections_list(struct http_request *r) {
    struct catalog_collections page;
    struct reel_error err = {0};
    static const char *const columns[] = {"name",  "recordings", "size",        "messages", "duration_s",
                                          "start", "end",        "description", NULL};
    uint32_t limit = paging_limit(r);
    char *after = NULL;
    if (!paging_after(r, &after)) {
        return;
    }
    if (catalog_collections_list(http_app(r)->catalog, after, limit, &page, &err)) {
        json_t *items = json_array();
        for (uint32_t i = 0; i < page.n; i++) {
            if (http_caller_sees(http_caller(r), page.items[i].name)) {
                json_array_append_new(items, view_collection(&page.items[i]));
            }
        }
        paging_reply(r, items, page.more ? page.items[page.n - 1].name : NULL, columns);
        catalog_collections_done(&page);
    } else {
        http_reply_error(r, &err);
    }
    free(after);
}

/* False: replied. */
static bool collections_find(struct http_request *r, struct catalog_collection *out) {
    const char *name = http_segment(r, "name");
    struct reel_error err = {0};
    if (!http_caller_sees(http_caller(r), name)) {
        http_reply_problem(r, 404, "not-found", "there is no collection of that name");
        return false;
    }
    if (!catalog_collection_get(http_app(r)->catalog, name, out, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

void api_collection_get(struct http_request *r) {
    struct catalog_collection c;
    if (collections_find(r, &c)) {
        http_reply_json(r, 200, view_collection(&c));
        catalog_collection_done(&c);
    }
}

/* The collection as it is now. */
static void reply_now(struct http_request *r, const char *name) {
    struct catalog_collection now;
    struct reel_error err = {0};
    if (catalog_collection_get(http_app(r)->catalog, name, &now, &err)) {
        http_reply_json(r, 200, view_collection(&now));
        catalog_collection_done(&now);
    } else {
        http_reply_error(r, &err);
    }
}

/* False: replied. */
static bool may_rename_to(struct http_request *r, const char *name) {
    struct reel_error err = {0};
    if (http_caller(r)->role < ROLE_ADMIN) {
        http_reply_problem(r, 403, "forbidden",
                           "To rename a collection needs the role admin: rules and tokens that name it change too.");
        return false;
    }
    if (!api_may_use(r, name)) {
        return false;
    }
    if (!names_check(name, "name", &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* Either may be NULL: it stays. */
static void collections_change(struct http_request *r, const struct catalog_collection *c, const char *description,
                               const char *to) {
    struct app *app = http_app(r);
    struct reel_error err = {0};
    bool good = (!description && !to) || (catalog_collection_change(app->catalog, c->name, description, to, &err) &&
                                          manifests_write_collections(app, &err) && (!to || settings_save(app, &err)));
    if (!good) {
        http_reply_error(r, &err);
        return;
    }
    if (to) {
        manifests_changed(app);
    }
    reply_now(r, to ? to : c->name);
}

void api_collection_patch(struct http_request *r) {
    static const char *const known[] = {"description", "name", NULL};
    const json_t *body = body_json(r), *value = json_object_get(body, "description"),
                 *name = json_object_get(body, "name");
    AUTO_STRUCT(catalog_collection_done) struct catalog_collection c = {0};
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    const char *text = !value || json_is_null(value) ? "" : json_string_value(value);
    if (!text || (name && !json_is_string(name))) {
        body_refuse(r, text ? "name" : "description", "must be a text");
        return;
    }
    if (!collections_find(r, &c)) {
        return;
    }
    const char *to = name && strcmp(c.name, json_string_value(name)) != 0 ? json_string_value(name) : NULL;
    if (!to || may_rename_to(r, to)) {
        collections_change(r, &c, value ? text : NULL, to);
    }
}
