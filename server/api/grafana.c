/* /grafana: time series for Grafana's panels, read and downsampled by the code of /series. */
#include "api/grafana.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/routes.h"
#include "api/series.h"
#include "reel/table.h"

enum { VALUES_MAX = 64, SERIES_MAX = 64, TEXT_MAX = 2048, POINTS_DEFAULT = 1000, POINTS_MAX = 20000 };
static const int64_t WAIT_NS = 20000000000, MS = 1000000;

/* --- targets --- */

struct panel { /* shared by all targets of a request */
    bool has_range;
    int64_t from_ns, to_ns, wait_until_ns;
    uint64_t max_points;
    enum reel_aggregate how;
    FILE *out;
    size_t answered;
};

/* Grafana escapes variables as for a regular expression: "\/odom\.x" means /odom.x. */
static bool plain_text(const char *text, char out[TEXT_MAX]) {
    size_t n = 0;
    for (; *text && n + 1 < TEXT_MAX; text++) {
        if (*text != '\\') {
            out[n++] = *text;
        }
    }
    out[n] = '\0';
    return *text == '\0';
}

/* "(a|b)" is how Grafana writes a variable of several values. Splits the text in place; returns how many there are. */
static size_t split_values(char *text, const char *out[VALUES_MAX]) {
    size_t n = 0, size = strlen(text);
    if (size < 2 || text[0] != '(' || text[size - 1] != ')') {
        out[0] = text;
        return 1;
    }
    text[size - 1] = '\0';
    char *rest = text + 1;
    for (char *one = strsep(&rest, "|"); one && n < VALUES_MAX; one = strsep(&rest, "|")) {
        out[n++] = one;
    }
    return n;
}

/* Splits "ID:/topic.field" at its first colon, but not at that of "name:" or "sha256:". */
static char *split_target(char *text) {
    static const char *const forms[] = {"name:", "sha256:"};
    size_t skip = 0;
    for (unsigned i = 0; i < 2; i++) {
        skip = strncmp(text, forms[i], strlen(forms[i])) == 0 ? strlen(forms[i]) : skip;
    }
    const char *several = text[0] == '(' ? strchr(text, ')') : NULL;
    skip = several ? (size_t)(several - text) : skip;
    char *colon = strchr(text + skip, ':');
    if (!colon) {
        return NULL;
    }
    *colon = '\0';
    return colon + 1;
}

static void put_string(FILE *f, const char *text) {
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "\"\"", f);
    free(quoted);
    json_decref(value);
}

/* Writes one series; `shift_ns` moves a recording with a relative clock to the start of the panel. */
static void put_series(struct panel *p, const struct series *s, const char *ref_id, int64_t shift_ns) {
    char label[TEXT_MAX], value[REEL_NUMBER_TEXT];
    snprintf(label, sizeof label, "%.1000s %.1000s", s->name, s->field);
    fputs(p->answered++ > 0 ? ",\n{\"target\":" : "{\"target\":", p->out);
    put_string(p->out, label);
    if (ref_id) {
        fputs(",\"refId\":", p->out);
        put_string(p->out, ref_id);
    }
    fputs(",\"datapoints\":[", p->out);
    for (size_t i = 0; i < s->count; i++) {
        int64_t ns = (int64_t)((uint64_t)s->points[i].time_ns + (uint64_t)shift_ns);
        series_number(s, s->points[i].value, value);
        fprintf(p->out, "%s[%s,%lld]", i > 0 ? "," : "", isfinite(s->points[i].value) ? value : "null",
                (long long)(ns / MS - (ns % MS < 0)));
    }
    fputs("]}", p->out);
}

static int64_t span_of(const struct panel *p) {
    uint64_t span = (uint64_t)p->to_ns - (uint64_t)p->from_ns;
    return span > INT64_MAX ? REEL_TIME_MAX : (int64_t)span;
}

/* False: replied. */
static bool draw_field(struct http_request *r, struct panel *p, const struct api_recording *a, const char *field, enum reel_aggregate how,
                       const char *ref_id) {
    bool relative = a->row.clock == REEL_CLOCK_RELATIVE && p->has_range;
    struct series_request q = {.start_ns = p->has_range && !relative ? p->from_ns : REEL_TIME_MIN,
                               .end_ns = !p->has_range ? REEL_TIME_MAX
                                         : relative    ? span_of(p)
                                                       : p->to_ns,
                               .max_points = p->max_points,
                               .how = how,
                               .wait_until_ns = p->wait_until_ns};
    struct series *s = calloc(1, sizeof *s);
    struct series_error trouble = {0};
    bool good = s ? series_read(r, a, &q, field, s, &trouble) : reel_fail_memory(&trouble.error);
    if (good) {
        put_series(p, s, ref_id, relative ? p->from_ns : 0);
    } else {
        series_refuse(r, &trouble);
    }
    series_free(s, 1);
    return good;
}

/* The fields that the builder's payload names: a text, or several. False: replied. */
static bool draw_fields(struct http_request *r, struct panel *p, const struct api_recording *a, const json_t *fields,
                        enum reel_aggregate how, const char *ref_id) {
    char text[TEXT_MAX];
    size_t n = json_is_array(fields) ? json_array_size(fields) : 1;
    for (size_t i = 0; i < n; i++) {
        const char *field = json_string_value(json_is_array(fields) ? json_array_get(fields, i) : fields);
        if (!field || !plain_text(field, text)) {
            http_reply_problem(r, 400, "bad-target", "a field is a text such as /topic.field, of less than %d bytes", TEXT_MAX);
            return false;
        }
        const char *values[VALUES_MAX];
        size_t count = split_values(text, values);
        for (size_t k = 0; k < count; k++) {
            if (p->answered == SERIES_MAX) {
                http_reply_problem(r, 413, "too-many", "at most %d series at a time", SERIES_MAX);
                return false;
            }
            if (!draw_field(r, p, a, values[k], how, ref_id)) {
                return false;
            }
        }
    }
    return true;
}

/* The editor sends a recording before a field is selected. */
static bool is_unfinished(const json_t *payload) {
    const json_t *field = json_object_get(payload, "field");
    const char *text = json_string_value(field);
    return json_is_object(payload) &&
           (!field || json_is_null(field) || (text && !*text) || (json_is_array(field) && json_array_size(field) == 0));
}

/* False: replied. */
static bool draw_target(struct http_request *r, struct panel *p, const json_t *target) {
    const char *given = json_string_value(json_object_get(target, "target")), *ref_id = json_string_value(json_object_get(target, "refId"));
    const json_t *payload = json_object_get(target, "payload");
    enum reel_aggregate how = p->how;
    char text[TEXT_MAX];
    if (!given || !*given || json_is_true(json_object_get(target, "hide"))) {
        return true; /* an editor row that is still empty */
    }
    const char *agg = json_string_value(json_object_get(payload, "agg"));
    char *field = plain_text(given, text) ? split_target(text) : NULL;
    if (!field && is_unfinished(payload)) {
        return true;
    }
    json_auto_t *one = field ? json_string(field) : NULL;
    const json_t *fields = one ? one : json_object_get(payload, "field");
    if (!fields || (agg && *agg && !series_how(agg, &how))) {
        http_reply_problem(r, 400, "bad-target",
                           "\"%.200s\": a target is RECORDING:/topic.field, or a recording with the fields in its payload; agg is minmax, "
                           "mean, lttb or last",
                           given);
        return false;
    }
    const char *keys[VALUES_MAX];
    size_t count = split_values(text, keys);
    for (size_t i = 0; i < count; i++) {
        struct api_recording a;
        if (!api_open_key(r, keys[i], &a)) {
            return false;
        }
        bool good = draw_fields(r, p, &a, fields, how, ref_id);
        api_recording_done(&a);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* --- /query --- */

static bool read_end(struct http_request *r, const json_t *range, const char *name, int64_t *ns, bool *there) {
    const char *text = json_string_value(json_object_get(range, name));
    struct reel_time t;
    struct reel_error err = {0};
    *there = text != NULL;
    if (text && !reel_time_parse(text, MS, &t, &err)) {
        http_reply_problem(r, 400, "bad-range", "range.%s: %s", name, err.text);
        return false;
    }
    if (text) {
        *ns = reel_time_resolve(&t, 0, 0, reel_now_ns());
    }
    return true;
}

bool grafana_range(struct http_request *r, const json_t *body, int64_t *from_ns, int64_t *to_ns, bool *there) {
    const json_t *range = json_object_get(body, "range");
    bool from, to;
    if (!read_end(r, range, "from", from_ns, &from) || !read_end(r, range, "to", to_ns, &to)) {
        return false;
    }
    *there = from && to && *from_ns < *to_ns;
    return true;
}

/* `filters` of a panel: agg=mean. False: replied. */
static bool read_filters(struct http_request *r, const json_t *filters, struct panel *p) {
    const json_t *filter;
    size_t i;
    json_array_foreach(filters, i, filter) {
        const char *key = json_string_value(json_object_get(filter, "key")), *value = json_string_value(json_object_get(filter, "value"));
        if (key && value && strcmp(key, "agg") == 0 && !series_how(value, &p->how)) {
            http_reply_problem(r, 400, "bad-filter", "agg is minmax, mean, lttb or last");
            return false;
        }
    }
    return true;
}

static bool read_panel(struct http_request *r, const json_t *body, struct panel *p) {
    const json_t *points = json_object_get(body, "maxDataPoints");
    *p = (struct panel){.wait_until_ns = reel_now_ns() + api_wait_ns(r, WAIT_NS)};
    if (!grafana_range(r, body, &p->from_ns, &p->to_ns, &p->has_range)) {
        return false;
    }
    double selected = json_is_number(points) ? json_number_value(points) : POINTS_DEFAULT;
    p->max_points = selected < 2 ? 2 : selected > POINTS_MAX ? POINTS_MAX : (uint64_t)selected;
    return read_filters(r, json_object_get(body, "adhocFilters"), p) && read_filters(r, json_object_get(body, "filters"), p); /* old, new */
}

void api_grafana_query(struct http_request *r) {
    json_t *body = body_json(r), *target;
    struct panel p;
    size_t i, size = 0;
    char *text = NULL;
    if (!body || !read_panel(r, body, &p)) {
        return;
    }
    if (!(p.out = open_memstream(&text, &size))) {
        http_reply_no_memory(r);
        return;
    }
    bool good = true;
    fputc('[', p.out);
    json_array_foreach(json_object_get(body, "targets"), i, target) {
        good = good && draw_target(r, &p, target);
    }
    fputs("]\n", p.out);
    bool whole = fclose(p.out) == 0;
    if (good && whole) {
        http_reply_text(r, 200, "application/json", text);
    } else if (good) {
        http_reply_no_memory(r);
    }
    free(text);
}

void api_grafana(struct http_request *r) {
    http_reply_json(
        r, 200,
        json_pack("{s:s, s:s}", "name", "reel", "help", "this is the address for Grafana's JSON data source (simpod-json-datasource)"));
}
