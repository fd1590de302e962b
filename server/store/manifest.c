/* The manifest beside a blob: which recordings have this content, so that a lost catalog can be made again. JSON, one object:
 * {"reel_manifest": 1, "content", "format", "parts": [{"sha256", "size", "file_name"}], "recordings": [{"id", "collection", "name",
 * "revision", "state", "created_ns", "group"}]}. A recording of which something is said has it too: "tags": {}, "description", "custom":
 * {}, "epoch_ns", "notes": [{"id", "author", "text", "created_ns", "updated_ns"}], "events": [{"id", "start_ns", "end_ns", "title", "tags":
 * {}, "author", "created_ns", "updated_ns"}]. Descriptions of collections are in one file, {"reel_collections": 1, "descriptions": {name:
 * text}}. Its one rule: it is written whole beside the old one and renamed. */
#include <jansson.h>
#include <string.h>

#include "catalog/catalog.h"
#include "store/inspect.h"
#include "store/store_internal.h"
#include "wire/cleanup.h"

static void drop_json(json_t *j) {
    json_decref(j);
}
static inline void auto_json(json_t **j) {
    drop_json(*j);
}
#define AUTO_JSON __attribute__((cleanup(auto_json)))

/* The recordings of a manifest (may be NULL; empty when it makes no sense) with `entry` in the place of the one of `id`; NULL: without it.
 */
static json_t *with_entry(const json_t *old, const char *id, json_t *entry) {
    json_t *out = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(old, "recordings"), i, item) {
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

static json_t *parts_of(const struct catalog_recording *r) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < r->n_parts; i++) {
        const struct catalog_part *part = &r->parts[i];
        json_array_append_new(out, json_pack("{s:s, s:I, s:s}", "sha256", part->sha256, "size", (json_int_t)part->size, "file_name",
                                             part->file_name ? part->file_name : ""));
    }
    return out;
}

/* The entry of that id; NULL. */
static json_t *entry_of(const json_t *manifest, const char *id) {
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

/* A text that holds an object; NULL when that is empty. */
static json_t *object_in(const char *text) {
    json_t *out = text && text[0] ? json_loads(text, 0, NULL) : NULL;
    return out;
}

static void put_annotations(json_t *entry, const struct catalog_annotations *annotations) {
    json_t *custom = object_in(annotations->custom), *tags = json_object();
    for (uint32_t i = 0; i < annotations->n_tags; i++) {
        json_object_set_new(tags, annotations->tags[i].key, json_string(annotations->tags[i].value));
    }
    if (annotations->n_tags > 0) {
        json_object_set(entry, "tags", tags);
    }
    json_decref(tags);
    if (annotations->description && annotations->description[0]) {
        json_object_set_new(entry, "description", json_string(annotations->description));
    }
    if (custom) {
        json_object_set_new(entry, "custom", custom);
    }
    if (annotations->has_epoch) {
        json_object_set_new(entry, "epoch_ns", json_integer(annotations->epoch_ns));
    }
}

static json_t *notes_json(const struct catalog_notes *notes) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < notes->n; i++) {
        const struct catalog_note *n = &notes->items[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:I, s:I}", "id", n->id, "author", n->author, "text", n->text, "created_ns",
                                             (json_int_t)n->created_ns, "updated_ns", (json_int_t)n->updated_ns));
    }
    return out;
}

static json_t *events_json(const struct catalog_events *events) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < events->n; i++) {
        const struct catalog_event *e = &events->items[i];
        json_t *tags = object_in(e->tags);
        json_array_append_new(out,
                              json_pack("{s:s, s:I, s:I, s:s, s:o, s:s, s:I, s:I}", "id", e->id, "start_ns", (json_int_t)e->start_ns,
                                        "end_ns", (json_int_t)e->end_ns, "title", e->title, "tags", tags ? tags : json_object(), "author",
                                        e->author, "created_ns", (json_int_t)e->created_ns, "updated_ns", (json_int_t)e->updated_ns));
    }
    return out;
}

/* Without `whole` its notes and events are those that the old manifest has. */
static json_t *entry_for(const json_t *old, const struct catalog_recording *r, const struct store_annotations *whole) {
    json_t *entry = json_pack("{s:s, s:s, s:s, s:i, s:s, s:I}", "id", r->id, "collection", r->collection, "name", r->name, "revision",
                              (int)r->revision, "state", recording_state_name(r->state), "created_ns", (json_int_t)r->created_ns);
    const json_t *before = entry_of(old, r->id);
    json_t *notes = whole ? notes_json(whole->notes) : json_incref(json_object_get(before, "notes"));
    json_t *events = whole ? events_json(whole->events) : json_incref(json_object_get(before, "events"));
    if (r->group && r->group[0]) {
        json_object_set_new(entry, "group", json_string(r->group));
    }
    put_annotations(entry, &r->annotations);
    if (json_array_size(notes) > 0) {
        json_object_set(entry, "notes", notes);
    }
    if (json_array_size(events) > 0) {
        json_object_set(entry, "events", events);
    }
    json_decref(notes);
    json_decref(events);
    return entry;
}

static json_t *build(const json_t *old, const struct catalog_recording *r, const struct store_annotations *whole) {
    json_t *entry = entry_for(old, r, whole);
    return !entry ? NULL
                  : json_pack("{s:i, s:s, s:s, s:o, s:o}", "reel_manifest", 1, "content", r->content, "format", r->format ? r->format : "",
                              "parts", parts_of(r), "recordings", with_entry(old, r->id, entry));
}

/* See store_write_text(). */
static bool write_out(const struct store *store, const char *name, const char *suffix, const json_t *manifest, struct reel_error *err) {
    AUTO_MEM char *text = manifest ? json_dumps(manifest, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    return text ? store_write_text(store, name, suffix, text, err) : reel_fail_memory(err);
}

bool store_replace_manifest(struct store *store, const struct catalog_recording *r, const struct store_annotations *whole,
                            struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, r->content, ".json", path, sizeof path)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    pthread_mutex_lock(&store->manifests);
    AUTO_JSON json_t *old = json_load_file(path, 0, NULL);
    AUTO_JSON json_t *manifest = build(old, r, whole);
    bool same = old && manifest && json_equal(old, manifest); /* after a restore nearly all of them are */
    bool ok = same ? store_sync_bucket(store, r->content, err) : write_out(store, r->content, ".json", manifest, err);
    pthread_mutex_unlock(&store->manifests);
    return ok;
}

bool store_write_manifest(struct store *store, const struct catalog_recording *r, struct reel_error *err) {
    return store_replace_manifest(store, r, NULL, err);
}

bool store_forget_manifest(struct store *store, const char *content, const char *id, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, content, ".json", path, sizeof path)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    pthread_mutex_lock(&store->manifests);
    AUTO_JSON json_t *manifest = json_load_file(path, 0, NULL);
    bool ok = !manifest || (json_object_set_new(manifest, "recordings", with_entry(manifest, id, NULL)) == 0 &&
                            write_out(store, content, ".json", manifest, err));
    pthread_mutex_unlock(&store->manifests);
    return ok;
}

bool store_write_collections(struct store *store, const char *descriptions, struct reel_error *err) {
    AUTO_JSON json_t *file = json_pack("{s:i, s:o}", "reel_collections", 1, "descriptions", json_loads(descriptions, 0, NULL));
    pthread_mutex_lock(&store->manifests);
    bool ok = write_out(store, "collections.json", NULL, file, err);
    pthread_mutex_unlock(&store->manifests);
    return ok;
}

bool store_write_settings(struct store *store, const json_t *settings, struct reel_error *err) {
    return write_out(store, "settings.json", NULL, settings, err);
}
