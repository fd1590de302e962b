/* A collection gets another name, in one transaction with all that names it: retention rules and quotas, and the
 * collections that tokens and webhooks are limited to; its layouts move. Globs stay as they are. */
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"
#include "json_whole.h"
#include "reel/time.h"

enum { PAGE = 1000 };

struct rename {
    struct db_handle *h;
    const char *from, *to;
    int64_t now_ns;
};

static bool collection_rename_is_taken(const struct rename *q, const char *name, bool *taken, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(q->h, "collection_taken", err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", name);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    *taken = db_int(s, 0) != 0;
    return true;
}

/* ---- recordings */

struct moved {
    int64_t row;
    char *name;
};

static void free_moved(struct moved *rows, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(rows[i].name);
    }
}

static bool collection_rename_read_rows(const struct rename *q, struct moved rows[PAGE], uint32_t *n,
                                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(q->h, "collection_rows", err);
    *n = 0;
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", q->from);
    db_set_int(s, ":limit", PAGE);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        rows[*n] = (struct moved){.row = db_int(s, 0), .name = strdup(db_text(s, 1))};
        if (!rows[(*n)++].name) {
            return reel_fail_memory(err);
        }
    }
    return step == DB_END;
}

static bool run_on_row(const struct rename *q, const char *statement, const struct moved *row, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(q->h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row->row);
    db_set_text(s, ":name", row->name);
    db_set_text(s, ":collection", q->to);
    db_set_int(s, ":now", q->now_ns);
    return db_run(s, err);
}

static bool move_recordings(const struct rename *q, struct reel_error *err) {
    AUTO_MEM struct moved *rows = calloc(PAGE, sizeof *rows);
    uint32_t n = PAGE;
    bool good = rows || reel_fail_memory(err);
    while (good && n == PAGE) {
        good = collection_rename_read_rows(q, rows, &n, err);
        for (uint32_t i = 0; i < n && good; i++) {
            good = run_on_row(q, "recording_move", &rows[i], err) && run_on_row(q, "search_rename", &rows[i], err);
        }
        free_moved(rows, n);
    }
    return good;
}

static bool run_on_name(const struct rename *q, const char *statement, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(q->h, statement, err);
    if (!s) {
        return false;
    }
    db_set_text(s, ":name", q->to);
    db_set_text(s, ":was", q->from);
    return db_run(s, err);
}

/* ---- what names it */

/* Replaces the name in a JSON array of globs. */
static bool rename_in(const struct rename *q, json_t *globs) {
    bool changed = false;
    for (size_t i = 0; i < json_array_size(globs); i++) {
        const char *glob = json_string_value(json_array_get(globs, i));
        if (glob && strcmp(glob, q->from) == 0) {
            changed = json_array_set_new(globs, i, json_string(q->to)) == 0;
        }
    }
    return changed;
}

static bool set_globs(const struct rename *q, const char *statement, int64_t row, const json_t *globs,
                      struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(globs, JSON_COMPACT);
    AUTO(db_done) struct db_statement *s = text ? db_statement(q->h, statement, err) : NULL;
    if (!s) {
        return text ? false : reel_fail_memory(err);
    }
    db_set_int(s, ":row", row);
    db_set_text(s, ":collections", text);
    return db_run(s, err);
}

/* The next row of tokens or webhooks after *row. */
static enum db_step next_globs(const struct rename *q, const char *statement, int64_t *row, json_t **globs,
                               struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(q->h, statement, err);
    if (!s) {
        return DB_FAILED;
    }
    db_set_int(s, ":row", *row);
    db_set_int(s, ":limit", 1);
    enum db_step step = db_next(s, err);
    if (step == DB_ROW) {
        *row = db_int(s, 0);
        *globs = json_loads(db_text(s, 3), 0, NULL);
    }
    return step;
}

static bool rename_globs(const struct rename *q, const char *list, const char *set, struct reel_error *err) {
    int64_t row = 0;
    enum db_step step = DB_ROW;
    while (step == DB_ROW) {
        json_auto_t *globs = NULL;
        step = next_globs(q, list, &row, &globs, err);
        if (step == DB_ROW && rename_in(q, globs) && !set_globs(q, set, row, globs, err)) {
            return false;
        }
    }
    return step == DB_END;
}

static bool collection_rename_run(struct db_handle *h, const char *from, const char *to, struct reel_error *err) {
    const struct rename q = {.h = h, .from = from, .to = to, .now_ns = reel_now_ns()};
    bool there, taken;
    if (strpbrk(to, "*?")) {
        return reel_fail(err, REEL_ARGUMENT,
                         "a name with * or ? would be a glob in the rules that name the collection");
    }
    if (!collection_rename_is_taken(&q, from, &there, err) || !collection_rename_is_taken(&q, to, &taken, err)) {
        return false;
    }
    if (!there || taken) {
        return there ? reel_fail(err, REEL_CONFLICT,
                                 "there is a collection \"%.200s\" already, or it has recordings in the trash", to)
                     : reel_fail(err, REEL_NOT_FOUND, "there is no collection of that name");
    }
    return move_recordings(&q, err) && run_on_name(&q, "collection_rename", err) &&
           run_on_name(&q, "saved_clear", err) && run_on_name(&q, "saved_rename", err) &&
           retention_rename(h, from, to, err) && rename_globs(&q, "tokens_after", "token_set_collections", err) &&
           rename_globs(&q, "webhooks_after", "webhook_set_collections", err);
}

bool catalog_collection_change(struct catalog *c, const char *name, const char *description, const char *to,
                               struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && (!description || collections_describe(h, name, description, err)) &&
           (!to || collection_rename_run(h, name, to, err)) && db_commit(h, err);
}
