/* /grafana/annotations: events as Grafana's annotations, at the times at which panels draw their recording: calendar
 * time, or, for a recording with a relative clock that is requested by name, relative to the start of the panel. */
#include <stdio.h>

#include "api/annotations/events.h"
#include "api/body.h"
#include "api/grafana/grafana.h"
#include "api/recording.h"
#include "catalog/notes.h"

enum { ANNOTATIONS_MAX = 1000 };

/* ["key=value", …] */
static json_t *tags_of(const struct catalog_event *e) {
    json_t *tags = e->tags && e->tags[0] ? json_loads(e->tags, 0, NULL) : NULL, *out = json_array(), *value;
    const char *key;
    char text[TAG_KEY_MAX + TAG_VALUE_MAX + 2];
    json_object_foreach(tags, key, value) {
        snprintf(text, sizeof text, "%s=%s", key, json_string_value(value));
        json_array_append_new(out, json_string(text));
    }
    json_decref(tags);
    return out;
}

/* The events of one recording, or of all by the calendar. */
struct listing {
    struct catalog_event_query query;
    struct api_recording recording; /* with a name only when one is asked for */
    int64_t shift_ns;
};

/* `key` NULL or "": of all recordings. False: replied. */
static bool listing_begin(struct http_request *r, const char *key, bool has_range, int64_t from_ns, int64_t to_ns,
                          struct listing *out) {
    *out = (struct listing){.query = {.limit = ANNOTATIONS_MAX,
                                      .has_start = has_range,
                                      .has_end = has_range,
                                      .start_ns = from_ns,
                                      .end_ns = to_ns,
                                      .sees = events_caller_sees,
                                      .context = http_caller(r)}};
    struct catalog_event_query *q = &out->query;
    if (!key || !*key) {
        return true;
    }
    if (!api_find_key(r, key, &out->recording)) {
        return false;
    }
    q->recording = out->recording.row.id;
    if (out->recording.row.clock == REEL_CLOCK_RELATIVE && has_range) {
        out->shift_ns = from_ns;
        q->end_ns -= from_ns;
        q->start_ns = 0;
    }
    return true;
}

/* Calls put() for each event. False: replied. */
static bool listing_read(struct http_request *r, const struct listing *l,
                         void (*put)(void *context, const struct catalog_event *e, long long start_ms,
                                     long long end_ms),
                         void *context) {
    struct catalog_events events;
    struct reel_error err = {0};
    if (!catalog_events_list(http_app(r)->catalog, &l->query, &events, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    for (uint32_t i = 0; i < events.n; i++) {
        const struct catalog_event *e = &events.items[i];
        bool own = l->query.recording;
        put(context, e, grafana_ms(own ? e->start_ns : e->wall_start_ns, l->shift_ns),
            grafana_ms(own ? e->end_ns : e->wall_end_ns, l->shift_ns));
    }
    catalog_events_done(&events);
    return true;
}

/* ---- /annotations, of the plugin's older versions */

struct annotations {
    json_t *list;
    const json_t *annotation; /* of the request; each answer has it */
};

static void put_annotation(void *context, const struct catalog_event *e, long long start_ms, long long end_ms) {
    const struct annotations *to = context;
    json_t *o = json_pack("{s:I, s:I, s:b, s:s, s:s, s:o}", "time", (json_int_t)start_ms, "timeEnd", (json_int_t)end_ms,
                          "isRegion", e->end_ns > e->start_ns, "title", e->title, "text", e->name, "tags", tags_of(e));
    if (to->annotation) {
        json_object_set(o, "annotation", (json_t *)to->annotation);
    }
    json_array_append_new(to->list, o);
}

/* annotation.query may name a recording; the names of the target "events" of /query mean all of them here too. */
void api_grafana_annotations(struct http_request *r) {
    json_t *body = body_json(r);
    struct annotations to = {.annotation = json_object_get(body, "annotation")};
    int64_t from_ns, to_ns;
    bool there;
    struct listing l;
    const char *key = json_string_value(json_object_get(to.annotation, "query"));
    key = key && grafana_is_events(key) ? NULL : key;
    if (!body || !grafana_range(r, body, &from_ns, &to_ns, &there) ||
        !listing_begin(r, key, there, from_ns, to_ns, &l)) {
        return;
    }
    to.list = json_array();
    if (listing_read(r, &l, put_annotation, &to)) {
        http_reply_json(r, 200, to.list);
    } else {
        json_decref(to.list);
    }
    api_recording_done(&l.recording);
}

/* ---- the target "events" of /query; Grafana reads annotations from columns with these names */

struct event_rows {
    FILE *out;
    size_t n;
};

static void events_put_row(void *context, const struct catalog_event *e, long long start_ms, long long end_ms) {
    struct event_rows *to = context;
    json_auto_t *tags = tags_of(e);
    fprintf(to->out, "%s[%lld,%lld,", to->n++ > 0 ? ",\n" : "", start_ms, end_ms);
    grafana_put_string(to->out, e->title);
    fputc(',', to->out);
    grafana_put_string(to->out, e->name);
    fputs(",", to->out);
    json_dumpf(tags, to->out, JSON_COMPACT);
    fputc(',', to->out);
    grafana_put_string(to->out, e->recording);
    fputc(']', to->out);
}

bool grafana_is_events(const char *target) {
    return strcmp(target, GRAFANA_EVENTS) == 0 || strcmp(target, "annotations") == 0;
}

void grafana_put_events(struct http_request *r, FILE *out, const json_t *payload, bool has_range, int64_t from_ns,
                        int64_t to_ns) {
    struct event_rows to = {.out = out};
    const char *given = json_string_value(json_object_get(payload, "recording")), *keys[GRAFANA_VALUES_MAX];
    char text[GRAFANA_TEXT_MAX];
    bool good = grafana_plain_text(given ? given : "", text);
    size_t count = grafana_split_values(text, keys);
    if (!good) {
        http_reply_problem(r, 400, "bad-target", "recording is an id or name:COLLECTION/NAME, of less than %d bytes",
                           GRAFANA_TEXT_MAX);
    }
    fputs(",\"columns\":[{\"text\":\"time\",\"type\":\"time\"},{\"text\":\"timeEnd\",\"type\":\"time\"},{\"text\":"
          "\"title\","
          "\"type\":\"string\"},{\"text\":\"text\",\"type\":\"string\"},{\"text\":\"tags\",\"type\":\"other\"},{"
          "\"text\":\"recording\","
          "\"type\":\"string\"}],\"rows\":[",
          out);
    for (size_t i = 0; i < count && good; i++) {
        struct listing l;
        good = listing_begin(r, keys[i], has_range, from_ns, to_ns, &l) && listing_read(r, &l, events_put_row, &to);
        api_recording_done(&l.recording);
    }
    fputs("]", out);
}
