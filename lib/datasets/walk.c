/* See walk.h. A message is decoded when a frame needs it, so those between two frames cost an entry of the index. */
#include "datasets/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "reel/values.h"
#include "syntax/utf8.h"

/* ---- the numbers of a message */

enum { COLUMN_NUMBERS, COLUMN_NAMES };

struct reading {
    struct reel_visitor numbers, names; /* `numbers` must be the first member */
    struct walk_source *source;
    float *values;
    uint32_t n;
};
static bool put_number(struct reel_visitor *v, double value) {
    struct reading *r = (struct reading *)v;
    if (r->n == DATASET_WIDTH_MAX) {
        return false;
    }
    r->values[r->n++] = (float)value;
    return true;
}
static bool put_boolean(struct reel_visitor *v, bool value) {
    return put_number(v, value);
}
static bool put_integer(struct reel_visitor *v, int64_t value) {
    return put_number(v, (double)value);
}
static bool put_natural(struct reel_visitor *v, uint64_t value) {
    return put_number(v, (double)value);
}
static bool put_real32(struct reel_visitor *v, float value) {
    return put_number(v, (double)value);
}
static bool put_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return put_number(v, (double)value->seconds + (double)value->nanoseconds / 1e9);
}
static const struct reel_visitor_ops number_ops = {.boolean = put_boolean,
                                                   .integer = put_integer,
                                                   .natural = put_natural,
                                                   .real = put_number,
                                                   .real32 = put_real32,
                                                   .stamp = put_stamp};

static bool put_name(struct reel_visitor *v, struct reel_bytes text) {
    struct reading *r = (struct reading *)(void *)((char *)v - offsetof(struct reading, names));
    struct walk_source *s = r->source;
    if (text.size > 255 || !utf8_valid(text) || (text.size > 0 && memchr(text.data, '\0', text.size))) {
        s->n_names = DATASET_WIDTH_MAX + 1; /* there are never as many numbers: they are named by the source */
    } else if (s->n_names < DATASET_WIDTH_MAX) {
        grow_put(&s->names, text.data, text.size);
        grow_u8(&s->names, 0);
        s->n_names++;
    }
    return true;
}
static const struct reel_visitor_ops name_ops = {
    .text = put_name, .numbers = visit_no_numbers, .members = visit_no_members};

static struct reel_visitor *open_column(void *context, uint32_t column) {
    struct reading *r = context;
    return column == COLUMN_NUMBERS ? &r->numbers : r->source->has_names ? NULL : &r->names;
}
static bool close_column(void *context, uint32_t column) {
    (void)context, (void)column;
    return true;
}

static enum dataset_drop check_width(struct walk_source *s, uint32_t n) {
    if (n == 0) {
        return DATASET_UNREADABLE;
    }
    s->width = s->width > 0 ? s->width : n;
    s->has_names = true;
    return n == s->width ? DATASET_KEPT : DATASET_OTHER_SIZE;
}

static bool read_numbers(struct walk *w, struct walk_source *s, struct reel_error *err) {
    const struct reel_decoder *decoder = w->decoders[s->latest.channel];
    struct reading r = {.numbers = {&number_ops}, .names = {&name_ops}, .source = s, .values = s->values};
    struct field_picker picker = {.set = s->paths, .open = open_column, .close = close_column, .context = &r};
    struct reel_bytes payload;
    bool whole;
    if (!reel_stream_payload(w->stream, &s->latest, &payload, err)) {
        return false;
    }
    if (!s->has_names) {
        s->names.size = s->n_names = 0;
    }
    field_picker_start(&picker);
    if (!decode_try(decoder, payload, &picker.visitor, &whole, err)) {
        return false;
    }
    s->fault = whole || picker.done ? check_width(s, r.n) : DATASET_UNREADABLE;
    return !s->names.failed || reel_fail_memory(err);
}

/* ---- frames */

static bool read_source(struct walk *w, struct walk_source *s, struct reel_error *err) {
    if (s->is_read || w->reads == WALK_READS_NOTHING || (!s->paths && w->reads == WALK_READS_NUMBERS)) {
        return true;
    }
    s->is_read = true;
    s->fault = DATASET_UNREADABLE;
    return !w->decoders[s->latest.channel] || s->latest.size > REEL_DECODED_MAX ||
           (s->paths ? read_numbers : walk_read_image)(w, s, err);
}

/* Whether the decoder can show the latest frame of H.264 or H.265 now: it begins with a key frame and gets the others
 * in their order, each once. */
static bool follows(const struct walk *w, const struct walk_source *s) {
    return s->picture.video <= DATASET_ENCODED || s->is_key || (w->runs && s->since == 1);
}

static bool measure_ages(struct walk *w) {
    bool good = true;
    for (uint32_t i = 0; i < w->n_sources; i++) {
        if (__builtin_sub_overflow(w->time_ns, w->sources[i].latest.time_ns, &w->ages[i])) {
            w->ages[i] = INT64_MAX;
        }
        good &= w->spec->max_age_ns == 0 || w->ages[i] <= w->spec->max_age_ns;
    }
    return good;
}

static bool read_frame(struct walk *w, enum dataset_drop *drop, struct reel_error *err) {
    *drop = measure_ages(w) ? DATASET_KEPT : DATASET_TOO_OLD;
    for (uint32_t i = 0; i < w->n_sources && *drop != DATASET_TOO_OLD; i++) {
        struct walk_source *s = &w->sources[i];
        if (!read_source(w, s, err)) {
            return false;
        }
        enum dataset_drop fault = s->fault != DATASET_KEPT ? s->fault : follows(w, s) ? DATASET_KEPT : DATASET_OFF_GRID;
        *drop = fault != DATASET_KEPT ? fault : *drop;
    }
    for (uint32_t i = 0; i < w->n_sources; i++) {
        w->sources[i].since = 0;
    }
    w->runs = *drop == DATASET_KEPT;
    return true;
}

/* Whether there is a frame before `before_ns`, whose time is then w->time_ns. */
static bool next_frame(struct walk *w, int64_t before_ns) {
    int64_t after = w->spec->clock ? 0 : (int64_t)((unsigned __int128)w->frame * 1000000000 / w->spec->fps);
    w->time_ns = w->tick_ns;
    if (w->waiting > 0 || (!w->spec->clock && __builtin_add_overflow(w->start_ns, after, &w->time_ns)) ||
        (w->spec->clock && (!w->ticks || w->tick_ns < w->start_ns))) {
        return false;
    }
    return w->time_ns < before_ns && w->time_ns <= w->end_ns;
}

/* The frames before `before_ns`. */
static bool walk_frames(struct walk *w, int64_t before_ns, walk_frame frame, void *context, struct reel_error *err) {
    for (; next_frame(w, before_ns); w->frame++) {
        enum dataset_drop drop;
        w->ticks = false;
        if (w->frame < w->from) {
            continue;
        }
        if (w->frame >= DATASET_FRAMES_MAX) {
            return reel_fail(err, REEL_LIMIT, "an episode has at most %d frames", DATASET_FRAMES_MAX);
        }
        if (!read_frame(w, &drop, err) || !frame(context, w, w->frame, drop, err)) {
            return false;
        }
    }
    return true;
}

/* All sources have begun. */
static void start_frames(struct walk *w, int64_t time_ns) {
    const struct dataset_cut *cut = w->spec->cut;
    w->start_ns = cut && cut->start_ns > time_ns ? cut->start_ns : time_ns;
}

static void take_message(struct walk *w, const struct reel_message *m) {
    for (uint32_t i = 0; i < w->n_sources; i++) {
        struct walk_source *s = &w->sources[i];
        if (!w->of[(size_t)m->channel * w->n_sources + i]) {
            continue;
        }
        w->waiting -= !s->any;
        if (!s->any && w->waiting == 0) {
            start_frames(w, m->time_ns);
        }
        s->latest = *m;
        s->any = true;
        s->is_read = false;
        s->since++;
    }
    if (w->is_clock[m->channel]) {
        w->tick_ns = m->time_ns;
        w->ticks = true;
    }
}

bool walk_run(struct walk *w, const struct reel_progress *progress, walk_frame frame, void *context,
              struct reel_error *err) {
    struct reel_message m;
    enum reel_step step;
    uint64_t done = 0, total = 0;
    if (!stream_count(w->stream, REEL_TIME_MAX, &total, err)) {
        return false;
    }
    while ((step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE) {
        if (!walk_frames(w, m.time_ns, frame, context, err)) {
            return err->code == REEL_OK;
        }
        if (w->waiting == 0 && m.time_ns > w->end_ns) {
            break;
        }
        take_message(w, &m);
        if (++done % 4096 == 0 && progress && progress->report && !progress->report(progress->context, done, total)) {
            return reel_fail(err, REEL_CANCELLED, "it was cancelled");
        }
    }
    return step != REEL_STEP_ERROR && (walk_frames(w, INT64_MAX, frame, context, err) || err->code == REEL_OK);
}

/* ---- opening */

void walk_done(struct walk *w) {
    for (uint32_t i = 0; i < w->n_sources; i++) {
        field_set_free(w->sources[i].paths);
        free(w->sources[i].values);
        grow_done(&w->sources[i].names);
    }
    decoder_set_free(&w->opened);
    reel_stream_free(w->stream);
    free(w->decoders);
    free(w->sources);
    free(w->ages);
    free(w->is_clock);
    free(w->of);
    *w = (struct walk){0};
}

/* "arm.position" has its names in "arm.name", as those of sensor_msgs/JointState have. */
static struct field_set *paths_of(const char *path, struct reel_error *err) {
    char names[FIELD_PATH_MAX];
    const char *dot = strrchr(path, '.');
    size_t size = dot ? (size_t)(dot - path) + 1 : 0;
    if (size + sizeof "name" > sizeof names) {
        reel_fail(err, REEL_ARGUMENT, "the path of a field is too long");
        return NULL;
    }
    memcpy(names, path, size);
    memcpy(names + size, "name", sizeof "name");
    const char *const both[] = {path, names};
    return field_set_new(both, strcmp(path, names) == 0 ? 1 : 2, err);
}

static bool open_source(struct walk_source *s, struct reel_recording *recording, const char *text, bool video,
                        struct reel_error *err) {
    s->text = s->topic = text;
    if (video) {
        return true; /* whether the recording has the topic is found with the others' channels */
    }
    return reel_series_split(recording, text, &s->topic, &s->path, err) && (s->paths = paths_of(s->path, err)) &&
           ((s->values = calloc(DATASET_WIDTH_MAX, sizeof *s->values)) || reel_fail_memory(err));
}

static bool open_sources(struct walk *w, struct reel_recording *recording, struct reel_error *err) {
    uint32_t n = 0, at = 0;
    for (uint32_t i = 0; i < w->spec->n_features; i++) {
        n += w->spec->features[i].n_sources;
    }
    if (!(w->sources = calloc((size_t)n + 1, sizeof *w->sources)) ||
        !(w->ages = calloc((size_t)n + 1, sizeof *w->ages))) {
        return reel_fail_memory(err);
    }
    w->n_sources = w->waiting = n;
    for (uint32_t i = 0; i < w->spec->n_features; i++) {
        for (uint32_t k = 0; k < w->spec->features[i].n_sources; k++) {
            const struct dataset_feature *f = &w->spec->features[i];
            if (!open_source(&w->sources[at++], recording, f->sources[k], dataset_feature_is_video(f), err)) {
                return false;
            }
        }
    }
    return true;
}

static bool has_topic(const struct reel_channel *channel, const char *topic) {
    uint32_t i = 0;
    while (i < channel->n_topics && strcmp(channel->topics[i], topic) != 0) {
        i++;
    }
    return i < channel->n_topics;
}

/* Which channels each source reads, and when it ends. */
static bool find_source(struct walk *w, const struct reel_index *index, uint32_t i, struct reel_error *err) {
    const char *topic = w->sources[i].topic;
    int64_t last_ns = INT64_MIN;
    bool any = false;
    for (uint32_t c = 0; c < w->stream->n_channels; c++) {
        const struct reel_channel *channel = w->stream->channels[c];
        const struct reel_channel_stats *stats = reel_index_stats(index, channel->id);
        bool of = has_topic(channel, topic);
        w->of[(size_t)c * w->n_sources + i] = of;
        last_ns = of && stats->count > 0 && stats->last_ns > last_ns ? stats->last_ns : last_ns;
        any |= of;
    }
    w->end_ns = last_ns < w->end_ns ? last_ns : w->end_ns;
    return any || reel_fail(err, REEL_NOT_FOUND, "there is no topic \"%.200s\"", topic);
}

static bool find_channels(struct walk *w, const struct reel_index *index, struct reel_error *err) {
    uint32_t n = w->stream->n_channels;
    bool good = true, ticks = !w->spec->clock;
    if (!(w->of = calloc((size_t)n * w->n_sources + 1, sizeof *w->of)) ||
        !(w->is_clock = calloc((size_t)n + 1, sizeof *w->is_clock)) ||
        !(w->decoders = calloc((size_t)n + 1, sizeof *w->decoders))) {
        return reel_fail_memory(err);
    }
    w->end_ns = w->spec->cut ? w->spec->cut->end_ns : INT64_MAX;
    for (uint32_t i = 0; good && i < w->n_sources; i++) {
        good = find_source(w, index, i, err);
    }
    for (uint32_t c = 0; w->spec->clock && c < n; c++) {
        ticks |= w->is_clock[c] = has_topic(w->stream->channels[c], w->spec->clock);
    }
    return good && (ticks || reel_fail(err, REEL_NOT_FOUND, "there is no topic \"%.200s\"", w->spec->clock));
}

static bool open_decoders(struct walk *w, struct reel_error *err) {
    for (uint32_t c = 0; c < w->stream->n_channels; c++) {
        if (!decoder_set_try(&w->opened, w->stream->channels[c], &w->decoders[c], err)) {
            return false;
        }
    }
    return true;
}

bool walk_open(struct walk *w, struct reel_recording *recording, const struct dataset_spec *spec, enum walk_reads reads,
               uint64_t from, struct reel_error *err) {
    const char *topics[DATASET_SOURCES_MAX + 1];
    *w = (struct walk){.spec = spec, .reads = reads, .from = from};
    if (!dataset_spec_check(spec, err) || !open_sources(w, recording, err)) {
        return false;
    }
    for (uint32_t i = 0; i < w->n_sources; i++) {
        topics[i] = w->sources[i].topic;
    }
    struct reel_selection q = selection_all;
    q.topics = topics;
    q.n_topics = w->n_sources;
    if (spec->clock) {
        topics[q.n_topics++] = spec->clock;
    }
    q.encoding = ""; /* messages as they are: any of them can be read again */
    return (w->stream = reel_stream_open(&recording, 1, &q, err)) &&
           find_channels(w, reel_recording_index(recording), err) && open_decoders(w, err);
}
