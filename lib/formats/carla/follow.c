/* A CARLA recording seen from one actor: the positions of all actors in its frame, which moves with it. Axes, units and
 * the order of the rotations are CARLA's: x forward, y right, z up, cm, and roll, pitch, yaw in degrees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/carla/follow.h"
#include "formats/carla/layout.h"
#include "stream/stream.h"

enum { FOLLOW_VERSION = 1 }; /* part of every ETag: raise it when any output byte changes */

struct initial { /* a payload put in front, and as the actor sees it */
    const uint8_t *owned, *seen;
};

struct follow {
    struct reel_stream base;
    struct reel_stream *below;
    struct reel_stream_ops ops;
    uint32_t actor;
    struct carla_layout *layouts; /* by channel; vec 0: not one of positions */
    struct arena arena;
    struct initial *fronts; /* the same in every round of a loop */
    size_t n_fronts, cap_fronts;
    uint8_t *payload;
    size_t room;
};

struct frame {
    double at[3], x[3], y[3], z[3]; /* its origin and axes in the world */
};

/* ---- geometry */

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void read_vec(const uint8_t *p, const struct carla_layout *layout, double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = layout->vec == CARLA_VEC_DOUBLE ? load_f64le(p + (ptrdiff_t)i * 8)
                                                 : (double)load_f32le(p + (ptrdiff_t)i * 4);
    }
}

static void write_vec(uint8_t *p, const struct carla_layout *layout, const double v[3]) {
    for (int i = 0; i < 3; i++) {
        double value = v[i] + 0; /* never -0 */
        float single = (float)value;
        uint64_t wide;
        uint32_t bits;
        memcpy(&wide, &value, sizeof wide);
        memcpy(&bits, &single, sizeof bits);
        layout->vec == CARLA_VEC_DOUBLE ? store_u64le(p + (ptrdiff_t)i * 8, wide)
                                        : store_u32le(p + (ptrdiff_t)i * 4, bits);
    }
}

/* `turn`: roll, pitch and yaw. */
static struct frame frame_of(const double at[3], const double turn[3]) {
    double r = turn[0] * M_PI / 180, p = turn[1] * M_PI / 180, y = turn[2] * M_PI / 180;
    double cr = cos(r), sr = sin(r), cp = cos(p), sp = sin(p), cy = cos(y), sy = sin(y);
    return (struct frame){.at = {at[0], at[1], at[2]},
                          .x = {cp * cy, cp * sy, sp},
                          .y = {sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, -sr * cp},
                          .z = {-(cr * sp * cy + sr * sy), cy * sr - cr * sp * sy, cr * cp}};
}

static void turn_of(const struct frame *f, double turn[3]) {
    double yaw = atan2(f->x[1], f->x[0]), level[3] = {-sin(yaw), cos(yaw), 0};
    turn[0] = atan2(dot(f->z, level), dot(f->y, level)) * 180 / M_PI;
    turn[1] = atan2(f->x[2], hypot(f->x[0], f->x[1])) * 180 / M_PI;
    turn[2] = yaw * 180 / M_PI;
}

static void into(const struct frame *own, const double v[3], double out[3]) {
    const double in[3] = {v[0], v[1], v[2]};
    out[0] = dot(in, own->x);
    out[1] = dot(in, own->y);
    out[2] = dot(in, own->z);
}

static struct frame frame_read(const uint8_t *record, const struct carla_layout *layout) {
    double at[3], turn[3];
    read_vec(record + 4, layout, at);
    read_vec(record + 4 + layout->vec, layout, turn);
    return frame_of(at, turn);
}

/* Rewrites a record of positions. */
static void see_from(const struct frame *own, const struct carla_layout *layout, uint8_t *record) {
    struct frame f = frame_read(record, layout);
    double turn[3];
    const double way[3] = {f.at[0] - own->at[0], f.at[1] - own->at[1], f.at[2] - own->at[2]};
    into(own, way, f.at);
    into(own, f.x, f.x);
    into(own, f.y, f.y);
    into(own, f.z, f.z);
    turn_of(&f, turn);
    write_vec(record + 4, layout, f.at);
    write_vec(record + 4 + layout->vec, layout, turn);
}

/* ---- messages */

/* The record of the actor; NULL: it has no position there. */
static const uint8_t *find_record(const struct follow *f, const struct carla_layout *layout, struct reel_bytes data) {
    struct cursor c = carla_records(CARLA_POSITION, data);
    struct reel_bytes record;
    while (carla_record(CARLA_POSITION, layout, &c, &record)) {
        if (load_u32le(record.data) == f->actor) {
            return record.data;
        }
    }
    return NULL;
}

/* The payload as the actor sees it, in f->payload; *has false: the actor has no position there. */
static bool carla_convert(struct follow *f, const struct carla_layout *layout, struct reel_bytes in, bool *has,
                          struct reel_error *err) {
    const uint8_t *at = find_record(f, layout, in);
    *has = at;
    if (!at) {
        return true;
    }
    if (in.size > f->room) {
        uint8_t *larger = realloc(f->payload, in.size);
        if (!larger) {
            return reel_fail_memory(err);
        }
        f->payload = larger;
        f->room = in.size;
    }
    struct frame own = frame_read(at, layout);
    memcpy(f->payload, in.data, in.size);
    struct cursor c = carla_records(CARLA_POSITION, in);
    struct reel_bytes record;
    while (carla_record(CARLA_POSITION, layout, &c, &record)) {
        see_from(&own, layout, f->payload + (record.data - in.data));
    }
    return true;
}

/* A payload put in front belongs to the stream below: f->payload is copied for it, once. */
static bool give(struct follow *f, struct reel_message *m, struct reel_error *err) {
    size_t i = 0;
    if (!m->owned) {
        return true;
    }
    while (i < f->n_fronts && f->fronts[i].owned != m->owned) {
        i++;
    }
    if (i == f->n_fronts) {
        const uint8_t *copy = arena_copy(&f->arena, f->payload, m->size);
        if (!copy || !GROW_ARRAY(f->fronts, f->n_fronts, f->cap_fronts)) {
            return reel_fail_memory(err);
        }
        f->fronts[f->n_fronts++] = (struct initial){m->owned, copy};
    }
    m->owned = f->fronts[i].seen;
    return true;
}

static enum reel_step follow_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct follow *f = (struct follow *)base;
    enum reel_step step;
    while ((step = stream_next(f->below, m, err)) == REEL_STEP_MESSAGE) {
        const struct carla_layout *layout = &f->layouts[m->channel];
        struct reel_bytes data;
        bool has = true;
        if (layout->vec == 0) {
            break;
        }
        if (!reel_stream_payload(f->below, m, &data, err) || !carla_convert(f, layout, data, &has, err)) {
            return REEL_STEP_ERROR;
        }
        if (has) {
            return give(f, m, err) ? step : REEL_STEP_ERROR;
        }
    }
    return step;
}

static bool follow_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                           struct reel_error *err) {
    struct follow *f = (struct follow *)base;
    const struct carla_layout *layout = &f->layouts[m->channel];
    bool has = true;
    if (!reel_stream_payload(f->below, m, out, err) ||
        (layout->vec > 0 && !carla_convert(f, layout, *out, &has, err))) {
        return false;
    }
    *out = has && layout->vec > 0 ? bytes_of(f->payload, out->size) : *out;
    return has ||
           reel_fail(err, REEL_CHANGED, "the message at %llu is another now", (unsigned long long)m->entry.offset);
}

static bool follow_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    return stream_seek(((struct follow *)base)->below, mark, err);
}

static void follow_free(struct reel_stream *base) {
    struct follow *f = (struct follow *)base;
    reel_stream_free(f->below);
    arena_free(&f->arena);
    free(f->fronts);
    free(f->layouts);
    free(f->payload);
    free(f);
}

/* ---- opening */

struct reel_stream *reel_carla_follow(struct reel_stream *below, uint32_t actor, struct reel_error *err) {
    struct follow *f = calloc(1, sizeof *f);
    if (!f || !(f->layouts = calloc((size_t)below->n_channels + 1, sizeof *f->layouts))) {
        reel_stream_free(below);
        free(f);
        reel_fail_memory(err);
        return NULL;
    }
    for (uint32_t i = 0; i < below->n_channels; i++) {
        struct carla_layout layout = {.vec = 0};
        enum carla_kind kind;
        uint8_t id;
        if (carla_channel_read(below->channels[i], &id, &kind, &layout) && kind == CARLA_POSITION) {
            f->layouts[i] = layout;
            f->layouts[i].vec = layout.vec ? layout.vec : CARLA_VEC_FLOAT;
        }
    }
    f->base = *below;
    f->ops = (struct reel_stream_ops){
        .next = follow_next, .seek = follow_seek, .free = follow_free, .payload = follow_payload};
    f->base.ops = &f->ops;
    f->base.view_version = below->view_version * 16 + FOLLOW_VERSION;
    f->below = below;
    f->actor = actor;
    return &f->base;
}

/* Whether one of the records of `channel`, which tell what actors were created, names the actor. */
static bool is_created(struct reel_recording *recording, const struct reel_channel *channel,
                       const struct carla_layout *layout, uint32_t actor, bool *is, struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *stream = stream_of_channel(recording, &channel->id, err);
    struct reel_message m;
    enum reel_step step = stream ? REEL_STEP_MESSAGE : REEL_STEP_ERROR;
    while (!*is && step == REEL_STEP_MESSAGE && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        struct reel_bytes data, record;
        if (!reel_stream_payload(stream, &m, &data, err)) {
            return false;
        }
        struct cursor c = carla_records(CARLA_EVENT_ADD, data);
        while (!*is && carla_record(CARLA_EVENT_ADD, layout, &c, &record)) {
            *is = load_u32le(record.data) == actor;
        }
    }
    return step != REEL_STEP_ERROR;
}

bool reel_carla_has_actor(struct reel_recording *recording, uint32_t actor, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    bool log = false, is = false;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && !is; i++) {
        const struct reel_channel *channel = reel_index_channel(index, i);
        struct carla_layout layout = {.vec = 0};
        enum carla_kind kind;
        uint8_t id;
        if (carla_channel_read(channel, &id, &kind, &layout)) {
            log = true;
            if (kind == CARLA_EVENT_ADD && !is_created(recording, channel, &layout, actor, &is, err)) {
                return false;
            }
        }
    }
    return is || (log ? reel_fail(err, REEL_NOT_FOUND, "no actor %u is in this recording", actor)
                      : reel_fail(err, REEL_UNSUPPORTED, "only actors of CARLA recordings can be followed"));
}
