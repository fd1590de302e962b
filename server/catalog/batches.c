/* See batches.h. */
#include "catalog/batches.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "reel/time.h"

const char *batch_state_name(enum batch_state state) {
    static const char *const names[] = {"pending", "changed", "unchanged", "failed"};
    return (size_t)state < BATCH_STATES ? names[state] : "unknown";
}

void catalog_batch_items_done(struct catalog_batch_items *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        free(all->items[i].collection);
        free(all->items[i].name);
        free(all->items[i].new_name);
        free(all->items[i].problem);
    }
    free(all->items);
    *all = (struct catalog_batch_items){0};
}

static bool batches_insert(struct db_handle *h, const char *batch, const struct catalog_batch_item *item,
                           int64_t position, int64_t now_ns, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "batch_item_insert", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":batch", batch);
    db_set_int(s, ":position", position);
    db_set_hex(s, ":recording", item->recording);
    db_set_text(s, ":collection", item->collection);
    db_set_text(s, ":name", item->name);
    db_set_text(s, ":new_name", item->new_name ? item->new_name : "");
    db_set_int(s, ":now", now_ns);
    return db_run(s, err);
}

bool catalog_batch_add(struct catalog *c, const char *batch, const struct catalog_batch_item *items, uint32_t n,
                       struct reel_error *err) {
    int64_t now_ns = reel_now_ns();
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    bool good = h;
    for (uint32_t i = 0; good && i < n; i++) {
        good = batches_insert(h, batch, &items[i], (int64_t)i + 1, now_ns, err);
    }
    return good && db_commit(h, err);
}

static bool read_item(struct db_statement *s, struct catalog_batch_item *out, struct reel_error *err) {
    *out = (struct catalog_batch_item){.position = db_int(s, 0), .state = (enum batch_state)db_int(s, 5)};
    db_hex(s, 1, out->recording, sizeof out->recording);
    out->collection = strdup(db_text(s, 2));
    out->name = strdup(db_text(s, 3));
    out->new_name = strdup(db_text(s, 4));
    out->problem = strdup(db_text(s, 6));
    return (out->collection && out->name && out->new_name && out->problem) || reel_fail_memory(err);
}

bool catalog_batch_after(struct catalog *c, const char *batch, int64_t after, uint32_t limit,
                         struct catalog_batch_items *out, struct reel_error *err) {
    *out = (struct catalog_batch_items){.items = calloc((size_t)limit + 1, sizeof *out->items)};
    AUTO(db_end) struct db_handle *h = out->items ? db_read(c->db, err) : NULL;
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "batch_items_after", err) : NULL;
    if (!s) {
        bool memory = out->items;
        catalog_batch_items_done(out);
        return memory ? false : reel_fail_memory(err);
    }
    db_set_hex(s, ":batch", batch);
    db_set_int(s, ":after", after);
    db_set_int(s, ":limit", (int64_t)limit + 1);
    bool good = true;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit && good) {
        good = read_item(s, &out->items[out->n++], err);
    }
    out->more = step == DB_ROW;
    good = good && step != DB_FAILED;
    if (!good) {
        catalog_batch_items_done(out);
    }
    return good;
}

bool catalog_batch_done(struct catalog *c, const char *batch, const struct catalog_batch_item *item,
                        struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "batch_item_done", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":batch", batch);
    db_set_int(s, ":position", item->position);
    db_set_int(s, ":state", item->state);
    db_set_text(s, ":problem", item->problem ? item->problem : "");
    bool good = db_run(s, err);
    db_done(TAKE(s));
    return good && db_commit(h, err);
}

bool catalog_batch_counts(struct catalog *c, const char *batch, uint64_t counts[BATCH_STATES], struct reel_error *err) {
    memset(counts, 0, BATCH_STATES * sizeof *counts);
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "batch_counts", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_hex(s, ":batch", batch);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        if ((uint64_t)db_int(s, 0) < BATCH_STATES) {
            counts[db_int(s, 0)] = db_size(s, 1);
        }
    }
    return step == DB_END;
}

bool catalog_batch_trim(struct catalog *c, int64_t before_ns, struct reel_error *err) {
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    AUTO(db_done) struct db_statement *s = h ? db_statement(h, "batch_items_trim", err) : NULL;
    if (!s) {
        return false;
    }
    db_set_int(s, ":before", before_ns);
    bool good = db_run(s, err);
    db_done(TAKE(s));
    return good && db_commit(h, err);
}
