/* See settings.h. The file is read, compared and written under one lock, so an older state never replaces a newer one.
 * It holds the secrets of webhooks, so only its owner may read it. */
#include "maintenance/settings.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "catalog/changes.h"
#include "catalog/definitions.h"
#include "catalog/saved.h"
#include "maintenance/retention.h"
#include "store/inspect.h"
#include "store/manifest.h"
#include "work/locks.h"

static json_t *webhooks_json(struct catalog *c, struct reel_error *err) {
    struct webhook hooks[WEBHOOKS_MAX];
    uint32_t n;
    if (!catalog_webhooks(c, hooks, &n, err)) {
        return NULL;
    }
    json_t *out = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const struct webhook *w = &hooks[i];
        json_array_append_new(out, json_pack("{s:I, s:s, s:O, s:O, s:s, s:I}", "id", (json_int_t)w->row, "url", w->url,
                                             "events", w->events, "collections", w->collections, "secret", w->secret,
                                             "created_ns", (json_int_t)w->created_ns));
        webhook_done(&hooks[i]);
    }
    return out;
}

static json_t *saved_json(struct catalog *c, struct reel_error *err) {
    AUTO_STRUCT(saved_list_done) struct saved_list list = {0};
    if (!catalog_saved_list(c, NULL, NULL, &list, err)) {
        return NULL;
    }
    json_t *out = json_array();
    for (uint32_t i = 0; i < list.n; i++) {
        const struct saved *one = &list.items[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:O, s:s, s:I, s:I}", "kind", one->kind, "collection",
                                             one->collection, "name", one->name, "value", one->value, "author",
                                             one->author, "created_ns", (json_int_t)one->created_ns, "updated_ns",
                                             (json_int_t)one->updated_ns));
    }
    return out;
}

static json_t *definitions_json(struct catalog *c, struct reel_error *err) {
    AUTO_STRUCT(catalog_definitions_done) struct catalog_definitions all = {0};
    if (!catalog_definitions_list(c, &all, err)) {
        return NULL;
    }
    json_t *out = json_array();
    for (uint32_t i = 0; i < all.n; i++) {
        const struct catalog_definition *one = &all.items[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:I, s:I}", "name", one->name, "text", one->text,
                                             "author", one->author, "created_ns", (json_int_t)one->created_ns,
                                             "updated_ns", (json_int_t)one->updated_ns));
    }
    return out;
}

static bool settings_keep(struct app *app, struct reel_error *err) {
    const uint64_t failures = heap_failures();
    json_auto_t *retention = retention_get(app->catalog, err);
    json_auto_t *hooks = retention ? webhooks_json(app->catalog, err) : NULL;
    json_auto_t *saved = hooks ? saved_json(app->catalog, err) : NULL;
    json_auto_t *definitions = saved ? definitions_json(app->catalog, err) : NULL;
    if (!definitions) {
        return heap_failures() == failures ? false : reel_fail_memory(err);
    }
    json_auto_t *now = json_pack("{s:i, s:O, s:O, s:O}", "reel_settings", 1, "retention", retention, "webhooks", hooks,
                                 "saved", saved);
    if (json_array_size(definitions) > 0) {
        json_object_set(now, "definitions", definitions);
    }
    json_auto_t *there = NULL;
    if (!store_load_settings(app->store, &there, err)) {
        return false;
    }
    size_t n = json_array_size(hooks) + json_array_size(saved) + json_array_size(definitions) +
               json_array_size(json_object_get(retention, "rules")) +
               json_array_size(json_object_get(retention, "quotas"));
    if (!there && n == 0) {
        return true; /* nothing was ever set */
    }
    if (heap_failures() != failures) { /* else it may lack members */
        return reel_fail_memory(err);
    }
    return json_equal(now, there) || store_write_settings(app->store, now, err);
}

bool settings_save(struct app *app, struct reel_error *err) {
    AUTO_STRUCT(lock_release) struct key_lock lock = {0};
    lock_take(app->locks, &lock, "file", "settings");
    return settings_keep(app, err);
}

/* ---- restoring */

static bool are_globs(const json_t *list) {
    size_t i;
    json_t *one;
    bool good = json_is_array(list);
    json_array_foreach(list, i, one) {
        good = good && json_is_string(one);
    }
    return good;
}

static bool read_webhook(json_t *item, struct webhook *out) {
    const char *url, *secret;
    json_t *events, *collections;
    json_int_t id, created_ns;
    if (json_unpack(item, "{s:I, s:s, s:o, s:o, s:s, s:I}", "id", &id, "url", &url, "events", &events, "collections",
                    &collections, "secret", &secret, "created_ns", &created_ns) != 0 ||
        id < 1 || !are_globs(events) || !are_globs(collections)) {
        return false;
    }
    *out = (struct webhook){.row = id,
                            .created_ns = created_ns,
                            .url = strdup(url),
                            .secret = strdup(secret),
                            .events = json_incref(events),
                            .collections = json_incref(collections)};
    return out->url && out->secret;
}

/* A webhook that is in the catalog already is not changed. */
static bool restore_webhook(struct app *app, json_t *item, struct reel_error *err) {
    struct webhook w = {0}, there;
    struct reel_error why = {0};
    bool known = read_webhook(item, &w) && catalog_webhook_get(app->catalog, w.row, &there, &why), good = true;
    if (known) {
        webhook_done(&there);
    } else if (w.url && why.code != REEL_NOT_FOUND) {
        good = reel_error_pass(err, &why);
    } else if (w.url) {
        good = catalog_webhook_add(app->catalog, &w, &why) || why.code == REEL_LIMIT || reel_error_pass(err, &why);
    }
    webhook_done(&w);
    return good;
}

/* One that is in the catalog already is not changed. */
static bool restore_saved(struct app *app, json_t *item, struct reel_error *err) {
    struct saved one = {0};
    struct reel_error why = {0};
    json_int_t created_ns, updated_ns;
    /* Texts are borrowed. */
    if (json_unpack(item, "{s:s, s:s, s:s, s:o, s:s, s:I, s:I}", "kind", &one.kind, "collection", &one.collection,
                    "name", &one.name, "value", &one.value, "author", &one.author, "created_ns", &created_ns,
                    "updated_ns", &updated_ns) != 0) {
        return true;
    }
    one.created_ns = created_ns;
    one.updated_ns = updated_ns;
    return catalog_saved_put(app->catalog, &one, CATALOG_ABSENT, &why) || why.code == REEL_CHANGED ||
           why.code == REEL_ARGUMENT || why.code == REEL_LIMIT || reel_error_pass(err, &why);
}

/* One that is in the catalog already is not changed. */
static bool restore_definition(struct app *app, json_t *item, struct reel_error *err) {
    struct catalog_definition one = {0};
    struct reel_error why = {0};
    json_int_t created_ns, updated_ns;
    /* Texts are borrowed. */
    if (json_unpack(item, "{s:s, s:s, s:s, s:I, s:I}", "name", &one.name, "text", &one.text, "author", &one.author,
                    "created_ns", &created_ns, "updated_ns", &updated_ns) != 0 ||
        !one.name[0]) {
        return true;
    }
    one.created_ns = created_ns;
    one.updated_ns = updated_ns;
    return catalog_definition_put(app->catalog, &one, CATALOG_ABSENT, &why) || why.code == REEL_CHANGED ||
           why.code == REEL_LIMIT || reel_error_pass(err, &why);
}

bool settings_restore(struct app *app, struct reel_error *err) {
    json_auto_t *all = NULL;
    if (!store_load_settings(app->store, &all, err)) {
        return false;
    }
    const json_t *retention = json_object_get(all, "retention");
    size_t i;
    json_t *item;
    if (retention && retention_check(retention, NULL) && !retention_set(app->catalog, retention, err)) {
        return false;
    }
    json_array_foreach(json_object_get(all, "webhooks"), i, item) {
        if (!restore_webhook(app, item, err)) {
            return false;
        }
    }
    json_array_foreach(json_object_get(all, "saved"), i, item) {
        if (!restore_saved(app, item, err)) {
            return false;
        }
    }
    json_array_foreach(json_object_get(all, "definitions"), i, item) {
        if (!restore_definition(app, item, err)) {
            return false;
        }
    }
    return true;
}
