/* See saved.h. */
#include "catalog/saved.h"

#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "json_whole.h"
#include "reel/time.h"
#include "syntax/utf8.h"

void saved_done(struct saved *one) {
    free(one->kind);
    free(one->collection);
    free(one->name);
    free(one->author);
    json_decref(one->value);
    *one = (struct saved){0};
}

void saved_list_done(struct saved_list *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        saved_done(&list->items[i]);
    }
    free(list->items);
    *list = (struct saved_list){0};
}

static bool read_saved(struct db_statement *s, struct saved *out, struct reel_error *err) {
    *out = (struct saved){.kind = strdup(db_text(s, 0)),
                          .collection = strdup(db_text(s, 1)),
                          .name = strdup(db_text(s, 2)),
                          .value = json_loads(db_text(s, 3), 0, NULL),
                          .author = strdup(db_text(s, 4)),
                          .created_ns = db_int(s, 5),
                          .updated_ns = db_int(s, 6)};
    if (!out->kind || !out->collection || !out->name || !out->value || !out->author) {
        saved_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

bool catalog_saved_list(struct catalog *c, const char *kind, const char *collection, struct saved_list *out,
                        struct reel_error *err) {
    const uint32_t max = kind ? SAVED_EACH_MAX : SAVED_MAX;
    *out = (struct saved_list){.items = calloc(max, sizeof *out->items)};
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, kind ? "saved_list" : "saved_all", err) : NULL;
    if (s && kind) {
        db_set_text(s, ":kind", kind);
        db_set_text(s, ":collection", collection);
    }
    bool good = s && (out->items || reel_fail_memory(err));
    enum db_step step = DB_ROW;
    while (good && out->n < max && (step = db_next(s, err)) == DB_ROW) {
        good = read_saved(s, &out->items[out->n], err);
        out->n += good;
    }
    good = good && step != DB_FAILED;
    if (!good) {
        saved_list_done(out);
    }
    return good;
}

static void bind_key(struct db_statement *s, const struct saved *key) {
    db_set_text(s, ":kind", key->kind);
    db_set_text(s, ":collection", key->collection);
    db_set_text(s, ":name", key->name);
}

static bool not_found(const struct saved *key, struct reel_error *err) {
    return reel_fail(err, REEL_NOT_FOUND, "there is no %s of that name", key->kind);
}

static bool get(struct db_handle *h, const struct saved *key, struct saved *out, struct reel_error *err) {
    *out = (struct saved){0};
    AUTO(db_done) struct db_statement *s = db_statement(h, "saved_get", err);
    if (!s) {
        return false;
    }
    bind_key(s, key);
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? read_saved(s, out, err) : step == DB_END && not_found(key, err);
}

bool catalog_saved_get(struct catalog *c, const struct saved *key, struct saved *out, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    return h && get(h, key, out, err);
}

/* What is there now, zeroed if nothing is; REEL_CHANGED: it is not this version. */
static bool get_version(struct db_handle *h, const struct saved *key, int64_t version, struct saved *now,
                        struct reel_error *err) {
    struct reel_error why = {0};
    if (!get(h, key, now, &why) && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    if (version == CATALOG_ANY_VERSION || version == now->updated_ns) {
        return true;
    }
    return version == CATALOG_ABSENT ? reel_fail(err, REEL_CHANGED, "there is a %s of that name already", key->kind)
                                     : reel_fail(err, REEL_CHANGED, "the %s has changed since", key->kind);
}

static bool saved_has_room(struct db_handle *h, const struct saved *one, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "saved_room", err);
    if (!s) {
        return false;
    }
    bind_key(s, one);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    if (db_int(s, 0) >= SAVED_EACH_MAX) {
        return reel_fail(err, REEL_LIMIT, "there are %d %ss already; delete one first", SAVED_EACH_MAX, one->kind);
    }
    return (db_int(s, 1) < SAVED_MAX && db_int(s, 2) < SAVED_CHARACTERS_MAX) ||
           reel_fail(err, REEL_LIMIT,
                     "the layouts, searches and datasets of this archive are as many, or as large, as they may be; "
                     "delete some "
                     "first");
}

static bool saved_check(const struct saved *one, struct reel_error *err) {
    bool is_layout = strcmp(one->kind, "layout") == 0;
    if ((!is_layout && strcmp(one->kind, "search") != 0 && strcmp(one->kind, "dataset") != 0) ||
        is_layout != (one->collection[0] != '\0') || !json_is_object(one->value)) {
        return reel_fail(err, REEL_ARGUMENT, "it is an object: the layout of a collection, a search or a dataset");
    }
    return (one->name[0] && strlen(one->name) <= SAVED_NAME_MAX && !utf8_has_control(one->name)) ||
           reel_fail(err, REEL_ARGUMENT, "a name has 1 to %d bytes, without control characters", SAVED_NAME_MAX);
}

static bool catalog_saved_put_(struct db_handle *h, struct saved *one, const struct saved *now,
                               struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(one->value, JSON_COMPACT);
    AUTO(db_done) struct db_statement *s = text ? db_statement(h, "saved_put", err) : NULL;
    if (!s) {
        return text ? false : reel_fail_memory(err);
    }
    if (strlen(text) > SAVED_VALUE_MAX) {
        return reel_fail(err, REEL_LIMIT, "the value of a %s has at most %d bytes", one->kind, SAVED_VALUE_MAX);
    }
    int64_t now_ns = reel_now_ns();
    one->created_ns = now->name ? now->created_ns : one->created_ns ? one->created_ns : now_ns;
    one->updated_ns = one->updated_ns ? one->updated_ns : now_ns > now->updated_ns ? now_ns : now->updated_ns + 1;
    bind_key(s, one);
    db_set_text(s, ":value", text);
    db_set_text(s, ":author", one->author);
    db_set_int(s, ":created", one->created_ns);
    db_set_int(s, ":updated", one->updated_ns);
    return db_run(s, err);
}

bool catalog_saved_put(struct catalog *c, struct saved *one, int64_t version, struct reel_error *err) {
    if (!saved_check(one, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO_STRUCT(saved_done) struct saved now = {0};
    return h && get_version(h, one, version, &now, err) && (now.name || saved_has_room(h, one, err)) &&
           catalog_saved_put_(h, one, &now, err) && db_commit(h, err);
}

static bool delete (struct db_handle *h, const struct saved *key, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "saved_delete", err);
    if (!s) {
        return false;
    }
    bind_key(s, key);
    return db_run(s, err);
}

bool catalog_saved_delete(struct catalog *c, const struct saved *key, int64_t version, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO_STRUCT(saved_done) struct saved now = {0};
    return h && get_version(h, key, version, &now, err) && (now.name || not_found(key, err)) && delete (h, key, err) &&
           db_commit(h, err);
}

/* ---- searches */

static bool read_time(const json_t *value, const char *name, bool *has, int64_t *ns) {
    const char *text = json_string_value(json_object_get(value, name));
    struct reel_time t;
    *has = text && *text;
    if (!*has) {
        return true;
    }
    if (!reel_time_parse(text, 1, &t, NULL) || t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END) {
        return false;
    }
    *ns = reel_time_resolve(&t, 0, 0, reel_now_ns());
    return true;
}

bool saved_search_read(const json_t *value, struct catalog_query *out) {
    static const char *const known[] = {"q", "start", "end", "sort"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const json_t *member = json_object_get(value, known[i]);
        n += member && (json_is_string(member) || json_is_null(member));
    }
    const char *words = json_string_value(json_object_get(value, "q"));
    *out = (struct catalog_query){.words = words && *words ? words : NULL,
                                  .has_state = true,
                                  .state = STATE_READY,
                                  .sort = "created",
                                  .limit = 1000};
    return n == json_object_size(value) && read_time(value, "start", &out->has_start, &out->start_ns) &&
           read_time(value, "end", &out->has_end, &out->end_ns);
}
