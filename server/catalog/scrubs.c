/* The stored files in the order of their hashes, and the corrupted ones. A corrupted file is recorded in one
 * transaction together with the problem of each recording that uses it. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/maintenance.h"
#include "reel/time.h"

static const char SCRUB_MARK[] = "scrub: "; /* begins a problem that may be taken back */

static bool after_hash(struct catalog *c, const char *statement, const char *after, char sha256[SHA256_HEX],
                       uint64_t *size, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", after);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "no more stored files");
    }
    db_hex(s, 0, sha256, SHA256_HEX);
    if (size) {
        *size = db_size(s, 1);
    }
    return true;
}

bool catalog_part_after(struct catalog *c, const char *after, char sha256[SHA256_HEX], uint64_t *size,
                        struct reel_error *err) {
    return after_hash(c, "part_after", after, sha256, size, err);
}

bool catalog_content_after(struct catalog *c, const char *after, char content[SHA256_HEX], struct reel_error *err) {
    return after_hash(c, "content_after", after, content, NULL, err);
}

static bool read_two(struct catalog *c, const char *statement, uint64_t *files, uint64_t *bytes,
                     struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *files = db_size(s, 0);
    *bytes = db_size(s, 1);
    return true;
}

bool catalog_parts_total(struct catalog *c, uint64_t *files, uint64_t *bytes, struct reel_error *err) {
    return read_two(c, "parts_total", files, bytes, err);
}

bool catalog_corruption_count(struct catalog *c, uint64_t *files, struct reel_error *err) {
    uint64_t unused;
    return read_two(c, "corruption_count", files, &unused, err);
}

static bool scrubs_run(struct db_handle *h, const char *statement, const char *sha256, const char *text,
                       struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    db_set_text(s, ":text", text);
    db_set_text(s, ":mark", SCRUB_MARK);
    db_set_int(s, ":now", reel_now_ns());
    return db_run(s, err);
}

bool catalog_corruption_found(struct catalog *c, const char *sha256, const char *text, struct reel_error *err) {
    char problem[256];
    snprintf(problem, sizeof problem, "%s%s", SCRUB_MARK, text);
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && scrubs_run(h, "corruption_put", sha256, text, err) &&
           scrubs_run(h, "corruption_problem", sha256, problem, err) && db_commit(h, err);
}

bool catalog_corruption_cleared(struct catalog *c, const char *sha256, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && scrubs_run(h, "corruption_clear", sha256, "", err) &&
           scrubs_run(h, "corruption_problem", sha256, "", err) && scrubs_run(h, "corruption_sweep", "", "", err) &&
           db_commit(h, err);
}

bool catalog_is_corrupted(struct catalog *c, const char *sha256, bool *corrupted, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "corruption_find", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    enum db_step step = db_next(s, err);
    *corrupted = step == DB_ROW && db_int(s, 0) != 0;
    return step != DB_FAILED;
}

/* The rows come file by file. */
static void add_to_list(json_t *list, struct db_statement *s) {
    char sha256[SHA256_HEX], id[RECORDING_ID_TEXT], when[REEL_TIME_TEXT];
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    db_hex(s, 0, sha256, sizeof sha256);
    db_hex(s, 4, id, sizeof id);
    const char *its = json_string_value(json_object_get(last, "sha256"));
    if (!its || strcmp(its, sha256) != 0) {
        reel_time_rfc3339(db_int(s, 1), when);
        last =
            json_pack("{s:s, s:s, s:s, s:[]}", "sha256", sha256, "found", when, "problem", db_text(s, 2), "recordings");
        json_array_append_new(list, last);
    }
    json_array_append_new(json_object_get(last, "recordings"),
                          json_pack("{s:s, s:s, s:s}", "id", id, "collection", db_text(s, 5), "name", db_text(s, 6)));
}

json_t *catalog_corruption_list(struct catalog *c, bool (*sees)(const void *context, const char *collection),
                                const void *context, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "corruption_list", err) : NULL;
    json_t *list = s ? json_array() : NULL;
    if (!list) {
        return NULL;
    }
    db_set_hex(s, ":sha256", "");
    db_set_int(s, ":row", 0);
    db_set_int(s, ":limit", CORRUPTION_LIST_MAX);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        if (!sees || sees(context, db_text(s, 5))) {
            add_to_list(list, s);
        }
    }
    if (step == DB_FAILED) {
        json_decref(list);
        return NULL;
    }
    return list;
}
