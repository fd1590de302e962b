/* See announced.h. */
#include "catalog/announced.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

/* ---- the text of the column: SHA256 AGENT ROBOT */

enum { AGENT_AT = SHA256_HEX, ROBOT_AT = AGENT_AT + ANNOUNCED_AGENT };

bool announced_read(const char *text, struct announced *out) {
    *out = (struct announced){0};
    if (!text || strlen(text) <= ROBOT_AT || strlen(text) >= ROBOT_AT + ANNOUNCED_ROBOT || text[AGENT_AT - 1] != ' ' ||
        text[ROBOT_AT - 1] != ' ') {
        return false;
    }
    memcpy(out->sha256, text, SHA256_HEX - 1);
    memcpy(out->agent, text + AGENT_AT, ANNOUNCED_AGENT - 1);
    strcpy(out->robot, text + ROBOT_AT);
    return hex_is(out->sha256, SHA256_HEX - 1) && hex_is(out->agent, ANNOUNCED_AGENT - 1);
}

char *announced_text(const struct announced *a) {
    char *text = NULL;
    return asprintf(&text, "%s %s %s", a->sha256, a->agent, a->robot) < 0 ? NULL : text;
}

void announced_content(const char *id, const char *sha256, char out[SHA256_HEX]) {
    char text[RECORDING_ID_TEXT + SHA256_HEX + 16];
    struct digest d;
    int n = snprintf(text, sizeof text, "announced %.32s %.64s", id, sha256);
    digest_start(&d, DIGEST_SHA256);
    digest_add(&d, text, (size_t)n);
    digest_end_hex(&d, out);
}

/* ---- fetches */

/* What the rows have in the order of fetches_of. */
static void read_fetch(struct db_statement *s, struct catalog_fetch *out) {
    *out = (struct catalog_fetch){.row = db_int(s, 0),
                                  .has_range = db_int(s, 2) != 0,
                                  .start_ns = db_int(s, 3),
                                  .end_ns = db_int(s, 4),
                                  .asked_ns = db_int(s, 6),
                                  .answered_ns = db_int(s, 7)};
    db_hex(s, 1, out->recording, sizeof out->recording);
    snprintf(out->author, sizeof out->author, "%s", db_text(s, 5));
    snprintf(out->problem, sizeof out->problem, "%s", db_text(s, 8));
    if (!db_is_null(s, 9)) {
        db_hex(s, 9, out->result, sizeof out->result);
    }
}

static bool read_fetches(struct catalog *c, const char *statement, const char *key, const char *hex, uint32_t most,
                         struct catalog_fetch *out, uint32_t *n, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, statement, err) : NULL;
    enum db_step step = s ? DB_ROW : DB_FAILED;
    *n = 0;
    if (s) {
        db_set_hex(s, key, hex);
        db_set_int(s, ":limit", most);
    }
    while (*n < most && step == DB_ROW && (step = db_next(s, err)) == DB_ROW) {
        read_fetch(s, &out[(*n)++]);
    }
    return step != DB_FAILED;
}

bool catalog_fetches_of(struct catalog *c, const char *recording, struct catalog_fetch *out, uint32_t *n,
                        struct reel_error *err) {
    return read_fetches(c, "fetches_of", ":id", recording, FETCHES_SHOWN_MAX, out, n, err);
}

bool catalog_fetches_waiting(struct catalog *c, const char *agent, struct catalog_fetch *out, uint32_t *n,
                             struct reel_error *err) {
    return read_fetches(c, "fetches_waiting", ":agent", agent, FETCHES_MAX, out, n, err);
}

static void bind_range(struct db_statement *s, int64_t row, const struct catalog_fetch *fetch) {
    db_set_int(s, ":row", row);
    db_set_int(s, ":whole", !fetch->has_range);
    db_set_int(s, ":start", fetch->start_ns);
    db_set_int(s, ":end", fetch->end_ns);
}

/* fetch->row: of one that asks for the same; 0: there is none. */
static bool find_same(struct db_handle *h, int64_t row, struct catalog_fetch *fetch, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "fetch_same", err);
    if (!s) {
        return false;
    }
    bind_range(s, row, fetch);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    fetch->row = db_int(s, 0);
    return fetch->row != 0 || db_int(s, 1) < FETCHES_MAX ||
           reel_fail(err, REEL_LIMIT, "%d parts of this recording are asked for already", FETCHES_MAX);
}

static bool insert_fetch(struct db_handle *h, int64_t row, const char *agent, struct catalog_fetch *fetch,
                         struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "fetch_insert", err);
    if (!s) {
        return false;
    }
    bind_range(s, row, fetch);
    db_set_hex(s, ":agent", agent);
    db_set_text(s, ":author", fetch->author);
    db_set_int(s, ":now", fetch->asked_ns);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    fetch->row = db_int(s, 0);
    return true;
}

bool catalog_fetch_ask(struct catalog *c, const char *agent, struct catalog_fetch *fetch, struct reel_error *err) {
    int64_t row;
    fetch->asked_ns = reel_now_ns();
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && annotations_find_row(h, fetch->recording, &row, err) && find_same(h, row, fetch, err) &&
           (fetch->row != 0 ||
            (insert_fetch(h, row, agent, fetch, err) && annotations_touch(h, row, err) && db_commit(h, err)));
}

bool catalog_fetch_answer(struct catalog *c, const char *agent, const struct catalog_fetch *fetch,
                          struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "fetch_answer", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":fetch", fetch->row);
    db_set_hex(s, ":agent", agent);
    db_set_int(s, ":now", reel_now_ns());
    db_set_text(s, ":problem", fetch->problem);
    if (fetch->result[0]) {
        db_set_hex(s, ":result", fetch->result);
    }
    enum db_step step = db_next(s, err);
    int64_t row = step == DB_ROW ? db_int(s, 0) : 0;
    db_done(TAKE(s));
    return step == DB_ROW ? annotations_touch(h, row, err) && db_commit(h, err)
                          : step == DB_END && reel_fail(err, REEL_NOT_FOUND, "nothing of this agent waits for that");
}

bool fetches_follow(struct db_handle *h, const char *announced, int64_t row, struct reel_error *err) {
    struct announced a;
    bool waits = announced_read(announced, &a);
    AUTO(db_done) struct db_statement *s = db_statement(h, waits ? "fetches_renew" : "fetches_over", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    if (waits) {
        db_set_hex(s, ":agent", a.agent);
    }
    return db_run(s, err);
}
