/* /search/values, and where= of /recordings. A page visits recordings in the order of the list, until it is full or its
 * time is over. A recording whose statistics are not there yet is read within that time if it is small; else it is
 * pending, and a job makes them. */
#include "api/recordings/search_values.h"
#include "api/job_reply.h"
#include "api/recording.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/paging.h"
#include "api/pending.h"
#include "api/recordings/recordings.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/hex.h"
#include "catalog/notes.h"
#include "manifests/manifests.h"
#include "scans/statistics.h"
#include "views/viewer_links.h"
#include "views/views.h"

enum {
    VISIT_ROWS = 50,        /* recordings between two looks at the clock */
    QUICK_BYTES = 64 << 20, /* of a recording that a request reads itself */
    INTERVALS_DEFAULT = 100,
    WHERE_MAX = 16,
    PAGE_INTERVALS = 20000, /* a page ends with so many, of all its recordings … */
    PAGE_PENDING = 1000,    /* … or with so many that are pending */
    ROW_MEMORY = 4 << 10,
    INTERVAL_MEMORY = 1 << 10,
    READ_MEMORY = 64 << 20,
};
static const int64_t WAIT_NS = INT64_C(2000000000), GRACE_NS = INT64_C(8000000000);

struct search {
    struct http_request *r;
    struct recordings_query *query;
    struct reel_question *question;
    uint64_t intervals_max; /* of a recording; 0: it is asked only whether there is one */
    int64_t soft_ns;        /* when the page ends */
    json_t *items;
    struct pending pending;
    uint64_t searched, kept; /* kept: intervals */
    /* what becomes of a recording in which it held; false: replied */
    bool (*found)(struct search *s, const struct catalog_recording *row, const struct reel_answer *answer);
    const char *title; /* of events */
};

static void search_done(struct search *s) {
    reel_question_free(s->question);
    json_decref(s->items);
    json_decref(s->pending.items);
}

/* ---- one recording */

struct opening {
    struct search *s;
    const struct catalog_recording *row;
};

static struct reel_recording *open_recording(void *context, struct reel_error *err) {
    const struct opening *o = context;
    char job[JOB_ID_TEXT];
    return api_recording_open(http_app(o->s->r), o->row, 0, job, err);
}

/* NULL: it is pending. */
static struct reel_statistics *get_statistics(struct search *s, const struct catalog_recording *row) {
    struct app *app = http_app(s->r);
    struct reel_error err = {0};
    const struct reel_progress progress = {.report = pending_has_time, .context = &s->pending};
    struct reel_statistics *statistics = statistics_open(app, row->content, &err);
    bool quick = !statistics && (err.code == REEL_NOT_FOUND || err.code == REEL_CHANGED) && row->size <= QUICK_BYTES &&
                 reel_now_ns() < s->soft_ns;
    if (quick && statistics_make(app, row, &progress, &err)) {
        statistics = statistics_open(app, row->content, &err);
    }
    if (!statistics) {
        pending_add(&s->pending, row, &err);
    }
    return statistics;
}

static bool search_values_visit(struct search *s, const struct catalog_recording *row) {
    struct opening opening = {.s = s, .row = row};
    const struct reel_progress progress = {.report = pending_has_time, .context = &s->pending};
    const struct reel_question_options options = {.size = sizeof options,
                                                  .intervals_max = (uint32_t)s->intervals_max,
                                                  .open = open_recording,
                                                  .context = &opening,
                                                  .progress = &progress};
    struct reel_error err = {0};
    s->searched++;
    AUTO(reel_statistics_free) struct reel_statistics *statistics = get_statistics(s, row);
    if (!statistics) {
        return true;
    }
    AUTO(reel_answer_free)
    struct reel_answer *answer = reel_question_answer(s->question, statistics, &options, &err);
    if (!answer) {
        if (err.code == REEL_CHANGED) {
            struct reel_error ignored;
            store_remove_file(http_app(s->r)->store, row->content, STORE_STATISTICS, &ignored);
        }
        pending_add(&s->pending, row, &err);
        return true;
    }
    if (answer->total == 0 && !answer->complete) {
        const struct reel_error late = {
            .text = "it takes longer than a request may: send Prefer: wait=60, or narrow the search"};
        pending_add(&s->pending, row, &late);
        return true;
    }
    return answer->total == 0 || s->found(s, row, answer);
}

/* ---- the search */

/* Only recordings that are ready can be asked. False: replied. */
static bool read_query(struct search *s) {
    struct catalog_query *q = &s->query->q;
    if (q->has_state && q->state != STATE_READY) {
        http_reply_bad_param(s->r, "state", "only ready recordings can be searched for values");
        return false;
    }
    q->has_state = true;
    q->state = STATE_READY;
    return true;
}

static bool read_question(struct search *s) {
    const char *where[WHERE_MAX];
    struct reel_error err = {0};
    int64_t for_ns = 0, wait_ns = api_wait_ns(s->r, WAIT_NS);
    size_t n = http_params(s->r, "where", where, WHERE_MAX);
    http_param_duration(s->r, "for", &for_ns);
    if (n == 0 || n > WHERE_MAX) {
        http_reply_bad_param(s->r, "where", "1 to %d of them, as /topic.path>0.5", WHERE_MAX);
        return false;
    }
    if (!(s->question = reel_question_new(where, (uint32_t)n, for_ns, &err))) {
        err.code == REEL_ARGUMENT ? http_reply_bad_param(s->r, "where", "%s", err.text) : http_reply_error(s->r, &err);
        return false;
    }
    s->soft_ns = reel_now_ns() + wait_ns;
    s->items = json_array();
    s->pending = (struct pending){.r = s->r, .hard_ns = s->soft_ns + GRACE_NS, .items = json_array()};
    return s->items && s->pending.items ? true : (http_reply_no_memory(s->r), false);
}

static bool search_values_is_full(const struct search *s, uint32_t limit) {
    return json_array_size(s->items) >= limit || json_array_size(s->pending.items) >= PAGE_PENDING ||
           s->kept >= PAGE_INTERVALS;
}

/* Visits recordings until the page is full or the time is over. *next: the cursor to go on with, malloc'd; NULL: it was
 * the last page. False: replied. */
static bool search_values_run(struct search *s, char **next) {
    struct catalog_query q = s->query->q;
    AUTO_MEM char *cursor = NULL;
    const uint32_t limit = q.limit;
    bool good = true;
    do {
        struct catalog_page page = {0};
        struct reel_error err = {0};
        size_t left = limit - json_array_size(s->items);
        q.limit = left < VISIT_ROWS ? (uint32_t)left : VISIT_ROWS;
        if (!catalog_list(http_app(s->r)->catalog, &q, &page, &err)) {
            http_reply_error(s->r, &err);
            return false;
        }
        for (uint32_t i = 0; i < page.n_items && good; i++) {
            good = search_values_visit(s, &page.items[i]);
        }
        free(cursor);
        q.cursor = cursor = TAKE(page.next);
        q.offset = 0;
        catalog_page_done(&page);
    } while (good && cursor && !search_values_is_full(s, limit) && reel_now_ns() < s->soft_ns);
    *next = TAKE(cursor);
    return good;
}

static void search_values_reply(struct search *s, const struct rows_form *form, const char *next,
                                const char *const *columns) {
    char pending[24];
    snprintf(pending, sizeof pending, "%zu", json_array_size(s->pending.items));
    http_add_header(s->r, "X-Pending", pending);
    json_t *body = json_pack("{s:O, s:o, s:O, s:o}", "items", s->items, "next", next ? json_string(next) : json_null(),
                             "pending", s->pending.items, "searched", view_u64(s->searched));
    if (next) {
        api_add_next_link(s->r, next);
    }
    rows_reply(s->r, form, body, json_incref(s->items), columns);
}

/* Reads the question, searches and replies. */
static void search_values_answer(struct search *s, const struct rows_form *form, const char *const *columns) {
    AUTO_MEM char *next = NULL;
    uint64_t most = PAGE_INTERVALS + VISIT_ROWS * s->intervals_max, intervals = s->query->q.limit * s->intervals_max;
    uint64_t memory = READ_MEMORY + (uint64_t)s->query->q.limit * ROW_MEMORY +
                      (intervals < most ? intervals : most) * INTERVAL_MEMORY;
    if (read_query(s) && read_question(s) && http_reserve(s->r, memory) && search_values_run(s, &next)) {
        search_values_reply(s, form, next, columns);
    }
    search_done(s);
}

/* ---- GET /search/values */

static json_t *view_value(bool has, double value) {
    return has && isfinite(value) ? json_real(value) : json_null();
}

static json_t *view_interval(const struct reel_interval *i, enum reel_clock clock) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start", view_time(i->start_ns, clock), "end",
                     view_time(i->end_ns, clock), "start_ns", view_ns(i->start_ns), "end_ns", view_ns(i->end_ns),
                     "count", view_u64(i->count), "min", view_value(i->has_values, i->min), "max",
                     view_value(i->has_values, i->max));
}

static bool search_values_add_found(struct search *s, const struct catalog_recording *row,
                                    const struct reel_answer *a) {
    json_t *intervals = json_array();
    s->kept += a->n;
    for (uint32_t i = 0; i < a->n; i++) {
        json_array_append_new(intervals, view_interval(&a->intervals[i], row->clock));
    }
    json_t *item = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:f, s:o, s:o, s:b, s:o}", "recording", row->id, "collection", row->collection,
        "name", row->name, "intervals_total", view_u64(a->total), "count", view_u64(a->span.count), "held_s",
        (double)a->held_ns / 1e9, "min", view_value(a->span.has_values, a->span.min), "max",
        view_value(a->span.has_values, a->span.max), "complete", a->complete, "intervals", intervals);
    return json_array_append_new(s->items, item) == 0 || (http_reply_no_memory(s->r), false);
}

void api_search_values(struct http_request *r) {
    static const char *const columns[] = {"recording", "collection", "name",     "intervals_total", "count", "held_s",
                                          "min",       "max",        "complete", "intervals",       NULL};
    struct recordings_query query;
    struct rows_form form;
    struct search s = {.r = r, .query = &query, .intervals_max = INTERVALS_DEFAULT, .found = search_values_add_found};
    http_param_u64(r, "intervals", &s.intervals_max);
    if (rows_form(r, &form) && recordings_read_query(r, &query)) {
        search_values_answer(&s, &form, columns);
    }
}

/* ---- GET /recordings?where= */

static bool add_recording(struct search *s, const struct catalog_recording *row, const struct reel_answer *a) {
    json_t *item = view_recording(row, NULL);
    (void)a;
    viewer_add_links(s->r, item, row);
    return json_array_append_new(s->items, item) == 0 || (http_reply_no_memory(s->r), false);
}

void search_values_list(struct http_request *r, struct recordings_query *query, const struct rows_form *form) {
    static const char *const columns[] = {"id",   "collection", "name",  "revision", "format",
                                          "size", "messages",   "start", "end",      NULL};
    struct search s = {.r = r, .query = query, .found = add_recording};
    if (query->q.count) {
        http_reply_bad_param(r, "count", "recordings with where= are found page by page, and not counted");
        return;
    }
    search_values_answer(&s, form, columns);
}

/* ---- POST /search/values?save_as=event */

/* The same interval of the same question is the same event, so that asking again adds none. */
static bool event_id(const struct search *s, const struct catalog_recording *row, const struct reel_interval *i,
                     char out[33], struct reel_error *err) {
    const char *where[WHERE_MAX], *duration = http_param(s->r, "for");
    uint8_t digest[DIGEST_SHA256];
    AUTO_STRUCT(grow_done) struct grow text = {0};
    size_t n = http_params(s->r, "where", where, WHERE_MAX);
    grow_put(&text, row->id, sizeof row->id);
    for (size_t k = 0; k < n; k++) {
        grow_put(&text, where[k], strlen(where[k]) + 1);
    }
    grow_text(&text, duration ? duration : "");
    grow_u64(&text, (uint64_t)i->start_ns);
    grow_u64(&text, (uint64_t)i->end_ns);
    digest_of(DIGEST_SHA256, bytes_of(text.data, text.size), digest);
    hex_write(digest, 16, out);
    return !text.failed || reel_fail_memory(err);
}

/* *added: it was not there. */
static bool add_event(struct search *s, const struct catalog_recording *row, const struct reel_interval *i, bool *added,
                      struct reel_error *err) {
    struct catalog *catalog = http_app(s->r)->catalog;
    const char *author = http_caller(s->r)->name;
    struct catalog_event e = {0}, there = {0};
    struct reel_error why = {0};
    *added = false;
    if (!event_id(s, row, i, e.id, err)) {
        return false;
    }
    if (catalog_event_get(catalog, e.id, &there, &why)) {
        catalog_event_done(&there);
        return true;
    }
    if (why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    e.start_ns = i->start_ns;
    e.end_ns = i->end_ns;
    e.title = strdup(s->title);
    e.author = strdup(author ? author : "");
    e.tags = strdup("");
    *added = e.title && e.author && e.tags ? catalog_event_add(catalog, row->id, &e, err) : reel_fail_memory(err);
    catalog_event_done(&e);
    return *added;
}

static bool add_events(struct search *s, const struct catalog_recording *row, const struct reel_answer *a) {
    struct reel_error err = {0};
    json_int_t added = 0;
    bool one = false;
    uint32_t done = 0;
    while (done < a->n && a->complete && add_event(s, row, &a->intervals[done], &one, &err)) {
        added += one;
        done++;
    }
    if (err.code != REEL_OK && err.code != REEL_LIMIT) {
        http_reply_error(s->r, &err);
        return false;
    }
    json_t *item = json_pack("{s:s, s:s, s:s, s:I, s:I, s:o}", "recording", row->id, "collection", row->collection,
                             "name", row->name, "events", (json_int_t)done, "added", added, "problem",
                             err.code == REEL_LIMIT ? view_text(err.text)
                             : !a->complete         ? json_string("the search took too long here: nothing was added")
                             : a->total > (uint64_t)a->n ? json_string("it has more intervals than intervals= allows")
                                                         : json_null());
    return json_array_append_new(s->items, item) == 0 || (http_reply_no_memory(s->r), false);
}

void api_search_values_save(struct http_request *r) {
    static const char *const columns[] = {"recording", "collection", "name", "events", "added", "problem", NULL};
    const char *title = http_param(r, "title");
    struct recordings_query query;
    struct rows_form form;
    struct search s = {.r = r,
                       .query = &query,
                       .intervals_max = INTERVALS_DEFAULT,
                       .found = add_events,
                       .title = title ? title : http_param(r, "where")};
    http_param_u64(r, "intervals", &s.intervals_max);
    if (rows_form(r, &form) && recordings_read_query(r, &query)) {
        search_values_answer(&s, &form, columns);
        manifests_changed(http_app(r));
    }
}
