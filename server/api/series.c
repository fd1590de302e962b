/* /series: numbers over time, few enough to be drawn; /topics/fields: what numbers there are. A field that was asked for is kept as a column, so that the next call,
 * of any interval, reads no message. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/common.h"
#include "api/made.h"
#include "api/routes.h"
#include "api/views.h"
#include "reel/series.h"

enum { FIELDS_MAX = 16, POINTS_MAX = 100000, POINTS_USUAL = 1000, AT_ONCE = 20000 /* messages that are read anew rather than kept */ };
static const int64_t COLUMN_WAIT_NS = 20000000000;

struct series {
    const char *name; /* as it was asked for */
    struct reel_point *points;
    size_t count;
};

struct question {
    int64_t start_ns, end_ns;
    uint64_t max_points;
    enum reel_aggregate how;
    enum reel_clock clock;
    int64_t zero_ns; /* of time_format=relative */
    const char *time_format;
};

/* ---- columns */

struct column_request {
    struct reel_recording *recording;
    char *topic, *path;
};

static void free_request(void *context) {
    struct column_request *q = context;
    reel_recording_free(q->recording);
    free(q->topic);
    free(q->path);
    free(q);
}

static struct column_request *make_request(struct reel_recording *recording, const char *topic, const char *path) {
    struct column_request *q = calloc(1, sizeof *q);
    if (!q || !(q->topic = strdup(topic)) || !(q->path = strdup(path))) {
        if (q) {
            free_request(q);
        }
        return NULL;
    }
    q->recording = reel_recording_ref(recording);
    return q;
}

static bool make_column(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory, struct reel_error *err) {
    const struct column_request *q = context;
    struct reel_column *c = reel_column_new(q->recording, q->topic, q->path, REEL_TIME_MIN, REEL_TIME_MAX, progress, err);
    *thing = c;
    *memory = c ? reel_column_memory(c) : 0;
    return c;
}
static void *ref_column(void *c) {
    return reel_column_ref(c);
}
static void unref_column(void *c) {
    reel_column_free(c);
}

/* The column of the whole recording, or, when few messages are in question, of these alone. NULL: replied. */
static struct reel_column *get_column(struct http_request *r, const struct api_recording *a, const struct question *q, const char *topic, const char *path) {
    static const struct made_kind kind = {.job = "plan", .make = make_column, .free_context = free_request, .ref = ref_column, .unref = unref_column};
    struct reel_error err = {0};
    char key[512], subject[200], job[33] = "";
    uint64_t count;
    struct reel_column *c = NULL;
    if (reel_series_count(a->recording, topic, q->start_ns, q->end_ns, &count, &err)) {
        int n = snprintf(key, sizeof key, "column %s %u %s.%s", a->row.content, reel_decodings_version(), topic, path);
        snprintf(subject, sizeof subject, "%.100s.%.90s", topic, path);
        c = count <= AT_ONCE || n < 0 || (size_t)n >= sizeof key
                ? reel_column_new(a->recording, topic, path, q->start_ns, q->end_ns, NULL, &err)
                : made_get(http_app(r)->made, &kind, key, subject, make_request(a->recording, topic, path), api_wait_ns(r, COLUMN_WAIT_NS), job, &err);
    }
    if (!c && job[0]) {
        api_reply_busy(r, job, "the values of this field are being read");
    } else if (!c) {
        http_reply_error(r, &err);
    }
    return c;
}

static bool draw(struct http_request *r, const struct api_recording *a, const struct question *q, const char *field, struct series *out) {
    const char *topic, *path;
    struct reel_error err = {0};
    if (!reel_series_split(a->recording, field, &topic, &path, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    AUTO(reel_column_free) struct reel_column *c = get_column(r, a, q, topic, path);
    if (!c) {
        return false;
    }
    out->name = field;
    if (!(out->points = malloc(q->max_points * sizeof *out->points))) {
        http_reply_problem(r, 500, "memory", "no memory");
        return false;
    }
    out->count = reel_column_points(c, q->start_ns, q->end_ns, q->max_points, q->how, out->points);
    return true;
}

/* ---- text */

static void put_time(FILE *f, const struct question *q, int64_t ns, bool json) {
    char text[REEL_TIME_TEXT];
    const char *form = q->time_format ? q->time_format : "rfc3339", *quote = json ? "\"" : "";
    if (strcmp(form, "milliseconds") == 0) {
        int64_t ms = ns / 1000000;
        fprintf(f, "%lld", (long long)(ms - (ns % 1000000 < 0)));
    } else if (strcmp(form, "nanoseconds") == 0) {
        fprintf(f, "%s%lld%s", quote, (long long)ns, quote);
    } else if (strcmp(form, "seconds") == 0 || strcmp(form, "relative") == 0) {
        reel_time_seconds(form[0] == 'r' ? (int64_t)((uint64_t)ns - (uint64_t)q->zero_ns) : ns, text);
        fputs(text, f);
    } else {
        if (q->clock == REEL_CLOCK_RELATIVE) {
            reel_time_seconds(ns, text);
        } else {
            reel_time_rfc3339(ns, text);
        }
        fprintf(f, "%s%s%s", quote, text, quote);
    }
}

static void put_value(FILE *f, double value, bool json) {
    char text[REEL_NUMBER_TEXT];
    reel_number_text(value, text);
    fprintf(f, json && !isfinite(value) ? "\"%s\"" : "%s", text);
}

static void put_name(FILE *f, const char *name) {
    json_t *text = json_string(name);
    char *quoted = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "\"\"", f);
    free(quoted);
    json_decref(text);
}

static void put_json(FILE *f, const struct question *q, const struct series *all, size_t n) {
    fputs(n > 1 ? "{" : "", f);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "", f);
        if (n > 1) {
            put_name(f, all[i].name);
            fputc(':', f);
        }
        fputc('[', f);
        for (size_t k = 0; k < all[i].count; k++) {
            fputs(k > 0 ? ",[" : "[", f);
            put_time(f, q, all[i].points[k].time_ns, true);
            fputc(',', f);
            put_value(f, all[i].points[k].value, true);
            fputc(']', f);
        }
        fputc(']', f);
    }
    fputs(n > 1 ? "}\n" : "\n", f);
}

/* CSV or NDJSON: a row a point, with its field where there are several. */
static void put_rows(FILE *f, const struct question *q, const struct series *all, size_t n, bool csv) {
    fputs(!csv ? "" : n > 1 ? "time,field,value\r\n" : "time,value\r\n", f);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < all[i].count; k++) {
            fputs(csv ? "" : "{\"time\":", f);
            put_time(f, q, all[i].points[k].time_ns, !csv);
            if (n > 1 || !csv) {
                fputs(csv ? "," : ",\"field\":", f);
                put_name(f, all[i].name); /* quotes that CSV knows too: names hold no quotes of their own */
            }
            fputs(csv ? "," : ",\"value\":", f);
            put_value(f, all[i].points[k].value, !csv);
            fputs(csv ? "\r\n" : "}\n", f);
        }
    }
}

/* ---- requests */

static bool read_question(struct http_request *r, const struct reel_index_info *info, struct question *q) {
    static const char *const names[] = {"minmax", "mean", "lttb", "last"};
    struct api_selection s;
    const char *how = http_param(r, "agg");
    if (!api_select(r, info->start_ns, info->end_ns, &s)) {
        return false;
    }
    *q = (struct question){.start_ns = s.selection.start_ns,
                           .end_ns = s.selection.end_ns,
                           .max_points = POINTS_USUAL,
                           .clock = info->clock,
                           .zero_ns = s.has_start ? s.selection.start_ns : info->start_ns,
                           .time_format = http_param(r, "time_format")};
    for (unsigned i = 0; how && i < sizeof names / sizeof *names; i++) {
        q->how = strcmp(names[i], how) == 0 ? (enum reel_aggregate)i : q->how;
    }
    if (http_param_u64(r, "max_points", &q->max_points) && (q->max_points < 2 || q->max_points > POINTS_MAX)) {
        http_reply_bad_param(r, "max_points", "2 to %d", POINTS_MAX);
        return false;
    }
    return true;
}

static void reply_series(struct http_request *r, const struct question *q, const struct series *all, size_t n, const char *media) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) {
        http_reply_problem(r, 500, "memory", "no memory");
        return;
    }
    if (strcmp(media, "application/json") == 0) {
        put_json(f, q, all, n);
    } else {
        put_rows(f, q, all, n, strcmp(media, "text/csv") == 0);
    }
    if (fclose(f) == 0) {
        http_reply_text(r, 200, media, text);
    } else {
        http_reply_problem(r, 500, "memory", "no memory");
    }
    free(text);
}

void api_series(struct http_request *r) {
    static const char *const offers[] = {"application/json", "text/csv", "application/x-ndjson", NULL};
    const char *fields[FIELDS_MAX], *media = http_negotiate(r, offers);
    size_t n = http_params(r, "field", fields, FIELDS_MAX), done = 0;
    struct series all[FIELDS_MAX] = {0};
    struct api_recording a;
    struct question q;
    if (!media) {
        http_reply_problem(r, 406, "not-acceptable", "a series is given as application/json, text/csv or application/x-ndjson");
        return;
    }
    if (n == 0 || n > FIELDS_MAX) {
        http_reply_bad_param(r, "field", "1 to %d of them, as /topic.field", FIELDS_MAX);
        return;
    }
    if (!api_open(r, &a)) {
        return;
    }
    if (read_question(r, reel_index_info(reel_recording_index(a.recording)), &q)) {
        while (done < n && draw(r, &a, &q, fields[done], &all[done])) {
            done++;
        }
        if (done == n) {
            reply_series(r, &q, all, n, media);
        }
    }
    for (size_t i = 0; i < n; i++) {
        free(all[i].points);
    }
    api_recording_done(&a);
}

static bool add_field(void *context, const struct reel_field *f) {
    json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "path", f->path, "type", f->type, "unit", f->unit, "numeric", f->numeric);
    return o && json_array_append_new(context, o) == 0;
}

void api_topic_fields(struct http_request *r) {
    const char *topic = http_param(r, "topic");
    struct api_recording a;
    struct reel_error err = {0};
    if (!topic) {
        http_reply_bad_param(r, "topic", "it is needed");
        return;
    }
    if (!api_open(r, &a)) {
        return;
    }
    json_t *fields = json_array();
    if (fields && reel_topic_fields(a.recording, topic, add_field, fields, &err)) {
        http_reply_json(r, 200, json_pack("{s:s, s:O}", "topic", topic, "fields", fields));
    } else {
        http_reply_error(r, &err);
    }
    json_decref(fields);
    api_recording_done(&a);
}
