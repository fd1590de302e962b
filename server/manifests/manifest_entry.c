/* The manifest of a content, which is enough to rebuild a lost catalog, is a JSON object:
 * {"reel_manifest": 1, "content", "format", "parts": [{"sha256", "size", "file_name"}], "recordings": [{"id",
 * "collection", "name", "revision", "state", "created_ns"}]}. A recording also has, if not empty: "group",
 * "announced" (catalog/announced.h) and "size" of one without parts, "tags": {},
 * "description", "custom": {}, "epoch_ns", "clock", "notes": [{"id", "author", "text", "created_ns", "updated_ns"}],
 * "events":
 * [{"id", "start_ns", "end_ns", "title", "tags": {}, "author", "created_ns", "updated_ns"}]. With a bucket a part also
 * has its "object", and the "etag" of one that is only read. */
#include "manifests/manifest_entry.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/notes.h"
#include "store/manifest.h"

static json_t *parts_of(struct store *store, const struct catalog_recording *r) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < r->n_parts; i++) {
        const struct catalog_part *part = &r->parts[i];
        json_t *item = json_pack("{s:s, s:I, s:s}", "sha256", part->sha256, "size", (json_int_t)part->size, "file_name",
                                 part->file_name ? part->file_name : "");
        store_put_object(store, part->sha256, item);
        json_array_append_new(out, item);
    }
    return out;
}

/* A text that holds an object; NULL when that is empty. */
static json_t *object_in(const char *text) {
    return text && text[0] ? json_loads(text, 0, NULL) : NULL;
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
    if (annotations->has_clock) {
        json_object_set_new(entry, "clock", json_string(clock_name(annotations->clock)));
    }
}

static json_t *notes_json(const struct catalog_notes *notes) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < notes->n; i++) {
        const struct catalog_note *n = &notes->items[i];
        json_array_append_new(out, json_pack("{s:s, s:s, s:s, s:I, s:I}", "id", n->id, "author", n->author, "text",
                                             n->text, "created_ns", (json_int_t)n->created_ns, "updated_ns",
                                             (json_int_t)n->updated_ns));
    }
    return out;
}

static json_t *events_json(const struct catalog_events *events) {
    json_t *out = json_array();
    for (uint32_t i = 0; i < events->n; i++) {
        const struct catalog_event *e = &events->items[i];
        json_t *tags = object_in(e->tags);
        json_array_append_new(out,
                              json_pack("{s:s, s:I, s:I, s:s, s:o, s:s, s:I, s:I}", "id", e->id, "start_ns",
                                        (json_int_t)e->start_ns, "end_ns", (json_int_t)e->end_ns, "title", e->title,
                                        "tags", tags ? tags : json_object(), "author", e->author, "created_ns",
                                        (json_int_t)e->created_ns, "updated_ns", (json_int_t)e->updated_ns));
    }
    return out;
}

static json_t *entry_for(const json_t *old, const struct catalog_recording *r,
                         const struct manifest_annotations *annotations) {
    json_t *entry = json_pack("{s:s, s:s, s:s, s:i, s:s, s:I}", "id", r->id, "collection", r->collection, "name",
                              r->name, "revision", (int)r->revision, "state", recording_state_name(r->state),
                              "created_ns", (json_int_t)r->created_ns);
    const json_t *before = store_manifest_entry(old, r->id);
    json_t *notes = annotations ? notes_json(annotations->notes) : json_incref(json_object_get(before, "notes"));
    json_t *events = annotations ? events_json(annotations->events) : json_incref(json_object_get(before, "events"));
    if (r->group && r->group[0]) {
        json_object_set_new(entry, "group", json_string(r->group));
    }
    if (r->announced && r->announced[0]) {
        json_object_set_new(entry, "announced", json_string(r->announced));
        json_object_set_new(entry, "size", json_integer((json_int_t)r->size));
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

struct addition {
    struct store *store;
    const struct catalog_recording *r;
    const struct manifest_annotations *annotations;
};

static json_t *manifest_entry_add_entry(void *context, const json_t *old) {
    const struct addition *a = context;
    const struct catalog_recording *r = a->r;
    json_t *entry = entry_for(old, r, a->annotations);
    return !entry ? NULL
                  : json_pack("{s:i, s:s, s:s, s:o, s:o}", "reel_manifest", 1, "content", r->content, "format",
                              r->format ? r->format : "", "parts", parts_of(a->store, r), "recordings",
                              store_manifest_with(old, r->id, entry));
}

bool manifest_write(struct store *store, const struct catalog_recording *r,
                    const struct manifest_annotations *annotations, struct reel_error *err) {
    struct addition a = {.store = store, .r = r, .annotations = annotations};
    return store_update_manifest(store, r->content, manifest_entry_add_entry, &a, err);
}
