/* Chooses the driving index of a list: the most selective filter, else an index in the order of the sort. A filter is counted only as far
 * as the decision needs. */
#include <string.h>

#include "catalog/list.h"
#include "wire/cleanup.h"

static bool has(const struct list_query *query, enum list_filter filter) {
    return (query->plan.filters & LIST_BIT(filter)) != 0;
}

struct best {
    enum list_driver driver;
    uint32_t driving_link;
    int64_t count;
};

static bool try_driver(struct db_handle *h, struct list_query *query, enum list_driver driver, const char *statement, const char *ids,
                       struct best *best, struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    list_bind(s, query);
    db_set_text(s, ":ids", ids);
    db_set_int(s, ":limit", best->count);
    if (db_next(s, err) != DB_ROW) {
        return false;
    }
    if (db_int(s, 0) < best->count) {
        *best = (struct best){.driver = driver, .driving_link = query->plan.driving_link, .count = db_int(s, 0)};
    }
    return true;
}

static bool try_links(struct db_handle *h, struct list_query *query, struct best *best, struct reel_error *err) {
    static const char *const statements[] = {
        [BY_LABEL] = "selective_label", [BY_TAG_KEY] = "selective_tag_key", [BY_TAG_VALUE] = "selective_tag_value"};
    for (uint32_t i = 0; i < query->plan.n_links; i++) {
        const struct list_link *l = &query->links[i];
        query->plan.driving_link = i;
        if (!l->negated && !try_driver(h, query, LIST_LINK, statements[l->by], l->ids, best, err)) {
            return false;
        }
    }
    query->plan.driving_link = 0;
    return true;
}

static bool try_filters(struct db_handle *h, struct list_query *query, bool in_order, struct best *best, struct reel_error *err) {
    static const struct {
        enum list_filter filter;
        enum list_driver driver;
        const char *statement;
        bool shown; /* its index does not have the trash */
    } filters[] = {{FILTER_GROUPS, LIST_GROUP, "selective_group", false},
                   {FILTER_COLLECTIONS, LIST_COLLECTION, "selective_collection", false},
                   {FILTER_ALLOWED, LIST_ALLOWED, "selective_allowed", false},
                   {FILTER_STATES, LIST_STATE, "selective_state", false},
                   {FILTER_DAMAGED, LIST_DAMAGED, "selective_damaged", false},
                   {FILTER_FORMATS, LIST_FORMAT, "selective_format", false},
                   {FILTER_SIZE, LIST_SIZE, "selective_size", true},
                   {FILTER_DURATION, LIST_DURATION, "selective_duration", true},
                   {FILTER_MESSAGES, LIST_MESSAGES, "selective_messages", true},
                   {FILTER_WORDS, LIST_WORDS, "selective_words", false}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        bool there = has(query, filters[i].filter) && !(filters[i].shown && has(query, FILTER_TRASH));
        there = there && !(filters[i].filter == FILTER_WORDS && in_order && best->driver == LIST_WALK); /* they lead in anyway */
        if (there && best->count > 0 && !try_driver(h, query, filters[i].driver, filters[i].statement, "", best, err)) {
            return false;
        }
    }
    return true;
}

/* The rows of an interval are adjacent, so more of them are still cheap, except in the order of times. */
static bool try_interval(struct db_handle *h, struct list_query *query, bool in_order, struct best *best, struct reel_error *err) {
    if ((!has(query, FILTER_START) && !has(query, FILTER_END)) || has(query, FILTER_TRASH) || best->count == 0) {
        return true;
    }
    int64_t limit = best->count;
    bool by_time = in_order || strncmp(query->plan.column, "calendar_", 9) == 0;
    best->count = best->driver == LIST_WALK && !by_time ? LIST_SPANS + 1 : limit;
    bool good = try_driver(h, query, LIST_INTERVAL, "selective_interval", "", best, err);
    best->count = best->driver == LIST_WALK ? limit : best->count;
    return good;
}

/* One label or tag leads in the order of rows. */
static bool find_single(const struct list_query *query, uint32_t *driving_link) {
    for (uint32_t i = 0; i < query->plan.n_links; i++) {
        if (!query->links[i].negated && query->links[i].n == 1) {
            *driving_link = i;
            return true;
        }
    }
    return false;
}

/* Several of them do so by turns. */
static bool find_several(const struct list_query *query, uint32_t *driving_link) {
    for (uint32_t i = 0; i < query->plan.n_links; i++) {
        if (!query->links[i].negated) {
            *driving_link = i;
            return true;
        }
    }
    return false;
}

/* In the order of starts, what overlaps an interval begins no longer before it than the widest recording is wide; so with ends. */
static bool find_edges(struct db_handle *h, struct list_query *query, struct reel_error *err) {
    bool timed = has(query, FILTER_START) || has(query, FILTER_END),
         by_start = timed && strcmp(query->plan.column, "calendar_start_ns") == 0,
         by_end = timed && strcmp(query->plan.column, "calendar_end_ns") == 0;
    if (query->plan.driver != LIST_WALK || (!by_start && !by_end)) {
        return true;
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "widest", err);
    if (!s || db_next(s, err) != DB_ROW) {
        return false;
    }
    int64_t width = db_int(s, 0), before = by_start ? width : 0, behind = by_start ? 0 : width;
    query->floor_ns = query->start_ns < INT64_MIN + before ? INT64_MIN : query->start_ns - before;
    query->ceiling_ns = query->end_ns > INT64_MAX - behind ? INT64_MAX : query->end_ns + behind;
    query->placed = true;
    if (by_start == query->plan.descending) { /* the other end follows from the interval itself */
        query->plan.filters |= by_start ? LIST_BIT(FILTER_FLOOR) : LIST_BIT(FILTER_CEILING);
    }
    return true;
}

bool list_choose_plan(struct db_handle *h, struct list_query *query, struct reel_error *err) {
    struct best best = {.driver = LIST_WALK, .count = LIST_SELECTIVE + 1};
    struct list_plan *f = &query->plan;
    bool in_order = strcmp(f->column, "row") == 0;
    if (!try_links(h, query, &best, err) || !try_filters(h, query, in_order, &best, err) || !try_interval(h, query, in_order, &best, err)) {
        return false;
    }
    f->driver = best.driver;
    f->driving_link = best.driving_link;
    f->very_selective = best.count <= LIST_VERY_SELECTIVE;
    if (best.driver == LIST_WALK && has(query, FILTER_TRASH)) {
        f->driver = LIST_STATE; /* what lies in the trash is in no index of a sort */
    } else if (in_order && has(query, FILTER_WORDS) && (best.driver == LIST_WALK || best.driver == LIST_WORDS)) {
        f->driver = LIST_STREAM_WORDS;
    } else if (in_order && best.driver == LIST_WALK && find_single(query, &f->driving_link)) {
        f->driver = LIST_STREAM_LINK;
    } else if (in_order && best.driver == LIST_WALK && find_several(query, &f->driving_link)) {
        f->driver = LIST_STREAM_LINKS;
    } else if (in_order && best.driver == LIST_WALK && (has(query, FILTER_START) || has(query, FILTER_END))) {
        f->driver = LIST_STREAM_SPANS;
    }
    return find_edges(h, query, err);
}
