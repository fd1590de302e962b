/* The choices in Grafana's editors: recordings, their topics and numeric fields. The lists are limited: the newest
 * recordings, the first thousands of topics and fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/grafana/grafana.h"
#include "api/recording.h"
#include "base/glob.h"
#include "base/order.h"
#include "reel/values.h"

enum {
    RECORDINGS_MAX = 200,
    SEARCHED_MAX = 5,
    FIELDS_MAX = 2000,
    TOPICS_MAX = 1000 /* whose fields are listed */,
    TEXT_MAX = 2048
};

/* --- lists --- */

/* {"label": …, "value": …}; the names of the two members differ from call to call. */
struct list {
    json_t *items;
    const char *label_key, *value_key;
    const char *label_prefix, *value_prefix;
    const char *part; /* only those that contain this text; NULL: all */
    bool failed;
};

static struct list list_new(const char *label_key, const char *value_key) {
    json_t *items = json_array();
    return (struct list){.items = items,
                         .label_key = label_key,
                         .value_key = value_key,
                         .label_prefix = "",
                         .value_prefix = "",
                         .failed = !items};
}

static bool lists_add(struct list *l, const char *label, const char *value) {
    char label_text[TEXT_MAX], value_text[TEXT_MAX];
    if (l->part && !strstr(value, l->part)) {
        return true;
    }
    snprintf(label_text, sizeof label_text, "%s%s", l->label_prefix, label);
    int n = snprintf(value_text, sizeof value_text, "%s%s", l->value_prefix, value);
    if (n < 0 || (size_t)n >= sizeof value_text) {
        return true; /* too long to be chosen */
    }
    json_t *item = json_pack("{s:s}", l->value_key, value_text);
    json_t *shown = json_string(label_text);
    if (shown) { /* NULL when the label was cut contents a character */
        json_object_set_new(item, l->label_key, shown);
    } else {
        json_object_set_new(item, l->label_key, json_string(value_text));
    }
    l->failed |= json_array_append_new(l->items, item) != 0;
    return !l->failed && json_array_size(l->items) < FIELDS_MAX;
}

static void reply_list(struct http_request *r, struct list *l) {
    if (l->failed) {
        json_decref(l->items);
        http_reply_no_memory(r);
        return;
    }
    http_reply_json(r, 200, l->items);
}

/* --- contents of a recording --- */

/* The recording's topics, each once, by name. NULL: no memory. */
static const char **topics_of(const struct reel_index *index, size_t *count) {
    uint32_t n_channels = reel_index_info(index)->n_channels;
    size_t n = 0, kept = 0;
    for (uint32_t i = 0; i < n_channels; i++) {
        n += reel_index_channel(index, i)->n_topics;
    }
    const char **names = malloc((n ? n : 1) * sizeof *names);
    for (uint32_t i = 0, at = 0; names && i < n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        for (uint32_t t = 0; t < c->n_topics; t++) {
            names[at++] = c->topics[t];
        }
    }
    if (names && n > 0) {
        qsort(names, n, sizeof *names, order_texts);
    }
    for (size_t i = 0; names && i < n; i++) {
        if (i == 0 || strcmp(names[i], names[kept - 1]) != 0) {
            names[kept++] = names[i];
        }
    }
    *count = kept;
    return names;
}

struct of_topic {
    struct list *list;
    const char *topic;
};

static bool lists_add_field(void *context, const struct reel_field *f) {
    struct of_topic *t = context;
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text, "%s%s%s", t->topic, f->path[0] ? "." : "", f->path);
    return !f->numeric || n < 0 || (size_t)n >= sizeof text || lists_add(t->list, text, text);
}

/* Numeric fields of one topic, or of all. Topics that are not decoded have none. */
static void add_fields(struct list *l, struct reel_recording *recording, const char *only) {
    size_t n;
    const char **topics = topics_of(reel_recording_index(recording), &n);
    l->failed |= !topics;
    for (size_t i = 0; topics && i < n && i < TOPICS_MAX && json_array_size(l->items) < FIELDS_MAX; i++) {
        struct reel_error err = {0};
        struct of_topic t = {.list = l, .topic = topics[i]};
        if (!only || reel_topic_match(only, topics[i])) {
            reel_topic_fields(recording, topics[i], lists_add_field, &t, &err);
        }
    }
    free(topics);
}

static void add_topics(struct list *l, struct reel_recording *recording) {
    size_t n;
    const char **topics = topics_of(reel_recording_index(recording), &n);
    l->failed |= !topics;
    for (size_t i = 0; topics && i < n && lists_add(l, topics[i], topics[i]); i++) {
    }
    free(topics);
}

/* --- recordings --- */

/* The newest that match. False: replied. */
static bool list_recordings(struct http_request *r, const char *words, uint32_t limit, struct catalog_page *page) {
    const struct catalog_query q = {.words = words && *words ? words : NULL,
                                    .allowed = http_caller(r)->collections,
                                    .has_state = true,
                                    .state = STATE_READY,
                                    .limit = limit};
    struct reel_error err = {0};
    if (!catalog_list(http_app(r)->catalog, &q, page, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    return true;
}

/* The options of the query builder once a recording is chosen. */
static json_t *payloads_of_metric(void) {
    static const char text[] =
        "[{\"label\":\"Fields\",\"name\":\"field\",\"type\":\"multi-select\",\"placeholder\":\"/"
        "topic.field\",\"width\":40},"
        "{\"label\":\"Drawn by\",\"name\":\"agg\",\"type\":\"select\",\"options\":["
        "{\"label\":\"smallest and largest\",\"value\":\"minmax\"},{\"label\":\"mean\",\"value\":\"mean\"},"
        "{\"label\":\"shape (lttb)\",\"value\":\"lttb\"},{\"label\":\"last\",\"value\":\"last\"}]},"
        "{\"label\":\"Result\",\"name\":\"type\",\"type\":\"select\",\"options\":["
        "{\"label\":\"time series\",\"value\":\"timeseries\"},{\"label\":\"table\",\"value\":\"table\"}]}]";
    return json_loads(text, 0, NULL);
}
static json_t *payloads_of_events(void) {
    static const char text[] = "[{\"label\":\"Recording\",\"name\":\"recording\",\"type\":\"select\",\"placeholder\":"
                               "\"all recordings\",\"width\":40}]";
    return json_loads(text, 0, NULL);
}

static void add_metric(struct list *l, const char *label, const char *value, json_t *payloads) {
    size_t before = json_array_size(l->items);
    lists_add(l, label, value);
    if (json_array_size(l->items) > before) {
        l->failed |= json_object_set_new(json_array_get(l->items, before), "payloads", payloads) != 0;
    } else {
        json_decref(payloads);
    }
}

/* The editor shows nothing for a metric that is not listed: one that a dashboard has saved is, also when its recording
 * is an older one, is gone or is a variable. */
static void add_asked(struct http_request *r, struct list *l, const char *metric) {
    bool listed = !metric || !*metric;
    size_t i;
    json_t *item;
    json_array_foreach(l->items, i, item) {
        const char *value = json_string_value(json_object_get(item, "value"));
        listed = listed || (value && strcmp(value, metric) == 0);
    }
    if (listed) {
        return;
    }
    struct api_recording a = {0};
    struct http_problem problem;
    http_catch_problems(r, &problem);
    bool found = api_find_key(r, metric, &a);
    http_catch_problems(r, NULL);
    add_metric(l, found ? a.row.name : metric, metric, payloads_of_metric());
    api_recording_done(&a);
}

void api_grafana_metrics(struct http_request *r) {
    struct catalog_page page = {0};
    struct list l = list_new("label", "value");
    const json_t *body = body_json(r);
    if (!body || !list_recordings(r, NULL, RECORDINGS_MAX, &page)) {
        json_decref(l.items);
        return;
    }
    for (uint32_t i = 0; i < page.n_items; i++) {
        add_metric(&l, page.items[i].name, page.items[i].id, payloads_of_metric());
    }
    add_metric(&l, "Events", GRAFANA_EVENTS, payloads_of_events());
    add_asked(r, &l, json_string_value(json_object_get(body, "metric")));
    reply_list(r, &l);
    catalog_page_done(&page);
}

/* The newest recordings; replies. */
static void reply_recordings(struct http_request *r, const char *words, struct list *l) {
    struct catalog_page page = {0};
    if (!list_recordings(r, words, RECORDINGS_MAX, &page)) {
        json_decref(l->items);
        return;
    }
    for (uint32_t i = 0; i < page.n_items; i++) {
        lists_add(l, page.items[i].name, page.items[i].id);
    }
    reply_list(r, l);
    catalog_page_done(&page);
}

/* Fields or topics of the recording `key`; replies. */
static void reply_contents(struct http_request *r, const char *key, bool fields, const char *topic, struct list *l) {
    struct api_recording a;
    if (!api_open_key(r, key, &a)) {
        json_decref(l->items);
        return;
    }
    if (fields) {
        add_fields(l, a.recording, topic);
    } else {
        add_topics(l, a.recording);
    }
    reply_list(r, l);
    api_recording_done(&a);
}

void api_grafana_payload_options(struct http_request *r) {
    json_t *body = body_json(r);
    const char *metric = json_string_value(json_object_get(body, "metric")),
               *name = json_string_value(json_object_get(body, "name"));
    bool events = metric && strcmp(metric, GRAFANA_EVENTS) == 0;
    struct list l = list_new("label", "value");
    if (!body) {
        json_decref(l.items);
    } else if (metric && *metric && !events && name && strcmp(name, "field") == 0) {
        reply_contents(r, metric, true, NULL, &l);
    } else if (events && name && strcmp(name, "recording") == 0) {
        reply_recordings(r, NULL, &l);
    } else {
        reply_list(r, &l);
    }
}

/* payload: {"target": "recordings", "q": "words"}, {"target": "topics", "recording": …} or {"target": "fields",
 * "recording": …, "topic": …}
 */
void api_grafana_variable(struct http_request *r) {
    json_t *body = body_json(r), *payload = json_object_get(body, "payload");
    const char *what = json_string_value(json_is_object(payload) ? json_object_get(payload, "target") : payload);
    const char *key = json_string_value(json_object_get(payload, "recording"));
    struct list l = list_new("__text", "__value");
    bool contents = what && (strcmp(what, "topics") == 0 || strcmp(what, "fields") == 0);
    if (body && contents && key) {
        reply_contents(r, key, what[0] == 'f', json_string_value(json_object_get(payload, "topic")), &l);
        return;
    }
    bool known = !what || !*what || strcmp(what, "recordings") == 0;
    if (body && (contents || !known)) {
        http_reply_problem(r, 400, "bad-variable",
                           "target must be \"recordings\", or \"topics\" or \"fields\" with a \"recording\"");
    }
    if (body && known) {
        reply_recordings(r, json_string_value(json_object_get(payload, "q")), &l);
    } else {
        json_decref(l.items);
    }
}

/* SimpleJSON's list of targets: fields of the newest recordings, or of the recording that the text begins with. */
void api_grafana_search(struct http_request *r) {
    json_t *body = body_json(r);
    const char *text = json_string_value(json_object_get(body, "target")), *colon = text ? strchr(text, ':') : NULL;
    struct catalog_page page = {0};
    struct list l = list_new("text", "value");
    char key[TEXT_MAX], label[TEXT_MAX];
    if (!body || (!colon && !list_recordings(r, text, SEARCHED_MAX, &page))) {
        json_decref(l.items);
        return;
    }
    for (uint32_t i = 0; i < (colon ? 1 : page.n_items); i++) {
        struct api_recording a;
        const uint64_t held = http_held(r);
        snprintf(key, sizeof key, "%.*s", colon ? (int)(colon - text) : RECORDING_ID_TEXT,
                 colon ? text : page.items[i].id);
        if (!api_open_messages_key(r, key, &a)) {
            json_decref(l.items);
            catalog_page_done(&page);
            return;
        }
        snprintf(label, sizeof label, "%.1000s ", a.row.name);
        snprintf(key, sizeof key, "%s:", a.row.id);
        l.label_prefix = label;
        l.value_prefix = key;
        l.part = colon && colon[1] ? colon + 1 : NULL;
        add_fields(&l, a.recording, NULL);
        api_recording_done(&a);
        http_give_back(r, http_held(r) - held);
    }
    reply_list(r, &l);
    catalog_page_done(&page);
}

/* --- ad hoc filters: how series are drawn --- */

void api_grafana_tag_keys(struct http_request *r) {
    http_reply_json(r, 200, json_pack("[{s:s, s:s}]", "type", "string", "text", "agg"));
}

void api_grafana_tag_values(struct http_request *r) {
    http_reply_json(
        r, 200,
        json_pack("[{s:s}, {s:s}, {s:s}, {s:s}]", "text", "minmax", "text", "mean", "text", "lttb", "text", "last"));
}
