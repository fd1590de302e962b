/* Events that follow from recordings, with derived=true: of one recording, or of all. They are kept beside the
 * statistics (scans/derived_events.h); a request finds those of a small recording itself, of others a job does. */
#include "api/annotations/derived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/paging.h"
#include "api/pending.h"
#include "api/recording.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/number.h"
#include "scans/statistics.h"
#include "views/annotations.h"
#include "views/views.h"

enum {
    ID_SIZE = 33,
    VISIT_ROWS = 50,        /* recordings between two looks at the clock */
    QUICK_BYTES = 64 << 20, /* of a recording that a request reads itself */
    PAGE_PENDING = 1000,
    EVENT_MEMORY = 2 << 10,
    FILE_MEMORY = 16 << 20,
    CURSOR_ROOM = 512,
};
static const int64_t WAIT_NS = INT64_C(2000000000), GRACE_NS = INT64_C(8000000000);

struct place { /* an event among all, in the order of the answer */
    int64_t start_ns;
    char id[ID_SIZE];
};
struct found {
    struct place place;
    const struct derived_event *event;
};

struct filter {
    const struct catalog_event_query *query; /* interval and words */
    bool by_calendar;
    const char *kind; /* NULL: all */
};

static int compare_places(const struct place *a, const struct place *b) {
    return a->start_ns != b->start_ns ? (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns)
                                      : strcmp(a->id, b->id);
}
static int compare_found(const void *a, const void *b) {
    return compare_places(&((const struct found *)a)->place, &((const struct found *)b)->place);
}

/* ---- what is asked for */

static bool selects(const struct filter *f, const struct catalog_recording *row, const struct derived_event *e) {
    const struct catalog_event_query *q = f->query;
    int64_t start_ns = e->start_ns, end_ns = e->end_ns;
    if (f->by_calendar && (q->has_start || q->has_end) &&
        (!catalog_on_calendar(row, e->start_ns, &start_ns) || !catalog_on_calendar(row, e->end_ns, &end_ns))) {
        return false;
    }
    return (!f->kind || strcmp(e->kind, f->kind) == 0) && (!q->has_end || start_ns < q->end_ns) &&
           (!q->has_start || end_ns > q->start_ns || start_ns >= q->start_ns) &&
           event_words_in(&q->words, e->title, e->tags);
}

/* The same event has the same id in every answer. */
static void id_of(const struct catalog_recording *row, const struct derived_event *e, char id[ID_SIZE]) {
    struct digest d;
    char hex[SHA256_HEX];
    digest_start(&d, DIGEST_SHA256);
    digest_add(&d, row->id, strlen(row->id));
    digest_add(&d, &e->start_ns, sizeof e->start_ns);
    digest_add(&d, e->title, strlen(e->title));
    digest_end_hex(&d, hex);
    snprintf(id, ID_SIZE, "%.32s", hex);
}

/* Those behind `after` (NULL: all), sorted; malloc'd. NULL: no memory. */
static struct found *select_events(const struct catalog_recording *row, const struct derived_events *events,
                                   const struct filter *filter, const struct place *after, size_t *n) {
    struct found *all = calloc(events->n + 1, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < events->n; i++) {
        const struct derived_event *e = &events->items[i];
        if ((after && e->start_ns < after->start_ns) || !selects(filter, row, e)) {
            continue;
        }
        struct found *f = &all[*n];
        *f = (struct found){.place.start_ns = e->start_ns, .event = e};
        id_of(row, e, f->place.id);
        *n += !after || compare_places(&f->place, after) > 0;
    }
    if (*n > 1) {
        qsort(all, *n, sizeof *all, compare_found);
    }
    return all;
}

static json_t *view_found(const struct catalog_recording *row, const struct found *f) {
    struct catalog_event e = {.collection = row->collection,
                              .name = row->name,
                              .relative = row->clock == REEL_CLOCK_RELATIVE,
                              .start_ns = f->event->start_ns,
                              .end_ns = f->event->end_ns,
                              .title = (char *)f->event->title,
                              .author = (char[]){""},
                              .tags = (char *)f->event->tags,
                              .created_ns = row->created_ns,
                              .updated_ns = row->created_ns};
    snprintf(e.id, sizeof e.id, "%s", f->place.id);
    snprintf(e.recording, sizeof e.recording, "%s", row->id);
    e.on_calendar =
        catalog_on_calendar(row, e.start_ns, &e.wall_start_ns) && catalog_on_calendar(row, e.end_ns, &e.wall_end_ns);
    json_t *view = view_event(&e);
    if (view) {
        json_object_set_new(view, "derived", json_true());
    }
    return view;
}

static bool read_place(const char *start, const char *id, struct place *out) {
    bool good = start && id && strlen(id) == ID_SIZE - 1 && number_i64(start, &out->start_ns);
    snprintf(out->id, sizeof out->id, "%s", good ? id : "");
    return good;
}

static void refuse_cursor(struct http_request *r) {
    http_reply_bad_param(r, "cursor", "is not one of ours; take it from the page before");
}

/* ---- of one recording */

static bool is_wanted(void *context, uint64_t done, uint64_t total) {
    (void)done, (void)total;
    return !http_is_gone(context);
}

static bool get_events(struct http_request *r, const struct api_recording *a, struct derived_events *out,
                       struct reel_error *err) {
    const struct reel_progress progress = {.report = is_wanted, .context = r};
    const bool is_stored = a->row.state == STATE_READY;
    struct reel_error why = {0};
    if (!derived_events_possible(&a->row) ||
        (is_stored && derived_events_open(http_app(r), a->row.content, out, &why))) {
        return true;
    }
    derived_events_done(out);
    return why.code == REEL_LIMIT
               ? reel_error_pass(err, &why)
               : derived_events_make(http_app(r), is_stored ? a->row.content : "", a->recording, &progress, out, err);
}

static void reply_of_one(struct http_request *r, const struct api_recording *a, const struct filter *filter,
                         const struct place *after, const struct derived_events *events) {
    size_t n, limit = filter->query->limit;
    char next[ID_SIZE + 24];
    AUTO_MEM struct found *all = select_events(&a->row, events, filter, after, &n);
    json_t *items = json_array();
    if (!all || !items) {
        json_decref(items);
        http_reply_no_memory(r);
        return;
    }
    for (size_t i = 0; i < n && i < limit; i++) {
        json_array_append_new(items, view_found(&a->row, &all[i]));
    }
    if (n > limit) {
        snprintf(next, sizeof next, "%lld %s", (long long)all[limit - 1].place.start_ns, all[limit - 1].place.id);
    }
    paging_reply(r, items, n > limit ? next : NULL, event_columns);
}

void derived_events(struct http_request *r, const struct api_recording *a, const struct catalog_event_query *query) {
    struct reel_error err = {0};
    struct place after;
    struct filter filter = {.query = query, .kind = http_param(r, "kind")};
    AUTO_STRUCT(derived_events_done) struct derived_events events = {0};
    AUTO_MEM char *cursor = query->cursor ? strdup(query->cursor) : NULL;
    char *rest = cursor, *start = strsep(&rest, " ");
    if (query->cursor && !read_place(start, rest, &after)) {
        refuse_cursor(r);
        return;
    }
    bool good = http_reserve(r, FILE_MEMORY);
    if (good && get_events(r, a, &events, &err)) {
        reply_of_one(r, a, &filter, query->cursor ? &after : NULL, &events);
    } else if (good) {
        http_reply_error(r, &err);
    }
}

/* ---- of all recordings */

struct search {
    struct http_request *r;
    struct filter filter;
    struct catalog_query q; /* of the recordings */
    int64_t soft_ns;        /* when the page ends */
    json_t *items;
    struct pending pending;
    uint64_t searched;
    const char *rows;    /* the cursor of the first recordings; NULL: the first there are */
    char begun[ID_SIZE]; /* the recording that the page before ended in; "": none */
    struct place after;  /* … and its event there */
    char ended[ID_SIZE]; /* the same of this page */
    struct place last;
    char next[CURSOR_ROOM]; /* "": it is the last page */
};

static void search_done(struct search *s) {
    json_decref(s->items);
    json_decref(s->pending.items);
}

/* False: it is pending. */
static bool find_events(struct search *s, const struct catalog_recording *row, struct derived_events *out) {
    struct app *app = http_app(s->r);
    struct reel_error err = {0};
    const struct reel_progress progress = {.report = pending_has_time, .context = &s->pending};
    bool good = derived_events_open(app, row->content, out, &err);
    if (!good && (err.code == REEL_NOT_FOUND || err.code == REEL_CHANGED) && row->size <= QUICK_BYTES &&
        reel_now_ns() < s->soft_ns) {
        derived_events_done(out);
        good = statistics_make_events(app, row, &progress, out, &err);
    }
    if (!good) {
        pending_add(&s->pending, row, &err);
    }
    return good;
}

static bool is_full(const struct search *s) {
    return json_array_size(s->items) >= s->filter.query->limit || json_array_size(s->pending.items) >= PAGE_PENDING;
}

static void note_end(struct search *s, const char *recording, const struct place *last) {
    snprintf(s->ended, sizeof s->ended, "%s", recording);
    s->last = *last;
}

static const struct place behind_all = {INT64_MAX, "ffffffffffffffffffffffffffffffff"};

static bool put_events(struct search *s, const struct catalog_recording *row, const struct found *all, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (is_full(s)) {
            return true;
        }
        if (json_array_append_new(s->items, view_found(row, &all[i])) != 0) {
            http_reply_no_memory(s->r);
            return false;
        }
        note_end(s, row->id, &all[i].place);
    }
    return true;
}

/* False: replied. */
static bool visit(struct search *s, const struct catalog_recording *row) {
    AUTO_STRUCT(derived_events_done) struct derived_events events = {0};
    bool is_after = strcmp(s->begun, row->id) == 0;
    size_t n = 0;
    s->searched++;
    if (!find_events(s, row, &events)) {
        note_end(s, row->id, &behind_all);
        return true;
    }
    AUTO_MEM struct found *all = select_events(row, &events, &s->filter, is_after ? &s->after : NULL, &n);
    if (!all) {
        http_reply_no_memory(s->r);
        return false;
    }
    return put_events(s, row, all, n);
}

/* The next page begins with the recording that this one has ended in, the n-th behind *cursor, and not with those
 * before it, as it may be gone by then. False: replied. */
static bool go_on_behind(struct search *s, char **cursor, uint32_t n) {
    struct catalog_page page = {0};
    struct reel_error err = {0};
    s->q.limit = n;
    if (n == 0) {
        return true;
    }
    if (!catalog_list(http_app(s->r)->catalog, &s->q, &page, &err)) {
        http_reply_error(s->r, &err);
        return false;
    }
    if (page.next) {
        free(*cursor);
        *cursor = TAKE(page.next);
    }
    catalog_page_done(&page);
    return true;
}

/* Visits recordings until the page is full or the time is over. False: replied. */
static bool run(struct search *s) {
    AUTO_MEM char *cursor = s->rows ? strdup(s->rows) : NULL;
    bool good = true;
    do {
        struct catalog_page page = {0};
        struct reel_error err = {0};
        uint32_t i = 0;
        s->q.cursor = cursor;
        s->q.limit = VISIT_ROWS;
        if (!catalog_list(http_app(s->r)->catalog, &s->q, &page, &err)) {
            http_reply_error(s->r, &err);
            return false;
        }
        for (; i < page.n_items && good && !is_full(s); i++) {
            good = visit(s, &page.items[i]);
        }
        if (good && is_full(s)) {
            good = go_on_behind(s, &cursor, i - 1);
        } else {
            free(cursor);
            cursor = TAKE(page.next);
        }
        catalog_page_done(&page);
    } while (good && cursor && !is_full(s) && reel_now_ns() < s->soft_ns);
    bool is_in = is_full(s);
    if (is_in || cursor) {
        snprintf(s->next, sizeof s->next, "%s %lld %s %s", is_in ? s->ended : "-", (long long)s->last.start_ns,
                 is_in ? s->last.id : "-", cursor ? cursor : "-");
    }
    return good;
}

/* False: replied. */
static bool read_cursor(struct search *s, char *cursor) {
    char *rest = cursor, *recording = strsep(&rest, " "), *start = strsep(&rest, " "), *id = strsep(&rest, " ");
    bool is_first = recording && strcmp(recording, "-") == 0;
    if (!cursor) {
        return true;
    }
    if (!rest || (!is_first && (strlen(recording) != ID_SIZE - 1 || !read_place(start, id, &s->after)))) {
        refuse_cursor(s->r);
        return false;
    }
    snprintf(s->begun, sizeof s->begun, "%s", is_first ? "" : recording);
    s->rows = strcmp(rest, "-") == 0 ? NULL : rest;
    return true;
}

static void reply_found(struct search *s) {
    char pending[24];
    snprintf(pending, sizeof pending, "%zu", json_array_size(s->pending.items));
    http_add_header(s->r, "X-Pending", pending);
    paging_reply_found(s->r, json_incref(s->items), s->next[0] ? s->next : NULL, event_columns,
                       json_pack("{s:O, s:o}", "pending", s->pending.items, "searched", view_u64(s->searched)));
}

void derived_search(struct http_request *r, const struct catalog_event_query *query, char *cursor) {
    struct search s = {.r = r,
                       .filter = {.query = query, .by_calendar = true, .kind = http_param(r, "kind")},
                       .q = {.format = "carla",
                             .allowed = http_caller(r)->collections,
                             .sort = "start",
                             .has_state = true,
                             .state = STATE_READY,
                             .has_start = query->has_start || query->has_end,
                             .has_end = query->has_start || query->has_end,
                             .start_ns = query->has_start ? query->start_ns : INT64_MIN,
                             .end_ns = query->has_end ? query->end_ns : INT64_MAX},
                       .soft_ns = reel_now_ns() + api_wait_ns(r, WAIT_NS),
                       .items = json_array(),
                       .pending = {.r = r, .items = json_array()}};
    s.pending.hard_ns = s.soft_ns + GRACE_NS;
    if (!s.items || !s.pending.items) {
        http_reply_no_memory(r);
    } else if (read_cursor(&s, cursor) && http_reserve(r, FILE_MEMORY + (uint64_t)query->limit * EVENT_MEMORY) &&
               run(&s)) {
        reply_found(&s);
    }
    search_done(&s);
}
