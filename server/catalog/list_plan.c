/* Which way into the list: of the filters that leave few the one that leaves least, else an order that the list comes in by itself. Rule:
 * no filter is counted further than decides that. */
#include <string.h>

#include "catalog/list.h"
#include "wire/cleanup.h"

static bool has(const struct list_ask *ask, enum list_filter filter) {
    return (ask->form.filters & LIST_BIT(filter)) != 0;
}

struct best {
    enum list_way way;
    uint32_t lead;
    int64_t count;
};

static bool try(struct db_handle *h, struct list_ask *ask, enum list_way way, const char *statement, const char *ids, struct best *best,
                struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    list_bind(s, ask);
    db_set_text(s, ":ids", ids);
    db_set_int(s, ":limit", best->count);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    if (db_int(s, 0) < best->count) {
        *best = (struct best){.way = way, .lead = ask->form.lead, .count = db_int(s, 0)};
    }
    return true;
}

static bool try_links(struct db_handle *h, struct list_ask *ask, struct best *best, struct reel_error *err) {
    static const char *const statements[] = {[BY_LABEL] = "few_label", [BY_TAG_KEY] = "few_tag_key", [BY_TAG_VALUE] = "few_tag_value"};
    for (uint32_t i = 0; i < ask->form.n_links; i++) {
        const struct list_link *l = &ask->links[i];
        ask->form.lead = i;
        if (!l->negated && !try(h, ask, LIST_LINK, statements[l->by], l->ids, best, err)) {
            return false;
        }
    }
    ask->form.lead = 0;
    return true;
}

static bool try_filters(struct db_handle *h, struct list_ask *ask, bool in_order, struct best *best, struct reel_error *err) {
    static const struct {
        enum list_filter filter;
        enum list_way way;
        const char *statement;
        bool shown; /* its index does not have the trash */
    } filters[] = {{FILTER_GROUPS, LIST_GROUP, "few_group", false},
                   {FILTER_COLLECTIONS, LIST_COLLECTION, "few_collection", false},
                   {FILTER_ALLOWED, LIST_ALLOWED, "few_allowed", false},
                   {FILTER_STATES, LIST_STATE, "few_state", false},
                   {FILTER_DAMAGED, LIST_DAMAGED, "few_damaged", false},
                   {FILTER_FORMATS, LIST_FORMAT, "few_format", false},
                   {FILTER_SIZE, LIST_SIZE, "few_size", true},
                   {FILTER_DURATION, LIST_DURATION, "few_duration", true},
                   {FILTER_MESSAGES, LIST_MESSAGES, "few_messages", true},
                   {FILTER_WORDS, LIST_WORDS, "few_words", false}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        bool there = has(ask, filters[i].filter) && !(filters[i].shown && has(ask, FILTER_TRASH));
        there = there && !(filters[i].filter == FILTER_WORDS && in_order && best->way == LIST_WALK); /* they lead in anyway */
        if (there && best->count > 0 && !try(h, ask, filters[i].way, filters[i].statement, "", best, err)) {
            return false;
        }
    }
    return true;
}

/* What an interval leaves lies together, so more of it is few, but not where the order is that of times. */
static bool try_interval(struct db_handle *h, struct list_ask *ask, bool in_order, struct best *best, struct reel_error *err) {
    if ((!has(ask, FILTER_START) && !has(ask, FILTER_END)) || has(ask, FILTER_TRASH) || best->count == 0) {
        return true;
    }
    int64_t limit = best->count;
    bool by_time = in_order || strncmp(ask->form.column, "placed_", 7) == 0;
    best->count = best->way == LIST_WALK && !by_time ? LIST_SPANS + 1 : limit;
    bool good = try(h, ask, LIST_INTERVAL, "few_interval", "", best, err);
    best->count = best->way == LIST_WALK ? limit : best->count;
    return good;
}

/* One label or tag leads in the order of rows. */
static bool find_single(const struct list_ask *ask, uint32_t *lead) {
    for (uint32_t i = 0; i < ask->form.n_links; i++) {
        if (!ask->links[i].negated && ask->links[i].n == 1) {
            *lead = i;
            return true;
        }
    }
    return false;
}

/* Several of them do so by turns. */
static bool find_several(const struct list_ask *ask, uint32_t *lead) {
    for (uint32_t i = 0; i < ask->form.n_links; i++) {
        if (!ask->links[i].negated) {
            *lead = i;
            return true;
        }
    }
    return false;
}

/* In the order of starts, what overlaps an interval begins no longer before it than the widest recording is wide; so with ends. */
static bool find_edges(struct db_handle *h, struct list_ask *ask, struct reel_error *err) {
    bool timed = has(ask, FILTER_START) || has(ask, FILTER_END), by_start = timed && strcmp(ask->form.column, "placed_start_ns") == 0,
         by_end = timed && strcmp(ask->form.column, "placed_end_ns") == 0;
    if (ask->form.way != LIST_WALK || (!by_start && !by_end)) {
        return true;
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "widest", err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    int64_t width = db_int(s, 0), before = by_start ? width : 0, behind = by_start ? 0 : width;
    ask->floor_ns = ask->start_ns < INT64_MIN + before ? INT64_MIN : ask->start_ns - before;
    ask->ceiling_ns = ask->end_ns > INT64_MAX - behind ? INT64_MAX : ask->end_ns + behind;
    ask->placed = true;
    if (by_start == ask->form.descending) { /* the other end follows from the interval itself */
        ask->form.filters |= by_start ? LIST_BIT(FILTER_FLOOR) : LIST_BIT(FILTER_CEILING);
    }
    return true;
}

bool list_choose(struct db_handle *h, struct list_ask *ask, struct reel_error *err) {
    struct best best = {.way = LIST_WALK, .count = LIST_FEW + 1};
    struct list_form *f = &ask->form;
    bool in_order = strcmp(f->column, "row") == 0;
    if (!try_links(h, ask, &best, err) || !try_filters(h, ask, in_order, &best, err) || !try_interval(h, ask, in_order, &best, err)) {
        return false;
    }
    f->way = best.way;
    f->lead = best.lead;
    f->very_few = best.count <= LIST_VERY_FEW;
    if (best.way == LIST_WALK && has(ask, FILTER_TRASH)) {
        f->way = LIST_STATE; /* what lies in the trash is in no index of a sort */
    } else if (in_order && has(ask, FILTER_WORDS) && (best.way == LIST_WALK || best.way == LIST_WORDS)) {
        f->way = LIST_STREAM_WORDS;
    } else if (in_order && best.way == LIST_WALK && find_single(ask, &f->lead)) {
        f->way = LIST_STREAM_LINK;
    } else if (in_order && best.way == LIST_WALK && find_several(ask, &f->lead)) {
        f->way = LIST_STREAM_LINKS;
    } else if (in_order && best.way == LIST_WALK && (has(ask, FILTER_START) || has(ask, FILTER_END))) {
        f->way = LIST_STREAM_SPANS;
    }
    return find_edges(h, ask, err);
}
