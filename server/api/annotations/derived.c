/* /recordings/{id}/events?derived=true: what happened in a recording, found by reading it (formats/carla); nothing is
 * stored. Each page is one pass over the recording, of which the events of the page are kept: they come by start, then
 * by id, whatever the order in which the pass finds them. */
#include "api/annotations/derived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/paging.h"
#include "api/recording.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/number.h"
#include "formats/carla/question.h"
#include "syntax/utf8.h"
#include "views/annotations.h"

enum { START, END, TITLE, KIND, COLUMNS = 11 };
/* The other columns are tags. */
static const char *const tag_names[COLUMNS] = {
    NULL, NULL, NULL, "kind", "actor", "type", "description", "other", "other_type", "other_description", "state"};

enum { ID_SIZE = 33 };
struct found {
    int64_t start_ns;
    char id[ID_SIZE];
    json_t *view;
};
struct derived_page {
    const struct catalog_recording *row;
    const struct catalog_event_query *query;
    const char *kind; /* NULL: all */
    bool has_after;
    struct found after;  /* the last of the page before */
    struct found *items; /* limit + 1, sorted */
    size_t n;
    bool failed;
};

static int derived_compare(const struct found *a, const struct found *b) {
    return a->start_ns != b->start_ns ? (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns)
                                      : strcmp(a->id, b->id);
}

static void derived_free(struct derived_page *page) {
    for (size_t i = 0; i < page->n; i++) {
        json_decref(page->items[i].view);
    }
    free(page->items);
}

/* --- an event */

/* A text of the recording, which may hold any bytes: as UTF-8 up to a NUL; malloc'd. NULL: no memory. */
static char *derived_text(struct reel_bytes text) {
    struct grow out = {0};
    utf8_put(&out, text);
    grow_put(&out, "", 1);
    if (out.failed) {
        free(out.data);
        return NULL;
    }
    return (char *)out.data;
}

static json_t *derived_tag(const struct reel_cell *cell) {
    char number[24];
    if (cell->kind == REEL_CELL_TEXT) {
        AUTO_MEM char *text = derived_text(cell->text);
        return text ? json_string(text) : NULL;
    }
    snprintf(number, sizeof number, "%lld", (long long)cell->integer);
    return json_string(number);
}

/* The tags as a JSON text; NULL: no memory. */
static char *derived_tags(const struct reel_cell *cells) {
    json_auto_t *tags = json_object();
    for (int i = KIND; i < COLUMNS; i++) {
        if (cells[i].kind != REEL_CELL_NULL && json_object_set_new(tags, tag_names[i], derived_tag(&cells[i])) != 0) {
            return NULL;
        }
    }
    return json_dumps(tags, JSON_COMPACT);
}

/* The same event has the same id in every answer. */
static void derived_id(const struct derived_page *page, const struct reel_cell *cells, char id[ID_SIZE]) {
    struct digest d;
    char hex[SHA256_HEX];
    digest_start(&d, DIGEST_SHA256);
    digest_add(&d, page->row->id, strlen(page->row->id));
    digest_add(&d, &cells[START].integer, sizeof cells[START].integer);
    digest_add(&d, cells[TITLE].text.data, cells[TITLE].text.size);
    digest_end_hex(&d, hex);
    snprintf(id, ID_SIZE, "%.32s", hex);
}

static json_t *derived_view(const struct derived_page *page, const struct reel_cell *cells, const char *id) {
    const struct catalog_recording *row = page->row;
    AUTO_MEM char *tags = derived_tags(cells);
    AUTO_MEM char *title = derived_text(cells[TITLE].text);
    struct catalog_event e = {.collection = row->collection,
                              .name = row->name,
                              .relative = row->clock == REEL_CLOCK_RELATIVE,
                              .start_ns = cells[START].integer,
                              .end_ns = cells[END].integer,
                              .title = title,
                              .author = (char[]){""},
                              .tags = tags,
                              .created_ns = row->created_ns,
                              .updated_ns = row->created_ns};
    snprintf(e.id, sizeof e.id, "%s", id);
    snprintf(e.recording, sizeof e.recording, "%s", row->id);
    e.on_calendar =
        catalog_on_calendar(row, e.start_ns, &e.wall_start_ns) && catalog_on_calendar(row, e.end_ns, &e.wall_end_ns);
    json_t *view = tags && title ? view_event(&e) : NULL;
    if (view) {
        json_object_set_new(view, "derived", json_true());
    }
    return view;
}

/* --- the page */

static bool derived_selects(const struct derived_page *page, const struct reel_cell *cells) {
    const struct catalog_event_query *q = page->query;
    int64_t start_ns = cells[START].integer, end_ns = cells[END].integer;
    bool kind = !page->kind || bytes_is(cells[KIND].text, page->kind);
    return kind && (!q->has_end || start_ns < q->end_ns) &&
           (!q->has_start || end_ns > q->start_ns || start_ns >= q->start_ns);
}

static bool derived_row(void *context, const struct reel_cell *cells, unsigned n) {
    struct derived_page *page = context;
    struct found found = {.start_ns = cells[START].integer};
    size_t room = (size_t)page->query->limit + 1, at = page->n;
    if (n != COLUMNS || !derived_selects(page, cells)) {
        return n == COLUMNS;
    }
    derived_id(page, cells, found.id);
    if ((page->has_after && derived_compare(&found, &page->after) <= 0) ||
        (page->n == room && derived_compare(&found, &page->items[room - 1]) >= 0)) {
        return true;
    }
    if (!(found.view = derived_view(page, cells, found.id))) {
        page->failed = true;
        return false;
    }
    if (page->n == room) {
        json_decref(page->items[--page->n].view);
        at--;
    }
    while (at > 0 && derived_compare(&found, &page->items[at - 1]) < 0) {
        at--;
    }
    memmove(&page->items[at + 1], &page->items[at], (page->n - at) * sizeof *page->items);
    page->items[at] = found;
    page->n++;
    return true;
}

static bool derived_columns(void *context, const char *const *names, unsigned n) {
    (void)context, (void)names;
    return n == COLUMNS;
}
static bool derived_end(void *context) {
    (void)context;
    return true;
}

/* Of a recording of no simulator there are none. */
static bool derived_find(struct http_request *r, struct derived_page *page, struct reel_recording *recording,
                         struct reel_error *err) {
    struct reel_carla_question q = reel_carla_question(REEL_CARLA_MOMENTS);
    const struct reel_table table = {
        .columns = derived_columns, .row = derived_row, .end = derived_end, .context = page};
    AUTO(reel_carla_free) struct reel_carla *pass = reel_carla_open(recording, &q, NULL, &table, err);
    bool good = pass || err->code == REEL_UNSUPPORTED;
    for (bool done = !pass; good && !done && !http_is_gone(r);) {
        good = reel_carla_step(pass, &done, err);
    }
    return page->failed ? reel_fail_memory(err) : good;
}

static void derived_reply(struct http_request *r, struct derived_page *page) {
    char next[ID_SIZE + 24];
    size_t limit = page->query->limit;
    bool more = page->n > limit;
    json_t *items = json_array();
    for (size_t i = 0; i < page->n && i < limit; i++) {
        json_array_append(items, page->items[i].view);
    }
    if (more) {
        const struct found *last = &page->items[limit - 1];
        snprintf(next, sizeof next, "%lld %s", (long long)last->start_ns, last->id);
    }
    paging_reply(r, items, more ? next : NULL, event_columns);
}

/* False: replied. */
static bool derived_after(struct http_request *r, struct derived_page *page, const char *cursor) {
    const char *space = cursor ? strchr(cursor, ' ') : NULL;
    char number[24];
    page->has_after = cursor != NULL;
    if (!cursor) {
        return true;
    }
    snprintf(number, sizeof number, "%.*s", space ? (int)(space - cursor) : 0, cursor);
    if (!space || strlen(space + 1) != ID_SIZE - 1 || !number_i64(number, &page->after.start_ns)) {
        http_reply_bad_param(r, "cursor", "is not one of ours; take it from the page before");
        return false;
    }
    snprintf(page->after.id, sizeof page->after.id, "%s", space + 1);
    return true;
}

void derived_events(struct http_request *r, const struct api_recording *a, const struct catalog_event_query *query) {
    struct reel_error err = {0};
    AUTO_STRUCT(derived_free)
    struct derived_page page = {.row = &a->row, .query = query, .kind = http_param(r, "kind")};
    if (!derived_after(r, &page, query->cursor)) {
        return;
    }
    if (!(page.items = calloc((size_t)query->limit + 1, sizeof *page.items))) {
        http_reply_no_memory(r);
        return;
    }
    if (derived_find(r, &page, a->recording, &err)) {
        derived_reply(r, &page);
    } else {
        http_reply_error(r, &err);
    }
}
