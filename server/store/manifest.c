/* See manifest.h. */
#include "store/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "json_whole.h"
#include "store/directory.h"
#include "store/store_internal.h"

/* ---- reading */

/* The text of a content with this suffix or, without one, the small file `name` of the archive. REEL_NOT_FOUND. */
static json_t *manifest_load(const struct store *store, const char *name, const char *suffix, struct reel_error *err) {
    json_t *j = NULL;
    if (!store->ops->load(store, name, suffix, &j, err)) {
        return NULL;
    }
    if (!json_is_object(j)) {
        json_decref(j);
        reel_fail(err, REEL_DAMAGED, "the manifest is not a JSON object");
        return NULL;
    }
    return j;
}

json_t *store_load_manifest(const struct store *store, const char *content, struct reel_error *err) {
    json_t *j = manifest_load(store, content, STORE_MANIFEST, err);
    const char *its = json_string_value(json_object_get(j, "content"));
    bool ours = j && json_integer_value(json_object_get(j, "reel_manifest")) == 1 && its && strcmp(its, content) == 0;
    if (j && !ours) {
        json_decref(j);
        reel_fail(err, REEL_DAMAGED, "the manifest is of another content, or another version");
        return NULL;
    }
    return j;
}

/* *out: NULL when there is none, or it makes no sense. False: it cannot be read, and must not be replaced. */
static bool load_if_any(const struct store *store, const char *name, const char *suffix, json_t **out,
                        struct reel_error *err) {
    struct reel_error why = {0};
    *out = manifest_load(store, name, suffix, &why);
    return *out || why.code == REEL_NOT_FOUND || why.code == REEL_DAMAGED || reel_error_pass(err, &why);
}

json_t *store_load_collections(const struct store *store, struct reel_error *err) {
    json_auto_t *j = NULL;
    if (!load_if_any(store, "collections.json", NULL, &j, err)) {
        return NULL;
    }
    json_t *descriptions = json_object_get(j, "descriptions");
    return json_is_object(descriptions) ? json_incref(descriptions) : json_object();
}

bool store_load_settings(const struct store *store, json_t **out, struct reel_error *err) {
    return load_if_any(store, "settings.json", NULL, out, err);
}

/* ---- writing */

static bool write_out(const struct store *store, const char *name, const char *suffix, const json_t *manifest,
                      struct reel_error *err) {
    AUTO_MEM char *text = manifest ? json_whole_text(manifest, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    return text ? store->ops->write_text(store, name, suffix, text, err) : reel_fail_memory(err);
}

void store_init_locks(struct store *store) {
    for (unsigned i = 0; i < MANIFEST_LOCKS; i++) {
        pthread_mutex_init(&store->manifests[i], NULL);
    }
}

static pthread_mutex_t *lock_of(struct store *store, const char *name) {
    return &store->manifests[(unsigned char)name[0] % MANIFEST_LOCKS];
}

bool store_update_manifest(struct store *store, const char *content,
                           json_t *(*update)(void *context, const json_t *old), void *context, struct reel_error *err) {
    json_auto_t *old = NULL;
    pthread_mutex_lock(lock_of(store, content));
    uint64_t failures = heap_failures();
    bool ok = load_if_any(store, content, STORE_MANIFEST, &old, err);
    json_auto_t *manifest = ok ? update(context, old) : NULL;
    ok = ok && (heap_failures() == failures || reel_fail_memory(err)); /* else it may lack members */
    bool same = old && manifest && json_equal(old, manifest);          /* after a restore nearly all of them are */
    ok = ok && (same ? !store->ops->confirm || store->ops->confirm(store, content, err)
                     : write_out(store, content, STORE_MANIFEST, manifest, err));
    pthread_mutex_unlock(lock_of(store, content));
    return ok;
}

void store_put_object(struct store *store, const char *sha256, json_t *part) {
    struct store_object o;
    struct reel_error ignored;
    const struct store_directory *d = store->directory;
    if (d && d->find(d->context, sha256, &o, &ignored)) {
        json_object_set_new(part, "object", json_string(o.location));
        if (o.etag[0]) {
            json_object_set_new(part, "etag", json_string(o.etag));
        }
    }
}

bool store_enter_objects(struct store *store, const json_t *manifest, struct reel_error *err) {
    const struct store_directory *d = store->directory;
    size_t i;
    json_t *part;
    json_array_foreach(d ? json_object_get(manifest, "parts") : NULL, i, part) {
        const char *sha256 = json_string_value(json_object_get(part, "sha256")),
                   *object = json_string_value(json_object_get(part, "object")),
                   *etag = json_string_value(json_object_get(part, "etag"));
        struct store_object o = {.size = (uint64_t)json_integer_value(json_object_get(part, "size"))};
        bool added, fits = sha256 && object &&
                           snprintf(o.location, sizeof o.location, "%s", object) < (int)sizeof o.location &&
                           snprintf(o.etag, sizeof o.etag, "%s", etag ? etag : "") < (int)sizeof o.etag;
        if (fits && !d->add(d->context, sha256, &o, false, &added, err)) {
            return false;
        }
    }
    return true;
}

json_t *store_manifest_entry(const json_t *manifest, const char *id) {
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(manifest, "recordings"), i, item) {
        const char *its = json_string_value(json_object_get(item, "id"));
        if (its && strcmp(its, id) == 0) {
            return item;
        }
    }
    return NULL;
}

json_t *store_manifest_with(const json_t *manifest, const char *id, json_t *entry) {
    json_t *out = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(manifest, "recordings"), i, item) {
        const char *its = json_string_value(json_object_get(item, "id"));
        if (its && strcmp(its, id) != 0) {
            json_array_append(out, item);
        } else if (its && entry) {
            json_array_append_new(out, TAKE(entry));
        }
    }
    if (entry) {
        json_array_append_new(out, entry);
    }
    return out;
}

bool store_forget_manifest(struct store *store, const char *content, const char *id, struct reel_error *err) {
    json_auto_t *manifest = NULL;
    pthread_mutex_lock(lock_of(store, content));
    uint64_t failures = heap_failures();
    bool ok =
        load_if_any(store, content, STORE_MANIFEST, &manifest, err) &&
        (heap_failures() == failures || reel_fail_memory(err)) &&
        (!manifest || (json_object_set_new(manifest, "recordings", store_manifest_with(manifest, id, NULL)) == 0 &&
                       (heap_failures() == failures || reel_fail_memory(err)) &&
                       write_out(store, content, STORE_MANIFEST, manifest, err)));
    pthread_mutex_unlock(lock_of(store, content));
    return ok;
}

bool store_write_collections(struct store *store, const char *descriptions, struct reel_error *err) {
    json_auto_t *file =
        json_pack("{s:i, s:o}", "reel_collections", 1, "descriptions", json_loads(descriptions, 0, NULL));
    pthread_mutex_lock(lock_of(store, "collections"));
    bool ok = write_out(store, "collections.json", NULL, file, err);
    pthread_mutex_unlock(lock_of(store, "collections"));
    return ok;
}

bool store_write_settings(struct store *store, const json_t *settings, struct reel_error *err) {
    return write_out(store, "settings.json", NULL, settings, err);
}
