/* See trajectory.h. */
#include "formats/molecules/trajectory.h"

#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "formats/nanover/report.h"

enum {
    GROUP_BYTES = 1 << 20,
    GROUP_FRAMES = 4096,
    PROGRESS_MESSAGES = 256,
    TEXT_BYTES = 48, /* that a text takes besides itself, at most */
    DEPTH = REEL_DEPTH_MAX - 2
};

static const char *const keys[TRAJECTORY_KEYS] = {
    [TRAJECTORY_POSITIONS] = "particle.positions", [TRAJECTORY_VELOCITIES] = "particle.velocities",
    [TRAJECTORY_FORCES] = "particle.forces",       [TRAJECTORY_SYSTEM_FORCES] = "particle.forces.system",
    [TRAJECTORY_BOX] = "system.box.vectors",       [TRAJECTORY_TIME] = "system.simulation.time",
    [TRAJECTORY_ELEMENTS] = "particle.elements",   [TRAJECTORY_RESIDUES] = "particle.residues",
    [TRAJECTORY_CHAINS] = "residue.chains",        [TRAJECTORY_BONDS] = "bond.pairs",
    [TRAJECTORY_NAMES] = "particle.names",         [TRAJECTORY_RESIDUE_NAMES] = "residue.names",
    [TRAJECTORY_RESIDUE_IDS] = "residue.ids",      [TRAJECTORY_CHAIN_NAMES] = "chain.names",
};

/* ---- values of one frame */

struct values {
    struct reel_bytes of[TRAJECTORY_KEYS]; /* as MessagePack, in the message; empty: it has no such key */
};

/* Of equal keys the last is used. */
static void pick(struct cursor frame, struct values *v) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(&frame, &map);
    *v = (struct values){0};
    for (uint64_t i = 0; r == MSGPACK_OK && i < map.count; i++) {
        struct reel_bytes key;
        r = msgpack_key(&frame, &key, DEPTH, &faults);
        const uint8_t *at = frame.at;
        r = r == MSGPACK_OK ? msgpack_skip(&frame, DEPTH, &faults) : r;
        for (unsigned k = 0; r == MSGPACK_OK && k < TRAJECTORY_KEYS; k++) {
            if (bytes_is(key, keys[k])) {
                v->of[k] = bytes_of(at, (size_t)(frame.at - at));
            }
        }
    }
}

static bool unpack(const struct values *v, enum trajectory_key key, struct grow *out, struct reel_error *err) {
    out->size = 0;
    return v->of[key].size == 0 ||
           nanover_packed_value(cursor_of(v->of[key]), nanover_packed_key(bytes_text(keys[key])), out) ||
           reel_fail_memory(err);
}

static bool unpack_frame(const struct values *v, struct trajectory_run *run, struct reel_error *err) {
    enum trajectory_key forces = v->of[TRAJECTORY_FORCES].size > 0 ? TRAJECTORY_FORCES : TRAJECTORY_SYSTEM_FORCES;
    return unpack(v, TRAJECTORY_POSITIONS, &run->positions, err) &&
           unpack(v, TRAJECTORY_VELOCITIES, &run->velocities, err) && unpack(v, forces, &run->forces, err);
}

static bool read_values(struct reel_write *w, const struct reel_message *m, struct values *v, struct reel_error *err) {
    struct reel_bytes payload;
    struct nanover_body body;
    *v = (struct values){0};
    if (!stream_decodable(w->stream, m, &payload, err)) {
        return false;
    }
    if (nanover_message_body(payload, &body) == MSGPACK_OK && body.has_frame) {
        pick(body.frame, v);
    }
    return true;
}

/* ---- the survey: which messages are frames */

struct survey {
    struct trajectory *t;
    const struct trajectory_needs *needs;
    struct trajectory_box box; /* the latest of this run */
    bool has_box, box_is_new, has_time, ended;
    uint64_t last_index; /* of a frame, plus 1; 0: none */
    double time_ps;
    uint64_t left_out;
    uint64_t kept; /* bytes of topologies, also of forgotten ones */
};

/* An array of `*room` items with room for one more; arrays that it has outgrown stay in the plan. */
static void *room_for(struct reel_write *w, void *items, uint64_t n, uint64_t *room, size_t size,
                      struct reel_error *err) {
    if (n < *room) {
        return items;
    }
    uint64_t more = *room > 0 ? 2 * *room : 64;
    void *grown = reel_write_keep(w, more * size, err);
    if (grown && n > 0) {
        memcpy(grown, items, n * size);
    }
    *room = grown ? more : *room;
    return grown;
}

static void forget_run(struct survey *s) {
    s->has_box = s->has_time = false;
    memset(s->t->packed, 0, sizeof s->t->packed);
    memset(s->t->texts, 0, sizeof s->t->texts);
}

static bool take_box(struct survey *s, const struct values *v, struct trajectory_run *run, struct reel_error *err) {
    struct trajectory_box box;
    bool fine = true;
    if (v->of[TRAJECTORY_BOX].size == 0) {
        return true;
    }
    if (!unpack(v, TRAJECTORY_BOX, &run->box, err)) {
        return false;
    }
    for (unsigned i = 0; i < 9 && run->box.size == 36; i++) {
        box.rows[i] = load_f32le(run->box.data + 4 * (size_t)i);
        fine &= isfinite(box.rows[i]);
    }
    if (run->box.size == 36 && fine) {
        s->box_is_new |= !s->has_box || memcmp(&box, &s->box, sizeof box) != 0;
        s->box = box;
        s->has_box = true;
    }
    return true;
}

static void take_time(struct survey *s, const struct values *v) {
    struct cursor c = cursor_of(v->of[TRAJECTORY_TIME]);
    struct msgpack_item item;
    if (v->of[TRAJECTORY_TIME].size > 0 && msgpack_read(&c, &item) == MSGPACK_OK && msgpack_is_number(&item) &&
        fabs(item.number) <= 1e30) {
        s->time_ps = item.number;
        s->has_time = true;
    }
}

static struct reel_bytes keep_bytes(struct reel_write *w, struct reel_bytes b, struct reel_error *err) {
    uint8_t *copy = reel_write_keep(w, b.size, err);
    if (copy && b.size > 0) {
        memcpy(copy, b.data, b.size);
    }
    return bytes_of(copy, b.size);
}

/* A list of texts; numbers become texts. */
static bool take_texts(struct reel_write *w, struct reel_bytes value, struct trajectory_texts *texts,
                       struct reel_error *err) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item list, item;
    struct reel_bytes copy = keep_bytes(w, value, err);
    struct cursor c = cursor_of(copy);
    if (!copy.data || msgpack_read(&c, &list) != MSGPACK_OK || list.kind != MSGPACK_ARRAY ||
        list.count > cursor_left(&c)) { /* an item has at least a byte */
        return copy.data != NULL;
    }
    uint64_t count = list.count < REEL_TOPOLOGY_TEXTS_MAX ? list.count : REEL_TOPOLOGY_TEXTS_MAX;
    if (!(texts->items = reel_write_keep(w, count * sizeof *texts->items, err))) {
        return false;
    }
    while (texts->n < count && msgpack_take(&c, &item, DEPTH, &faults) == MSGPACK_OK) {
        char number[24];
        struct reel_bytes text = item.kind == MSGPACK_STR ? item.bytes : bytes_of("", 0);
        if (msgpack_is_number(&item) && fabs(item.number) < 1e15) {
            snprintf(number, sizeof number, "%lld", (long long)item.number);
            text = keep_bytes(w, bytes_text(number), err);
        }
        if (!text.data) {
            return false;
        }
        texts->items[texts->n++] = text;
    }
    return true;
}

static bool has_key(const struct trajectory *t, unsigned key) {
    return key < TRAJECTORY_NAMES ? t->packed[key].data != NULL : t->texts[key].items != NULL;
}

static bool take_topology(struct reel_write *w, struct survey *s, const struct values *v, struct trajectory_run *run,
                          struct reel_error *err) {
    for (unsigned key = TRAJECTORY_ELEMENTS; key < TRAJECTORY_KEYS; key++) {
        if (v->of[key].size == 0 || has_key(s->t, key)) {
            continue;
        }
        if (key >= TRAJECTORY_NAMES) {
            if (!take_texts(w, v->of[key], &s->t->texts[key], err)) {
                return false;
            }
        } else if (!unpack(v, key, &run->box, err) ||
                   !(s->t->packed[key] = keep_bytes(w, bytes_of(run->box.data, run->box.size), err)).data) {
            return false;
        }
        s->kept += v->of[key].size + s->t->texts[key].n * TEXT_BYTES + s->t->packed[key].size;
        if (s->kept > REEL_TOPOLOGY_BYTES_MAX) {
            return reel_fail(err, REEL_LIMIT, "the topologies of the runs take more than %d MiB",
                             REEL_TOPOLOGY_BYTES_MAX >> 20);
        }
    }
    return true;
}

static bool is_whole(const struct trajectory *t) {
    bool whole = t->n > 0;
    for (unsigned key = TRAJECTORY_ELEMENTS; key < TRAJECTORY_KEYS; key++) {
        whole &= has_key(t, key);
    }
    return whole;
}

static bool fits(const struct grow *positions, double limit) {
    bool fine = true;
    for (size_t i = 0; limit > 0 && i < positions->size && fine; i += 4) {
        fine = fabs((double)load_f32le(positions->data + i)) <= limit; /* not for NaN */
    }
    return fine;
}

static bool begin(struct reel_write *w, struct survey *s, const struct trajectory_run *run, struct reel_error *err) {
    struct trajectory *t = s->t;
    t->particles = (uint32_t)(run->positions.size / 12);
    t->has_box = s->has_box;
    t->has_velocities = t->has_forces = true;
    if (s->needs->topology) {
        t->positions = keep_bytes(w, bytes_of(run->positions.data, run->positions.size), err);
        t->velocities = keep_bytes(w, bytes_of(run->velocities.data, run->velocities.size), err);
    }
    t->boxes = room_for(w, NULL, 0, &t->room_boxes, sizeof *t->boxes, err);
    t->n_boxes = 1;
    return t->boxes && (!s->needs->topology || (t->positions.data && t->velocities.data));
}

static bool add_frame(struct reel_write *w, struct survey *s, uint64_t message, const struct trajectory_run *run,
                      struct reel_error *err) {
    struct trajectory *t = s->t;
    if (t->n == REEL_TRAJECTORY_FRAMES_MAX || message > UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "a trajectory has at most %d frames; take a shorter time range",
                         REEL_TRAJECTORY_FRAMES_MAX);
    }
    if (t->n == 0 && !begin(w, s, run, err)) {
        return false;
    }
    if (s->has_box && (s->box_is_new || t->n_boxes == 1)) {
        if (!(t->boxes = room_for(w, t->boxes, t->n_boxes, &t->room_boxes, sizeof *t->boxes, err))) {
            return false;
        }
        t->boxes[t->n_boxes++] = s->box;
        s->box_is_new = false;
    }
    if (!(t->frames = room_for(w, t->frames, t->n, &t->room, sizeof *t->frames, err))) {
        return false;
    }
    t->has_velocities &= run->velocities.size == run->positions.size;
    t->has_forces &= run->forces.size == run->positions.size;
    t->frames[t->n] = (struct trajectory_frame){.message = (uint32_t)message,
                                                .box = (uint32_t)(t->n_boxes - 1),
                                                .time_ps = (float)(s->has_time ? s->time_ps : (double)t->n)};
    t->n++;
    return true;
}

/* A reset begins a run. Where the selection is without it (every=), the indices of frames go back. */
static bool begins_run(struct survey *s, const struct reel_message *m) {
    uint64_t index = nanover_frame_index_plus_1(&m->entry);
    bool begins = nanover_is_reset(&m->entry) || (index > 0 && index < s->last_index);
    s->last_index = index > 0 ? index : s->last_index;
    return begins;
}

static bool survey_message(struct reel_write *w, struct survey *s, uint64_t number, const struct reel_message *m,
                           struct reel_error *err) {
    struct trajectory *t = s->t;
    struct trajectory_run *run = w->run;
    struct values v;
    if (begins_run(s, m)) {
        s->ended |= t->n > 0;
        if (!s->ended) {
            forget_run(s);
        }
    }
    if (s->ended) { /* without reading what it has */
        s->left_out += s->last_index > 0 ? nanover_frame_index_plus_1(&m->entry) > 0
                                         : nanover_carries(w->stream->channels[m->channel], "frame");
        return true;
    }
    if (!read_values(w, m, &v, err) || !take_box(s, &v, run, err) || !unpack_frame(&v, run, err)) {
        return false;
    }
    take_time(s, &v);
    if (run->positions.size > 0) {
        bool odd = run->positions.size % 12 != 0 || (t->n > 0 && run->positions.size / 12 != t->particles) ||
                   !fits(&run->positions, s->needs->limit_nm);
        s->left_out += odd;
        if (!odd && !add_frame(w, s, number, run, err)) {
            return false;
        }
    }
    return !s->needs->topology || take_topology(w, s, &v, run, err);
}

bool trajectory_survey(struct reel_write *w, const struct trajectory_needs *needs, struct reel_error *err) {
    struct survey s = {.t = w->totals, .needs = needs};
    struct reel_message m;
    enum reel_step step = REEL_STEP_END;
    if (!w->planning) {
        return true;
    }
    for (uint64_t number = 0; !(needs->topology && (is_whole(s.t) || s.ended)) &&
                              (step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE;
         number++) {
        if (!survey_message(w, &s, number, &m, err) ||
            (number % PROGRESS_MESSAGES == 0 && !reel_write_progress(w, number, err))) {
            return false;
        }
    }
    if (step == REEL_STEP_ERROR || !stream_rewind(w->stream, err)) {
        return false;
    }
    if (s.t->n == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "no frame of this selection has positions that %s files can hold",
                         w->writer->name);
    }
    if (!needs->topology) {
        reel_write_leave_out(w, s.left_out);
    }
    return true;
}

/* ---- messages */

static bool put_frame(struct reel_write *w, const struct reel_message *m, uint64_t number, trajectory_put *put,
                      struct reel_sink *out, struct reel_error *err) {
    const struct trajectory *t = w->totals;
    struct trajectory_run *run = w->run;
    struct values v;
    if (!read_values(w, m, &v, err) || !unpack_frame(&v, run, err)) {
        return false;
    }
    size_t size = (size_t)t->particles * 12;
    if (run->positions.size != size || (t->has_velocities && run->velocities.size != size) ||
        (t->has_forces && run->forces.size != size)) {
        return reel_fail(err, REEL_CHANGED, "a frame has other values than were planned");
    }
    return put(t, number, run, out, err);
}

bool trajectory_put_frames(struct reel_write *w, uint64_t frame_size, bool packs, trajectory_put *put,
                           struct reel_sink *out, struct reel_error *err) {
    struct trajectory *t = w->totals;
    if (w->planning && w->group == 0) {
        uint64_t fit = frame_size < GROUP_BYTES ? GROUP_BYTES / frame_size : 1;
        t->per_group = fit < GROUP_FRAMES ? fit : GROUP_FRAMES;
    }
    uint64_t number = w->group * t->per_group, end = number + t->per_group;
    uint64_t message = w->group > 0 && number < t->n ? t->frames[number].message : 0; /* it begins with a frame */
    struct reel_message m;
    enum reel_step step;
    if (packs) {
        reel_write_pack(w);
    }
    for (; (step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE; message++) {
        if (number >= t->n || t->frames[number].message != message) {
            continue;
        }
        if (number == end) {
            reel_write_unget(w, &m);
            return true;
        }
        if (w->planning) {
            reel_sink_fill(out, 0, frame_size);
        } else if (!put_frame(w, &m, number, put, out, err)) {
            return false;
        }
        number++;
    }
    return step == REEL_STEP_END;
}

/* ---- what is accepted */

bool trajectory_accepts(const struct reel_channel *channel, struct reel_loss *loss) {
    if (strcmp(channel->encoding, NANOVER_ENCODING) != 0) {
        reel_loss_add(loss, REEL_REFUSES, channel,
                      "a trajectory is made of NanoVer's frames, not of %s; select the frames with topic=",
                      channel->encoding[0] ? channel->encoding : "messages of no known encoding");
        return false;
    }
    if (nanover_carries(channel, "state") && !nanover_carries(channel, "frame")) {
        reel_loss_add(loss, REEL_LOSES, channel, "a trajectory has frames only");
    }
    return true;
}

bool trajectory_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    if (stream->n_sources > 1) {
        reel_loss_add(loss, REEL_REFUSES, NULL, "a trajectory is of one recording, not of %u", stream->n_sources);
    }
    return stream->n_sources <= 1;
}

void trajectory_close(struct reel_write *w) {
    struct trajectory_run *run = w->run;
    grow_done(&run->positions);
    grow_done(&run->velocities);
    grow_done(&run->forces);
    grow_done(&run->box);
    grow_done(&run->integers);
    grow_done(&run->bits);
}
