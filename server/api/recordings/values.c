/* /values, /stats and /coverage: values of a column, totals, and the times that recordings cover. */
#include "catalog/values.h"
#include "catalog/buckets.h"
#include "catalog/notes.h"

#include <stdlib.h>
#include <string.h>

#include "api/paging.h"
#include "api/recordings/query.h"
#include "api/recordings/recordings.h"
#include "api/rows.h"
#include "base/cleanup.h"
#include "views/views.h"

enum { UTC_OFFSET_MAX = 24 * 60 };

/* ---- /values */

/* False: replied. */
static bool values_read_field(struct http_request *r, struct values_query *q) {
    static const struct {
        const char *name;
        enum values_field field;
    } fields[] = {
        {"topic", VALUES_TOPIC},           {"type", VALUES_TYPE},  {"tag", VALUES_TAG}, {"format", VALUES_FORMAT},
        {"collection", VALUES_COLLECTION}, {"state", VALUES_STATE}};
    const char *field = http_param(r, "field");
    for (size_t i = 0; field && i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].name, field) == 0) {
            q->field = fields[i].field;
            return true;
        }
    }
    bool tag = field && strncmp(field, "tag:", 4) == 0 && field[4],
         meta = field && strncmp(field, "meta.", 5) == 0 && field[5];
    if (!tag && !meta) {
        http_reply_bad_param(r, "field", "topic, type, format, collection, state, tag, tag:KEY or meta.KEY");
        return false;
    }
    q->field = tag ? VALUES_TAG : VALUES_META;
    q->key = field + (tag ? 4 : 5);
    return true;
}

static bool has_filters(struct http_request *r, const struct catalog_query *q) {
    return q->words || q->format || q->collection || q->group || q->n_topics || q->n_types || q->n_topic_patterns ||
           q->n_type_patterns || q->n_tags || q->has_start || q->has_end || q->has_state || q->damaged_only ||
           q->size.has_min || q->size.has_max || q->duration.has_min || q->duration.has_max || q->messages.has_min ||
           q->messages.has_max || q->created.has_min || q->created.has_max || http_caller(r)->collections;
}

static void reply_values(struct http_request *r, const struct values_query *q, struct values_counts *found) {
    static const char *const columns[] = {"value", "recordings", NULL};
    json_t *items = json_array();
    for (uint32_t i = 0; i < found->counts.n; i++) {
        json_array_append_new(items, json_pack("{s:s, s:o}", "value", found->counts.items[i].name, "recordings",
                                               view_u64(found->counts.items[i].recordings)));
    }
    if (q->within) { /* is not part of the answer, but applies */
        http_add_header(r, "X-Capped", found->capped ? "true" : "false");
    }
    json_t *members =
        q->within ? json_pack("{s:b, s:i}", "capped", found->capped, "counted", (int)found->counted) : NULL;
    paging_reply_found(r, items, found->counts.more ? found->counts.items[found->counts.n - 1].name : NULL, columns,
                       members);
}

void api_values(struct http_request *r) {
    struct recordings_query query;
    struct values_query q = {.prefix = http_param(r, "prefix")};
    struct values_counts found;
    struct reel_error err = {0};
    char *after = NULL;
    q.limit = paging_limit(r);
    if (!values_read_field(r, &q) || !recordings_read_query(r, &query) || !paging_after(r, &after)) {
        return;
    }
    q.after = after;
    query.q.cursor = NULL; /* the request's cursor is one of the values */
    q.within = has_filters(r, &query.q) ? &query.q : NULL;
    if (catalog_values(http_app(r)->catalog, &q, &found, &err)) {
        reply_values(r, &q, &found);
        catalog_counts_done(&found.counts);
    } else {
        http_reply_error(r, &err);
    }
    free(after);
}

/* ---- /stats */

static const char *const by_names[] = {"format", "state", "day", "month"};
static const char *const stats_columns[] = {"by", "name", "recordings", "size", "messages", "duration_s", NULL};

static json_t *view_total(const struct catalog_total *t) {
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:f}", "by", by_names[t->by], "name",
                     t->name[0] ? json_string(t->name) : json_null(), "recordings", view_u64(t->recordings), "size",
                     view_u64(t->bytes), "messages", view_u64(t->messages), "duration_s", (double)t->duration_ms / 1e3);
}

/* Appends to `rows`; adds everything that is not in the trash to `sum`. */
static bool add_totals(struct http_request *r, enum totals_by by, json_t *rows, struct catalog_total *sum,
                       struct reel_error *err) {
    AUTO_MEM struct catalog_total *totals = NULL;
    uint32_t n;
    if (!catalog_totals(http_app(r)->catalog, by, http_caller(r)->collections, &totals, &n, err)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        json_array_append_new(rows, view_total(&totals[i]));
        if (strcmp(totals[i].name, recording_state_name(STATE_TRASHED)) != 0 || by != TOTALS_STATE) {
            sum->recordings += totals[i].recordings;
            sum->bytes += totals[i].bytes;
            sum->messages += totals[i].messages;
            sum->duration_ms += totals[i].duration_ms;
        }
    }
    return true;
}

static bool add_collections(struct http_request *r, json_t *rows, struct reel_error *err) {
    struct catalog_collections all;
    if (!catalog_collections_list(http_app(r)->catalog, "", PAGE_ITEMS_MAX, &all, err)) {
        return false;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        const struct catalog_collection *c = &all.items[i];
        if (c->recordings > 0 && http_caller_sees(http_caller(r), c->name)) {
            json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:f}", "by", "collection", "name", c->name,
                                                  "recordings", view_u64(c->recordings), "size", view_u64(c->bytes),
                                                  "messages", view_u64(c->messages), "duration_s",
                                                  (double)c->duration_ms / 1e3));
        }
    }
    catalog_collections_done(&all);
    return true;
}

/* `by` NULL: all groupings except days. */
static bool add_all(struct http_request *r, const char *by, json_t *rows, struct catalog_total *sum,
                    struct reel_error *err) {
    struct catalog_total ignored = {0};
    for (enum totals_by k = TOTALS_FORMAT; k <= TOTALS_MONTH; k++) {
        bool selected = by ? strcmp(by, by_names[k]) == 0 : k != TOTALS_DAY;
        if (selected && !add_totals(r, k, rows, k == TOTALS_STATE ? sum : &ignored, err)) {
            return false;
        }
    }
    return (by && strcmp(by, "collection") != 0) || add_collections(r, rows, err);
}

void api_stats(struct http_request *r) {
    struct rows_form form;
    struct reel_error err = {0};
    struct catalog_total sum = {0};
    const char *by = http_param(r, "by");
    if (!rows_form(r, &form)) {
        return;
    }
    json_t *rows = json_array();
    if (!add_all(r, by, rows, &sum, &err)) {
        json_decref(rows);
        http_reply_error(r, &err);
        return;
    }
    json_t *body = json_pack("{s:O, s:n}", "items", rows, "next");
    if (!by) {
        json_object_set_new(body, "recordings", view_u64(sum.recordings));
        json_object_set_new(body, "size", view_u64(sum.bytes));
        json_object_set_new(body, "messages", view_u64(sum.messages));
        json_object_set_new(body, "duration_s", json_real((double)sum.duration_ms / 1e3));
    }
    rows_reply(r, &form, body, rows, stats_columns);
}

/* ---- /coverage */

static void reply_spans(struct http_request *r, const struct catalog_spans *spans) {
    static const char *const columns[] = {"collection", "start", "end", "recordings", "messages", NULL};
    json_t *items = json_array();
    for (uint32_t i = 0; i < spans->n; i++) {
        const struct catalog_span *s = &spans->items[i];
        json_array_append_new(items, json_pack("{s:s, s:o, s:o, s:o, s:o}", "collection", s->collection, "start",
                                               view_time(s->start_ns, REEL_CLOCK_WALL), "end",
                                               view_time(s->end_ns, REEL_CLOCK_WALL), "recordings",
                                               view_u64(s->recordings), "messages", view_u64(s->messages)));
    }
    http_add_header(r, "X-Capped", spans->capped ? "true" : "false");
    json_t *members =
        json_pack("{s:s, s:b, s:i}", "interval", "[]", "capped", spans->capped, "counted", (int)spans->counted);
    paging_reply_found(r, items, NULL, columns, members);
}

static void reply_buckets(struct http_request *r, const struct catalog_buckets *buckets) {
    static const char *const columns[] = {"start", "end", "recordings", NULL};
    json_t *items = json_array();
    for (uint32_t i = 0; i < buckets->n; i++) {
        const struct catalog_bucket *b = &buckets->items[i];
        json_array_append_new(items,
                              json_pack("{s:o, s:o, s:i}", "start", view_time(b->start_ns, REEL_CLOCK_WALL), "end",
                                        view_time(b->end_ns, REEL_CLOCK_WALL), "recordings", (int)b->recordings));
    }
    http_add_header(r, "X-Capped", buckets->capped ? "true" : "false");
    json_t *members =
        json_pack("{s:s, s:b, s:i}", "interval", "[)", "capped", buckets->capped, "counted", (int)buckets->counted);
    paging_reply_found(r, items, NULL, columns, members);
}

static void count_buckets(struct http_request *r, const struct catalog_query *q) {
    struct catalog_bucket_width width;
    struct reel_error err = {0};
    AUTO_STRUCT(catalog_buckets_done) struct catalog_buckets buckets = {0};
    int64_t minutes = 0;
    if (!catalog_bucket_width(http_param(r, "bucket"), &width, &err)) {
        http_reply_bad_param(r, "bucket", "%s", err.text);
        return;
    }
    http_param_i64(r, "utc_offset", &minutes);
    if (minutes < -UTC_OFFSET_MAX || minutes > UTC_OFFSET_MAX) {
        http_reply_bad_param(r, "utc_offset", "is in minutes, from -%d to %d", UTC_OFFSET_MAX, UTC_OFFSET_MAX);
        return;
    }
    width.ahead_ns = minutes * 60 * INT64_C(1000000000);
    if (catalog_buckets(http_app(r)->catalog, q, &width, &buckets, &err)) {
        reply_buckets(r, &buckets);
    } else {
        http_reply_error(r, &err);
    }
}

static json_t *view_covered(const struct catalog_recording *row) {
    int64_t start = row->start_ns, end = row->end_ns;
    catalog_on_calendar(row, row->start_ns, &start);
    catalog_on_calendar(row, row->end_ns, &end);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "recording", row->id, "collection", row->collection, "name",
                     row->name, "start", view_time(start, REEL_CLOCK_WALL), "end", view_time(end, REEL_CLOCK_WALL),
                     "messages", view_u64(row->messages));
}

static void reply_each(struct http_request *r, struct catalog_query *q) {
    static const char *const columns[] = {"recording", "collection", "name", "start", "end", "messages", NULL};
    struct rows_form form;
    struct catalog_page page;
    struct reel_error err = {0};
    q->sort = q->sort ? q->sort : "start";
    if (!rows_form(r, &form)) {
        return;
    }
    if (!catalog_list(http_app(r)->catalog, q, &page, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < page.n_items; i++) {
        json_array_append_new(items, view_covered(&page.items[i]));
    }
    json_t *body = json_pack("{s:O, s:s, s:o}", "items", items, "interval", "[]", "next",
                             page.next ? json_string(page.next) : json_null());
    if (page.next) {
        api_add_next_link(r, page.next);
    }
    catalog_page_done(&page);
    rows_reply(r, &form, body, items, columns);
}

void api_coverage_across(struct http_request *r) {
    struct recordings_query query;
    struct catalog_spans spans;
    struct reel_error err = {0};
    int64_t tolerance = 0;
    const char *by = http_param(r, "by");
    if (!recordings_read_query(r, &query)) {
        return;
    }
    if (!query.q.has_end) { /* only recordings with calendar times */
        query.q.has_end = true;
        query.q.end_ns = INT64_MAX;
    }
    if (!by || strcmp(by, "recording") == 0) {
        reply_each(r, &query.q);
        return;
    }
    if (strcmp(by, "time") == 0) {
        count_buckets(r, &query.q);
        return;
    }
    http_param_duration(r, "tolerance", &tolerance);
    if (tolerance < 0) {
        http_reply_bad_param(r, "tolerance", "is not negative");
    } else if (!catalog_coverage(http_app(r)->catalog, &query.q, tolerance, &spans, &err)) {
        http_reply_error(r, &err);
    } else {
        reply_spans(r, &spans);
        catalog_spans_done(&spans);
    }
}
