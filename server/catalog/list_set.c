/* Makes the sets of list_sets.h, and brings older ones up to date by the recordings that have changed since. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "catalog/list_sets.h"

enum {
    CHANGES_MAX = 10000, /* since a set was made, to bring it up to date */
    CHANGED_MAX = 2000,  /* and recordings that they change */
};

/* ---- one question */

/* Each change of a recording, its tags or labels has a number. False without an error: there is none yet. */
static bool find_version(struct list_asking *a, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(a->h, "changes_ends", err);
    bool known = s && db_next(s, err) == DB_ROW && db_int(s, 0) > 0 && db_int(s, 0) <= db_int(s, 1);
    if (known) {
        a->oldest = db_size(s, 0);
        a->version = db_size(s, 1);
    }
    return known;
}

bool list_asking_begin(struct list_asking *a, struct list_sets *sets, struct db_handle *h,
                       const struct list_query *query, struct reel_error *err) {
    *a = (struct list_asking){.sets = sets, .h = h, .query = query, .rows = (uint32_t)query->costs.all};
    return find_version(a, err);
}

static void changes_done(struct set_changes *c) {
    free(c->json);
    free(c->bits);
    *c = (struct set_changes){0};
}

void list_asking_done(struct list_asking *a) {
    changes_done(&a->changes);
}

/* *many: more than CHANGED_MAX have changed, the ones that are gone counted as one. */
static bool read_changed(struct list_asking *a, int64_t *rows, uint32_t *n, bool *many, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(a->h, "changes_recordings", err);
    if (!s) {
        return false;
    }
    db_set_size(s, ":seq", a->changes.since);
    db_set_int(s, ":limit", CHANGED_MAX + 1);
    uint32_t read = 0;
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && read <= CHANGED_MAX) {
        int64_t row = db_int(s, 0);
        read++;
        a->changes.gone = a->changes.gone || row == 0;
        if (row > 0 && row <= a->rows) {
            rows[(*n)++] = row;
        }
    }
    *many = read > CHANGED_MAX;
    return step != DB_FAILED;
}

/* What changed after `since`; of several sets it mostly is the same. */
static bool find_changes(struct list_asking *a, uint64_t since, struct reel_error *err) {
    struct set_changes *c = &a->changes;
    if (c->known && c->since == since) {
        return true;
    }
    changes_done(c);
    *c = (struct set_changes){.known = true, .since = since};
    if (since + 1 < a->oldest || a->version - since > CHANGES_MAX) {
        return true;
    }
    AUTO_MEM int64_t *rows = calloc(CHANGED_MAX + 1, sizeof *rows);
    if (!rows) {
        return reel_fail_memory(err);
    }
    bool many;
    if (!read_changed(a, rows, &c->n, &many, err)) {
        return false;
    }
    if (many) {
        return true;
    }
    c->json = rows_json(rows, c->n);
    c->bits = calloc(a->rows / 32 + 1, sizeof *c->bits);
    for (uint32_t i = 0; i < c->n && c->bits; i++) {
        c->bits[rows[i] / 32] |= UINT32_C(1) << rows[i] % 32;
    }
    return (c->json && c->bits) || reel_fail_memory(err);
}

/* ---- statements that make a set, or change one */

struct source {
    enum set_kind kind;
    char *key, *all, *changed;
    const char *tag; /* what the statements call :tag */
};

static void source_done(struct source *s) {
    free(s->key);
    free(s->all);
    free(s->changed);
}
#define AUTO_SOURCE AUTO_STRUCT(source_done) struct source

static struct set *set_new(const struct list_asking *a, const struct source *from, uint32_t n, struct reel_error *err) {
    struct set *s = calloc(1, sizeof *s + n * sizeof *s->items);
    if (!s || !(s->key = strdup(from->key))) {
        free(s);
        reel_fail_memory(err);
        return NULL;
    }
    s->users = 1;
    s->kind = from->kind;
    s->version = a->version;
    s->n = n;
    return s;
}

static void put(struct set *s, uint32_t room, int64_t row, int64_t value) {
    if (s->kind == SET_ORDER && s->n < room) {
        s->items[s->n++] = (uint32_t)row;
    } else if (s->kind == SET_BITS && row > 0 && (uint64_t)row / 32 < s->n) {
        s->items[row / 32] |= UINT32_C(1) << row % 32;
    } else if (s->kind == SET_VALUES && row > 0 && row < s->n) {
        s->items[row] = (uint32_t)value;
    }
}

static int64_t read_u32be(const uint8_t *at) {
    return __builtin_bswap32(load_u32le(at));
}

/* One value has all numbers, four bytes each. */
static bool read_all(struct db_statement *s, struct set *out, struct reel_error *err) {
    uint32_t room = out->n;
    size_t size, each = out->kind == SET_VALUES ? 8 : 4;
    out->n = out->kind == SET_ORDER ? 0 : room;
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    const uint8_t *data = db_bytes(s, 0, &size);
    for (size_t i = 0; i + each <= size; i += each) {
        put(out, room, read_u32be(data + i), read_u32be(data + i + each - 4));
    }
    return true;
}

static struct db_statement *source_statement(struct list_asking *a, const struct source *from, const char *sql,
                                             struct reel_error *err) {
    struct db_statement *s = db_compose(a->h, sql, err);
    if (s) {
        list_bind(s, a->query);
        db_set_text(s, ":rows", a->changes.json);
        db_set_text(s, ":tag", from->tag);
    }
    return s;
}

static struct set *make(struct list_asking *a, const struct source *from, struct reel_error *err) {
    int64_t begun_ns = clock_ns();
    uint32_t n = from->kind == SET_BITS ? a->rows / 32 + 1 : from->kind == SET_ORDER ? a->rows : a->rows + 1;
    AUTO(set_free) struct set *s = set_new(a, from, n, err);
    AUTO(db_done) struct db_statement *statement = s ? source_statement(a, from, from->all, err) : NULL;
    if (!statement || !read_all(statement, s, err)) {
        return NULL;
    }
    s->cost_ns = clock_ns() - begun_ns;
    list_sets_keep(a->sets, s);
    return TAKE(s);
}

/* ---- up to date */

static void copy_bits(const struct list_asking *a, const struct set *old, struct set *out) {
    for (uint32_t i = 0; i < out->n && i < old->n; i++) {
        out->items[i] = old->items[i] & ~a->changes.bits[i];
    }
}

static void copy_values(const struct list_asking *a, const struct set *old, struct set *out) {
    uint32_t n = old->n < out->n ? old->n : out->n;
    memcpy(out->items, old->items, n * sizeof *out->items);
    for (uint32_t row = 0; row < n; row++) {
        if (a->changes.bits[row / 32] == 0) {
            row |= 31;
        } else if (set_has(a->changes.bits, row)) {
            out->items[row] = 0;
        }
    }
}

/* Rows that changed, in the order, each with the first one behind it that did not; 0: none. */
struct moved {
    uint32_t row, before;
};

static bool read_moved(struct list_asking *a, struct db_statement *s, struct moved *out, uint32_t *n,
                       struct reel_error *err) {
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && *n < a->changes.n) {
        out[(*n)++] = (struct moved){(uint32_t)db_int(s, 0), (uint32_t)db_int(s, 1)};
    }
    for (uint32_t i = *n; i-- > 0;) {
        if (out[i].before > 0 && out[i].before <= a->rows && set_has(a->changes.bits, out[i].before)) {
            out[i].before = i + 1 < *n ? out[i + 1].before : 0;
        }
    }
    return step != DB_FAILED;
}

static void copy_order(const struct list_asking *a, const struct set *old, const struct moved *moved, uint32_t n,
                       struct set *out) {
    uint32_t next = 0, at = 0;
    for (uint32_t i = 0; i < old->n && at < out->n; i++) {
        uint32_t row = old->items[i];
        if (row <= a->rows && set_has(a->changes.bits, row)) {
            continue;
        }
        while (next < n && moved[next].before == row && at < out->n) {
            out->items[at++] = moved[next++].row;
        }
        if (at < out->n) {
            out->items[at++] = row;
        }
    }
    while (next < n && at < out->n) {
        out->items[at++] = moved[next++].row;
    }
    out->n = at;
}

static bool update_order(struct list_asking *a, const struct set *old, struct db_statement *s, struct set *out,
                         struct reel_error *err) {
    uint32_t n = 0;
    AUTO_MEM struct moved *moved = calloc(a->changes.n + 1, sizeof *moved);
    if (!moved || !read_moved(a, s, moved, &n, err)) {
        return moved ? false : reel_fail_memory(err);
    }
    copy_order(a, old, moved, n, out);
    return true;
}

static bool update_rows(struct list_asking *a, const struct set *old, struct db_statement *s, struct set *out,
                        struct reel_error *err) {
    if (out->kind == SET_BITS) {
        copy_bits(a, old, out);
    } else {
        copy_values(a, old, out);
    }
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        put(out, 0, db_int(s, 0), out->kind == SET_VALUES ? db_int(s, 1) : 0);
    }
    return step == DB_END;
}

static uint32_t count_bits(const uint32_t *bits, uint32_t words) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < words; i++) {
        n += (uint32_t)__builtin_popcount(bits[i]);
    }
    return n;
}

/* What is gone has no row by which it could be found. Other sets may have it, these may not: one recording too many
 * shows. */
static bool has_gone(struct list_asking *a, const struct set *s, bool *has, struct reel_error *err) {
    bool all = s->kind == SET_ORDER || strcmp(s->key, "shown") == 0;
    *has = false;
    if (!all || !a->changes.gone) {
        return true;
    }
    AUTO(db_done) struct db_statement *statement = db_statement(a->h, "recordings_total", err);
    if (!statement || db_next(statement, err) != DB_ROW) {
        return false;
    }
    *has = db_size(statement, 0) != (s->kind == SET_ORDER ? s->n : count_bits(s->items, s->n));
    return true;
}

/* NULL without an error: too much has changed. */
static struct set *update(struct list_asking *a, const struct source *from, const struct set *old,
                          struct reel_error *err) {
    bool gone;
    if (!find_changes(a, old->version, err) || !a->changes.bits) {
        return NULL;
    }
    uint32_t n = from->kind == SET_BITS    ? a->rows / 32 + 1
                 : from->kind == SET_ORDER ? old->n + a->changes.n
                                           : a->rows + 1;
    AUTO(set_free) struct set *s = set_new(a, from, n, err);
    AUTO(db_done) struct db_statement *statement = s ? source_statement(a, from, from->changed, err) : NULL;
    if (!statement || !(from->kind == SET_ORDER ? update_order : update_rows)(a, old, statement, s, err) ||
        !has_gone(a, s, &gone, err) || gone) {
        return NULL;
    }
    s->cost_ns = old->cost_ns;
    list_sets_keep(a->sets, s);
    return TAKE(s);
}

/* ---- finding one */

static struct set *get_old(struct list_asking *a, const struct source *from, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(set_free) struct set *old = list_sets_find(a->sets, from->key, a->version);
    if (!old || old->version == a->version) {
        return TAKE(old);
    }
    struct set *s = update(a, from, old, &why);
    if (why.code != REEL_OK) {
        reel_error_pass(err, &why);
    }
    return s;
}

/* NULL without an error: it is not there, and may not be made, or another one is being made. */
static struct set *get(struct list_asking *a, const struct source *from, bool may_make, struct reel_error *err) {
    struct reel_error why = {0};
    if (!from->key || !from->all || !from->changed) {
        reel_fail_memory(err);
        return NULL;
    }
    struct set *s = get_old(a, from, &why);
    if (!s && why.code == REEL_OK && may_make && list_sets_make(a->sets)) {
        s = get_old(a, from, &why);
        if (!s && why.code == REEL_OK) {
            s = make(a, from, &why);
        }
        list_sets_made(a->sets);
    }
    if (why.code != REEL_OK) {
        reel_error_pass(err, &why);
    }
    return s;
}

static char *key_of(const struct condition *c, const char *maybe) {
    char *key;
    return asprintf(&key, "%d %u %s %lld %lld %s%s", c->kind, c->kinds, c->column ? c->column : "", (long long)c->min,
                    (long long)c->max, maybe ? "maybe " : "",
                    maybe     ? maybe
                    : c->text ? c->text
                              : "") < 0
               ? NULL
               : key;
}

static struct set *maybe_matches(struct list_asking *a, uint32_t i, struct reel_error *err) {
    const struct condition *c = &a->query->conditions[i];
    AUTO_SOURCE from = {.kind = SET_BITS,
                        .key = key_of(c, c->maybe),
                        .all = list_sql_maybe(a->query, i),
                        .changed = list_sql_matches(a->query, i)};
    struct set *s = get(a, &from, a->bits, err);
    a->unsure = a->unsure || s;
    return s;
}

struct set *list_set_matches(struct list_asking *a, uint32_t i, struct reel_error *err) {
    const struct condition *c = &a->query->conditions[i];
    struct reel_error why = {0};
    AUTO_SOURCE from = {.kind = SET_BITS,
                        .key = key_of(c, NULL),
                        .all = list_sql_rows(a->query, i),
                        .changed = list_sql_matches(a->query, i)};
    bool maybe = a->maybe && c->maybe;
    struct set *s = get(a, &from, a->bits && !maybe, &why);
    if (!s && maybe && why.code == REEL_OK) {
        s = maybe_matches(a, i, &why);
    }
    if (why.code != REEL_OK) {
        reel_error_pass(err, &why);
    }
    return s;
}

/* An order has the rows that are shown: it is read faster than the index. */
static struct set *shown_by_order(struct list_asking *a, const struct source *from, struct reel_error *err) {
    AUTO(set_free) struct set *order = list_sets_any_order(a->sets, a->version);
    struct set *s = order ? set_new(a, from, a->rows / 32 + 1, err) : NULL;
    for (uint32_t i = 0; s && i < order->n; i++) {
        put(s, 0, order->items[i], 0);
    }
    if (s) {
        list_sets_keep(a->sets, s);
    }
    return s;
}

struct set *list_set_shown(struct list_asking *a, struct reel_error *err) {
    AUTO_SOURCE from = {
        .kind = SET_BITS, .key = strdup("shown"), .all = list_sql_order(a->query, "row"), .changed = list_sql_shown()};
    struct set *s = get(a, &from, false, err);
    s = s || err->code != REEL_OK ? s : shown_by_order(a, &from, err);
    return s || err->code != REEL_OK ? s : get(a, &from, a->order, err);
}

struct set *list_set_order(struct list_asking *a, const char *column, struct reel_error *err) {
    AUTO_SOURCE from = {.kind = SET_ORDER,
                        .key = strdup(column),
                        .all = list_sql_order(a->query, column),
                        .changed = list_sql_moved(column)};
    return get(a, &from, a->order, err);
}

struct set *list_set_values(struct list_asking *a, const struct list_values *values, struct reel_error *err) {
    AUTO_SOURCE from = {.kind = SET_VALUES,
                        .all = list_sql_values(a->query, values),
                        .changed = list_sql_changed_values(values),
                        .tag = values->tag};
    if (asprintf(&from.key, "values %s %s", values->tag ? "" : values->column, values->tag ? values->tag : "") < 0) {
        from.key = NULL;
    }
    return get(a, &from, a->order, err);
}
