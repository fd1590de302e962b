/* See servers.h. */
#include "catalog/servers.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

bool catalog_server_heartbeat(struct catalog *c, const struct catalog_server *server, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "server_heartbeat", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":id", server->id);
    db_set_text(s, ":address", server->address);
    db_set_int(s, ":now", server->heartbeat_ns);
    bool good = db_run(s, err);
    db_done(TAKE(s));
    return good && db_commit(h, err);
}

bool catalog_server_find(struct catalog *c, const char *id, struct catalog_server *out, struct reel_error *err) {
    *out = (struct catalog_server){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "server_find", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_text(s, ":id", id);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END && reel_fail(err, REEL_NOT_FOUND, "no server has the id %.32s", id);
    }
    snprintf(out->id, sizeof out->id, "%s", id);
    snprintf(out->address, sizeof out->address, "%s", db_text(s, 0));
    out->heartbeat_ns = db_int(s, 1);
    return true;
}

bool catalog_servers_trim(struct catalog *c, int64_t before_ns, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "servers_trim", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":before", before_ns);
    bool good = db_run(s, err);
    db_done(TAKE(s));
    return good && db_commit(h, err);
}

bool catalog_unattended(struct catalog *c, int64_t since_ns, struct catalog_unattended *out, uint32_t max, uint32_t *n,
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "recordings_unattended", err) : NULL;
    enum db_step step = DB_FAILED;
    *n = 0;
    if (!s) {
        return false;
    }
    db_set_int(s, ":since", since_ns);
    db_set_int(s, ":limit", max);
    while ((step = db_next(s, err)) == DB_ROW && *n < max) {
        db_hex(s, 0, out[*n].id, sizeof out->id);
        snprintf(out[*n].home, sizeof out->home, "%s", db_text(s, 1));
        ++*n;
    }
    return step == DB_END;
}

bool catalog_abandon(struct catalog *c, const char *id, int64_t since_ns, const char *problem, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "recording_set_missing", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    db_set_int(s, ":since", since_ns);
    db_set_text(s, ":problem", problem);
    db_set_int(s, ":now", reel_now_ns());
    enum db_step step = db_next(s, err);
    db_done(TAKE(s));
    return step != DB_FAILED && db_commit(h, err);
}

bool catalog_take_home(struct catalog *c, const char *id, const char *home, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "recording_set_home", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    db_set_text(s, ":home", home);
    db_set_int(s, ":now", reel_now_ns());
    enum db_step step = db_next(s, err);
    db_done(TAKE(s));
    return step == DB_ROW ? db_commit(h, err)
                          : step == DB_END && reel_fail(err, REEL_NOT_FOUND, "no live recording has that id");
}
