/* JSON of recordings, used by both the API and the command line. */
#include "views/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "catalog/announced.h"
#include "http/json_text.h"
#include "index/index.h"
#include "reel/time.h"
#include "syntax/utf8.h"
#include "views/annotations.h"
#include "views/views_internal.h"

#define EXACT_MAX (UINT64_C(1) << 53)

const char *view_severity(enum reel_severity severity) {
    return severity == REEL_LOSS ? "loss" : severity == REEL_WARNING ? "warning" : "note";
}

json_t *view_u64(uint64_t value) {
    char text[24];
    if (value <= EXACT_MAX) {
        return json_integer((json_int_t)value);
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

json_t *view_ns(int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return json_string(text);
}

json_t *view_time(int64_t ns, enum reel_clock clock) {
    char text[REEL_TIME_TEXT];
    if (clock == REEL_CLOCK_RELATIVE) {
        reel_time_seconds(ns, text);
    } else {
        reel_time_rfc3339(ns, text);
    }
    return json_string(text);
}

json_t *views_known_bytes(uint64_t bytes, uint64_t messages, bool is_summary) {
    return is_summary && bytes == 0 && messages > 0 ? json_null() : view_u64(bytes);
}

struct object views_object(void) {
    json_t *json = json_object();
    return (struct object){.json = json, .failed = !json};
}

void views_put(struct object *o, const char *key, json_t *value) {
    o->failed = json_object_set_new(o->json, key, value) != 0 || o->failed;
}

json_t *views_end(struct object *o) {
    if (o->failed) {
        json_decref(o->json);
        return NULL;
    }
    return o->json;
}

json_t *views_append(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

void views_put_span(struct object *o, const char *first, const char *last, bool any, int64_t first_ns, int64_t last_ns,
                    enum reel_clock clock) {
    char name[16];
    views_put(o, first, any ? view_time(first_ns, clock) : json_null());
    views_put(o, last, any ? view_time(last_ns, clock) : json_null());
    snprintf(name, sizeof name, "%s_ns", first);
    views_put(o, name, any ? view_ns(first_ns) : json_null());
    snprintf(name, sizeof name, "%s_ns", last);
    views_put(o, name, any ? view_ns(last_ns) : json_null());
}

/* ---- recordings */

static void put_location(struct object *o, const struct catalog_recording *r) {
    char content[SHA256_HEX + 8];
    snprintf(content, sizeof content, "sha256:%s", r->content);
    views_put(o, "id", json_string(r->id));
    views_put(o, "collection", json_string(r->collection));
    views_put(o, "name", json_string(r->name));
    views_put(o, "revision", json_integer(r->revision));
    views_put(o, "group", r->group && r->group[0] ? json_string(r->group) : json_null());
    views_put(o, "state", json_string(recording_state_name(r->state)));
    views_put(o, "problem", r->problem && r->problem[0] ? json_string(r->problem) : json_null());
    views_put(o, "content",
              r->state == STATE_RECORDING || r->state == STATE_ANNOUNCED ? json_null() : json_string(content));
    views_put(o, "created", view_time(r->created_ns, REEL_CLOCK_WALL));
    views_put(o, "updated", view_time(r->updated_ns, REEL_CLOCK_WALL));
}

static json_t *view_parts(const struct catalog_recording *r) {
    json_t *parts = json_array();
    for (uint32_t i = 0; i < r->n_parts && parts; i++) {
        struct object o = views_object();
        views_put(&o, "name", json_string(r->parts[i].file_name));
        views_put(&o, "size", view_u64(r->parts[i].size));
        if (r->parts[i].sha256[0]) {
            views_put(&o, "sha256", json_string(r->parts[i].sha256));
        }
        parts = views_append(parts, views_end(&o));
    }
    return parts;
}

json_t *view_text(const char *text) {
    struct grow out = {0};
    utf8_put(&out, bytes_text(text ? text : ""));
    json_t *value = out.failed ? NULL : out.size > 0 ? json_stringn((const char *)out.data, out.size) : json_null();
    free(out.data);
    return value;
}

static json_t *text_or_null(const char *text) {
    return text && text[0] ? json_string(text) : json_null();
}

/* Whether a scan has verified the contents shown. Until then they are the summary of the file's own index, or empty. */
static bool is_indexed(const struct catalog_recording *r, const struct reel_index *index) {
    bool summary = r->id[0] ? r->state == STATE_SCANNING : index && reel_index_info(index)->is_summary;
    return r->format && r->format[0] && !summary &&
           (index || r->state == STATE_READY || r->state == STATE_RECORDING || r->state == STATE_ANNOUNCED);
}

static json_t *view_announced(const struct catalog_recording *r) {
    struct announced a;
    announced_read(r->announced, &a);
    struct object o = views_object();
    views_put(&o, "robot", json_string(a.robot));
    views_put(&o, "sha256", json_string(a.sha256));
    return views_end(&o);
}

json_t *view_fetch(const struct catalog_fetch *fetch, enum reel_clock clock) {
    const char *state = fetch->problem[0] ? "failed" : fetch->result[0] ? "done" : "waiting";
    struct object o = views_object();
    views_put(&o, "id", json_integer(fetch->row));
    views_put(&o, "recording", json_string(fetch->recording));
    views_put(&o, "state", json_string(state));
    views_put_span(&o, "start", "end", fetch->has_range, fetch->start_ns, fetch->end_ns, clock);
    views_put(&o, "author", json_string(fetch->author));
    views_put(&o, "asked", view_time(fetch->asked_ns, REEL_CLOCK_WALL));
    views_put(&o, "answered", fetch->answered_ns ? view_time(fetch->answered_ns, REEL_CLOCK_WALL) : json_null());
    views_put(&o, "problem", text_or_null(fetch->problem));
    views_put(&o, "result", text_or_null(fetch->result));
    return views_end(&o);
}

json_t *view_recording(const struct catalog_recording *r, const struct reel_index *index) {
    struct object o = views_object();
    bool any = r->messages > 0;
    bool verified = is_indexed(r, index);
    if (r->id[0]) {
        put_location(&o, r);
    } else {
        views_put(&o, "name", json_string(r->name));
    }
    views_put(&o, "format", text_or_null(r->format));
    views_put(&o, "container", text_or_null(r->container));
    views_put(&o, "size", view_u64(r->size));
    views_put(&o, "parts", view_parts(r));
    views_put(&o, "clock", json_string(clock_name(r->clock)));
    views_put(&o, "clock_note", text_or_null(r->clock_note));
    views_put_span(&o, "start", "end", any, r->start_ns, r->end_ns, r->clock);
    views_put(&o, "duration_ns", any ? view_u64((uint64_t)r->end_ns - (uint64_t)r->start_ns) : json_null());
    views_put(&o, "indexed", json_boolean(verified));
    views_put(&o, "messages", view_u64(r->messages));
    views_put(&o, "payload_bytes", views_known_bytes(r->payload_bytes, r->messages, !verified));
    views_put(&o, "channels", json_integer(r->n_channels));
    views_put(&o, "damaged", verified ? json_boolean(r->damaged) : json_null());
    views_put(&o, "lost_bytes", verified ? view_u64(r->lost_bytes) : json_null());
    views_put(&o, "findings", verified ? view_u64(r->findings) : json_null());
    if (r->state == STATE_ANNOUNCED) {
        views_put(&o, "announced", view_announced(r));
    }
    if (r->id[0]) {
        o.failed = !view_add_annotations(o.json, r) || o.failed;
    }
    return views_end(&o);
}

/* ---- scan report, conversion report */

static json_t *view_findings(const struct reel_index *index, const struct reel_span *times) {
    enum reel_clock clock = reel_index_info(index)->clock;
    size_t n;
    const struct reel_finding *items = reel_index_findings(index, &n);
    json_t *findings = json_array();
    for (size_t i = 0; i < n && findings; i++) {
        struct object o = views_object();
        views_put(&o, "severity", json_string(view_severity(items[i].severity)));
        views_put(&o, "part", json_integer(items[i].part));
        views_put(&o, "offset", view_u64(items[i].offset));
        views_put(&o, "length", view_u64(items[i].length));
        views_put(&o, "text", json_string(items[i].text));
        if (times) {
            views_put(&o, "start", times[i].count ? view_time(times[i].first_ns, clock) : json_null());
            views_put(&o, "end", times[i].count ? view_time(times[i].last_ns, clock) : json_null());
        }
        findings = views_append(findings, views_end(&o));
    }
    return findings;
}

json_t *view_scan(const struct reel_index *index, const struct reel_span *times) {
    const struct reel_index_info *info = reel_index_info(index);
    struct object o = views_object();
    views_put(&o, "format", json_string(info->format->name));
    views_put(&o, "container", text_or_null(info->container));
    views_put(&o, "messages", view_u64(info->messages));
    views_put(&o, "damaged", json_boolean(info->damaged));
    views_put(&o, "lost_bytes", view_u64(info->lost_bytes));
    views_put(&o, "findings_total", view_u64(info->n_findings_total));
    views_put(&o, "findings", view_findings(index, times));
    return views_end(&o);
}

json_t *view_loss(const struct reel_loss *loss) {
    static const char *const kinds[] = {[REEL_CHANGES] = "changes", [REEL_LOSES] = "loses", [REEL_REFUSES] = "refuses"};
    size_t n;
    const struct reel_loss_item *items = reel_loss_items(loss, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n && i < VIEW_ITEMS_MAX && list; i++) {
        struct object o = views_object();
        views_put(&o, "kind", json_string(kinds[items[i].kind]));
        views_put(&o, "channel", items[i].channel ? json_string(items[i].channel) : json_null());
        views_put(&o, "text", json_string(items[i].text));
        list = views_append(list, views_end(&o));
    }
    return list;
}
