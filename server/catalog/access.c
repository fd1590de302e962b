/* See access.h. Tokens are cached for one version of the catalog (catalog_cache.h): one that `reel token` or another
 * server revokes is refused from the next request on. */
#include "catalog/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "catalog/catalog_cache.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

void token_done(struct token *t) {
    free(t->name);
    free(t->collections);
    *t = (struct token){0};
}

/* ---- the cache */

static size_t token_bytes(const void *value) {
    const struct token *t = value;
    return strlen(t->name) + strlen(t->collections) + 2;
}

static bool token_copy(const void *source, void *target) {
    const struct token *from = source;
    struct token *to = target;
    *to = *from;
    to->name = strdup(from->name);
    to->collections = strdup(from->collections);
    bool good = to->name && to->collections;
    if (!good) {
        token_done(to);
    }
    return good;
}

static void token_free(void *value) {
    token_done(value);
}

static const struct catalog_cache_kind token_kind = {
    CACHE_TOKEN, sizeof(struct token), token_bytes, token_copy, token_free, NULL /* no answers are made of tokens */};

/* ---- finding */

static const char no_such_token[] = "no such token";

static bool access_load(struct db_statement *s, struct token *out, struct reel_error *err) {
    *out = (struct token){.row = db_int(s, 0),
                          .name = strdup(db_text(s, 1)),
                          .role = (int)db_int(s, 2),
                          .collections = strdup(db_text(s, 3)),
                          .created_ns = db_int(s, 4),
                          .expires_ns = db_int(s, 5),
                          .used_ns = db_int(s, 6),
                          .revoked_ns = db_int(s, 7)};
    size_t size = 0;
    const uint8_t *hash = db_bytes(s, 8, &size);
    memcpy(out->hash, hash, hash && size == TOKEN_HASH ? size : 0);
    if (!out->name || !out->collections) {
        token_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

/* The one row of `s`. */
static bool load_one(struct db_statement *s, struct token *out, struct reel_error *err) {
    *out = (struct token){0};
    enum db_step step = db_next(s, err);
    return step == DB_ROW ? access_load(s, out, err) : step == DB_END && reel_fail(err, REEL_NOT_FOUND, no_such_token);
}

/* By the statement, a token by its row or by a hash (NULL: by the row). */
static bool access_query(struct catalog *c, const char *statement, const uint8_t *hash, int64_t row, struct token *out,
                         struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_reserved(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    if (hash) {
        db_set_blob(s, ":hash", hash, TOKEN_HASH);
    }
    return load_one(s, out, err);
}

/* The same through the cache, which also knows what is not there: clients repeat wrong tokens. */
static bool access_find(struct catalog *c, const char *statement, const uint8_t *hash, int64_t row, struct token *out,
                        struct reel_error *err) {
    const struct catalog_cache_key key = {.kind = &token_kind,
                                          .prefix = statement,
                                          .data = hash ? (const void *)hash : &row,
                                          .size = hash ? TOKEN_HASH : sizeof row};
    struct reel_error why = {0};
    uint64_t version = db_version(c->db);
    *out = (struct token){0};
    if (catalog_cache_find(c->cache, &key, version, out)) {
        return true;
    }
    if (catalog_cache_find(c->cache, &key, version, NULL)) {
        return reel_fail(err, REEL_NOT_FOUND, no_such_token);
    }
    bool good = access_query(c, statement, hash, row, out, &why);
    if (good || why.code == REEL_NOT_FOUND) {
        catalog_cache_keep(c->cache, &key, version, good ? out : NULL);
    }
    if (!good && err) {
        reel_error_pass(err, &why);
    }
    return good;
}

bool catalog_token_by_hash(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct token *out,
                           struct reel_error *err) {
    return access_find(c, "token_by_hash", hash, 0, out, err);
}

bool catalog_token_by_row(struct catalog *c, int64_t row, struct token *out, struct reel_error *err) {
    return access_find(c, "token_by_row", NULL, row, out, err);
}

bool catalog_token_by_login(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct token *out,
                            struct reel_error *err) {
    return access_find(c, "token_by_login", hash, 0, out, err);
}

static bool access_by_name(struct catalog *c, const char *name, struct token *out, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "token_by_name", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    return load_one(s, out, err);
}

bool catalog_token_by_key(struct catalog *c, const char *key, struct token *out, struct reel_error *err) {
    struct reel_error why = {0};
    if (access_by_name(c, key, out, &why)) {
        return true;
    }
    int64_t number;
    if (why.code == REEL_NOT_FOUND && number_i64(key, &number)) {
        return catalog_token_by_row(c, number, out, err);
    }
    if (err) {
        reel_error_pass(err, &why);
    }
    return false;
}

static bool access_read_number(struct db_handle *h, const char *statement, int64_t *out, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *out = db_int(s, 0);
    return true;
}

bool catalog_tokens_exist(struct catalog *c, bool *exist, struct reel_error *err) {
    const struct catalog_cache_key any = {.kind = &token_kind, .prefix = "tokens_exist", .data = ""};
    uint64_t version = db_version(c->db);
    int64_t n = 0;
    *exist = false;
    if (catalog_cache_find(c->cache, &any, version, NULL)) {
        return true;
    }
    AUTO(db_end) struct db_handle *h = db_read_reserved(c->db, err);
    if (!h || !access_read_number(h, "tokens_exist", &n, err)) {
        return false;
    }
    *exist = n;
    if (!*exist) {
        catalog_cache_keep(c->cache, &any, version, NULL);
    }
    return true;
}

bool catalog_tokens(struct catalog *c, int64_t after, struct token *out, uint32_t max, uint32_t *n,
                    struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "tokens_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", after);
    db_set_int(s, ":limit", max);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && access_load(s, &out[*n], err)) {
        ++*n;
    }
    for (uint32_t i = 0; step != DB_END && i < *n; i++) {
        token_done(&out[i]);
    }
    return step == DB_END;
}

/* ---- changing */

static bool access_make_room(struct db_handle *h, struct reel_error *err) {
    int64_t n;
    if (!access_read_number(h, "tokens_count", &n, err) || n < TOKENS_MAX) {
        return n < TOKENS_MAX;
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "tokens_sweep", err);
    if (!s || !db_run(s, err)) {
        return false;
    }
    return db_changes(s) > 0 || reel_fail(err, REEL_LIMIT, "there are %d tokens, revoke some", TOKENS_MAX);
}

static bool access_name_is_free(struct db_handle *h, const char *name, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "token_name_taken", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    return !db_int(s, 0) ||
           reel_fail(err, REEL_CONFLICT, "there is a token named %s; revoke it first, or take another name", name);
}

static bool access_insert(struct db_handle *h, struct token *t, const uint8_t hash[TOKEN_HASH],
                          struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "token_insert", err);
    if (!s) {
        return false;
    }
    t->created_ns = reel_now_ns();
    memcpy(t->hash, hash, TOKEN_HASH);
    db_set_blob(s, ":hash", hash, TOKEN_HASH);
    db_set_text(s, ":name", t->name);
    db_set_int(s, ":role", t->role);
    db_set_text(s, ":collections", t->collections);
    db_set_int(s, ":now", t->created_ns);
    db_set_int(s, ":expires", t->expires_ns);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    t->row = db_int(s, 0);
    return db_run(s, err);
}

bool catalog_token_add(struct catalog *c, struct token *t, const uint8_t hash[TOKEN_HASH], struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && access_name_is_free(h, t->name, err) && access_make_room(h, err) && access_insert(h, t, hash, err) &&
           db_commit(h, err);
}

/* Runs a statement about one token; *changed says whether it found it. */
static bool access_change(struct catalog *c, const char *statement, int64_t row, int64_t now_ns, bool *changed,
                          struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
        if (!s) {
            return false;
        }
        db_set_int(s, ":row", row);
        db_set_int(s, ":now", now_ns);
        if (!db_run(s, err)) {
            return false;
        }
        *changed = db_changes(s) > 0;
    }
    return db_commit(h, err);
}

bool catalog_token_used(struct catalog *c, int64_t row, int64_t now_ns, struct reel_error *err) {
    bool changed;
    return access_change(c, "token_used", row, now_ns, &changed, err);
}

bool catalog_token_revoke(struct catalog *c, int64_t row, struct reel_error *err) {
    bool changed;
    return access_change(c, "token_revoke", row, reel_now_ns(), &changed, err) &&
           (changed || reel_fail(err, REEL_NOT_FOUND, "this token is revoked already"));
}

/* ---- logins */

static bool run_login(struct db_handle *h, const char *statement, const uint8_t hash[TOKEN_HASH], int64_t token,
                      int64_t expires_ns, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_blob(s, ":hash", hash, TOKEN_HASH);
    db_set_int(s, ":token", token);
    db_set_int(s, ":now", reel_now_ns());
    db_set_int(s, ":expires", expires_ns);
    db_set_int(s, ":max", LOGINS_MAX);
    return db_run(s, err);
}

bool catalog_login_add(struct catalog *c, const uint8_t hash[TOKEN_HASH], int64_t token, int64_t expires_ns,
                       struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && run_login(h, "logins_expired", hash, token, expires_ns, err) &&
           run_login(h, "login_insert", hash, token, expires_ns, err) &&
           run_login(h, "logins_above", hash, token, expires_ns, err) && db_commit(h, err);
}

bool catalog_login_remove(struct catalog *c, const uint8_t hash[TOKEN_HASH], struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && run_login(h, "login_delete", hash, 0, 0, err) && db_commit(h, err);
}

/* ---- audit */

static bool insert_audit(struct db_handle *h, const struct audit_row *rows, uint32_t n, int64_t *last,
                         struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "audit_insert", err);
    bool good = s;
    for (uint32_t i = 0; good && i < n; i++) {
        const struct audit_row *a = &rows[i];
        db_set_int(s, ":time", a->time_ns);
        db_set_text(s, ":caller", a->caller);
        db_set_text(s, ":how", a->how);
        db_set_text(s, ":peer", a->peer);
        db_set_text(s, ":method", a->method);
        db_set_text(s, ":path", a->path);
        db_set_int(s, ":status", a->status);
        db_set_text(s, ":request", a->request);
        good = db_next(s, err) == DB_ROW;
        *last = good ? db_int(s, 0) : 0;
        good = good && db_run(s, err);
    }
    return good;
}

bool catalog_audit_add(struct catalog *c, const struct audit_row *rows, uint32_t n, struct reel_error *err) {
    int64_t last = 0;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    if (!h || !insert_audit(h, rows, n, &last, err)) {
        return false;
    }
    {
        AUTO(db_done) struct db_statement *s = db_statement(h, "audit_trim", err);
        if (!s) {
            return false;
        }
        db_set_int(s, ":row", last - AUDIT_ROWS_MAX);
        if (!db_run(s, err)) {
            return false;
        }
    }
    return db_commit(h, err);
}

/* The row's texts, one after the other in one allocation. */
static bool load_audit(struct db_statement *s, struct audit_row *out, struct reel_error *err) {
    static const int columns[] = {2, 3, 4, 5, 6, 8};
    *out = (struct audit_row){.row = db_int(s, 0), .time_ns = db_int(s, 1), .status = (unsigned)db_int(s, 7)};
    const char **const texts[] = {&out->caller, &out->how, &out->peer, &out->method, &out->path, &out->request};
    size_t size = 0;
    for (unsigned i = 0; i < 6; i++) {
        size += strlen(db_text(s, columns[i])) + 1;
    }
    char *at = out->memory = malloc(size);
    for (unsigned i = 0; at && i < 6; i++) {
        *texts[i] = at;
        at = stpcpy(at, db_text(s, columns[i])) + 1;
    }
    return at || reel_fail_memory(err);
}

bool catalog_audit(struct catalog *c, const struct audit_filter *filter, int64_t before, struct audit_row *out,
                   uint32_t max, uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "audit_before", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", before);
    db_set_text(s, ":caller", filter->caller);
    db_set_text(s, ":method", filter->method);
    db_set_text(s, ":path", filter->path);
    db_set_int(s, ":status_min", filter->status_min);
    db_set_int(s, ":status_max", filter->status_max);
    db_set_int(s, ":start", filter->start_ns);
    db_set_int(s, ":end", filter->end_ns);
    db_set_int(s, ":limit", max);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && load_audit(s, &out[*n], err)) {
        ++*n;
    }
    if (step != DB_END) {
        audit_rows_done(out, *n);
    }
    return step == DB_END;
}

void audit_rows_done(struct audit_row *rows, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(rows[i].memory);
    }
}
