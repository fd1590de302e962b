/* The manifest beside a blob: which recordings have this content, so that a lost catalog can be made again. JSON, one object:
 * {"reel_manifest": 1, "content", "format", "parts": [{"sha256", "size", "file_name"}], "recordings": [{"id", "collection", "name",
 * "revision", "state", "created_ns"}]}. Its one rule: it is written whole beside the old one and renamed. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "store/own.h"

static void drop_json(json_t *j) {
    json_decref(j);
}
static inline void auto_json(json_t **j) {
    drop_json(*j);
}
#define AUTO_JSON __attribute__((cleanup(auto_json)))

/* The recordings of a manifest (may be NULL), without the one of `id`; empty when there is none or it makes no sense. */
static json_t *others(const json_t *old, const char *id) {
    json_t *out = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(old, "recordings"), i, item) {
        const char *its = json_string_value(json_object_get(item, "id"));
        if (its && strcmp(its, id) != 0) {
            json_array_append(out, item);
        }
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

static json_t *build(const char *path, const struct catalog_recording *r) {
    AUTO_JSON json_t *old = json_load_file(path, 0, NULL);
    json_t *recordings = others(old, r->id);
    json_array_append_new(recordings,
                          json_pack("{s:s, s:s, s:s, s:i, s:s, s:I}", "id", r->id, "collection", r->collection, "name", r->name, "revision",
                                    (int)r->revision, "state", recording_state_name(r->state), "created_ns", (json_int_t)r->created_ns));
    return json_pack("{s:i, s:s, s:s, s:o, s:o}", "reel_manifest", 1, "content", r->content, "format", r->format ? r->format : "", "parts",
                     parts_of(r), "recordings", recordings);
}

static bool write_text(const struct store *store, const char *content, const char *text, struct reel_error *err) {
    char from[STORE_PATH];
    AUTO_FD int fd = store_new_file(store, from, err);
    if (fd < 0) {
        return false;
    }
    size_t size = strlen(text);
    bool ok = write(fd, text, size) == (ssize_t)size && fsync(fd) == 0 ? store_place(store, from, content, ".json", err)
                                                                       : reel_fail_errno(err, "the manifest cannot be written");
    if (!ok) {
        unlink(from);
    }
    return ok;
}

static bool write_out(const struct store *store, const char *content, json_t *manifest, struct reel_error *err) {
    AUTO_MEM char *text = manifest ? json_dumps(manifest, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
    return text ? write_text(store, content, text, err) : reel_fail_memory(err);
}

bool store_write_manifest(struct store *store, const struct catalog_recording *r, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, r->content, ".json", path, sizeof path)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    pthread_mutex_lock(&store->manifests);
    AUTO_JSON json_t *manifest = build(path, r);
    bool ok = write_out(store, r->content, manifest, err);
    pthread_mutex_unlock(&store->manifests);
    return ok;
}

bool store_forget_manifest(struct store *store, const char *content, const char *id, struct reel_error *err) {
    char path[STORE_PATH];
    if (!store_content_path(store, content, ".json", path, sizeof path)) {
        return reel_fail(err, REEL_ARGUMENT, "not a content address");
    }
    pthread_mutex_lock(&store->manifests);
    AUTO_JSON json_t *manifest = json_load_file(path, 0, NULL);
    bool ok =
        !manifest || (json_object_set_new(manifest, "recordings", others(manifest, id)) == 0 && write_out(store, content, manifest, err));
    pthread_mutex_unlock(&store->manifests);
    return ok;
}
