/* Events: intervals of recordings with a title and tags. A page costs what is on it: first come the events that are
 * going on at the start of the interval (found by width class), then those that begin in it (an index has that order).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "catalog/catalog_internal.h"
#include "catalog/notes.h"
#include "reel/time.h"

void catalog_event_done(struct catalog_event *event) {
    free(event->collection);
    free(event->name);
    free(event->title);
    free(event->author);
    free(event->tags);
    *event = (struct catalog_event){0};
}

void catalog_events_done(struct catalog_events *events) {
    for (uint32_t i = 0; i < events->n; i++) {
        catalog_event_done(&events->items[i]);
    }
    free(events->items);
    free(events->next);
    *events = (struct catalog_events){0};
}

/* The columns of every statement that returns events; the last one is the recording's row. */
enum {
    COLUMN_COLLECTION = 3,
    COLUMN_START = 6,
    COLUMN_WALL_START = 9,
    COLUMN_TITLE = 11,
    COLUMN_TAGS = 13,
    COLUMN_RECORDING = 16
};

static bool events_read_event(struct db_statement *s, struct catalog_event *out, struct reel_error *err) {
    *out = (struct catalog_event){.row = db_int(s, 0),
                                  .relative = db_int(s, 5) != 0,
                                  .start_ns = db_int(s, 6),
                                  .end_ns = db_int(s, 7),
                                  .on_calendar = db_int(s, 8) != 0,
                                  .wall_start_ns = db_int(s, 9),
                                  .wall_end_ns = db_int(s, 10),
                                  .created_ns = db_int(s, 14),
                                  .updated_ns = db_int(s, 15)};
    db_hex(s, 1, out->id, sizeof out->id);
    db_hex(s, 2, out->recording, sizeof out->recording);
    char **const texts[] = {&out->collection, &out->name, &out->title, &out->author, &out->tags};
    static const int columns[] = {COLUMN_COLLECTION, 4, 11, 12, 13};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!(*texts[i] = strdup(db_text(s, columns[i])))) {
            catalog_event_done(out);
            return reel_fail_memory(err);
        }
    }
    return true;
}

static bool check_tags(const char *tags, struct reel_error *err) {
    json_t *all = tags && tags[0] ? json_loads(tags, 0, NULL) : json_object(), *value;
    const char *key;
    bool good = json_is_object(all) || reel_fail(err, REEL_ARGUMENT, "tags are an object of texts");
    good = good &&
           (json_object_size(all) <= TAGS_MAX || reel_fail(err, REEL_LIMIT, "an event has at most %d tags", TAGS_MAX));
    json_object_foreach(all, key, value) {
        good = good && (json_is_string(value) || reel_fail(err, REEL_ARGUMENT, "the value of a tag is a text")) &&
               catalog_tag_check(key, json_string_value(value), err);
    }
    json_decref(all);
    return good;
}

static bool events_check(const struct catalog_event *e, struct reel_error *err) {
    if (!e->title || !e->title[0]) {
        return reel_fail(err, REEL_ARGUMENT, "an event has a title");
    }
    int64_t length;
    if (e->end_ns < e->start_ns) {
        return reel_fail(err, REEL_ARGUMENT, "the event ends before it starts");
    }
    if (__builtin_sub_overflow(e->end_ns, e->start_ns, &length)) {
        return reel_fail(err, REEL_ARGUMENT, "the event is longer than 292 years");
    }
    return catalog_text_check("an event's title", e->title, EVENT_TITLE_MAX, err) && check_tags(e->tags, err);
}

/* ---- one */

static bool events_has_room(struct db_handle *h, int64_t row, struct reel_error *err) {
    struct catalog_recording r;
    if (!catalog_load(h, row, &r, err)) {
        return false;
    }
    bool room = r.annotations.events < EVENTS_MAX;
    catalog_recording_done(&r);
    return room || reel_fail(err, REEL_LIMIT, "a recording has at most %d events", EVENTS_MAX);
}

static bool events_find(struct db_handle *h, const char *id, struct catalog_event *out, int64_t *recording,
                        struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, "event_by_id", err);
    if (!s) {
        return false;
    }
    db_set_hex(s, ":id", id);
    enum db_step step = db_next(s, err);
    if (step != DB_ROW) {
        return step == DB_END ? reel_fail(err, REEL_NOT_FOUND, "no event has that id") : false;
    }
    *recording = db_int(s, COLUMN_RECORDING);
    return events_read_event(s, out, err);
}

bool event_write(struct db_handle *h, const char *statement, int64_t row, const struct catalog_event *e,
                 struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", row);
    db_set_hex(s, ":id", e->id);
    db_set_int(s, ":start", e->start_ns);
    db_set_int(s, ":end", e->end_ns);
    db_set_text(s, ":author", e->author);
    db_set_int(s, ":created", e->created_ns);
    db_set_int(s, ":updated", e->updated_ns);
    db_set_int(s, ":now", reel_now_ns());
    db_set_text(s, ":title", e->title);
    db_set_text(s, ":tags", e->tags);
    return db_run(s, err);
}

/* What the catalog has now, instead of the requested values. */
static bool read_back(struct db_handle *h, struct catalog_event *e, struct reel_error *err) {
    struct catalog_event now;
    int64_t recording;
    if (!events_find(h, e->id, &now, &recording, err)) {
        return false;
    }
    catalog_event_done(e);
    *e = now;
    return true;
}

bool catalog_event_add(struct catalog *c, const char *id, struct catalog_event *e, struct reel_error *err) {
    int64_t row;
    if (!events_check(e, err) || (!e->id[0] && !catalog_make_id(e->id, err))) {
        return false;
    }
    e->created_ns = e->created_ns ? e->created_ns : reel_now_ns();
    e->updated_ns = e->updated_ns ? e->updated_ns : e->created_ns;
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    return h && annotations_find_row(h, id, &row, err) && events_has_room(h, row, err) &&
           event_write(h, "event_insert", row, e, err) && annotations_touch(h, row, err) && read_back(h, e, err) &&
           db_commit(h, err);
}

bool catalog_event_get(struct catalog *c, const char *event, struct catalog_event *out, struct reel_error *err) {
    int64_t recording;
    *out = (struct catalog_event){0};
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    return h && events_find(h, event, out, &recording, err);
}

static bool apply(struct catalog_event *e, const struct catalog_event_change *change, struct reel_error *err) {
    e->start_ns = change->has_start ? change->start_ns : e->start_ns;
    e->end_ns = change->has_end ? change->end_ns : e->end_ns;
    if (change->title) {
        free(e->title);
        e->title = strdup(change->title);
    }
    if (change->tags) {
        char *tags = annotations_merge(e->tags, change->tags, err);
        if (!tags) {
            return reel_error_at(err, "tags");
        }
        free(e->tags);
        e->tags = tags;
    }
    return e->title ? events_check(e, err) : reel_fail_memory(err);
}

static bool is_version(const struct catalog_event *e, int64_t version, struct reel_error *err) {
    return version == CATALOG_ANY_VERSION || version == e->updated_ns ||
           reel_fail(err, REEL_CHANGED, "the event has changed since");
}

bool catalog_event_change(struct catalog *c, const char *event, const struct catalog_event_change *change,
                          struct catalog_event *out, struct reel_error *err) {
    int64_t recording;
    *out = (struct catalog_event){0};
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    bool good = h && events_find(h, event, out, &recording, err) && is_version(out, change->version, err) &&
                apply(out, change, err) && event_write(h, "event_update", out->row, out, err) &&
                annotations_touch(h, recording, err) && read_back(h, out, err) && db_commit(h, err);
    if (!good) {
        catalog_event_done(out);
    }
    return good;
}

bool catalog_event_remove(struct catalog *c, const char *event, int64_t version, struct reel_error *err) {
    int64_t recording;
    struct catalog_event e = {0};
    AUTO(db_end) struct db_handle *h = db_write(c->db, err);
    bool good = h && events_find(h, event, &e, &recording, err) && is_version(&e, version, err) &&
                annotations_run(h, "event_delete", e.row, err) && annotations_touch(h, recording, err) &&
                db_commit(h, err);
    catalog_event_done(&e);
    return good;
}

/* ---- words */

bool event_words_read(const char *q, struct event_words *out, struct reel_error *err) {
    *out = (struct event_words){.text = strdup(q ? q : "")};
    if (!out->text) {
        return reel_fail_memory(err);
    }
    for (char *rest = out->text, *word; (word = strsep(&rest, " \t"));) {
        if (*word && out->n == EVENT_WORDS_MAX) {
            return reel_fail(err, REEL_LIMIT, "has more than %d words", EVENT_WORDS_MAX);
        }
        if (*word) {
            out->items[out->n++] = word;
        }
    }
    return true;
}

void event_words_done(struct event_words *words) {
    free(words->text);
    *words = (struct event_words){0};
}

bool event_words_in(const struct event_words *words, const char *title, const char *tags) {
    bool all = true;
    for (unsigned i = 0; i < words->n && all; i++) {
        all = ascii_contains(title, words->items[i]) || ascii_contains(tags, words->items[i]);
    }
    return all;
}

/* ---- pages */

enum { VISITED_MAX = 20000 }; /* events of a page */

struct walk {
    const struct catalog_event_query *q;
    uint32_t limit;
    int64_t row;              /* of the recording, when it is of one */
    int64_t key, after;       /* start and row of the last one that was given */
    int64_t start_ns, end_ns; /* of the interval */
    int64_t last_key, last;   /* start and row of the last one that was visited */
    uint32_t visited;
    bool more;
};

static bool selects(const struct catalog_event_query *q, struct db_statement *s) {
    return (!q->sees || q->sees(q->context, db_text(s, COLUMN_COLLECTION))) &&
           event_words_in(&q->words, db_text(s, COLUMN_TITLE), db_text(s, COLUMN_TAGS));
}

static bool events_run(struct db_handle *h, struct walk *w, const char *statement, struct catalog_events *out,
                       struct reel_error *err) {
    AUTO(db_done) struct db_statement *s = db_statement(h, statement, err);
    if (!s) {
        return false;
    }
    db_set_int(s, ":row", w->row);
    db_set_int(s, ":key", w->key);
    db_set_int(s, ":after", w->after);
    db_set_int(s, ":start", w->start_ns);
    db_set_int(s, ":end", w->end_ns);
    enum db_step step;
    while ((step = db_next(s, err)) == DB_ROW) {
        bool selected = selects(w->q, s);
        if ((selected && out->n == w->limit) || w->visited == VISITED_MAX) {
            w->more = true;
            return true;
        }
        if (selected && !events_read_event(s, &out->items[out->n], err)) {
            return false;
        }
        out->n += selected;
        w->last_key = db_int(s, w->q->recording ? COLUMN_START : COLUMN_WALL_START);
        w->last = db_int(s, 0);
        w->visited++;
    }
    return step == DB_END;
}

static bool list_all(struct db_handle *h, struct walk *w, struct catalog_events *out, struct reel_error *err) {
    bool from_before = w->q->has_start && w->key < w->start_ns;
    if (from_before && !events_run(h, w, "events_during", out, err)) {
        return false;
    }
    if (w->q->has_start && w->key < w->start_ns) {
        w->key = w->start_ns;
        w->after = 0;
    }
    return w->more || events_run(h, w, "events_from", out, err);
}

static bool events_read_cursor(const char *cursor, struct walk *w, struct reel_error *err) {
    if (!cursor) {
        return true;
    }
    const char *dot = strchrnul(cursor, '.');
    return (number_i64_of(cursor, (size_t)(dot - cursor), &w->key) && *dot && number_i64(dot + 1, &w->after)) ||
           reel_fail(err, REEL_ARGUMENT, "cursor is not one of ours; take it from the page before");
}

static bool events_write_cursor(const struct walk *w, struct catalog_events *out, struct reel_error *err) {
    char text[64];
    snprintf(text, sizeof text, "%lld.%lld", (long long)w->last_key, (long long)w->last);
    out->next = strdup(text);
    return out->next || reel_fail_memory(err);
}

bool catalog_events_list(struct catalog *c, const struct catalog_event_query *q, struct catalog_events *out,
                         struct reel_error *err) {
    struct walk w = {.q = q,
                     .limit = annotations_page_limit(q->limit),
                     .key = INT64_MIN,
                     .start_ns = q->has_start ? q->start_ns : INT64_MIN,
                     .end_ns = q->has_end ? q->end_ns : INT64_MAX};
    *out = (struct catalog_events){0};
    if (!events_read_cursor(q->cursor, &w, err)) {
        return false;
    }
    AUTO(db_end) struct db_handle *h = db_read(c->db, err);
    if (!h || !(out->items = calloc(w.limit, sizeof *out->items))) {
        return h ? reel_fail_memory(err) : false;
    }
    bool good = (q->recording ? annotations_find_row(h, q->recording, &w.row, err) &&
                                    events_run(h, &w, "events_of_recording", out, err)
                              : list_all(h, &w, out, err)) &&
                (!w.more || events_write_cursor(&w, out, err));
    if (!good) {
        catalog_events_done(out);
    }
    return good;
}
