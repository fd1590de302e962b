/* Webhooks as rows (changes.h). The result of an attempt and the new position are written in one transaction, so after
 * a crash at most the last attempt is repeated. */
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/changes.h"
#include "json_whole.h"
#include "reel/time.h"

void webhook_done(struct webhook *w) {
    free(w->url);
    free(w->secret);
    json_decref(w->events);
    json_decref(w->collections);
    *w = (struct webhook){0};
}

static bool webhooks_load(struct db_statement *s, struct webhook *out, struct reel_error *err) {
    *out = (struct webhook){.row = db_int(s, 0),
                            .url = strdup(db_text(s, 1)),
                            .events = json_loads(db_text(s, 2), 0, NULL),
                            .collections = json_loads(db_text(s, 3), 0, NULL),
                            .secret = strdup(db_text(s, 4)),
                            .created_ns = db_int(s, 5),
                            .seq = db_int(s, 6),
                            .tries = db_size(s, 7),
                            .next_ns = db_int(s, 8),
                            .delivered = db_size(s, 9),
                            .dropped = db_size(s, 10)};
    if (!out->url || !out->secret || !out->events || !out->collections) {
        webhook_done(out);
        return reel_fail_memory(err);
    }
    return true;
}

/* At most `max` after the row `after`. */
static bool read_after(struct catalog *c, int64_t after, struct webhook *out, uint32_t max, uint32_t *n,
                       struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "webhooks_after", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", after);
    db_set_int(s, ":limit", max);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && webhooks_load(s, &out[*n], err)) {
        ++*n;
    }
    for (uint32_t i = 0; step != DB_END && i < *n; i++) {
        webhook_done(&out[i]);
    }
    return step == DB_END;
}

bool catalog_webhooks(struct catalog *c, struct webhook out[WEBHOOKS_MAX], uint32_t *n, struct reel_error *err) {
    return read_after(c, 0, out, WEBHOOKS_MAX, n, err);
}

bool catalog_webhooks_due(struct catalog *c, int64_t out[WEBHOOKS_MAX], uint32_t *n, struct reel_error *err) {
    *n = 0;
    AUTO(db_end) struct db_handle *h = db_read_once(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "webhooks_due", err) : NULL;
    enum db_step step = DB_FAILED;
    while (s && *n < WEBHOOKS_MAX && (step = db_next(s, err)) == DB_ROW) {
        out[(*n)++] = db_int(s, 0);
    }
    return step != DB_FAILED;
}

static bool not_found(struct reel_error *err) {
    return reel_fail(err, REEL_NOT_FOUND, "there is no such webhook");
}

bool catalog_webhook_get(struct catalog *c, int64_t row, struct webhook *out, struct reel_error *err) {
    uint32_t n;
    *out = (struct webhook){0};
    if (row < 1) {
        return not_found(err);
    }
    if (!read_after(c, row - 1, out, 1, &n, err)) {
        return false;
    }
    if (n == 0 || out->row != row) {
        webhook_done(out);
        return not_found(err);
    }
    return true;
}

static bool webhooks_has_room(struct db_handle *h, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "webhooks_count", err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    return db_int(s, 0) < WEBHOOKS_MAX ||
           reel_fail(err, REEL_LIMIT, "there are %d webhooks; take one away first", WEBHOOKS_MAX);
}

static bool webhooks_insert(struct db_handle *h, struct webhook *w, struct reel_error *err) {
    AUTO_MEM char *events = json_whole_text(w->events, JSON_COMPACT);
    AUTO_MEM char *collections = json_whole_text(w->collections, JSON_COMPACT);
    AUTO(db_done) struct db_statement *s = db_statement(h, "webhook_insert", err);
    if (!s || !events || !collections) {
        return s && reel_fail_memory(err);
    }
    db_set_int(s, ":row", w->row);
    db_set_text(s, ":url", w->url);
    db_set_text(s, ":events", events);
    db_set_text(s, ":collections", collections);
    db_set_text(s, ":secret", w->secret);
    w->created_ns = w->created_ns ? w->created_ns : reel_now_ns();
    db_set_int(s, ":now", w->created_ns);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    w->row = db_int(s, 0);
    return true;
}

bool catalog_webhook_add(struct catalog *c, struct webhook *w, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && webhooks_has_room(h, err) && webhooks_insert(h, w, err) && db_commit(h, err);
}

bool catalog_webhook_delete(struct catalog *c, int64_t row, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, "webhook_delete", err) : NULL;
        if (!s) {
            return false;
        }
        db_set_int(s, ":row", row);
        if (!db_run(s, err)) {
            return false;
        }
        if (db_changes(s) == 0) {
            return not_found(err);
        }
    }
    return db_commit(h, err);
}

bool catalog_webhook_moved(struct catalog *c, int64_t row, int64_t seq, uint64_t dropped, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    {
        AUTO(db_done) struct db_statement *s = h ? db_statement(h, "webhook_moved", err) : NULL;
        if (!s) {
            return false;
        }
        db_set_int(s, ":row", row);
        db_set_int(s, ":seq", seq);
        db_set_size(s, ":dropped", dropped);
        if (!db_run(s, err)) {
            return false;
        }
    }
    return db_commit(h, err);
}

static bool run_result(struct db_handle *h, const char *statement, int64_t row, const struct webhook_result *result,
                       struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_int(s, ":seq", result->seq);
    db_set_int(s, ":now", reel_now_ns());
    db_set_int(s, ":next", result->next_ns);
    db_set_int(s, ":took", result->took_ms);
    db_set_int(s, ":status", result->status);
    db_set_text(s, ":problem", result->problem);
    return db_run(s, err);
}

bool catalog_webhook_result(struct catalog *c, int64_t row, const struct webhook_result *result,
                            struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && run_result(h, result->delivered ? "webhook_delivered" : "webhook_failed", row, result, err) &&
           run_result(h, "webhook_result_insert", row, result, err) && db_commit(h, err);
}

json_t *catalog_webhook_results(struct catalog *c, int64_t row, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "webhook_results", err) : NULL;
    if (!s) {
        return NULL;
    }
    json_t *items = json_array();
    char time[REEL_TIME_TEXT];
    enum db_step step;
    db_set_int(s, ":row", row);
    while ((step = db_next(s, err)) == DB_ROW) {
        reel_time_rfc3339(db_int(s, 1), time);
        json_array_append_new(items, json_pack("{s:I, s:s, s:I, s:I, s:s}", "seq", (json_int_t)db_int(s, 0), "time",
                                               time, "took_ms", (json_int_t)db_int(s, 2), "status",
                                               (json_int_t)db_int(s, 3), "problem", db_text(s, 4)));
    }
    if (step != DB_END) {
        json_decref(items);
        return NULL;
    }
    return items;
}
