/* See definitions.h. The table maintenance has a stamp of their last change, so that the servers of a catalog notice it
 * without reading them. */
#include "catalog/definitions.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "catalog/catalog_internal.h"
#include "catalog/maintenance.h"
#include "reel/time.h"

#define STAMP_KEY "definitions"

void catalog_definition_done(struct catalog_definition *one) {
    free(one->name);
    free(one->text);
    free(one->author);
    *one = (struct catalog_definition){0};
}

void catalog_definitions_done(struct catalog_definitions *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        catalog_definition_done(&all->items[i]);
    }
    free(all->items);
    *all = (struct catalog_definitions){0};
}

/* ---- reading */

static bool read_definition(struct db_statement *s, struct catalog_definition *out, struct reel_error *err) {
    *out = (struct catalog_definition){.name = strdup(db_text(s, 0)),
                                       .text = strdup(db_text(s, 1)),
                                       .author = strdup(db_text(s, 2)),
                                       .created_ns = db_int(s, 3),
                                       .updated_ns = db_int(s, 4)};
    if (!out->name || !out->text || !out->author) {
        catalog_definition_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

static bool read_definitions(struct db_statement *s, uint32_t max, struct catalog_definitions *out,
                             struct reel_error *err) {
    *out = (struct catalog_definitions){.items = calloc((size_t)max + 1, sizeof *out->items)};
    bool good = out->items || reel_fail_memory(err);
    enum db_step step = DB_ROW;
    while (good && out->n < max && (step = db_next(s, err)) == DB_ROW) {
        good = read_definition(s, &out->items[out->n], err);
        out->n += good;
    }
    good = good && step != DB_FAILED;
    if (!good) {
        catalog_definitions_done(out);
    }
    return good;
}

bool catalog_definitions_list(struct catalog *c, struct catalog_definitions *out, struct reel_error *err) {
    *out = (struct catalog_definitions){0};
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "definitions_list", err) : NULL;
    return s && read_definitions(s, DEFINITIONS_MAX, out, err);
}

bool catalog_definitions_page(struct catalog *c, const char *after, uint32_t limit, struct catalog_definitions *out,
                              struct reel_error *err) {
    *out = (struct catalog_definitions){0};
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "definitions_page", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":after", after);
    db_set_int(s, ":limit", limit);
    return read_definitions(s, limit, out, err);
}

static bool get(struct db_handle *h, const char *name, struct catalog_definition *out, struct reel_error *err) {
    *out = (struct catalog_definition){0};
    AUTO(db_done) struct db_statement *s = db_statement(h, "definition_get", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? read_definition(s, out, err)
                          : step == DB_END && reel_fail(err, REEL_NOT_FOUND, "there is no definition of that name");
}

bool catalog_definition_get(struct catalog *c, const char *name, struct catalog_definition *out,
                            struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    *out = (struct catalog_definition){0};
    return h && get(h, name, out, err);
}

/* ---- writing */

static bool set_stamp(struct db_handle *h, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "maintenance_set", err);
    char stamp[24];
    if (!s) {
        return false;
    }
    snprintf(stamp, sizeof stamp, "%lld", (long long)reel_now_ns());
    db_set_text(s, ":key", STAMP_KEY);
    db_set_text(s, ":value", stamp);
    return db_run(s, err);
}

static bool check_room(struct db_handle *h, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "definitions_room", err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    return (db_int(s, 0) <= DEFINITIONS_MAX && db_int(s, 1) <= DEFINITIONS_CHARACTERS_MAX) ||
           reel_fail(err, REEL_LIMIT, "an archive has at most %d definitions with %d characters; delete some first",
                     DEFINITIONS_MAX, DEFINITIONS_CHARACTERS_MAX);
}

static bool put(struct db_handle *h, struct catalog_definition *one, const struct catalog_definition *now,
                struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "definition_put", err);
    if (!s) {
        return false;
    }
    if (strlen(one->text) > REEL_OWN_DEFINITION_MAX) {
        return reel_fail(err, REEL_LIMIT, "a definition has at most %d bytes", REEL_OWN_DEFINITION_MAX);
    }
    int64_t now_ns = reel_now_ns();
    one->created_ns = now->name ? now->created_ns : one->created_ns ? one->created_ns : now_ns;
    one->updated_ns = one->updated_ns ? one->updated_ns : now_ns > now->updated_ns ? now_ns : now->updated_ns + 1;
    db_set_text(s, ":name", one->name);
    db_set_text(s, ":text", one->text);
    db_set_text(s, ":author", one->author);
    db_set_int(s, ":created", one->created_ns);
    db_set_int(s, ":updated", one->updated_ns);
    return db_run(s, err);
}

/* What is there now, zeroed if nothing is; REEL_CHANGED: it is not this version. */
static bool get_version(struct db_handle *h, const char *name, int64_t version, struct catalog_definition *now,
                        struct reel_error *err) {
    struct reel_error why = {0};
    if (!get(h, name, now, &why) && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    if (version == CATALOG_ANY_VERSION || version == now->updated_ns) {
        return true;
    }
    return reel_fail(err, REEL_CHANGED,
                     version == CATALOG_ABSENT ? "there is a definition of that name already"
                                                  : "the definition has changed since");
}

bool catalog_definition_put(struct catalog *c, struct catalog_definition *one, int64_t version,
                            struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO_STRUCT(catalog_definition_done) struct catalog_definition now = {0};
    return h && get_version(h, one->name, version, &now, err) && put(h, one, &now, err) && check_room(h, err) &&
           set_stamp(h, err) && db_commit(h, err);
}

bool catalog_definitions_put(struct catalog *c, struct catalog_definition *items, uint32_t n, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    for (uint32_t i = 0; h && i < n; i++) {
        AUTO_STRUCT(catalog_definition_done) struct catalog_definition now = {0};
        if (!get_version(h, items[i].name, CATALOG_ANY_VERSION, &now, err) || !put(h, &items[i], &now, err)) {
            return false;
        }
    }
    return h && check_room(h, err) && set_stamp(h, err) && db_commit(h, err);
}

bool catalog_definition_delete(struct catalog *c, const char *name, int64_t version, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO_STRUCT(catalog_definition_done) struct catalog_definition now = {0};
    if (!h || !get_version(h, name, version, &now, err)) {
        return false;
    }
    if (!now.name) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no definition of that name");
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "definition_delete", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    return db_run(s, err) && set_stamp(h, err) && db_commit(h, err);
}

uint64_t catalog_definitions_version(struct catalog *c) {
    return db_version(c->db);
}

bool catalog_definitions_changed(struct catalog *c, struct catalog_definitions_state *state, bool *changed,
                                 struct reel_error *err) {
    uint64_t version = db_version(c->db);
    *changed = false;
    if (state->known && state->version == version) {
        return true;
    }
    AUTO_MEM char *stamp = catalog_maintenance(c, STAMP_KEY, err);
    if (!stamp) {
        return false;
    }
    *changed = !state->known || strcmp(stamp, state->stamp) != 0;
    *state = (struct catalog_definitions_state){.known = true, .version = version};
    snprintf(state->stamp, sizeof state->stamp, "%s", stamp);
    return true;
}
