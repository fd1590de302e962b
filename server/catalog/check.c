/* The catalog looked through by itself, and what follows from the rest made anew. Its one rule: mending changes nothing that somebody has
 * said. */
#include <string.h>

#include "catalog/annotations.h"
#include "catalog/maintenance.h"
#include "catalog/sql.h"
#include "wire/cleanup.h"

static const struct {
    const char *kind, *statement; /* each row is something wrong */
} looks[] = {{"catalog", "check_keys"},   {"figures", "check_figures"}, {"figures", "check_collections"},
             {"figures", "check_totals"}, {"figures", "check_spans"},   {"figures", "check_labels"},
             {"figures", "check_tags"},   {"figures", "check_said"},    {"search", "check_search"}};
static const char *const mends[] = {"mend_figures",      "mend_collections_add", "mend_collections", "mend_totals_clear", "mend_totals",
                                    "mend_spans",        "mend_labels",          "mend_tag_keys",    "mend_tag_values",   "mend_said",
                                    "mend_search_again", "mend_search_drop",     "mend_search_add"};

uint32_t catalog_version(void) {
    return (uint32_t)sql_migrations_count;
}

struct catalog *catalog_open_beside(const char *path, struct reel_error *err) {
    struct catalog *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    c->db = db_open_beside(path, err);
    c->rows = rows_new(err);
    if (!c->db || !c->rows || !catalog_is_current(c->db, err)) {
        catalog_close(c);
        return NULL;
    }
    return c;
}

/* ---- checking */

static bool look(struct db_handle *h, struct db_statement *s, const char *kind, const struct catalog_check *check, struct reel_error *err) {
    enum db_step step = DB_FAILED;
    (void)h;
    while (s && (step = db_next(s, err)) == DB_ROW) {
        if (strcmp(db_text(s, 0), "ok") != 0) { /* what integrity_check says of a sound file */
            check->tell(check->context, kind, db_text(s, 0));
        }
    }
    return step == DB_END;
}

static bool look_through(struct db_handle *h, const struct catalog_check *check, struct reel_error *err) {
    {
        AUTO(db_done) struct db_statement *s = db_compose(h, "PRAGMA integrity_check(100)", err);
        if (!look(h, s, "catalog", check, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, looks[i].statement, err);
        if (!look(h, s, looks[i].kind, check, err)) {
            return false;
        }
    }
    return true;
}

/* Writes nothing, but counts as a write to SQLite. */
static bool look_at_words(struct catalog *c, const struct catalog_check *check, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "check_words", err) : NULL;
    struct reel_error why = {0};
    if (s && !db_run(s, &why)) {
        check->tell(check->context, "search", "the index of words does not fit the words");
    }
    return s;
}

bool catalog_check(struct catalog *c, const struct catalog_check *check, struct reel_error *err) {
    {
        AUTO(db_end) struct db_handle *h = db_read(c->db, err);
        if (!h || !look_through(h, check, err)) {
            return false;
        }
    }
    return !check->writes || look_at_words(c, check, err);
}

bool catalog_mend(struct catalog *c, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    for (size_t i = 0; h && i < sizeof mends / sizeof *mends; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, mends[i], err);
        if (!s || !db_run(s, err)) {
            return reel_error_at(err, "%s", mends[i]);
        }
    }
    return h && db_commit(h, err);
}

/* ---- single questions */

static bool ask(struct catalog *c, const char *statement, const char *hex, int64_t row, bool *yes, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", hex);
    db_set_int(s, ":row", row);
    enum db_step step = db_next(s, err);
    *yes = step == DB_ROW && db_int(s, 0) != 0;
    return step != DB_FAILED;
}

bool catalog_has(struct catalog *c, const char *id, bool *has, struct reel_error *err) {
    return ask(c, "row_by_id", id, 0, has, err);
}

bool catalog_is_fresh(struct catalog *c, bool *fresh, struct reel_error *err) {
    return ask(c, "catalog_fresh", "", 0, fresh, err);
}

bool catalog_manifest_is_due(struct catalog *c, int64_t row, bool *due, struct reel_error *err) {
    return ask(c, "manifest_is_due", "", row, due, err);
}

bool catalog_manifest_mark(struct catalog *c, const char *id, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "manifest_mark", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    return db_run(s, err) && db_commit(h, err);
}

bool catalog_set_upkeep(struct catalog *c, const char *key, const char *value, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, value ? "upkeep_set" : "upkeep_unset", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":key", key);
    db_set_text(s, ":value", value);
    return db_run(s, err) && db_commit(h, err);
}

char *catalog_upkeep(struct catalog *c, const char *key, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upkeep_get", err) : NULL;
    if (!s) {
        return NULL;
    }
    db_set_text(s, ":key", key);
    enum db_step step = db_next(s, err);
    char *text = step == DB_FAILED ? NULL : strdup(step == DB_ROW ? db_text(s, 0) : "");
    if (!text && step != DB_FAILED) {
        reel_fail_memory(err);
    }
    return text;
}
