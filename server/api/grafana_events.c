/* /grafana/annotations: events as Grafana's annotations, at the times at which panels draw their recording: calendar time, or, for a
 * recording with a relative clock that is requested by name, relative to the start of the panel. */
#include <stdio.h>

#include "api/body.h"
#include "api/events.h"
#include "api/grafana.h"
#include "api/routes.h"
#include "catalog/notes.h"

enum { ANNOTATIONS_MAX = 1000 };
static const int64_t MS = 1000000;

static json_t *ms_of(int64_t ns, int64_t shift_ns) {
    int64_t at = (int64_t)((uint64_t)ns + (uint64_t)shift_ns);
    return json_integer(at / MS - (at % MS < 0));
}

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

static json_t *annotation_of(const struct catalog_event *e, const json_t *annotation, bool own, int64_t shift_ns) {
    int64_t start_ns = own ? e->start_ns : e->wall_start_ns, end_ns = own ? e->end_ns : e->wall_end_ns;
    json_t *o = json_pack("{s:o, s:o, s:b, s:s, s:s, s:o}", "time", ms_of(start_ns, shift_ns), "timeEnd", ms_of(end_ns, shift_ns),
                          "isRegion", end_ns > start_ns, "title", e->title, "text", e->name, "tags", tags_of(e));
    if (annotation) {
        json_object_set(o, "annotation", (json_t *)annotation);
    }
    return o;
}

static void reply_events(struct http_request *r, const struct catalog_event_query *q, const json_t *annotation, int64_t shift_ns) {
    struct catalog_events events;
    struct reel_error err = {0};
    if (!catalog_events_list(http_app(r)->catalog, q, &events, &err)) {
        http_reply_error(r, &err);
        return;
    }
    json_t *out = json_array();
    for (uint32_t i = 0; i < events.n; i++) {
        json_array_append_new(out, annotation_of(&events.items[i], annotation, q->recording, shift_ns));
    }
    catalog_events_done(&events);
    http_reply_json(r, 200, out);
}

/* annotation.query may name a recording. */
void api_grafana_annotations(struct http_request *r) {
    json_t *body = body_json(r);
    const json_t *annotation = json_object_get(body, "annotation");
    const char *key = json_string_value(json_object_get(annotation, "query"));
    struct catalog_event_query q = {.limit = ANNOTATIONS_MAX, .sees = events_caller_sees, .context = http_caller(r)};
    struct api_recording a = {0};
    bool there;
    if (!body || !grafana_range(r, body, &q.start_ns, &q.end_ns, &there)) {
        return;
    }
    q.has_start = q.has_end = there;
    int64_t shift_ns = 0;
    if (key && *key) {
        if (!api_find_key(r, key, &a)) {
            return;
        }
        q.recording = a.row.id;
        if (a.row.clock == REEL_CLOCK_RELATIVE && there) {
            shift_ns = q.start_ns;
            q.end_ns -= q.start_ns;
            q.start_ns = 0;
        }
    }
    reply_events(r, &q, annotation, shift_ns);
    api_recording_done(&a);
}
