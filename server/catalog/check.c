/* Consistency of the catalog: what triggers keep is checked against what is counted, and recomputed. Annotations are
 * never changed. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/access.h"
#include "catalog/catalog_cache.h"
#include "catalog/catalog_internal.h"
#include "catalog/maintenance.h"
#include "catalog/sql.h"

static const struct {
    const char *kind, *statement; /* each row is something wrong */
} checks[] = {{"catalog", "check_keys"}, {"totals", "check_sums"},        {"totals", "check_labels"},
              {"totals", "check_tags"},  {"totals", "check_annotations"}, {"totals", "check_titles"},
              {"search", "check_search"}};
static const char *const word_checks[] = {"check_words", "check_label_words"};
static const char *const repairs[] = {"repair_sums",
                                      "repair_labels",
                                      "repair_tag_keys",
                                      "repair_tag_values",
                                      "repair_annotations",
                                      "repair_titles_clear",
                                      "repair_title_labels",
                                      "repair_titles",
                                      "repair_tag_labels",
                                      "repair_search_rebuild",
                                      "repair_search_drop",
                                      "repair_label_words_rebuild",
                                      "repair_label_words_drop",
                                      "labels_missing"};

uint32_t catalog_version(void) {
    return (uint32_t)sql_migrations_count;
}

bool catalog_pending(const char *path, struct catalog_pending *out, struct reel_error *err) {
    AUTO(db_close) struct db *db = db_open_readonly(path, err);
    return db && db_versions(db, &out->version, &out->newest, err);
}

const char *catalog_migration(uint64_t version) {
    return version < sql_migrations_count ? sql_migrations[version].name : "";
}

struct catalog *catalog_open_readonly(const char *path, struct reel_error *err) {
    struct catalog *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    c->db = db_open_readonly(path, err);
    c->cache = catalog_cache_new(err);
    if (!c->db || !c->cache || !db_is_current(c->db, err)) {
        catalog_close(c);
        return NULL;
    }
    return c;
}

bool catalog_has_tokens(const char *path, bool *exist, struct reel_error *err) {
    struct catalog c = {.db = db_open_readonly(path, err), .cache = catalog_cache_new(err)};
    bool good = c.db && c.cache && db_check_version(c.db, err) && catalog_tokens_exist(&c, exist, err);
    db_close(c.db);
    catalog_cache_free(c.cache);
    return good;
}

/* ---- checking */

static bool run_check(struct db_handle *h, struct db_statement *s, const char *kind, const struct catalog_check *check,
                      struct reel_error *err) {
    enum db_step step = DB_FAILED;
    (void)h;
    while (s && (step = db_next(s, err)) == DB_ROW) {
        if (strcmp(db_text(s, 0), "ok") != 0) { /* the row of integrity_check for an intact file */
            check->report(check->context, kind, db_text(s, 0));
        }
    }
    return step == DB_END;
}

static bool run_checks(struct db_handle *h, const struct catalog_check *check, struct reel_error *err) {
    if (!db_is_postgres(h)) { /* which has checksums of its own */
        AUTO(db_done) struct db_statement *s = db_compose(h, "PRAGMA integrity_check(100)", err);
        if (!run_check(h, s, "catalog", check, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, checks[i].statement, err);
        if (!run_check(h, s, checks[i].kind, check, err)) {
            return false;
        }
    }
    return true;
}

/* Writes nothing, but counts as a write to SQLite. */
static bool check_words(struct catalog *c, const struct catalog_check *check, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !db_patient(h, err)) {
        return false;
    }
    for (size_t i = 0; i < sizeof word_checks / sizeof *word_checks; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, word_checks[i], err);
        struct reel_error why = {0};
        if (!s) {
            return false;
        }
        if (!db_run(s, &why)) {
            check->report(check->context, "search", "the full-text index does not match its table");
        }
    }
    return h;
}

bool catalog_check(struct catalog *c, const struct catalog_check *check, struct reel_error *err) {
    {
        AUTO(db_end) struct db_handle *h = db_read(c->db, err);
        if (!h || !db_patient(h, err) || !run_checks(h, check, err)) {
            return false;
        }
    }
    return !check->writes || check_words(c, check, err);
}

/* Recordings that have no text in the full-text index get one. */
static bool check_add_texts(struct db_handle *h, struct reel_error *err) {
    for (enum db_step step = DB_ROW; step == DB_ROW;) {
        AUTO(db_done) struct db_statement *s = db_statement(h, "search_missing", err);
        AUTO(db_done) struct db_statement *put = s ? db_statement(h, "search_insert", err) : NULL;
        if (!put || (step = db_next(s, err)) == DB_FAILED) {
            return false;
        }
        for (enum db_step row = step; row != DB_END; row = db_next(s, err)) {
            AUTO_MEM char *name = strdup(db_text(s, 1)), *collection = strdup(db_text(s, 2));
            if (row == DB_FAILED || !name || !collection) {
                return row == DB_FAILED ? false : reel_fail_memory(err);
            }
            db_set_int(put, ":row", db_int(s, 0));
            db_set_text(put, ":name", name);
            db_set_text(put, ":collection", collection);
            if (!db_run(put, err)) {
                return false;
            }
        }
    }
    return true;
}

bool catalog_repair(struct catalog *c, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !db_patient(h, err)) {
        return false;
    }
    for (size_t i = 0; h && i < sizeof repairs / sizeof *repairs; i++) {
        AUTO(db_done) struct db_statement *s = db_statement(h, repairs[i], err);
        if (!s || !db_run(s, err)) {
            return reel_error_at(err, "%s", repairs[i]);
        }
    }
    return h && check_add_texts(h, err) && labels_sweep(h, err) && db_commit(h, err);
}

/* ---- single questions */

static bool query_flag(struct catalog *c, const char *statement, const char *hex, int64_t row, bool *yes,
                       struct reel_error *err) {
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
    return query_flag(c, "row_by_id", id, 0, has, err);
}

bool catalog_is_new(struct catalog *c, bool *fresh, struct reel_error *err) {
    return query_flag(c, "catalog_is_new", "", 0, fresh, err);
}

bool catalog_manifest_is_due(struct catalog *c, int64_t row, bool *due, struct reel_error *err) {
    return query_flag(c, "manifest_is_due", "", row, due, err);
}

bool catalog_manifests_any(struct catalog *c) {
    struct reel_error ignored;
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, &ignored);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "manifests_any", &ignored) : NULL;
    return s && db_next(s, &ignored) == DB_ROW && db_int(s, 0);
}

bool catalog_manifest_mark(struct catalog *c, const char *id, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "manifest_set_due", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    return db_run(s, err) && db_commit(h, err);
}

bool catalog_set_maintenance(struct catalog *c, const char *key, const char *value, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done)
    struct db_statement *s = h ? db_statement(h, value ? "maintenance_set" : "maintenance_unset", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":key", key);
    db_set_text(s, ":value", value);
    return db_run(s, err) && db_commit(h, err);
}

char *catalog_maintenance(struct catalog *c, const char *key, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "maintenance_get", err) : NULL;
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
