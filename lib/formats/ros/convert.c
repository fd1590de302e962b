/* The stream in which channels of ROS 1 are channels of ROS 2, or the other way (reel_encoding.convert), or in which
 * rules change types (rules.h). A payload is measured when its message is reached and laid out anew when it is asked
 * for. Messages that do not fit their definition are left out and counted. */
#include "formats/ros/convert.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "decode/own_definitions.h"
#include "formats/ros/convert_channel.h"
#include "formats/ros/rules.h"
#include "formats/ros/translate.h"
#include "formats/ros/write.h"
#include "read/reader.h"
#include "stream/stream.h"

enum {
    VERSION = 2,                   /* part of every ETag: raise it when any output byte changes */
    BEGIN_BYTES = 4096,            /* read of a payload to measure it, … */
    PAYLOAD_ROOM = 64 << 10,       /* at first */
    SAMPLES = 4,                   /* messages that show whether a channel fits its definition; … */
    SAMPLED_MAX = 1000,            /* … of so many channels */
    LARGE_BYTES = 4 * BEGIN_BYTES, /* … if it is this large: its size seldom depends on what follows */
};

struct converted {
    struct reel_stream base;
    struct reel_stream *below;
    enum ros_dialect to;           /* without rules: of all channels; with them: of the one that is being opened */
    const struct ros_rules *rules; /* NULL: none */
    bool *used;                    /* by rule: it is of a type that was found */
    struct arena arena;            /* channels; payloads that the stream below owned */
    const struct reel_channel **channels;
    struct ros_relay **relays; /* by channel; NULL: as it is */
    uint8_t *payload;
    size_t room;
    struct reel_position held; /* whose payload that is; a large one is copied piece by piece */
    bool holds;
    uint32_t sampled; /* channels */
    uint64_t left_out;
    struct reel_position last_left_out; /* the furthest one */
    struct reel_loss *losses;
};

/* ---- messages */

/* Messages put in front are few; the stream owns what they become. */
static bool convert_owned(struct converted *v, struct reel_message *m, struct reel_bytes payload, size_t size,
                          struct reel_error *err) {
    uint8_t *out = arena_alloc(&v->arena, size);
    if (!out) {
        return reel_fail_memory(err);
    }
    m->owned = out;
    return ros_relay_put(v->relays[m->channel], payload, out, size, &size, err);
}

/* Tries it with the first bytes. */
static bool measure_begin(struct converted *v, struct reel_message *m, size_t *size, bool *fits, bool *needs_more,
                          struct reel_error *err) {
    uint8_t begin[BEGIN_BYTES];
    struct reel_error why = {0};
    if (!reel_stream_copy(v->below, m, 0, begin, sizeof begin, err)) {
        return false;
    }
    *fits = ros_relay_size(v->relays[m->channel], bytes_of(begin, sizeof begin), m->size, size, needs_more, &why);
    return true;
}

/* The size that the message's payload will have. *fits: it has one. False: it cannot be read. */
static bool ros_convert_measure(struct converted *v, struct reel_message *m, size_t *size, bool *fits,
                                struct reel_error *err) {
    const struct ros_relay *relay = v->relays[m->channel];
    struct reel_bytes payload;
    struct reel_error why;
    bool needs_more = true;
    if (m->size >= LARGE_BYTES && !m->owned && !measure_begin(v, m, size, fits, &needs_more, err)) {
        return false;
    }
    if (!needs_more) {
        return true;
    }
    reel_error_clear(&why);
    if (!reel_stream_payload(v->below, m, &payload, err)) {
        return false;
    }
    v->holds = false;
    if (!m->owned && payload.size < LARGE_BYTES && ros_relay_put(relay, payload, v->payload, v->room, size, &why)) {
        v->held = reel_position_of(m); /* most likely it is asked for next */
        return *fits = v->holds = true;
    }
    *fits = (why.code == REEL_OK || why.code == REEL_CHANGED) &&
            ros_relay_size(relay, payload, payload.size, size, &needs_more, &why);
    return *fits ? !m->owned || convert_owned(v, m, payload, *size, err) : reel_error_ignore(err, &why);
}

/* Whether `a` comes before `b` in the stream (stream/stream.h); messages put in front come first. */
static bool is_before(const struct reel_position *a, const struct reel_position *b) {
    return a->initial != b->initial   ? a->initial > 0 && (b->initial == 0 || a->initial < b->initial)
           : a->time_ns != b->time_ns ? a->time_ns < b->time_ns
           : a->source != b->source   ? a->source < b->source
           : a->chunk != b->chunk     ? a->chunk < b->chunk
                                      : a->offset < b->offset;
}

/* Counts a message once, however often the stream is read from an earlier one on. */
static void leave_out(struct converted *v, const struct reel_message *m) {
    struct reel_position mark = reel_position_of(m);
    if (v->left_out == 0 || is_before(&v->last_left_out, &mark)) {
        v->last_left_out = mark;
        v->left_out++;
    }
}

static enum reel_step converted_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct converted *v = (struct converted *)base;
    for (;;) {
        bool fits;
        size_t size;
        enum reel_step step = stream_next(v->below, m, err);
        if (step != REEL_STEP_MESSAGE || !v->relays[m->channel]) {
            return step;
        }
        if (!ros_convert_measure(v, m, &size, &fits, err)) {
            return REEL_STEP_ERROR;
        }
        if (fits) {
            m->size = (uint32_t)size;
            return REEL_STEP_MESSAGE;
        }
        leave_out(v, m);
    }
}

static bool converted_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct converted *v = (struct converted *)base;
    v->left_out = stream_is_start(mark) ? 0 : v->left_out;
    return stream_seek(v->below, mark, err);
}

/* The payload, laid out in `to`. */
static bool lay_out(struct converted *v, const struct reel_message *m, uint8_t *to, struct reel_error *err) {
    struct reel_message below = *m;
    struct reel_bytes payload;
    size_t size = 0;
    below.size = m->entry.size;
    return reel_stream_payload(v->below, &below, &payload, err) &&
           ros_relay_put(v->relays[m->channel], payload, to, m->size, &size, err) &&
           (size == m->size || reel_fail(err, REEL_CHANGED, "a payload has another size than was planned"));
}

static bool is_held(const struct converted *v, const struct reel_message *m) {
    struct reel_position mark = reel_position_of(m);
    return v->holds && m->size <= v->room && memcmp(&mark, &v->held, sizeof mark) == 0;
}

static bool converted_put(struct reel_stream *base, const struct reel_message *m, uint8_t *to, struct reel_error *err) {
    struct converted *v = (struct converted *)base;
    if (!v->relays[m->channel]) {
        return reel_stream_copy(v->below, m, 0, to, m->size, err);
    }
    if (!is_held(v, m)) {
        return lay_out(v, m, to, err);
    }
    memcpy(to, v->payload, m->size);
    return true;
}

static bool converted_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                              struct reel_error *err) {
    struct converted *v = (struct converted *)base;
    if (!v->relays[m->channel]) {
        return reel_stream_payload(v->below, m, out, err);
    }
    *out = bytes_of(v->payload, m->size);
    if (is_held(v, m)) {
        return true;
    }
    v->holds = false;
    if (m->size > v->room) {
        free(TAKE(v->payload));
        v->room = 0;
        if (!(v->payload = malloc(m->size))) {
            return reel_fail_memory(err);
        }
        v->room = m->size;
    }
    *out = bytes_of(v->payload, m->size);
    v->held = reel_position_of(m);
    return v->holds = lay_out(v, m, v->payload, err);
}

static void converted_free(struct reel_stream *base) {
    struct converted *v = (struct converted *)base;
    for (uint32_t i = 0; v->relays && i < v->base.n_channels; i++) {
        ros_relay_free(v->relays[i]);
    }
    reel_stream_free(v->below);
    reel_loss_free(v->losses);
    arena_free(&v->arena);
    free(v->relays);
    free(v->used);
    free(v->channels);
    free(v->payload);
    free(v);
}

static const struct reel_stream_ops converted_ops = {.next = converted_next,
                                                     .seek = converted_seek,
                                                     .free = converted_free,
                                                     .payload = converted_payload,
                                                     .put = converted_put};

/* ---- channels */

static void ros_report(struct converted *v, const struct reel_channel *c, const struct ros_translation *t) {
    const char *other = v->to == ROS_2 ? "ROS 2" : "ROS 1", *lost = ros_relay_lost(t->relay);
    if (lost[0]) {
        reel_loss_add(v->losses, REEL_LOSES, c, "fields that %s does not have: %s", other, lost);
    }
    if (t->custom) {
        reel_loss_add(v->losses, REEL_CHANGES, c,
                      "%s has another layout than the type of this name in %s: it is called ros1_compat/…, and ROS 2 "
                      "tools play it only if they "
                      "have such a package",
                      t->custom, other);
    }
    if (t->lost_constants) {
        reel_loss_add(v->losses, REEL_LOSES, c, "constants of the definition that %s cannot have", other);
    }
}

/* Whether one of the last messages of a channel fits its definition. */
struct sample {
    struct converted *v;
    struct reel_error *err;
    uint32_t channel, tried;
    bool fits, failed;
};
static bool try_sample(void *context, const struct reel_entry *e) {
    struct sample *s = context;
    struct reel_message m = {.time_ns = e->time_ns,
                             .channel = s->channel,
                             .source = s->v->below->channel_source[s->channel],
                             .size = e->size,
                             .entry = *e};
    struct reel_error why = {0};
    size_t size;
    bool read = ros_convert_measure(s->v, &m, &size, &s->fits, &why);
    s->failed = !read && !reel_error_ignore(s->err, &why);
    s->fits = s->fits || !read; /* what cannot be read does not show that it does not fit */
    return !s->failed && !s->fits && ++s->tried < SAMPLES;
}

static bool sample_fits(struct converted *v, uint32_t i, bool *fits, struct reel_error *err) {
    struct sample s = {.v = v, .err = err, .channel = i};
    const struct reel_channel *c = v->below->channels[i];
    struct reel_reader *reader = v->below->readers[v->below->channel_source[i]];
    *fits = true;
    if (reel_index_stats(reel_recording_index(reel_reader_recording(reader)), c->id)->count == 0) {
        return true;
    }
    bool good = reel_reader_reverse(reader, c->id, REEL_TIME_MAX, try_sample, &s, err) && !s.failed;
    v->holds = false;
    *fits = s.fits || s.tried == 0;
    return good;
}

/* Also of encodings whose bytes are those of ROS (ULog). */
static bool is_of_other(const struct reel_channel *c, enum ros_dialect to) {
    return reel_channel_has_profile(c, to == ROS_2 ? "ros1" : "ros2");
}
/* Rules are for the encodings of ROS themselves. */
static bool is_concerned(const struct converted *v, const struct reel_channel *c) {
    return v->rules ? strcmp(c->encoding, "ros1") == 0 || strcmp(c->encoding, "cdr") == 0 : is_of_other(c, v->to);
}

/* What is done, for the report. */
static const char *goal_of(const struct converted *v) {
    return v->rules ? "changed by the rules" : v->to == ROS_2 ? "converted to ROS 2" : "converted to ROS 1";
}

/* t->relay NULL: the channel stays as it is. */
static bool translate_channel(struct converted *v, const struct reel_channel *c, const struct ros_definition *standard,
                              struct ros_translation *t, struct reel_error *err) {
    if (!v->rules) {
        return ros_translate(&v->arena, c, v->to, standard, t, err);
    }
    v->to = strcmp(c->encoding, "ros1") == 0 ? ROS_1 : ROS_2;
    return ros_translate_by_rules(&v->arena, c, v->to, v->rules, v->used, t, err);
}

/* A channel that cannot be translated stays as it is. False: no memory. */
static bool convert_channel(struct converted *v, uint32_t i, const struct ros_definition *standard,
                            struct reel_error *err) {
    const struct reel_channel *c = v->below->channels[i];
    struct ros_translation t;
    struct reel_error why = {0};
    v->channels[i] = c;
    if (!is_concerned(v, c)) {
        return true;
    }
    if (!cancel_check(err)) {
        return false;
    }
    if (!translate_channel(v, c, standard, &t, &why)) {
        reel_loss_add(v->losses, REEL_CHANGES, c, "the messages stay as they are, because they cannot be %s: %s",
                      goal_of(v), why.text);
        return why.code != REEL_NO_MEMORY || reel_fail_memory(err);
    }
    if (!t.relay) {
        return true;
    }
    v->relays[i] = t.relay;
    bool fits = true;
    if (v->sampled++ < SAMPLED_MAX && !sample_fits(v, i, &fits, err)) {
        return false;
    }
    if (!fits) {
        ros_relay_free(TAKE(v->relays[i]));
        reel_loss_add(v->losses, REEL_CHANGES, c,
                      "the messages stay as they are, because they cannot be %s: they do not fit their definition",
                      goal_of(v));
        return true;
    }
    if (!v->rules) {
        ros_report(v, c, &t);
    }
    const struct converted_channel how = {
        .arena = &v->arena, .stream = v->below, .to = v->to, .by_rules = v->rules != NULL};
    return (v->channels[i] = ros_converted_channel(&how, c, &t, err)) != NULL;
}

static bool needs_conversion(const struct converted *v, const struct reel_stream *s) {
    if (v->rules) {
        return v->rules->n_types > 0; /* the report says which of them were of no use */
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        if (is_concerned(v, s->channels[i])) {
            return true;
        }
    }
    return false;
}

static bool convert_channels(struct converted *v, struct reel_error *err) {
    size_t n = (size_t)v->below->n_channels + 1;
    v->channels = calloc(n, sizeof *v->channels);
    v->relays = calloc(n, sizeof *v->relays);
    v->losses = reel_loss_new();
    v->payload = malloc(v->room = PAYLOAD_ROOM);
    v->used = calloc(v->rules ? v->rules->n_types + 1 : 1, sizeof *v->used);
    if (!v->used || !v->channels || !v->relays || !v->losses || !v->payload) {
        return reel_fail_memory(err);
    }
    AUTO(ros_definition_free) struct ros_definition *standard = ros2_standard_types(err);
    for (uint32_t i = 0; standard && i < v->below->n_channels; i++) {
        if (!convert_channel(v, i, standard, err)) {
            return false;
        }
    }
    for (size_t i = 0; v->rules && i < v->rules->n_types; i++) {
        if (!v->used[i]) {
            reel_loss_add(v->losses, REEL_CHANGES, NULL,
                          "no topic has messages with the type %.128s, which a rule names", v->rules->types[i].type);
        }
    }
    return standard;
}

static struct reel_stream *ros_convert(struct reel_stream *below, enum ros_dialect to, const struct ros_rules *rules,
                                       struct reel_error *err) {
    if (!needs_conversion(&(const struct converted){.to = to, .rules = rules}, below)) {
        return below;
    }
    struct converted *v = calloc(1, sizeof *v);
    if (!v) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    v->base = *below;
    v->base.ops = &converted_ops;
    v->base.view_version = (below->view_version * 16 + VERSION) ^ own_definitions_version();
    v->below = below;
    v->to = to;
    v->rules = rules;
    if (!convert_channels(v, err)) {
        converted_free(&v->base);
        return NULL;
    }
    v->base.channels = v->channels;
    v->base.losses = v->losses;
    v->base.left_out = &v->left_out;
    return &v->base;
}

struct reel_stream *ros_convert_to_ros1(struct reel_stream *source, struct reel_error *err) {
    return ros_convert(source, ROS_1, NULL, err);
}
struct reel_stream *ros_convert_to_ros2(struct reel_stream *source, struct reel_error *err) {
    return ros_convert(source, ROS_2, NULL, err);
}
struct reel_stream *ros_rules_open(const struct reel_rules *rules, struct reel_stream *below, struct reel_error *err) {
    return ros_convert(below, ROS_1, (const struct ros_rules *)rules, err);
}
