/* See values/series.h. A payload is decoded once per column, and only up to the field; the size of a column is bounded
 * for any recording. */
#include "values/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "decode/decoder_set.h"
#include "decode/fields.h"
#include "stream/stream.h"

/* ---- finding one number */

/* A time or a duration is its seconds. What is in an object or a list is not the field. */
struct catch {
    struct reel_visitor visitor; /* must be the first member */
    double value;
    uint32_t depth;
    bool caught, is_float32, is_map, is_list;
};
static bool caught(struct reel_visitor *v, double value) {
    struct catch *c = (struct catch *)v;
    if (c->depth == 0) {
        c->value = value;
        c->caught = true;
        c->is_float32 = false;
    }
    return true;
}
static bool catch_boolean(struct reel_visitor *v, bool value) {
    return caught(v, value);
}
static bool catch_integer(struct reel_visitor *v, int64_t value) {
    return caught(v, (double)value);
}
static bool catch_natural(struct reel_visitor *v, uint64_t value) {
    return caught(v, (double)value);
}
static bool catch_real(struct reel_visitor *v, double value) {
    return caught(v, value);
}
static bool catch_real32(struct reel_visitor *v, float value) {
    struct catch *c = (struct catch *)v;
    caught(v, (double)value);
    c->is_float32 = c->depth == 0;
    return true;
}
static bool catch_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return caught(v, (double)value->seconds + (double)value->nanoseconds / 1e9);
}
static bool catch_begin_map(struct reel_visitor *v) {
    struct catch *c = (struct catch *)v;
    c->is_map = c->is_map || c->depth == 0;
    c->depth++;
    return true;
}
static bool catch_begin_list(struct reel_visitor *v) {
    struct catch *c = (struct catch *)v;
    c->is_list = c->is_list || c->depth == 0;
    c->depth++;
    return true;
}
static bool catch_end(struct reel_visitor *v) {
    ((struct catch *)v)->depth--;
    return true;
}
static bool nothing(struct reel_visitor *v) {
    (void)v;
    return true;
}
static bool no_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    (void)type;
    (void)data;
    (void)columns;
    return catch_begin_list(v) && catch_end(v);
}
static const struct reel_visitor_ops catch_ops = {
    .begin_map = catch_begin_map,
    .end_map = catch_end,
    .begin_list = catch_begin_list,
    .end_list = catch_end,
    .boolean = catch_boolean,
    .integer = catch_integer,
    .natural = catch_natural,
    .real = catch_real,
    .real32 = catch_real32,
    .null = nothing,
    .numbers = no_numbers,
    .stamp = catch_stamp,
};

/* ---- the column */

struct reel_column *reel_column_ref(struct reel_column *c) {
    atomic_fetch_add(&c->references, 1);
    return c;
}
void reel_column_free(struct reel_column *c) {
    if (c && atomic_fetch_sub(&c->references, 1) == 1) {
        free(c->runs);
        free(c);
    }
}
bool reel_column_is_float32(const struct reel_column *c) {
    return c->count > 0 && !c->has_wider;
}
uint64_t reel_column_memory(const struct reel_column *c) {
    return sizeof *c + c->capacity * sizeof *c->runs;
}

static void series_join(struct run *a, const struct run *b) {
    a->low = b->low.value < a->low.value ? b->low : a->low;
    a->high = b->high.value > a->high.value ? b->high : a->high;
    a->last = b->last;
    a->sum += b->sum;
    a->finite += b->finite;
    a->count += b->count;
}

/* Merges pairs of runs, so that there is room for twice as many values. */
static void halve(struct reel_column *c) {
    for (size_t i = 0; i < c->count; i += 2) {
        c->runs[i / 2] = c->runs[i];
        if (i + 1 < c->count) {
            series_join(&c->runs[i / 2], &c->runs[i + 1]);
        }
    }
    c->count = (c->count + 1) / 2;
    c->each *= 2;
}

static bool series_add(struct reel_column *c, int64_t time_ns, double value, struct reel_error *err) {
    struct reel_point p = {.time_ns = time_ns, .value = value};
    bool finite = isfinite(value);
    struct run one = {
        .first = p, .last = p, .low = p, .high = p, .sum = finite ? value : 0, .finite = finite, .count = 1};
    if (c->count > 0 && c->runs[c->count - 1].count < c->each) {
        series_join(&c->runs[c->count - 1], &one);
        return true;
    }
    if (c->count == REEL_COLUMN_EXACT) {
        halve(c);
        if (c->runs[c->count - 1].count < c->each) {
            series_join(&c->runs[c->count - 1], &one);
            return true;
        }
    }
    if (!GROW_ARRAY(c->runs, c->count, c->capacity)) {
        return reel_fail_memory(err);
    }
    c->runs[c->count++] = one;
    return true;
}

static struct reel_visitor *open_catch(void *context, uint32_t column) {
    (void)column;
    return context;
}
static bool close_catch(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

struct reading {
    struct reel_stream *stream;
    struct decoder_set opened;
    const struct reel_decoder **decoders; /* by channel */
    struct field_set *path;
    struct field_picker picker;
    struct catch catch;
    uint64_t decoded, caught; /* number of payloads, and of those with the number */
};

static void reel_auto_reading_done(struct reading *r) {
    decoder_set_free(&r->opened);
    free(r->decoders);
    field_set_free(r->path);
    reel_stream_free(r->stream);
}

static struct reel_stream *open_topic(struct reel_recording *recording, const char *topic, int64_t start_ns,
                                      int64_t end_ns, struct reel_error *err) {
    struct reel_selection q = selection_all;
    q.topics = &topic;
    q.n_topics = 1;
    q.start_ns = start_ns;
    q.end_ns = end_ns;
    return reel_stream_open(&recording, 1, &q, err);
}

static bool start_reading(struct reading *r, struct reel_recording *recording, const char *topic, const char *path,
                          int64_t start_ns, int64_t end_ns, struct reel_error *err) {
    struct reel_error why = {0};
    if (!(r->stream = open_topic(recording, topic, start_ns, end_ns, err)) ||
        !(r->path = field_set_new(&path, 1, err))) {
        return false;
    }
    if (r->stream->n_channels == 0) {
        return reel_fail(err, REEL_NOT_FOUND, "there is no topic \"%.200s\"", topic);
    }
    if (!(r->decoders = calloc(r->stream->n_channels, sizeof *r->decoders))) {
        return reel_fail_memory(err);
    }
    bool any = false;
    for (uint32_t i = 0; i < r->stream->n_channels; i++) {
        r->decoders[i] = decoder_set_open(&r->opened, r->stream->channels[i], &why);
        if (!r->decoders[i] && !reel_error_ignore(err, &why)) {
            return false;
        }
        any = any || r->decoders[i];
    }
    if (!any) {
        return reel_error_pass(err, &why);
    }
    r->catch.visitor.ops = &catch_ops;
    r->picker.set = r->path;
    r->picker.open = open_catch;
    r->picker.close = close_catch;
    r->picker.context = &r->catch;
    return true;
}

static bool read_one(struct reading *r, const struct reel_message *m, struct reel_column *c, struct reel_error *err) {
    struct reel_bytes payload;
    const struct reel_decoder *decoder = r->decoders[m->channel];
    if (!decoder || m->size > REEL_DECODED_MAX) {
        return true;
    }
    if (!reel_stream_payload(r->stream, m, &payload, err)) {
        return false;
    }
    r->catch.caught = false;
    r->catch.depth = 0;
    field_picker_start(&r->picker);
    bool whole;
    if (!decode_try(decoder, payload, &r->picker.visitor, &whole, err)) {
        return false;
    }
    r->decoded += whole || r->picker.done;
    r->caught += r->catch.caught;
    if (!r->catch.caught || isnan(r->catch.value)) {
        return true;
    }
    c->has_wider = c->has_wider || !r->catch.is_float32;
    return series_add(c, m->time_ns, r->catch.value, err);
}

static bool is_drawn(const struct reel_field *f) {
    return f->numeric || strcmp(f->type, "time") == 0 || strcmp(f->type, "duration") == 0;
}

/* The drawable fields below a path, as many as fit. */
struct fields_below {
    const char *path;
    char text[256];
    size_t size;
};
static bool add_below(void *context, const struct reel_field *f) {
    struct fields_below *b = context;
    size_t size = strlen(b->path), left = sizeof b->text - b->size;
    if (!is_drawn(f) || strncmp(f->path, b->path, size) != 0 || (size > 0 && f->path[size] != '.')) {
        return true;
    }
    int n = snprintf(b->text + b->size, left, "%s%s", b->size > 0 ? ", " : "", f->path);
    bool fits = n > 0 && (size_t)n < left;
    b->size += fits ? (size_t)n : 0;
    b->text[b->size] = '\0';
    return fits;
}

static bool fail_composite(struct reel_recording *recording, const char *topic, const char *path, bool is_map,
                           struct reel_error *err) {
    struct fields_below below = {.path = path};
    struct reel_error why = {0};
    if (!is_map) {
        return reel_fail(err, REEL_ARGUMENT,
                         "\"%.200s\" of %.100s is a list, not a number; its first element is %.200s[0]", path, topic,
                         path);
    }
    if (!reel_topic_fields(recording, topic, add_below, &below, &why) && !reel_error_ignore(err, &why)) {
        return false;
    }
    return reel_fail(err, REEL_ARGUMENT, "\"%.100s\" of %.100s is an object, not a number; its numeric fields are: %s",
                     path, topic, below.size > 0 ? below.text : "none");
}

/* True when the topic has this field, or the list that contains it. */
struct path_search {
    const char *path;
    bool there;
};
static bool contains_path(void *context, const struct reel_field *f) {
    struct path_search *a = context;
    size_t size = strlen(f->path);
    bool same = strncmp(f->path, a->path, size) == 0;
    a->there =
        same && (a->path[size] == '\0' ? is_drawn(f) : size > 0 && (a->path[size] == '[' || a->path[size] == '.'));
    return !a->there;
}

/* None of the messages read has the number; others may, as messages of one topic can differ. Checks whether the topic
 * can have it. */
static bool may_be_elsewhere(struct reel_recording *recording, const char *topic, const char *path, int64_t start_ns,
                             int64_t end_ns, bool *may, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    struct path_search a = {.path = path};
    struct reel_error why = {0};
    if (start_ns > info->start_ns || end_ns <= info->end_ns) {
        reel_topic_fields(recording, topic, contains_path, &a, &why);
    }
    *may = a.there;
    return reel_error_ignore(err, &why);
}

/* Half of the runs may have been merged into the others. */
static void give_back(struct reel_column *c) {
    struct run *runs = c->count > 0 ? realloc(c->runs, c->count * sizeof *runs) : NULL;
    if (runs) {
        c->runs = runs;
        c->capacity = c->count;
    }
}

struct reel_column *reel_column_new(struct reel_recording *recording, const char *topic, const char *path,
                                    int64_t start_ns, int64_t end_ns, const struct reel_progress *progress,
                                    struct reel_error *err) {
    AUTO(reading_done) struct reading r = {0};
    AUTO(reel_column_free) struct reel_column *c = calloc(1, sizeof *c);
    if (!c) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&c->references, 1);
    c->each = 1;
    uint64_t total = 0, done = 0;
    if (!start_reading(&r, recording, topic, path, start_ns, end_ns, err) ||
        !stream_count(r.stream, REEL_TIME_MAX, &total, err)) {
        return NULL;
    }
    struct reel_message m;
    enum reel_step step;
    while ((step = stream_next(r.stream, &m, err)) == REEL_STEP_MESSAGE) {
        if (!read_one(&r, &m, c, err)) {
            return NULL;
        }
        if (++done % 4096 == 0 && progress && progress->report && !progress->report(progress->context, done, total)) {
            reel_fail(err, REEL_CANCELLED, "it was cancelled");
            return NULL;
        }
    }
    if (step == REEL_STEP_ERROR) {
        return NULL;
    }
    bool may = true;
    if (r.caught == 0 && (r.catch.is_map || r.catch.is_list)) {
        fail_composite(recording, topic, path, r.catch.is_map, err);
        return NULL;
    }
    if (r.caught == 0 && r.decoded > 0 && !may_be_elsewhere(recording, topic, path, start_ns, end_ns, &may, err)) {
        return NULL;
    }
    if (!may) {
        reel_fail(err, REEL_NOT_FOUND,
                  "no message of %.200s has a number \"%.200s\"; /topics/fields?topic= lists what there is", topic,
                  path);
        return NULL;
    }
    give_back(c);
    return TAKE(c);
}

bool reel_series_count(struct reel_recording *recording, const char *topic, int64_t start_ns, int64_t end_ns,
                       uint64_t *count, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = open_topic(recording, topic, start_ns, end_ns, err);
    return stream && stream_count(stream, REEL_TIME_MAX, count, err);
}
