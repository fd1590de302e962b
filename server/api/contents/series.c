/* /series: numeric fields over time, downsampled for drawing, of one recording or several; /topics/fields: the numeric
 * fields. The values of a field are kept as a column in the derived cache, so the next request, for any time range,
 * reads no messages. */
#include "api/contents/series.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "api/selection.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contents/contents.h"
#include "base/cleanup.h"
#include "decode/encoding.h"
#include "syntax/json_out.h"
#include "values/series.h"
#include "values/undecoded.h"
#include "views/views.h"
#include "work/derived_cache.h"

enum {
    FIELDS_MAX = 16,
    POINTS_MAX = 100000,
    POINTS_DEFAULT = 1000,
    AT_ONCE = 20000,           /* up to this many messages are read without keeping a column … */
    AT_ONCE_BYTES = 256 << 20, /* … if they have about this size at most */
    ACROSS_MAX = 20,           /* recordings */
};
static const int64_t COLUMN_WAIT_NS = 20000000000;

void series_free(struct series *all, size_t n) {
    for (size_t i = 0; all && i < n; i++) {
        free(all[i].name);
        free(all[i].points);
    }
    free(all);
}

/* ---- columns */

struct column_request {
    struct reel_recording *recording;
    char *topic, *path;
};

static void series_free_request(void *context) {
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
            series_free_request(q);
        }
        return NULL;
    }
    q->recording = reel_recording_ref(recording);
    return q;
}

static bool make_column(void *context, const struct reel_progress *progress, void **thing, uint64_t *memory,
                        struct reel_error *err) {
    const struct column_request *q = context;
    struct reel_column *c =
        reel_column_new(q->recording, q->topic, q->path, REEL_TIME_MIN, REEL_TIME_MAX, progress, err);
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

/* Whether the messages can be read within the request: they are few, and it has not waited for long yet. */
static bool few_messages(const struct api_recording *a, const struct series_request *q, const char *topic,
                         uint64_t count) {
    const struct reel_index *index = reel_recording_index(a->recording);
    uint64_t largest = 0; /* mean message size among its channels */
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && count > 0; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        const struct reel_channel_stats *s = reel_index_stats(index, i);
        for (uint32_t t = 0; t < c->n_topics && s->count > 0; t++) {
            bool larger = strcmp(c->topics[t], topic) == 0 && s->bytes / s->count > largest;
            largest = larger ? s->bytes / s->count : largest;
        }
    }
    return count <= AT_ONCE && count * largest <= AT_ONCE_BYTES && reel_now_ns() < q->wait_until_ns + COLUMN_WAIT_NS;
}

/* The column of the whole recording; for a few messages a column of these only, which is not kept. */
static struct reel_column *get_column(struct http_request *r, const struct api_recording *a,
                                      const struct series_request *q, const char *topic, const char *path,
                                      struct series_error *trouble) {
    static const struct derived_kind kind = {.job = "plan",
                                             .make = make_column,
                                             .free_context = series_free_request,
                                             .ref = ref_column,
                                             .unref = unref_column};
    char key[512], subject[256];
    uint64_t count;
    if (!reel_series_count(a->recording, topic, q->start_ns, q->end_ns, &count, &trouble->error)) {
        return NULL;
    }
    int n = snprintf(key, sizeof key, "column %s %u %s.%s", a->row.content, reel_encodings_version(), topic, path);
    int length = snprintf(subject, sizeof subject, "%s.%s", topic, path);
    if (length < 0 || (size_t)length >= sizeof subject) { /* truncated, maybe inside a character */
        snprintf(subject, sizeof subject, "a field with a long name");
    }
    if (n < 0 || (size_t)n >= sizeof key || few_messages(a, q, topic, count)) {
        return reel_column_new(a->recording, topic, path, q->start_ns, q->end_ns, NULL, &trouble->error);
    }
    int64_t left = q->wait_until_ns - reel_now_ns();
    char owner[HTTP_PRINCIPAL];
    const struct derived_request derived = {
        .key = key, .subject = subject, .owner = http_client(r, owner), .wait_ns = left > 0 ? left : 0};
    return derived_get(http_app(r)->derived, &kind, &derived, make_request(a->recording, topic, path), trouble->job,
                       &trouble->error);
}

bool series_value_is_float32(const struct series *s, double value) {
    return s->is_float32 && (!isfinite(value) || (fabs(value) <= (double)FLT_MAX && (double)(float)value == value));
}

void series_number(const struct series *s, double value, char out[REEL_NUMBER_TEXT]) {
    if (series_value_is_float32(s, value)) {
        reel_number_text32((float)value, out);
    } else {
        reel_number_text(value, out);
    }
}

bool series_read(struct http_request *r, const struct api_recording *a, const struct series_request *q,
                 const char *field, struct series *out, struct series_error *trouble) {
    const char *topic, *path;
    *trouble = (struct series_error){0};
    if (!reel_series_split(a->recording, field, &topic, &path, &trouble->error)) {
        return false;
    }
    AUTO(reel_column_free) struct reel_column *c = get_column(r, a, q, topic, path, trouble);
    if (!c) {
        return false;
    }
    memcpy(out->recording, a->row.id, sizeof out->recording);
    out->field = field;
    out->clock = a->row.clock;
    out->zero_ns = q->zero_ns;
    if (!(out->name = strdup(a->row.name)) || !(out->points = malloc(q->max_points * sizeof *out->points))) {
        return reel_fail_memory(&trouble->error);
    }
    out->is_float32 = reel_column_is_float32(c);
    out->count = reel_column_points(c, q->start_ns, q->end_ns, q->max_points, q->how, out->points);
    struct reel_point *fewer = realloc(out->points, (out->count ? out->count : 1) * sizeof *out->points);
    out->points = fewer ? fewer : out->points;
    return true;
}

void series_refuse(struct http_request *r, const struct series_error *trouble) {
    if (trouble->job[0]) {
        api_reply_busy(r, trouble->job, "the values of this field are being read");
    } else {
        http_reply_error(r, &trouble->error);
    }
}

/* ---- requests */

bool series_how(const char *name, enum reel_aggregate *how) {
    static const char *const names[] = {"minmax", "mean", "lttb", "last"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            *how = (enum reel_aggregate)i;
            return true;
        }
    }
    return false;
}

bool series_query(struct http_request *r, const struct reel_index *index, struct series_request *out) {
    const struct reel_index_info *info = reel_index_info(index);
    struct api_selection s;
    const char *how = http_param(r, "agg");
    if (!api_select(r, info->start_ns, info->end_ns, &s)) {
        return false;
    }
    *out = (struct series_request){.start_ns = s.selection.start_ns,
                                   .end_ns = s.selection.end_ns,
                                   .zero_ns = s.has_start ? s.selection.start_ns : info->start_ns,
                                   .max_points = POINTS_DEFAULT,
                                   .wait_until_ns = reel_now_ns() + api_wait_ns(r, COLUMN_WAIT_NS)};
    if (how) {
        series_how(how, &out->how); /* valid: the route table has checked it */
    }
    http_param_u64(r, "max_points", &out->max_points);
    return true;
}

static struct series *new_series(struct http_request *r, size_t n) {
    struct series *all = calloc(n ? n : 1, sizeof *all);
    if (!all) {
        http_reply_no_memory(r);
    }
    return all;
}

void api_series(struct http_request *r) {
    const char *fields[FIELDS_MAX];
    struct rows_form form;
    size_t n = rows_form(r, &form) ? http_params(r, "field", fields, FIELDS_MAX) : 0, done = 0;
    struct api_recording a;
    struct series_request q;
    struct series_error trouble;
    if (n == 0 || !api_open_messages(r, &a)) {
        return;
    }
    struct series *all = new_series(r, n);
    if (all && series_query(r, reel_recording_index(a.recording), &q)) {
        while (done < n && series_read(r, &a, &q, fields[done], &all[done], &trouble)) {
            done++;
        }
        if (done == n) {
            series_reply(r, all, n, false, &form);
        } else {
            series_refuse(r, &trouble);
        }
    }
    series_free(all, n);
    api_recording_done(&a);
}

/* ---- across recordings */

struct across {
    const char *fields[FIELDS_MAX], *keys[ACROSS_MAX];
    size_t n_fields, n_keys;
    struct catalog_page page; /* owns the keys when they come from a search */
    int64_t wait_until_ns;
    struct series *all;
    size_t count;
    struct reel_error missing; /* a topic exists, but has no such numeric field */
};

static bool find_listed(struct http_request *r, struct across *x) {
    const char *topics[API_GLOBS_MAX];
    size_t n_topics = http_params(r, "topic", topics, API_GLOBS_MAX);
    struct reel_error err = {0};
    const struct catalog_query q = {.words = http_param(r, "q"),
                                    .format = http_param(r, "format"),
                                    .collection = http_param(r, "collection"),
                                    .allowed = http_caller(r)->collections,
                                    .topics = topics,
                                    .n_topics = (uint32_t)n_topics,
                                    .has_state = true,
                                    .state = STATE_READY,
                                    .sort = "start",
                                    .limit = ACROSS_MAX + 1};
    if (!catalog_list(http_app(r)->catalog, &q, &x->page, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (x->page.n_items > ACROSS_MAX) {
        http_reply_bad_param(
            r, "q",
            "it finds more than %d recordings: narrow it by q, format, collection or topic, or name them by recording",
            ACROSS_MAX);
        return false;
    }
    for (uint32_t i = 0; i < x->page.n_items; i++) {
        x->keys[x->n_keys++] = x->page.items[i].id;
    }
    return true;
}

/* The recordings that are named, or those that the search finds. False: replied. */
static bool find_recordings(struct http_request *r, struct across *x) {
    static const char *const list[] = {"q", "format", "collection", "topic"};
    x->n_keys = http_params(r, "recording", x->keys, ACROSS_MAX);
    for (unsigned i = 0; x->n_keys > 0 && i < sizeof list / sizeof *list; i++) {
        if (http_param(r, list[i])) {
            http_reply_bad_param(r, list[i], "recordings are either named or searched for");
            return false;
        }
    }
    return x->n_keys > 0 || find_listed(r, x);
}

/* Reads each requested field that the recording has. False: replied. */
static bool read_recording(struct http_request *r, const struct api_recording *a, struct across *x) {
    const char *topic, *path;
    struct series_request q;
    struct series_error trouble;
    if (!series_query(r, reel_recording_index(a->recording), &q)) {
        return false;
    }
    uint64_t most = (uint64_t)POINTS_MAX * FIELDS_MAX / x->n_fields / x->n_keys;
    if (q.max_points > most) {
        http_reply_bad_param(r, "max_points", "of %zu fields of %zu recordings at most %llu", x->n_fields, x->n_keys,
                             (unsigned long long)most);
        return false;
    }
    q.wait_until_ns = x->wait_until_ns = x->wait_until_ns ? x->wait_until_ns : q.wait_until_ns; /* one limit for all of
                                                                                                   them together */
    for (size_t i = 0; i < x->n_fields; i++) {
        if (!reel_series_split(a->recording, x->fields[i], &topic, &path, NULL)) {
            continue;
        }
        if (series_read(r, a, &q, x->fields[i], &x->all[x->count], &trouble)) {
            x->count++;
        } else if (trouble.error.code == REEL_NOT_FOUND || trouble.error.code == REEL_UNSUPPORTED ||
                   trouble.error.code == REEL_ARGUMENT) {
            x->missing = trouble.error;
        } else {
            series_refuse(r, &trouble);
            return false;
        }
    }
    return true;
}

void api_series_across(struct http_request *r) {
    struct across x = {0};
    struct rows_form form;
    bool good = rows_form(r, &form) && (x.n_fields = http_params(r, "field", x.fields, FIELDS_MAX)) > 0 &&
                find_recordings(r, &x) && (x.all = new_series(r, x.n_fields * x.n_keys));
    for (size_t i = 0; good && i < x.n_keys; i++) {
        struct api_recording a;
        const uint64_t held = http_held(r);
        good = api_open_messages_key(r, x.keys[i], &a);
        if (good) {
            good = read_recording(r, &a, &x);
            api_recording_done(&a);
            http_give_back(r, http_held(r) - held);
        }
    }
    if (good && x.count == 0 && x.missing.code != REEL_OK) {
        http_reply_error(r, &x.missing);
    } else if (good) {
        series_reply(r, x.all, x.count, true, &form);
    }
    series_free(x.all, x.n_fields * x.n_keys);
    catalog_page_done(&x.page);
}

/* ---- the numeric fields */

static bool series_add_field(void *context, const struct reel_field *f) {
    json_t *o =
        json_pack("{s:s, s:s, s:s, s:b}", "path", f->path, "type", f->type, "unit", f->unit, "numeric", f->numeric);
    return o && json_array_append_new(context, o) == 0;
}

/* Why the values of these fields cannot be read; NULL: they can. */
static json_t *reason_of(struct reel_recording *recording, const char *topic) {
    struct reel_error why = {0}, ignored = {0};
    bool known = topic_undecoded(recording, topic, &why, &ignored);
    return known && why.code != REEL_OK ? view_text(why.text) : NULL;
}

void api_topic_fields(struct http_request *r) {
    static const char *const columns[] = {"path", "type", "unit", "numeric", NULL};
    const char *topic = http_param(r, "topic");
    struct api_recording a;
    struct rows_form form;
    struct reel_error err = {0};
    if (!topic) {
        http_reply_bad_param(r, "topic", "it is needed");
        return;
    }
    if (!rows_form(r, &form) || !api_open_messages(r, &a)) {
        return;
    }
    json_t *fields = json_array();
    if (fields && reel_topic_fields(a.recording, topic, series_add_field, fields, &err)) {
        rows_reply(
            r, &form,
            json_pack("{s:s, s:O, s:o*}", "topic", topic, "fields", fields, "undecoded", reason_of(a.recording, topic)),
            fields, columns);
    } else {
        json_decref(fields);
        http_reply_error(r, &err);
    }
    api_recording_done(&a);
}
