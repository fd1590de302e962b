/* See sent.h. */
#include "store/bucket/sent.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "store/bucket/bucket.h"
#include "store/manifest.h"
#include "store/store_internal.h"

enum { NAME_DIGITS = 32, MANIFEST_BYTES_MAX = 64 << 20 };

struct visiting {
    bool (*visit)(void *context, const struct store_sent *sent);
    void *context;
    enum store_sent_kind kind;
    bool stopped;
};

static bool is_ours(const char *name) {
    return hex_is(name, NAME_DIGITS);
}

static bool sent_visit_object(void *context, const char *name, const struct s3_object *object) {
    struct visiting *v = context;
    const struct store_sent sent = {.kind = v->kind, .name = name, .bytes = object->size, .at_s = object->modified_s};
    v->stopped = is_ours(name) && !v->visit(v->context, &sent);
    return !v->stopped;
}

static bool visit_parts(void *context, const char *name, const char *upload, int64_t begun_s) {
    struct visiting *v = context;
    const struct store_sent sent = {.kind = SENT_PARTS, .name = name, .upload = upload, .at_s = begun_s};
    return !is_ours(name) || v->visit(v->context, &sent);
}

bool store_each_sent(struct store *store, bool objects, bool (*visit)(void *context, const struct store_sent *sent),
                     void *context, struct reel_error *err) {
    struct visiting v = {.visit = visit, .context = context, .kind = SENT_OBJECT};
    if (objects && !bucket_each(store->bucket, "objects", sent_visit_object, &v, err)) {
        return false;
    }
    v.kind = SENT_END;
    return (v.stopped || bucket_each(store->bucket, "incoming", sent_visit_object, &v, err)) &&
           (v.stopped || bucket_each_upload(store->bucket, visit_parts, &v, err));
}

bool store_remove_sent(struct store *store, const struct store_sent *sent, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    if (sent->kind == SENT_PARTS) {
        return s3_abort(store->bucket->s3, bucket_name(store->bucket, "objects", sent->name, key), sent->upload, err);
    }
    return bucket_delete(store->bucket, sent->kind == SENT_END ? "incoming" : "objects", sent->name, err);
}

/* ---- what manifests name */

struct naming {
    struct store *store;
    const char *folder;
    bool (*visit)(void *context, const char *location);
    void *context;
    bool stopped;
    struct reel_error error;
};

/* A part without a location was written before its object was known; then the directory has it. */
static bool sent_visit_part(const struct naming *n, const json_t *part) {
    const char *sha256 = json_string_value(json_object_get(part, "sha256")),
               *object = json_string_value(json_object_get(part, "object"));
    return object                                       ? n->visit(n->context, object)
           : sha256 && store_has_blob(n->store, sha256) ? true
                                                        : n->visit(n->context, NULL);
}

static bool visit_manifest(void *context, const char *name, const struct s3_object *object) {
    struct naming *n = context;
    struct reel_error why = {0};
    size_t i;
    json_t *part;
    (void)object;
    AUTO_MEM char *text = bucket_get_text(n->store->bucket, n->folder, name, MANIFEST_BYTES_MAX, &why);
    if (!text && why.code == REEL_NOT_FOUND) { /* removed since it was listed */
        return true;
    }
    if (!text && reel_is_transient(why.code)) {
        n->error = why;
        return false;
    }
    json_auto_t *manifest = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_array(json_object_get(manifest, "parts"))) {
        n->stopped = !n->visit(n->context, NULL);
    }
    json_array_foreach(json_object_get(manifest, "parts"), i, part) {
        n->stopped = n->stopped || !sent_visit_part(n, part);
    }
    return !n->stopped;
}

bool store_each_named(struct store *store, bool (*visit)(void *context, const char *location), void *context,
                      struct reel_error *err) {
    static const char *const folders[] = {"manifests", "lost+found"};
    struct naming n = {.store = store, .visit = visit, .context = context};
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !n.stopped; i++) {
        n.folder = folders[i];
        if (!bucket_each(store->bucket, n.folder, visit_manifest, &n, err)) {
            return false;
        }
        if (n.error.code != REEL_OK) {
            return reel_error_pass(err, &n.error);
        }
    }
    return true;
}
