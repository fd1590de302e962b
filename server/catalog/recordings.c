/* Recordings as rows: added, changed, fetched, deleted. Each change is one transaction. */
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "catalog/catalog_cache.h"
#include "catalog/catalog_internal.h"
#include "catalog/columns.h"
#include "catalog/jobs.h"
#include "catalog/list.h"
#include "reel/time.h"

static const char *const state_names[] = {"scanning", "ready",   "failed",    "missing",
                                          "trashed",  "changed", "recording", "announced"};

const char *recording_state_name(enum recording_state state) {
    return (size_t)state < sizeof state_names / sizeof *state_names ? state_names[state] : "unknown";
}

bool recording_state_parse(const char *name, enum recording_state *out) {
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *out = (enum recording_state)i;
            return true;
        }
    }
    return false;
}

void catalog_recording_done(struct catalog_recording *r) {
    for (uint32_t i = 0; i < r->n_parts; i++) {
        free((char *)r->parts[i].file_name);
    }
    free(r->parts);
    columns_free_texts(r);
    catalog_annotations_done(&r->annotations);
    *r = (struct catalog_recording){0};
}
bool catalog_on_calendar(const struct catalog_recording *r, int64_t own_ns, int64_t *ns) {
    int64_t shift = r->clock == REEL_CLOCK_RELATIVE ? r->annotations.epoch_ns : 0; /* never negative */
    if (r->clock == REEL_CLOCK_RELATIVE && !r->annotations.has_epoch) {
        return false;
    }
    *ns = own_ns > INT64_MAX - shift ? INT64_MAX : own_ns + shift;
    return true;
}

REEL_DEFINE_AUTO(struct catalog, catalog_close);

static void print_upgrade(void *context, const char *line) {
    (void)context;
    fprintf(stderr, "reel: %s\n", line);
}

/* Migrations leave the full text of new labels to this. */
static bool sweep_labels(struct catalog *c, struct reel_error *err) {
    enum db_step step = DB_FAILED;
    {
        AUTO(db_end) struct db_handle *h = db_read(c->db, err);
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, "labels_changed", err) : NULL;
        if (s) {
            db_set_int(s, ":limit", 1);
            step = db_next(s, err);
        }
    }
    if (step != DB_ROW) {
        return step == DB_END;
    }
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && db_patient(h, err) && labels_sweep(h, err) && db_commit(h, err);
}

static struct catalog *recordings_open(const char *path, bool upgrades, struct reel_error *err) {
    const struct db_upgrade upgrade = {.allowed = upgrades, .report = print_upgrade};
    AUTO(catalog_close) struct catalog *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    c->db = db_open(path, err);
    c->cache = catalog_cache_new(err);
    c->lists = list_sets_new(err);
    if (!c->db || !c->cache || !c->lists || !db_migrate(c->db, &upgrade, err) || !sweep_labels(c, err)) {
        return NULL;
    }
    db_analyze(c->db);
    return TAKE(c);
}

struct catalog *catalog_open(const char *path, struct reel_error *err) {
    return recordings_open(path, false, err);
}
struct catalog *catalog_open_upgrading(const char *path, struct reel_error *err) {
    return recordings_open(path, true, err);
}

void catalog_close(struct catalog *c) {
    if (c) {
        db_close(c->db);
        catalog_cache_free(c->cache);
        list_sets_free(c->lists);
        free(c);
    }
}

/* ---- reading */

/* The row that `s` names; REEL_NOT_FOUND saying `what`. */
static bool find_row(struct db_statement *s, const char *what, int64_t *row, struct reel_error *err) {
    enum db_step step = db_next(s, err);
    if (step == DB_ROW) {
        *row = db_int(s, 0);
    }
    return step == DB_ROW || (step == DB_END && reel_fail(err, REEL_NOT_FOUND, "%s", what));
}

bool row_by_name(struct db_handle *h, const char *collection, const char *name, int64_t *row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "row_by_name", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":collection", collection);
    db_set_text(s, ":name", name);
    return find_row(s, "no recording of that name in this collection", row, err);
}

bool row_by_hex(struct db_handle *h, const char *statement, const char *parameter, const char *hex, const char *what,
                int64_t *row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_hex(s, parameter, hex);
    return find_row(s, what, row, err);
}

const char *catalog_not_found(const char *key) {
    return strncmp(key, "sha256:", 7) == 0 ? "no recording has that content"
           : strncmp(key, "name:", 5) == 0 ? "no recording of that name in this collection"
                                           : "no recording has that id";
}

/* ---- the cache */

static size_t recording_bytes(const void *value) {
    const struct catalog_recording *r = value;
    size_t bytes = columns_texts_size(r) + r->n_parts * sizeof *r->parts;
    for (uint32_t i = 0; i < r->n_parts; i++) {
        bytes += strlen(r->parts[i].file_name) + 1;
    }
    bytes += r->annotations.n_tags * sizeof *r->annotations.tags;
    for (uint32_t i = 0; i < r->annotations.n_tags; i++) {
        bytes += strlen(r->annotations.tags[i].key) + strlen(r->annotations.tags[i].value) + 2;
    }
    return bytes;
}

static bool recording_copy(const void *source, void *target) {
    const struct catalog_recording *from = source;
    struct catalog_recording *to = target;
    *to = *from;
    bool good = columns_copy_texts(to);
    to->parts = calloc(from->n_parts ? from->n_parts : 1, sizeof *to->parts);
    to->n_parts = to->parts ? from->n_parts : 0;
    good = good && to->parts;
    for (uint32_t i = 0; i < to->n_parts; i++) {
        to->parts[i] = from->parts[i];
        to->parts[i].file_name = strdup(from->parts[i].file_name);
        good = good && to->parts[i].file_name;
    }
    good = annotations_copy_tags(&from->annotations, &to->annotations) && good;
    if (!good) {
        catalog_recording_done(to);
    }
    return good;
}

static bool recording_same(const void *one, const void *other) {
    const struct catalog_recording *a = one, *b = other;
    return a->updated_ns == b->updated_ns && a->state == b->state && strcmp(a->id, b->id) == 0;
}

static void recording_done(void *value) {
    catalog_recording_done(value);
}

static const struct catalog_cache_kind recording_kind = {
    CACHE_RECORDING, sizeof(struct catalog_recording), recording_bytes, recording_copy, recording_done, recording_same};

static struct catalog_cache_key recording_key(const char *key) {
    return (struct catalog_cache_key){.kind = &recording_kind, .prefix = "", .data = key, .size = strlen(key)};
}

static bool find_by_key(struct db_handle *h, const char *key, int64_t *row, struct reel_error *err) {
    if (strncmp(key, "sha256:", 7) == 0) {
        return row_by_hex(h, "row_by_content", ":content", key + 7, catalog_not_found(key), row, err);
    }
    if (strncmp(key, "name:", 5) != 0) {
        return row_by_hex(h, "row_by_id", ":id", key, catalog_not_found(key), row, err);
    }
    const char *slash = strchr(key + 5, '/');
    AUTO_MEM char *collection = strndup(key + 5, slash ? (size_t)(slash - key - 5) : 0);
    if (!collection) {
        return reel_fail_memory(err);
    }
    return slash ? row_by_name(h, collection, slash + 1, row, err)
                 : reel_fail(err, REEL_NOT_FOUND, "a name is written name:collection/name");
}

bool catalog_get(struct catalog *c, const char *key, struct catalog_recording *out, struct reel_error *err) {
    *out = (struct catalog_recording){0};
    const struct catalog_cache_key cached = recording_key(key);
    uint64_t version = db_version(c->db);
    if (catalog_cache_find(c->cache, &cached, version, out)) {
        return true;
    }
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    int64_t row = 0;
    if (!h || !find_by_key(h, key, &row, err) || !catalog_load(h, row, out, err)) {
        return false;
    }
    catalog_cache_keep(c->cache, &cached, version, out);
    return true;
}

char *catalog_answer(struct catalog *c, const char *key, const struct catalog_recording *row, uint32_t definitions) {
    const struct catalog_cache_key cached = recording_key(key);
    return catalog_cache_find_answer(c->cache, &cached, row, definitions);
}

void catalog_keep_answer(struct catalog *c, const char *key, const struct catalog_recording *row, uint32_t definitions,
                         const char *text) {
    const struct catalog_cache_key cached = recording_key(key);
    catalog_cache_keep_answer(c->cache, &cached, row, definitions, text);
}

bool catalog_get_named(struct catalog *c, const char *collection, const char *name, struct catalog_recording *out,
                       struct reel_error *err) {
    *out = (struct catalog_recording){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    int64_t row = 0;
    return h && row_by_name(h, collection, name, &row, err) && catalog_load(h, row, out, err);
}

static bool is_used(struct catalog *c, const char *statement, const char *sha256, bool *used, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":sha256", sha256);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *used = db_int(s, 0) != 0;
    return true;
}

bool catalog_content_used(struct catalog *c, const char *content, bool *used, struct reel_error *err) {
    return is_used(c, "content_used", content, used, err);
}

bool catalog_blob_used(struct catalog *c, const char *sha256, bool *used, struct reel_error *err) {
    return is_used(c, "blob_used", sha256, used, err);
}

bool catalog_upload_has(struct catalog *c, const char *sha256, bool *has, struct reel_error *err) {
    return is_used(c, "upload_of_content", sha256, has, err);
}

/* ---- writing */

/* Is (collection, name) free for r's content? */
static bool recordings_name_is_free(struct db_handle *h, const struct catalog_recording *r, bool replace,
                                    struct reel_error *err) {
    struct reel_error none;
    int64_t row = 0;
    if (!row_by_name(h, r->collection, r->name, &row, &none)) {
        if (err && none.code != REEL_NOT_FOUND) {
            reel_error_pass(err, &none);
        }
        return none.code == REEL_NOT_FOUND;
    }
    struct catalog_recording there;
    if (!catalog_load(h, row, &there, err)) {
        return false;
    }
    bool same = strcmp(there.content, r->content) == 0;
    catalog_recording_done(&there);
    if (same) {
        return reel_fail(err, REEL_CONFLICT, "this content is already stored under this name");
    }
    return replace ||
           reel_fail(err, REEL_CONFLICT,
                     "\"%.200s\" names other content in this collection; replace=true makes a new revision", r->name);
}

static bool recordings_insert_row(struct db_handle *h, struct catalog_recording *r, int64_t now,
                                  struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_insert", err);
    if (!s) {
        return false;
    }
    columns_bind(s, r);
    db_set_int(s, ":now", now);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    r->row = db_int(s, 0);
    r->revision = (uint32_t)db_int(s, 1);
    return true;
}

bool row_insert_parts(struct db_handle *h, const struct catalog_recording *r, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "part_insert", err);
    bool ok = s;
    for (uint32_t i = 0; ok && i < r->n_parts; i++) {
        db_set_int(s, ":row", r->row);
        db_set_int(s, ":position", i);
        db_set_hex(s, ":sha256", r->parts[i].sha256);
        db_set_size(s, ":size", r->parts[i].size);
        db_set_text(s, ":file_name", r->parts[i].file_name);
        ok = db_run(s, err);
    }
    return ok;
}

bool catalog_make_id(char out[RECORDING_ID_TEXT], struct reel_error *err) {
    uint8_t raw[(RECORDING_ID_TEXT - 1) / 2];
    if (RAND_bytes(raw, sizeof raw) != 1) {
        return reel_fail(err, REEL_IO, "the system returned no random bytes for an id");
    }
    hex_write(raw, sizeof raw, out);
    return true;
}

bool catalog_add_scanning(struct catalog *c, struct catalog_recording *r, const struct reel_index *index, bool replace,
                          struct catalog_job *job, struct reel_error *err) {
    if (!r->id[0] && !catalog_make_id(r->id, err)) {
        return false;
    }
    int64_t now = r->created_ns ? r->created_ns : reel_now_ns();
    unsigned n_tags = 0;
    bool added;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !recordings_name_is_free(h, r, replace, err) || !recordings_insert_row(h, r, now, err) ||
        !row_insert_parts(h, r, err) ||
        !annotations_write_tags(h, r->row, r->annotations.tags, r->annotations.n_tags, false, &n_tags, err) ||
        !catalog_label(h, r, index, true, err) || (job && !catalog_job_insert(h, job, &added, err)) ||
        !db_commit(h, err)) {
        return false;
    }
    r->created_ns = r->updated_ns = now;
    return true;
}

bool catalog_add(struct catalog *c, struct catalog_recording *r, const struct reel_index *index, bool replace,
                 struct reel_error *err) {
    return catalog_add_scanning(c, r, index, replace, NULL, err);
}

/* Runs a statement that changes the recording `id` and returns its row. */
static bool recordings_change(struct db_statement *s, const char *id, int64_t *row, struct reel_error *err) {
    db_set_hex(s, ":id", id);
    db_set_int(s, ":now", reel_now_ns());
    return find_row(s, "no recording has that id", row, err);
}

static bool update_row(struct db_handle *h, const struct catalog_recording *r, int64_t *row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_update_scan", err);
    if (!s) {
        return false;
    }
    columns_bind(s, r);
    return recordings_change(s, r->id, row, err);
}

bool catalog_update_scan(struct catalog *c, const struct catalog_recording *r, const struct reel_index *index,
                         struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    struct catalog_recording now = *r; /* the caller's texts, the row as it is */
    return h && update_row(h, r, &now.row, err) && catalog_label(h, &now, index, false, err) && db_commit(h, err);
}

static bool delete_where_row(struct db_handle *h, const char *statement, int64_t row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    return db_run(s, err);
}

static bool replace_parts(struct db_handle *h, const struct catalog_recording *r, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "recording_set_content", err);
    if (!s) {
        return false;
    }
    struct catalog_recording now = *r;
    db_set_hex(s, ":content", r->content);
    db_set_size(s, ":size", r->size);
    db_set_text(s, ":announced", r->announced ? r->announced : "");
    bool changed = recordings_change(s, r->id, &now.row, err);
    db_done(TAKE(s));
    return changed && delete_where_row(h, "parts_delete", now.row, err) && row_insert_parts(h, &now, err);
}

bool catalog_set_parts(struct catalog *c, const struct catalog_recording *r, const struct reel_index *index,
                       struct catalog_job *job, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    struct catalog_recording now = *r;
    bool added;
    return h && replace_parts(h, r, err) && update_row(h, r, &now.row, err) &&
           fetches_follow(h, r->announced, now.row, err) && catalog_label(h, &now, index, false, err) &&
           (!job || catalog_job_insert(h, job, &added, err)) && db_commit(h, err);
}

/* Does the recording still have the expected version? Must run in the transaction that changes it. */
static bool is_version(struct db_handle *h, const char *id, int64_t version, struct reel_error *err) {
    struct catalog_recording now = {0};
    int64_t row = 0;
    if (version == CATALOG_ANY_VERSION) {
        return true;
    }
    bool good = row_by_hex(h, "row_by_id", ":id", id, "no recording has that id", &row, err) &&
                catalog_load(h, row, &now, err) &&
                (now.updated_ns == version || reel_fail(err, REEL_CHANGED, "the recording has changed since"));
    catalog_recording_done(&now);
    return good;
}

static bool change_state_at(struct catalog *c, const char *statement, const char *id, int64_t version,
                            enum recording_state state, const char *problem, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !is_version(h, id, version, err)) {
        return false;
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    int64_t row = 0;
    db_set_int(s, ":state", state);
    db_set_text(s, ":problem", problem);
    if (!recordings_change(s, id, &row, err)) {
        return false;
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}

static bool change_state(struct catalog *c, const char *statement, const char *id, enum recording_state state,
                         const char *problem, struct reel_error *err) {
    return change_state_at(c, statement, id, CATALOG_ANY_VERSION, state, problem, err);
}

bool catalog_set_state(struct catalog *c, const char *id, enum recording_state state, const char *problem,
                       struct reel_error *err) {
    if (state == STATE_TRASHED) {
        return catalog_trash(c, id, err);
    }
    return change_state(c, "recording_set_state", id, state, problem, err);
}

bool catalog_trash(struct catalog *c, const char *id, struct reel_error *err) {
    return catalog_trash_at(c, id, CATALOG_ANY_VERSION, err);
}

bool catalog_trash_at(struct catalog *c, const char *id, int64_t version, struct reel_error *err) {
    return change_state_at(c, "recording_trash", id, version, STATE_TRASHED, NULL, err);
}

bool catalog_restore(struct catalog *c, const char *id, struct reel_error *err) {
    return change_state(c, "recording_restore", id, STATE_READY, NULL, err);
}

bool catalog_purge_at(struct catalog *c, const char *id, int64_t version, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    int64_t row = 0;
    return h && is_version(h, id, version, err) &&
           row_by_hex(h, "row_by_id", ":id", id, "no recording has that id", &row, err) &&
           delete_where_row(h, "search_delete", row, err) && delete_where_row(h, "recording_delete", row, err) &&
           labels_sweep(h, err) && db_commit(h, err);
}
