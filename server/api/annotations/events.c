/* /events: marked intervals of recordings. Events are stored in the recording's own time, so they keep their position
 * when its epoch changes. */
#include "api/annotations/events.h"
#include "api/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/annotations/annotations.h"
#include "api/annotations/derived.h"
#include "api/body.h"
#include "api/change.h"
#include "api/paging.h"
#include "base/cleanup.h"
#include "catalog/notes.h"
#include "json_whole.h"
#include "manifests/manifests.h"
#include "views/annotations.h"

/* ---- times */

static bool is_calendar(const char *text) {
    return strspn(text, "0123456789") == 4 && text[4] == '-';
}

/* Parses a time and converts it to the recording's own time. `bare_ns`: the unit of a number without one. */
static bool recording_time(const struct catalog_recording *row, const char *text, int64_t bare_ns, int64_t *ns,
                           struct reel_error *err) {
    struct reel_time t;
    if (!reel_time_parse(text, bare_ns, &t, err)) {
        return false;
    }
    bool of_calendar = t.kind == REEL_TIME_FROM_NOW || is_calendar(text);
    if (of_calendar && row->clock == REEL_CLOCK_RELATIVE) {
        *ns = reel_time_resolve(&t, row->start_ns, row->end_ns, reel_now_ns());
    } else if (!reel_time_within(&t, row->start_ns, row->end_ns, ns, err)) {
        return false;
    }
    if (row->clock != REEL_CLOCK_RELATIVE || !of_calendar) {
        return true;
    }
    if (!row->annotations.has_epoch) {
        return reel_fail(err, REEL_ARGUMENT,
                         "this recording has a relative clock and no epoch, so it has no calendar time");
    }
    return !__builtin_sub_overflow(*ns, row->annotations.epoch_ns, ns) ||
           reel_fail(err, REEL_ARGUMENT, "the time is out of reach");
}

/* A time in the body: a number of nanoseconds, or a text. False: replied. */
static bool events_read_time(struct http_request *r, const json_t *body, const char *member,
                             const struct catalog_recording *row, bool *there, int64_t *ns) {
    const json_t *value = json_object_get(body, member);
    struct reel_error err = {0};
    *there = value && !json_is_null(value);
    if (!*there) {
        return true;
    }
    if (json_is_integer(value)) {
        *ns = json_integer_value(value);
        return true;
    }
    int64_t bare_ns = row->clock == REEL_CLOCK_RELATIVE ? 1000000000 : 1; /* its times are shown as seconds */
    bool good = json_is_string(value) && recording_time(row, json_string_value(value), bare_ns, ns, &err);
    if (!good) {
        body_refuse(r, member, "must be nanoseconds as a number, or a text%s%s", err.text[0] ? ": " : "", err.text);
    }
    return good;
}

/* ---- pages */

bool events_caller_sees(const void *caller, const char *collection) {
    return http_caller_sees(caller, collection);
}

const char *const event_columns[] = {"id",     "recording", "collection", "name", "start",   "end",     "start_ns",
                                     "end_ns", "title",     "author",     "tags", "created", "updated", NULL};

static void reply_page(struct http_request *r, const struct catalog_event_query *q) {
    struct catalog_events events;
    struct reel_error err = {0};
    if (!catalog_events_list(http_app(r)->catalog, q, &events, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *items = json_array();
    for (uint32_t i = 0; i < events.n; i++) {
        json_array_append_new(items, view_event(&events.items[i]));
    }
    paging_reply(r, items, events.next, event_columns);
    catalog_events_done(&events);
}

/* start and end; row NULL: of the calendar. False: replied. */
static bool read_interval(struct http_request *r, const struct catalog_recording *row, struct catalog_event_query *q) {
    static const char *const names[] = {"start", "end"};
    struct reel_error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        const char *text = http_param(r, names[i]);
        struct reel_time t;
        int64_t *ns = i == 0 ? &q->start_ns : &q->end_ns;
        if (!text || !http_param_time(r, names[i], &t)) {
            continue;
        }
        *(i == 0 ? &q->has_start : &q->has_end) = true;
        if (row && !recording_time(row, text, 1, ns, &err)) {
            http_reply_bad_param(r, names[i], "%s", err.text);
            return false;
        }
        if (!row && (t.kind == REEL_TIME_FROM_START || t.kind == REEL_TIME_FROM_END)) {
            http_reply_bad_param(r, names[i], "a time across recordings cannot be relative to one of them");
            return false;
        }
        *ns = row ? *ns : reel_time_resolve(&t, 0, 0, reel_now_ns());
    }
    if (q->has_start && q->has_end && q->end_ns < q->start_ns) {
        http_reply_bad_param(r, "end", "must not be before start");
        return false;
    }
    return true;
}

/* Whether derived=true. False: replied, as a parameter is sent that is only for it. */
static bool read_derived(struct http_request *r, bool *derived) {
    *derived = false;
    http_param_bool(r, "derived", derived);
    if (!*derived && http_param(r, "kind")) {
        http_reply_bad_param(r, "kind", "is for derived=true");
        return false;
    }
    return true;
}

/* The limit and the words; event_words_done(). False: replied. */
static bool read_query(struct http_request *r, struct catalog_event_query *q) {
    struct reel_error err = {0};
    q->limit = paging_limit(r);
    if (event_words_read(http_param(r, "q"), &q->words, &err)) {
        return true;
    }
    http_reply_bad_param(r, "q", "%s", err.text);
    return false;
}

/* Of the recording in the path. */
static void list_derived(struct http_request *r, struct catalog_event_query *q) {
    struct api_recording a = {0};
    AUTO_MEM char *after = NULL;
    if (!paging_after(r, &after) || !api_open_messages(r, &a)) {
        return;
    }
    q->cursor = after;
    if (read_interval(r, &a.row, q)) {
        derived_events(r, &a, q);
    }
    api_recording_done(&a);
}

/* The events of the recording in the path or the parameter, or of all recordings. */
static void list_stored(struct http_request *r, struct catalog_event_query *q) {
    const char *in_path = http_segment(r, "id"), *key = in_path ? in_path : http_param(r, "recording");
    struct api_recording a = {0};
    AUTO_MEM char *after = NULL;
    if (!paging_after(r, &after)) {
        return;
    }
    q->sees = events_caller_sees;
    q->context = http_caller(r);
    q->cursor = after;
    if (!key || api_find_key(r, key, &a)) {
        q->recording = key ? a.row.id : NULL;
        if (read_interval(r, key ? &a.row : NULL, q)) {
            reply_page(r, q);
        }
        api_recording_done(&a);
    }
}

void api_recording_events(struct http_request *r) {
    struct catalog_event_query q = {0};
    bool derived;
    if (read_derived(r, &derived) && read_query(r, &q)) {
        derived ? list_derived(r, &q) : list_stored(r, &q);
    }
    event_words_done(&q.words);
}

static void list_all_derived(struct http_request *r, struct catalog_event_query *q) {
    AUTO_MEM char *after = NULL;
    if (http_param(r, "recording")) {
        http_reply_bad_param(r, "recording", "is not for derived=true: ask for /recordings/{id}/events");
    } else if (paging_after(r, &after) && read_interval(r, NULL, q)) {
        derived_search(r, q, after);
    }
}

void api_events_list(struct http_request *r) {
    struct catalog_event_query q = {0};
    bool derived;
    if (read_derived(r, &derived) && read_query(r, &q)) {
        derived ? list_all_derived(r, &q) : list_stored(r, &q);
    }
    event_words_done(&q.words);
}

/* ---- one */

enum { EVENT_ETAG = REEL_TIME_TEXT + 2 };

/* The member `updated` in quotes, so that a client that has listed events knows their tags. */
static void event_etag(const struct catalog_event *e, char out[EVENT_ETAG]) {
    char updated[REEL_TIME_TEXT];
    reel_time_rfc3339(e->updated_ns, updated);
    snprintf(out, EVENT_ETAG, "\"%s\"", updated);
}

static void reply_event(struct http_request *r, int status, const struct catalog_event *e) {
    char etag[EVENT_ETAG];
    event_etag(e, etag);
    http_add_header(r, "ETag", etag);
    http_reply_json(r, status, view_event(e));
}

/* Checks If-Match. False: replied (412). */
static bool event_version(struct http_request *r, const struct catalog_event *e, int64_t *version) {
    char etag[EVENT_ETAG];
    event_etag(e, etag);
    const char *match = http_header(r, "If-Match");
    *version = match && strcmp(match, "*") != 0 ? e->updated_ns : CATALOG_ANY_VERSION;
    if (!http_if_match(r, etag)) {
        http_reply_problem(r, 412, "precondition-failed", "the event has changed since; get it again");
        return false;
    }
    return true;
}

/* Tags as a JSON text; "": none sent. NULL: replied. */
static char *tags_of(struct http_request *r, const json_t *body) {
    const json_t *tags = json_object_get(body, "tags");
    if (tags && !json_is_object(tags) && !json_is_null(tags)) {
        body_refuse(r, "tags", "must be an object of texts");
        return NULL;
    }
    char *text = tags ? json_whole_text(tags, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("");
    if (!text) {
        http_reply_no_memory(r);
    }
    return text;
}

static void add_event(struct http_request *r, const json_t *body, const struct catalog_recording *row,
                      const char *tags) {
    struct app *app = http_app(r);
    const char *title = json_string_value(json_object_get(body, "title")), *author = http_caller(r)->name;
    struct catalog_event e = {0};
    struct reel_error err = {0};
    bool has_start, has_end;
    if (!title) {
        body_refuse(r, "title", "must be there, and a text");
        return;
    }
    if (!events_read_time(r, body, "start", row, &has_start, &e.start_ns) ||
        !events_read_time(r, body, "end", row, &has_end, &e.end_ns)) {
        return;
    }
    if (!has_start) {
        body_refuse(r, "start", "must be there");
        return;
    }
    e.end_ns = has_end ? e.end_ns : e.start_ns;
    e.title = strdup(title);
    e.author = strdup(author ? author : "");
    e.tags = strdup(strcmp(tags, "null") == 0 || strcmp(tags, "{}") == 0 ? "" : tags);
    bool good =
        e.title && e.author && e.tags ? catalog_event_add(app->catalog, row->id, &e, &err) : reel_fail_memory(&err);
    if (good) {
        char address[96];
        snprintf(address, sizeof address, "/api/v1/events/%s", e.id);
        http_add_address(r, "Location", address);
        manifests_changed(app);
        reply_event(r, 201, &e);
    } else {
        http_reply_error(r, &err);
    }
    catalog_event_done(&e);
}

void api_event_add(struct http_request *r) {
    static const char *const known[] = {"recording", "start", "end", "title", "tags", NULL};
    const json_t *body = body_json(r);
    const char *key = json_string_value(json_object_get(body, "recording"));
    struct api_recording a;
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    if (!key) {
        body_refuse(r, "recording", "must be there: the id of one");
        return;
    }
    char *tags = tags_of(r, body);
    if (tags && api_find_key(r, key, &a)) {
        add_event(r, body, &a.row, tags);
        api_recording_done(&a);
    }
    free(tags);
}

/* The event in the path, if the caller may see its recording. False: replied. */
static bool find_event(struct http_request *r, struct catalog_event *e, struct api_recording *a) {
    struct reel_error err = {0};
    if (!catalog_event_get(http_app(r)->catalog, http_segment(r, "event"), e, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!http_caller_sees(http_caller(r), e->collection)) {
        catalog_event_done(e);
        http_reply_problem(r, 404, "not-found", "no event has that id");
        return false;
    }
    if (!api_find_key(r, e->recording, a)) {
        catalog_event_done(e);
        return false;
    }
    return true;
}

void api_event_get(struct http_request *r) {
    struct catalog_event e;
    struct api_recording a;
    if (find_event(r, &e, &a)) {
        reply_event(r, 200, &e);
        catalog_event_done(&e);
        api_recording_done(&a);
    }
}

static bool read_change(struct http_request *r, const json_t *body, const struct catalog_recording *row,
                        struct catalog_event_change *out) {
    static const char *const known[] = {"start", "end", "title", "tags", NULL};
    const json_t *title = json_object_get(body, "title");
    if (!body_knows(r, body, known) || !events_read_time(r, body, "start", row, &out->has_start, &out->start_ns) ||
        !events_read_time(r, body, "end", row, &out->has_end, &out->end_ns)) {
        return false;
    }
    out->title = json_string_value(title);
    if (title && !out->title) {
        body_refuse(r, "title", "must be a text");
        return false;
    }
    return true;
}

void api_event_change(struct http_request *r) {
    struct app *app = http_app(r);
    const json_t *body = body_json(r);
    struct catalog_event e, now;
    struct catalog_event_change change = {0};
    struct api_recording a;
    struct reel_error err = {0};
    if (!body || !find_event(r, &e, &a)) {
        return;
    }
    bool good = event_version(r, &e, &change.version) && read_change(r, body, &a.row, &change);
    char *tags = good ? tags_of(r, body) : NULL;
    change.tags = tags && tags[0] ? tags : NULL;
    if (tags && catalog_event_change(app->catalog, e.id, &change, &now, &err)) {
        manifests_changed(app);
        reply_event(r, 200, &now);
        catalog_event_done(&now);
    } else if (tags) {
        change_refuse(r, &err);
    }
    free(tags);
    catalog_event_done(&e);
    api_recording_done(&a);
}

void api_event_delete(struct http_request *r) {
    struct catalog_event e;
    struct api_recording a;
    struct reel_error err = {0};
    int64_t version;
    if (!find_event(r, &e, &a)) {
        return;
    }
    bool matches = event_version(r, &e, &version);
    if (matches && catalog_event_remove(http_app(r)->catalog, e.id, version, &err)) {
        manifests_changed(http_app(r));
        http_reply_empty(r, 204);
    } else if (matches) {
        change_refuse(r, &err);
    }
    catalog_event_done(&e);
    api_recording_done(&a);
}
