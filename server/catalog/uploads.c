/* See uploads.h. Every function is one transaction. */
#include "catalog/uploads.h"

#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

void catalog_upload_done(struct catalog_upload *u) {
    free(u->owner);
    free(u->key);
    free(u->options);
    free(u->metadata);
    free(u->concat);
    free(u->note);
    *u = (struct catalog_upload){0};
}

static char *uploads_keep(struct db_statement *s, int column, bool *ok) {
    char *text = strdup(db_text(s, column));
    *ok = *ok && text;
    return text;
}

/* ---- sessions */

static bool read_upload(struct db_statement *s, struct catalog_upload *u) {
    bool ok = true;
    db_hex(s, 0, u->id, sizeof u->id);
    u->owner = uploads_keep(s, 1, &ok);
    u->key = uploads_keep(s, 2, &ok);
    db_hex(s, 3, u->request, sizeof u->request);
    u->options = uploads_keep(s, 4, &ok);
    u->metadata = uploads_keep(s, 5, &ok);
    u->concat = uploads_keep(s, 6, &ok);
    u->draft = db_int(s, 7) != 0;
    u->checked = db_int(s, 8) != 0;
    u->length = db_int(s, 9);
    u->offset = db_size(s, 10);
    u->done = db_int(s, 11) != 0;
    db_hex(s, 12, u->content, sizeof u->content);
    db_hex(s, 13, u->recording, sizeof u->recording);
    u->created_ns = db_int(s, 14);
    u->expires_ns = db_int(s, 15);
    u->row = db_int(s, 16);
    u->note = uploads_keep(s, 17, &ok);
    u->turn = db_int(s, 18);
    return ok;
}

static bool next_upload(struct db_statement *s, struct catalog_upload *out, struct reel_error *err) {
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END &&
               reel_fail(err, REEL_NOT_FOUND, "there is no such upload; it may have ended, or expired");
    }
    if (!read_upload(s, out)) {
        catalog_upload_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

bool catalog_upload_get(struct catalog *c, const char *id, struct catalog_upload *out, struct reel_error *err) {
    *out = (struct catalog_upload){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_by_id", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    return next_upload(s, out, err);
}

bool catalog_upload_by_key(struct catalog *c, const char *owner, const char *key, struct catalog_upload *out,
                           struct reel_error *err) {
    *out = (struct catalog_upload){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_by_key", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":owner", owner);
    db_set_text(s, ":key", key);
    return next_upload(s, out, err);
}

bool catalog_upload_after(struct catalog *c, int64_t row, struct catalog_upload *out, struct reel_error *err) {
    *out = (struct catalog_upload){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    return next_upload(s, out, err);
}

bool catalog_upload_expired(struct catalog *c, int64_t now_ns, struct catalog_upload *out, struct reel_error *err) {
    *out = (struct catalog_upload){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_expired", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":now", now_ns);
    return next_upload(s, out, err);
}

static void bind_changing(struct db_statement *s, const struct catalog_upload *u) {
    db_set_hex(s, ":id", u->id);
    db_set_int(s, ":checked", u->checked);
    db_set_int(s, ":length", u->length);
    db_set_size(s, ":offset", u->offset);
    db_set_int(s, ":state", u->done);
    db_set_hex(s, ":content", u->content);
    db_set_hex(s, ":recording", u->recording);
    db_set_int(s, ":expires", u->expires_ns);
    db_set_text(s, ":note", u->note ? u->note : "");
}

/* Tells which limit was reached. */
static bool refuse_upload(struct db_handle *h, const char *owner, unsigned most, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "uploads_unfinished", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":owner", owner);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    return db_int(s, 0) >= most
               ? reel_fail(err, REEL_NO_SPACE, "%u uploads are unfinished already: end some, or wait until they expire",
                           most)
               : reel_fail(err, REEL_NO_SPACE, "there is no room: bytes are reserved for other unfinished uploads");
}

bool catalog_upload_add(struct catalog *c, const struct catalog_upload *u, unsigned most, uint64_t room,
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_insert", err) : NULL;
    if (!s) {
        return false;
    }
    bind_changing(s, u);
    db_set_hex(s, ":request", u->request);
    db_set_text(s, ":owner", u->owner);
    db_set_text(s, ":key", u->key);
    db_set_text(s, ":options", u->options);
    db_set_text(s, ":metadata", u->metadata);
    db_set_text(s, ":concat", u->concat);
    db_set_int(s, ":draft", u->draft);
    db_set_int(s, ":created", u->created_ns);
    db_set_int(s, ":most", most);
    db_set_int(s, ":room", room < INT64_MAX ? (int64_t)room : INT64_MAX);
    if (!db_run(s, err)) {
        return false;
    }
    bool added = db_changes(s) == 1;
    db_done(TAKE(s));
    return added ? db_commit(h, err) : refuse_upload(h, u->owner, most, err);
}

bool catalog_upload_update(struct catalog *c, struct catalog_upload *u, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_update", err) : NULL;
    if (!s) {
        return false;
    }
    bind_changing(s, u);
    db_set_int(s, ":turn", u->turn);
    if (!db_run(s, err)) {
        return false;
    }
    bool mine = db_changes(s) == 1;
    db_done(TAKE(s));
    if (!mine) {
        return reel_fail(err, REEL_CONFLICT, "another request has taken over this upload, or it was removed");
    }
    if (!db_commit(h, err)) {
        return false;
    }
    u->turn++;
    return true;
}

bool catalog_upload_extend(struct catalog *c, const char *id, int64_t expires_ns, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_extend", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    db_set_int(s, ":expires", expires_ns);
    if (!db_run(s, err)) {
        return false;
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}

bool catalog_upload_remove(struct catalog *c, const char *id, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "upload_delete", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    if (!db_run(s, err)) {
        return false;
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}

bool catalog_uploads_count(struct catalog *c, uint64_t *count, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "uploads_count", err) : NULL;
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    *count = db_size(s, 0);
    return true;
}

/* ---- first answers */

bool catalog_response_get(struct catalog *c, const char *key, struct catalog_response *out, struct reel_error *err) {
    *out = (struct catalog_response){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "response_get", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":key", key);
    db_set_int(s, ":now", reel_now_ns());
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "nothing was answered under that key");
    }
    bool ok = true;
    db_hex(s, 0, out->request, sizeof out->request);
    out->status = (unsigned)db_int(s, 1);
    out->headers = uploads_keep(s, 2, &ok);
    out->body = uploads_keep(s, 3, &ok);
    if (!ok) {
        free(out->headers);
        free(out->body);
        *out = (struct catalog_response){0};
    }
    return ok || reel_fail_memory(err);
}

static bool bound_responses(struct db_handle *h, const char *owner, unsigned most, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "responses_bound", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":owner", owner);
    db_set_int(s, ":most", most);
    return db_run(s, err);
}

bool catalog_response_put(struct catalog *c, const char *owner, const char *key, const struct catalog_response *a,
                          int64_t expires_ns, unsigned most, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "response_put", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":key", key);
    db_set_text(s, ":owner", owner);
    db_set_hex(s, ":request", a->request);
    db_set_int(s, ":status", a->status);
    db_set_text(s, ":headers", a->headers);
    db_set_text(s, ":body", a->body);
    db_set_int(s, ":now", reel_now_ns());
    db_set_int(s, ":expires", expires_ns);
    if (!db_run(s, err)) {
        return false;
    }
    db_done(TAKE(s));
    return bound_responses(h, owner, most, err) && db_commit(h, err);
}

bool catalog_responses_expire(struct catalog *c, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "responses_expire", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":now", reel_now_ns());
    if (!db_run(s, err)) {
        return false;
    }
    db_done(TAKE(s));
    return db_commit(h, err);
}
