/* /grafana: time series for Grafana's panels, read and downsampled by the code of /series. */
#include "api/grafana/grafana.h"
#include "api/job_reply.h"
#include "api/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/contents/series.h"
#include "base/text_stream.h"
#include "json_whole.h"
#include "syntax/json_out.h"
#include "tables/table.h"

enum { SERIES_MAX = 64, TARGETS_MAX = 1000, POINTS_DEFAULT = 1000, POINTS_MAX = 20000 };
static const int64_t WAIT_NS = 20000000000, MS = 1000000;

/* --- targets --- */

struct panel { /* shared by all targets of a request */
    bool has_range;
    int64_t from_ns, to_ns, wait_until_ns;
    uint64_t max_points;
    enum reel_aggregate how;
    FILE *out;
    size_t answered, drawn; /* objects of the answer; series, also those in tables */
    bool too_many;
};

struct drawing { /* of one target */
    const char *ref_id;
    enum reel_aggregate how;
    bool table; /* one table instead of a series for each field */
    size_t rows;
};

bool grafana_plain_text(const char *text, char out[GRAFANA_TEXT_MAX]) {
    size_t n = 0;
    for (; *text && n + 1 < GRAFANA_TEXT_MAX; text++) {
        if (*text != '\\') {
            out[n++] = *text;
        }
    }
    out[n] = '\0';
    return *text == '\0';
}

size_t grafana_split_values(char *text, const char *out[GRAFANA_VALUES_MAX]) {
    size_t n = 0, size = strlen(text);
    if (size < 2 || text[0] != '(' || text[size - 1] != ')') {
        out[0] = text;
        return 1;
    }
    text[size - 1] = '\0';
    char *rest = text + 1;
    for (char *one = strsep(&rest, "|"); one && n < GRAFANA_VALUES_MAX; one = strsep(&rest, "|")) {
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

long long grafana_ms(int64_t ns, int64_t shift_ns) {
    int64_t at = (int64_t)((uint64_t)ns + (uint64_t)shift_ns);
    return at / MS - (at % MS < 0);
}

void grafana_put_string(FILE *f, const char *text) {
    json_t *value = json_string(text);
    char *quoted = value ? json_whole_text(value, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "\"\"", f);
    free(quoted);
    json_decref(value);
}

/* Begins an object of the answer: its name and the row of the editor that it answers. */
static void begin_object(struct panel *p, const char *name, const char *text, const char *ref_id) {
    fprintf(p->out, "%s{\"%s\":", p->answered++ > 0 ? ",\n" : "", name);
    grafana_put_string(p->out, text);
    if (ref_id) {
        fputs(",\"refId\":", p->out);
        grafana_put_string(p->out, ref_id);
    }
}

/* Writes one series; `shift_ns` moves a recording with a relative clock to the start of the panel. */
static void put_series(struct panel *p, const struct series *s, const struct drawing *d, int64_t shift_ns) {
    char label[GRAFANA_TEXT_MAX], value[REEL_NUMBER_TEXT];
    snprintf(label, sizeof label, "%.1000s %.1000s", s->name, s->field);
    begin_object(p, "target", label, d->ref_id);
    fputs(",\"datapoints\":[", p->out);
    for (size_t i = 0; i < s->count; i++) {
        series_number(s, s->points[i].value, value);
        fprintf(p->out, "%s[%s,%lld]", i > 0 ? "," : "", isfinite(s->points[i].value) ? value : "null",
                grafana_ms(s->points[i].time_ns, shift_ns));
    }
    fputs("]}", p->out);
}

/* The same as rows of the target's table. */
static void put_series_rows(struct panel *p, const struct series *s, struct drawing *d, int64_t shift_ns) {
    char value[REEL_NUMBER_TEXT];
    for (size_t i = 0; i < s->count; i++) {
        series_number(s, s->points[i].value, value);
        fprintf(p->out, "%s[%lld,", d->rows++ > 0 ? "," : "", grafana_ms(s->points[i].time_ns, shift_ns));
        grafana_put_string(p->out, s->name);
        fputc(',', p->out);
        grafana_put_string(p->out, s->field);
        fprintf(p->out, ",%s]", isfinite(s->points[i].value) ? value : "null");
    }
}

static void begin_table(struct panel *p, const struct drawing *d) {
    begin_object(p, "type", "table", d->ref_id);
    fputs(",\"columns\":[{\"text\":\"Time\",\"type\":\"time\"},{\"text\":\"Recording\",\"type\":\"string\"},"
          "{\"text\":\"Field\",\"type\":\"string\"},{\"text\":\"Value\",\"type\":\"number\"}],\"rows\":[",
          p->out);
}

/* What is wrong with a target, as a frame without points: the panel shows the notice at its corner and draws the other
 * targets. */
static void put_notice(struct panel *p, const char *given, const char *ref_id, const char *why) {
    begin_object(p, "target", given, ref_id);
    fputs(",\"datapoints\":[],\"meta\":{\"notices\":[{\"severity\":\"error\",\"text\":", p->out);
    grafana_put_string(p->out, why);
    fputs("}]}}", p->out);
}

static int64_t grafana_span_of(const struct panel *p) {
    uint64_t span = (uint64_t)p->to_ns - (uint64_t)p->from_ns;
    return span > INT64_MAX ? REEL_TIME_MAX : (int64_t)span;
}

/* False: replied. */
static bool draw_field(struct http_request *r, struct panel *p, const struct api_recording *a, const char *field,
                       struct drawing *d) {
    bool relative = a->row.clock == REEL_CLOCK_RELATIVE && p->has_range;
    struct series_request q = {.start_ns = p->has_range && !relative ? p->from_ns : REEL_TIME_MIN,
                               .end_ns = !p->has_range ? REEL_TIME_MAX
                                         : relative    ? grafana_span_of(p)
                                                       : p->to_ns,
                               .max_points = p->max_points,
                               .how = d->how,
                               .wait_until_ns = p->wait_until_ns};
    struct series *s = calloc(1, sizeof *s);
    struct series_error trouble = {0};
    bool good = s ? series_read(r, a, &q, field, s, &trouble) : reel_fail_memory(&trouble.error);
    if (!good) {
        series_refuse(r, &trouble);
    } else if (d->table) {
        put_series_rows(p, s, d, relative ? p->from_ns : 0);
    } else {
        put_series(p, s, d, relative ? p->from_ns : 0);
    }
    series_free(s, 1);
    return good;
}

/* The fields that the builder's payload names: a text, or several. False: replied, or too many. */
static bool draw_fields(struct http_request *r, struct panel *p, const struct api_recording *a, const json_t *fields,
                        struct drawing *d) {
    char text[GRAFANA_TEXT_MAX];
    size_t n = json_is_array(fields) ? json_array_size(fields) : 1;
    for (size_t i = 0; i < n; i++) {
        const char *field = json_string_value(json_is_array(fields) ? json_array_get(fields, i) : fields);
        if (!field || !grafana_plain_text(field, text)) {
            http_reply_problem(r, 400, "bad-target", "a field is a text such as /topic.field, of less than %d bytes",
                               GRAFANA_TEXT_MAX);
            return false;
        }
        const char *values[GRAFANA_VALUES_MAX];
        size_t count = grafana_split_values(text, values);
        for (size_t k = 0; k < count; k++) {
            p->too_many = ++p->drawn > SERIES_MAX;
            if (p->too_many || !draw_field(r, p, a, values[k], d)) {
                return false;
            }
        }
    }
    return true;
}

/* The editor sends a recording before a field is selected: without a payload, with an empty one, or with an empty
 * field. */
static bool is_unfinished(const json_t *payload) {
    const json_t *field = json_is_object(payload) ? json_object_get(payload, "field") : payload;
    const char *text = json_string_value(field);
    return !field || json_is_null(field) || (text && !*text) || (json_is_array(field) && json_array_size(field) == 0);
}

/* Draws nothing, but reports a name that is no recording's. */
static void find_recordings(struct http_request *r, char *text) {
    const char *keys[GRAFANA_VALUES_MAX];
    size_t count = grafana_split_values(text, keys);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct api_recording a;
        good = api_find_key(r, keys[i], &a);
        if (good) {
            api_recording_done(&a);
        }
    }
}

/* False: replied, or too many. */
static bool draw_recordings(struct http_request *r, struct panel *p, char *text, const json_t *fields,
                            struct drawing *d) {
    const char *keys[GRAFANA_VALUES_MAX];
    size_t count = grafana_split_values(text, keys);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct api_recording a;
        const uint64_t held = http_held(r);
        good = api_open_messages_key(r, keys[i], &a);
        if (good) {
            good = draw_fields(r, p, &a, fields, d);
            api_recording_done(&a);
            http_give_back(r, http_held(r) - held);
        }
    }
    return good;
}

static bool grafana_is_word(const json_t *value, const char *word) {
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

static void draw_target(struct http_request *r, struct panel *p, const json_t *target, const char *given,
                        const char *ref_id) {
    const json_t *payload = json_object_get(target, "payload");
    struct drawing d = {.ref_id = ref_id,
                        .how = p->how,
                        .table = grafana_is_word(json_object_get(payload, "type"), "table") ||
                                 grafana_is_word(json_object_get(target, "type"), "table")};
    char text[GRAFANA_TEXT_MAX];
    const char *agg = json_string_value(json_object_get(payload, "agg"));
    bool plain = grafana_plain_text(given, text);
    char *field = plain ? split_target(text) : NULL;
    if (plain && !field && is_unfinished(payload)) {
        find_recordings(r, text);
        return;
    }
    json_auto_t *one = field ? json_string(field) : NULL;
    const json_t *fields = one ? one : json_object_get(payload, "field");
    if (!plain || !fields || (agg && *agg && !series_how(agg, &d.how))) {
        http_reply_problem(r, 400, "bad-target",
                           "\"%.200s\": a target is RECORDING:/topic.field, a recording with the fields in its "
                           "payload, or events; agg is "
                           "minmax, mean, lttb or last",
                           given);
        return;
    }
    if (d.table) {
        begin_table(p, &d);
    }
    draw_recordings(r, p, text, fields, &d);
    if (d.table) {
        fputs("]}", p->out);
    }
}

/* A target that fails is answered by a notice, so that the others are drawn. */
static void answer_target(struct http_request *r, struct panel *p, const json_t *target) {
    const char *given = json_string_value(json_object_get(target, "target")),
               *ref_id = json_string_value(json_object_get(target, "refId"));
    if (!given || !*given || json_is_true(json_object_get(target, "hide"))) {
        return; /* an editor row that is still empty */
    }
    struct http_problem problem;
    http_catch_problems(r, &problem);
    if (grafana_is_events(given)) {
        begin_object(p, "type", "table", ref_id);
        grafana_put_events(r, p->out, json_object_get(target, "payload"), p->has_range, p->from_ns, p->to_ns);
        fputs("}", p->out);
    } else {
        draw_target(r, p, target, given, ref_id);
    }
    http_catch_problems(r, NULL);
    if (problem.status != 0) {
        put_notice(p, given, ref_id, problem.detail);
    }
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
        const char *key = json_string_value(json_object_get(filter, "key")),
                   *value = json_string_value(json_object_get(filter, "value"));
        if (!key || !*key || !value || !*value) {
            continue; /* a row that is still being filled in */
        }
        if (strcmp(key, "agg") != 0 || !series_how(value, &p->how)) {
            http_reply_problem(r, 400, "bad-filter",
                               "\"%.100s\": the filter is agg, and its value minmax, mean, lttb or last", key);
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
    return read_filters(r, json_object_get(body, "adhocFilters"), p) &&
           read_filters(r, json_object_get(body, "filters"), p); /* old, new */
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
    fputc('[', p.out);
    json_array_foreach(json_object_get(body, "targets"), i, target) {
        p.too_many = p.too_many || i >= TARGETS_MAX;
        if (!p.too_many) {
            answer_target(r, &p, target);
        }
    }
    fputs("]\n", p.out);
    bool whole = text_stream_close(p.out, &text);
    if (p.too_many) {
        http_reply_problem(r, 413, "too-many", "at most %d series and %d targets at a time", SERIES_MAX, TARGETS_MAX);
    } else if (whole) {
        http_reply_text(r, 200, "application/json", text);
    } else {
        http_reply_no_memory(r);
    }
    free(text);
}

void api_grafana(struct http_request *r) {
    http_reply_json(r, 200,
                    json_pack("{s:s, s:s}", "name", "reel", "help",
                              "this is the address for Grafana's JSON data source (simpod-json-datasource)"));
}
