/* Reads one recording from a manifest. A manifest is untrusted: invalid members are skipped or rejected. */
#include <string.h>

#include "base/hex.h"
#include "catalog/announced.h"
#include "catalog/notes.h"
#include "json_whole.h"
#include "maintenance/rebuild.h"
#include "recordings/names.h"
#include "scans/scanning.h"

void rebuilt_done(struct rebuilt *b) {
    catalog_recording_done(&b->r);
    catalog_notes_done(&b->notes);
    catalog_events_done(&b->events);
}

static bool is_hex(const char *text, size_t size) {
    return text && hex_is(text, size);
}

static const char *manifest_read_text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int64_t manifest_read_number_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static bool fail_item(const char *what, struct reel_error *err) {
    return reel_fail(err, REEL_DAMAGED, "the manifest's %s is invalid", what);
}

/* ---- files */

static bool read_parts(const json_t *manifest, struct catalog_recording *r, struct reel_error *err) {
    const json_t *parts = json_object_get(manifest, "parts"), *part;
    const char *its = manifest_read_text_of(manifest, "content");
    char content[SHA256_HEX];
    size_t i;
    if (!(r->parts = calloc(json_array_size(parts) + 1, sizeof *r->parts))) {
        return reel_fail_memory(err);
    }
    /* its file is in live/, or on a robot */
    if ((r->state == STATE_RECORDING || r->announced[0]) && json_array_size(parts) == 0 &&
        is_hex(its, SHA256_HEX - 1)) {
        memcpy(r->content, its, SHA256_HEX);
        return true;
    }
    if (json_array_size(parts) == 0) {
        return fail_item("list of files", err);
    }
    json_array_foreach(parts, i, part) {
        struct catalog_part *to = &r->parts[i];
        const char *sha256 = manifest_read_text_of(part, "sha256");
        if (!is_hex(sha256, SHA256_HEX - 1) || manifest_read_number_of(part, "size") < 0) {
            return fail_item("list of files", err);
        }
        memcpy(to->sha256, sha256, SHA256_HEX);
        to->size = (uint64_t)manifest_read_number_of(part, "size");
        r->size += to->size;
        r->n_parts++;
        if (!(to->file_name = strdup(manifest_read_text_of(part, "file_name")))) {
            return reel_fail_memory(err);
        }
    }
    if (!content_of_parts(r, err)) {
        return false;
    }
    memcpy(content, r->content, sizeof content);
    return strcmp(its, content) == 0 || fail_item("list of files", err);
}

/* ---- annotations */

static bool manifest_read_read_tags(const json_t *item, struct catalog_annotations *annotations,
                                    struct reel_error *err) {
    struct reel_error ignored;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(item, "tags"), key, value) {
        const char *text = json_string_value(value);
        if (text && annotations->n_tags < TAGS_MAX && catalog_tag_check(key, text, &ignored) &&
            !catalog_annotations_set_tag(annotations, key, text, err)) {
            return false;
        }
    }
    return true;
}

static bool read_annotations(const json_t *item, struct catalog_annotations *annotations, struct reel_error *err) {
    const json_t *custom = json_object_get(item, "custom");
    const json_t *epoch = json_object_get(item, "epoch_ns");
    const char *description = manifest_read_text_of(item, "description");
    annotations->has_epoch = json_is_integer(epoch) && json_integer_value(epoch) >= 0;
    annotations->epoch_ns = annotations->has_epoch ? json_integer_value(epoch) : 0;
    annotations->has_clock = clock_named(manifest_read_text_of(item, "clock"), &annotations->clock);
    if (strlen(description) <= DESCRIPTION_MAX && !(annotations->description = strdup(description))) {
        return reel_fail_memory(err);
    }
    if (json_is_object(custom) && json_object_size(custom) > 0 &&
        !(annotations->custom = json_whole_text(custom, JSON_COMPACT))) {
        return reel_fail_memory(err);
    }
    return manifest_read_read_tags(item, annotations, err);
}

static bool read_notes(const json_t *item, struct catalog_notes *out, struct reel_error *err) {
    const json_t *all = json_object_get(item, "notes"), *one;
    size_t i, n = json_array_size(all);
    if (n == 0) {
        return true;
    }
    if (!(out->items = calloc(n < NOTES_MAX ? n : NOTES_MAX, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    json_array_foreach(all, i, one) {
        const char *id = manifest_read_text_of(one, "id"), *text = manifest_read_text_of(one, "text");
        if (!is_hex(id, RECORDING_ID_TEXT - 1) || !text[0] || out->n == NOTES_MAX) {
            continue;
        }
        struct catalog_note *to = &out->items[out->n++];
        *to = (struct catalog_note){.created_ns = manifest_read_number_of(one, "created_ns"),
                                    .updated_ns = manifest_read_number_of(one, "updated_ns")};
        memcpy(to->id, id, sizeof to->id);
        to->author = strdup(manifest_read_text_of(one, "author"));
        to->text = strdup(text);
        if (!to->author || !to->text) {
            return reel_fail_memory(err);
        }
    }
    return true;
}

static bool manifest_read_read_event(const json_t *one, struct catalog_event *to, struct reel_error *err) {
    const json_t *tags = json_object_get(one, "tags");
    *to = (struct catalog_event){.start_ns = manifest_read_number_of(one, "start_ns"),
                                 .end_ns = manifest_read_number_of(one, "end_ns"),
                                 .created_ns = manifest_read_number_of(one, "created_ns"),
                                 .updated_ns = manifest_read_number_of(one, "updated_ns")};
    memcpy(to->id, manifest_read_text_of(one, "id"), sizeof to->id);
    to->title = strdup(manifest_read_text_of(one, "title"));
    to->author = strdup(manifest_read_text_of(one, "author"));
    to->tags = json_object_size(tags) > 0 ? json_whole_text(tags, JSON_COMPACT) : strdup("");
    return (to->title && to->author && to->tags) || reel_fail_memory(err);
}

static bool manifest_read_read_events(const json_t *item, struct catalog_events *out, struct reel_error *err) {
    const json_t *all = json_object_get(item, "events"), *one;
    size_t i, n = json_array_size(all);
    if (n == 0) {
        return true;
    }
    if (!(out->items = calloc(n < EVENTS_MAX ? n : EVENTS_MAX, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    json_array_foreach(all, i, one) {
        bool good = is_hex(manifest_read_text_of(one, "id"), RECORDING_ID_TEXT - 1) &&
                    manifest_read_number_of(one, "end_ns") >= manifest_read_number_of(one, "start_ns");
        if (good && out->n < EVENTS_MAX && !manifest_read_read_event(one, &out->items[out->n++], err)) {
            return false;
        }
    }
    return true;
}

/* ---- all of it */

static bool manifest_read_read_names(const json_t *manifest, const json_t *item, struct catalog_recording *r,
                                     struct reel_error *err) {
    const char *id = manifest_read_text_of(item, "id"), *collection = manifest_read_text_of(item, "collection"),
               *name = manifest_read_text_of(item, "name"), *announced = manifest_read_text_of(item, "announced");
    struct announced unused;
    int64_t revision = manifest_read_number_of(item, "revision");
    if (!is_hex(id, RECORDING_ID_TEXT - 1) || revision < 1 || revision > UINT32_MAX ||
        !recording_state_parse(manifest_read_text_of(item, "state"), &r->state)) {
        return fail_item("id, revision or state", err);
    }
    if (!names_check(collection, name, err)) {
        return false;
    }
    memcpy(r->id, id, sizeof r->id);
    r->revision = (uint32_t)revision;
    r->created_ns = manifest_read_number_of(item, "created_ns");
    r->collection = strdup(collection);
    r->name = strdup(name);
    r->format = strdup(manifest_read_text_of(manifest, "format"));
    r->group = strdup(
        strlen(manifest_read_text_of(item, "group")) <= NAME_BYTES_MAX ? manifest_read_text_of(item, "group") : "");
    r->size = (uint64_t)manifest_read_number_of(item, "size");
    r->announced = strdup(announced_read(announced, &unused) ? announced : "");
    r->container = strdup("");
    r->clock_note = strdup("");
    r->problem = strdup("");
    return (r->group && r->announced && r->collection && r->name && r->format && r->container && r->clock_note &&
            r->problem) ||
           reel_fail_memory(err);
}

bool rebuild_read(const json_t *manifest, const json_t *item, struct rebuilt *out, struct reel_error *err) {
    *out = (struct rebuilt){0};
    bool good = manifest_read_read_names(manifest, item, &out->r, err) && read_parts(manifest, &out->r, err) &&
                read_annotations(item, &out->r.annotations, err) && read_notes(item, &out->notes, err) &&
                manifest_read_read_events(item, &out->events, err);
    if (!good) {
        rebuilt_done(out);
        *out = (struct rebuilt){0};
    }
    return good;
}
