/* See values.h. */
#include "catalog/values.h"
#include "catalog/notes.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/catalog_internal.h"
#include "catalog/list.h"

static const char last_character[] = "\xf4\x8f\xbf\xbf";

/* ---- facets */

struct facet {
    const char *statement; /* of the whole catalog */
    const char *within;    /* of rows that were found */
    const char *counted;   /* … whose values are counted; NULL: they never are */
    int kind;
};

static struct facet facet_of(const struct values_query *q) {
    switch (q->field) {
    case VALUES_TAG:
        return q->key ? (struct facet){"tag_values_list", "found_tag_values", "counted_tag_values", 0}
                      : (struct facet){"tag_keys_list", "found_tag_keys", NULL, 0};
    case VALUES_FORMAT:
        return (struct facet){"sums_names", "found_column", NULL, 0};
    case VALUES_STATE:
        return (struct facet){"sums_names", "found_column", NULL, 1};
    case VALUES_COLLECTION:
        return (struct facet){"collections_names", "found_column", NULL, 2};
    default:
        return (struct facet){"labels_list", "found_labels", "counted_labels", (int)q->field};
    }
}

/* States are numbers there. */
static const char *shown_name(const struct values_query *q, const char *name, size_t cut) {
    return q->field == VALUES_STATE ? recording_state_name((enum recording_state)strtol(name, NULL, 10))
                                    : name + (strlen(name) >= cut ? cut : 0);
}

static bool read_counts(struct db_statement *s, const struct values_query *q, uint32_t limit, size_t cut,
                        struct catalog_counts *out, struct reel_error *err) {
    if (!(out->items = calloc(limit, sizeof *out->items))) {
        return reel_fail_memory(err);
    }
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW && out->n < limit) {
        const char *name = shown_name(q, db_text(s, 0), cut);
        if (q->field == VALUES_STATE &&
            strncmp(name, q->prefix ? q->prefix : "", strlen(q->prefix ? q->prefix : "")) != 0) {
            continue;
        }
        struct catalog_count *item = &out->items[out->n];
        if (!(item->name = strdup(name))) {
            return reel_fail_memory(err);
        }
        item->recordings = db_size(s, 1);
        out->n++;
    }
    out->more = step == DB_ROW;
    return step != DB_FAILED;
}

/* `found` NULL: of the whole catalog */
static bool values_count(struct db_handle *h, const struct values_query *q, const struct list_found *found,
                         struct catalog_counts *out, struct reel_error *err) {
    struct facet f = facet_of(q);
    const char *prefix = q->prefix && q->field != VALUES_STATE ? q->prefix : "",
               *key = q->field == VALUES_META ? q->key : "", *colon = *key ? ":" : "";
    AUTO_MEM char *from = NULL;
    AUTO_MEM char *end = NULL;
    AUTO_MEM char *after = NULL;
    if (asprintf(&from, "%s%s%s", key, colon, prefix) < 0 || asprintf(&end, "%s%s", from, last_character) < 0 ||
        asprintf(&after, "%s%s%s", key, colon, q->after ? q->after : "") < 0) {
        return reel_fail_memory(err);
    }
    AUTO(db_done)
    struct db_statement *s = db_statement(h, !found ? f.statement : found->counted ? f.counted : f.within, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":kind", f.kind);
    db_set_text(s, ":key", q->key);
    db_set_text(s, ":from", from);
    db_set_text(s, ":end", end);
    db_set_text(s, ":after", after);
    db_set_int(s, ":first", q->after == NULL);
    db_set_text(s, ":rows", found ? found->rows : NULL);
    db_set_int(s, ":limit", (int64_t)annotations_page_limit(q->limit) + 1);
    return read_counts(s, q, annotations_page_limit(q->limit), strlen(key) + strlen(colon), out, err);
}

bool catalog_values(struct catalog *c, const struct values_query *q, struct values_counts *out,
                    struct reel_error *err) {
    *out = (struct values_counts){0};
    AUTO_STRUCT(list_found_done) struct list_found found = {0};
    const struct list_values values = {.column = q->field == VALUES_META ? "metadata_labels" : "channel_labels",
                                       .tag = q->field == VALUES_TAG ? q->key : NULL};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    if (!h || (q->within &&
               !list_rows(c, h, q->within, facet_of(q).counted ? &values : NULL, VALUES_COUNTED_MAX, &found, err))) {
        return false;
    }
    out->counted = found.n;
    out->capped = found.more;
    if (!values_count(h, q, q->within ? &found : NULL, &out->counts, err)) {
        catalog_counts_done(&out->counts);
        return false;
    }
    return true;
}

/* ---- totals */

static bool values_read_total(struct db_statement *s, enum totals_by by, struct catalog_total *out) {
    const char *name = by == TOTALS_STATE ? recording_state_name((enum recording_state)db_int(s, 0)) : db_text(s, 0);
    *out = (struct catalog_total){.by = by,
                                  .recordings = db_size(s, 1),
                                  .bytes = db_size(s, 2),
                                  .messages = db_size(s, 3),
                                  .duration_ms = db_size(s, 4)};
    snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}

bool catalog_totals(struct catalog *c, enum totals_by by, const char *const *allowed, struct catalog_total **rows,
                    uint32_t *n, struct reel_error *err) {
    AUTO_MEM char *names = NULL;
    AUTO_MEM struct catalog_total *all = calloc(TOTALS_MAX, sizeof *all);
    AUTO(db_end) struct db_handle *h = all ? db_read(c->db, err) : NULL;
    *n = 0;
    if (!h || (allowed && !catalog_allowed(h, allowed, &names, err))) {
        return all ? false : reel_fail_memory(err);
    }
    AUTO(db_done) struct db_statement *s = db_statement(h, "sums_by", err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":all", !allowed);
    db_set_text(s, ":collections", names);
    db_set_int(s, ":kind", by == TOTALS_MONTH ? TOTALS_DAY : by);
    db_set_int(s, ":size", by == TOTALS_MONTH ? 7 : 1000); /* "2026-05" */
    db_set_int(s, ":limit", TOTALS_MAX);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        *n += values_read_total(s, by, &all[*n]);
    }
    *rows = step == DB_END ? TAKE(all) : NULL;
    return step == DB_END;
}

/* ---- coverage */

void catalog_spans_done(struct catalog_spans *spans) {
    for (uint32_t i = 0; i < spans->n; i++) {
        free(spans->items[i].collection);
    }
    free(spans->items);
    *spans = (struct catalog_spans){0};
}

/* They come by collection and start. */
static bool add_span(struct catalog_spans *spans, struct db_statement *s, int64_t tolerance_ns,
                     struct reel_error *err) {
    struct catalog_span *last = spans->n > 0 ? &spans->items[spans->n - 1] : NULL;
    int64_t start = db_int(s, 1), end = db_int(s, 2), reach = INT64_MAX;
    if (last && strcmp(last->collection, db_text(s, 0)) == 0) {
        if (last->end_ns <= INT64_MAX - tolerance_ns) {
            reach = last->end_ns + tolerance_ns;
        }
        if (start <= reach) {
            last->end_ns = end > last->end_ns ? end : last->end_ns;
            last->recordings++;
            last->messages += db_size(s, 3);
            return true;
        }
    }
    struct catalog_span *next = &spans->items[spans->n];
    *next = (struct catalog_span){.collection = strdup(db_text(s, 0)),
                                  .start_ns = start,
                                  .end_ns = end,
                                  .recordings = 1,
                                  .messages = db_size(s, 3)};
    spans->n += next->collection != NULL;
    return next->collection || reel_fail_memory(err);
}

static bool read_spans(struct db_handle *h, const char *rows, int64_t tolerance_ns, struct catalog_spans *out,
                       struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "found_spans", err);
    if (!s || !(out->items = calloc(out->counted ? out->counted : 1, sizeof *out->items))) {
        return s ? reel_fail_memory(err) : false;
    }
    db_set_text(s, ":rows", rows);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        if (!add_span(out, s, tolerance_ns, err)) {
            return false;
        }
    }
    return step == DB_END;
}

bool catalog_coverage(struct catalog *c, const struct catalog_query *q, int64_t tolerance_ns, struct catalog_spans *out,
                      struct reel_error *err) {
    *out = (struct catalog_spans){0};
    AUTO_STRUCT(list_found_done) struct list_found found = {0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    bool good = h && list_rows(c, h, q, NULL, COVERAGE_COUNTED_MAX, &found, err);
    out->counted = found.n;
    out->capped = found.more;
    if (!good || !read_spans(h, found.rows, tolerance_ns, out, err)) {
        catalog_spans_done(out);
        return false;
    }
    return true;
}
