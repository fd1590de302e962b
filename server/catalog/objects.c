/* See objects.h. */
#include "catalog/objects.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"

static bool objects_find(void *context, const char *sha256, struct store_object *out, struct reel_error *err) {
    struct catalog *c = context;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "object_find", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "the stored file is gone");
    }
    *out = (struct store_object){.size = db_size(s, 2)};
    bool fits = snprintf(out->location, sizeof out->location, "%s", db_text(s, 0)) < (int)sizeof out->location &&
                snprintf(out->etag, sizeof out->etag, "%s", db_text(s, 1)) < (int)sizeof out->etag;
    return fits || reel_fail(err, REEL_CATALOG, "the catalog has an object whose location is too long");
}

static bool objects_run(struct db_handle *h, const char *name, const char *sha256, const struct store_object *object,
                        bool *changed, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, name, err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    if (object) {
        db_set_text(s, ":location", object->location);
        db_set_text(s, ":etag", object->etag);
        db_set_size(s, ":size", object->size);
    }
    bool good = db_run(s, err);
    *changed = good && db_changes(s) == 1;
    return good;
}

static bool objects_add(void *context, const char *sha256, const struct store_object *object, bool replace, bool *added,
                        struct reel_error *err) {
    struct catalog *c = context;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && objects_run(h, "object_add", sha256, object, added, err) &&
           (*added || !replace || objects_run(h, "object_replace", sha256, object, added, err)) && db_commit(h, err);
}

static bool objects_forget(void *context, const char *sha256, struct reel_error *err) {
    struct catalog *c = context;
    bool removed;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && objects_run(h, "object_delete", sha256, NULL, &removed, err) && db_commit(h, err);
}

struct store_directory catalog_directory(struct catalog *c) {
    return (struct store_directory){.context = c, .find = objects_find, .add = objects_add, .remove = objects_forget};
}

static bool exists(struct catalog *c, const char *statement, const char *parameter, const char *value, bool *out,
                   struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, parameter, value);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0) != 0;
    return true;
}

bool catalog_object_in_session(struct catalog *c, const char *name, bool *needed, struct reel_error *err) {
    return exists(c, "upload_uses_object", ":name", name, needed, err);
}

bool catalog_object_known(struct catalog *c, const char *location, bool *known, struct reel_error *err) {
    return exists(c, "object_known", ":location", location, known, err);
}
