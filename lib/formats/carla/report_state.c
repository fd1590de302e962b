/* The living actors at a time. The state up to there comes in front of the stream; positions are interpolated between
 * the frame at or before the time and the next one. Where no velocity is recorded, it is the difference between the
 * two. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/carla/names.h"
#include "formats/carla/payload_parts.h"
#include "formats/carla/report.h"
#include "syntax/json_out.h"

struct pose {
    double at[3], turn[3];
};
struct living {
    struct reel_bytes record; /* of its creation; the stream holds it */
    uint32_t id, parent, lights;
    bool attached, has_before, has_after, moving, driven, walks, has_lights, is_lamp, frozen, handbrake, has_doors;
    struct pose before, after;
    double velocity[3]; /* m/s, recorded */
    float steering, throttle, brake, walk_cm_s, lamp_s;
    int32_t gear;
    uint8_t lamp, open; /* open: a bit for each door, by its number */
};
struct moment {
    struct hash_table ids;
    struct living *actors;
    size_t count, capacity, written;
    struct carla_layout added, positions;
    int64_t before_ns, after_ns; /* times of both frames */
    bool has_before, has_after;
    struct grow json, weather; /* weather: as JSON; empty: none is recorded */
};
enum { ROWS_A_STEP = 256, COLUMNS = 29, DOOR_ALL = CARLA_DOORS - 1 };

static bool carla_report_state_needs(const struct reel_carla *pass, enum carla_kind kind) {
    (void)pass;
    return kind == CARLA_FRAME_START || kind == CARLA_EVENT_ADD || kind == CARLA_EVENT_PARENT ||
           kind == CARLA_POSITION || kind == CARLA_TRAFFIC_LIGHT || kind == CARLA_VEHICLE_ANIMATION ||
           kind == CARLA_WALKER_ANIMATION || kind == CARLA_VEHICLE_LIGHT || kind == CARLA_DOOR || kind == CARLA_WEATHER;
}

static bool carla_report_state_begin(struct reel_carla *pass, struct reel_error *err) {
    static const char *const columns[COLUMNS] = {"actor",
                                                 "type",
                                                 "description",
                                                 "role_name",
                                                 "parent",
                                                 "x_m",
                                                 "y_m",
                                                 "z_m",
                                                 "roll_deg",
                                                 "pitch_deg",
                                                 "yaw_deg",
                                                 "speed_m_s",
                                                 "vx_m_s",
                                                 "vy_m_s",
                                                 "vz_m_s",
                                                 "speed_from",
                                                 "steering",
                                                 "throttle",
                                                 "brake",
                                                 "handbrake",
                                                 "gear",
                                                 "walk_cm_s",
                                                 "lights",
                                                 "traffic_light",
                                                 "traffic_light_frozen",
                                                 "traffic_light_s",
                                                 "attributes",
                                                 "doors_open",
                                                 "weather"};
    return carla_columns(pass, columns, COLUMNS, err);
}

/* ---- what is known of an actor */

static struct living *carla_report_state_find(const struct moment *s, uint32_t id) {
    uint32_t index = carla_ids_find(&s->ids, id);
    return index > 0 ? &s->actors[index - 1] : NULL;
}

static bool carla_report_state_create(struct moment *s, const struct carla_packet *p, struct reel_bytes record,
                                      struct reel_error *err) {
    if (s->count >= CARLA_ACTORS_MAX) {
        return reel_fail(err, REEL_LIMIT, "the recording has more than %d actors", CARLA_ACTORS_MAX);
    }
    if (!GROW_ARRAY(s->actors, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    s->actors[s->count++] = (struct living){.record = record, .id = load_u32le(record.data)};
    s->added = p->layout;
    return carla_ids_put(&s->ids, load_u32le(record.data), (uint32_t)s->count, err);
}

static struct pose pose_of(const uint8_t *vecs, const struct carla_layout *layout) {
    struct pose pose;
    carla_vec_read(vecs, layout, pose.at);
    carla_vec_read(vecs + layout->vec, layout, pose.turn);
    return pose;
}

static void take_animation(struct living *actor, const uint8_t *at) {
    actor->driven = true;
    actor->steering = load_f32le(at);
    actor->throttle = load_f32le(at + 4);
    actor->brake = load_f32le(at + 8);
    actor->handbrake = at[12] != 0;
    actor->gear = (int32_t)load_u32le(at + 13);
}

static void take_lamp(struct living *actor, const uint8_t *at) {
    actor->is_lamp = true;
    actor->frozen = at[0] != 0;
    actor->lamp_s = load_f32le(at + 1);
    actor->lamp = at[5];
}

/* The state has the last record of each door, or of all doors and then of single ones. */
static void take_door(struct living *actor, const uint8_t *at) {
    unsigned all = (1u << DOOR_ALL) - 1, bits = at[0] == DOOR_ALL ? all : at[0] < DOOR_ALL ? 1u << at[0] : 0;
    actor->has_doors = true;
    actor->open = (uint8_t)(at[1] != 0 ? actor->open | bits : actor->open & ~bits);
}

/* The numbers of the packet's last record, as a JSON object. */
static bool take_weather(struct moment *s, const struct carla_packet *p, struct reel_error *err) {
    const struct part *of = carla_parts_of(CARLA_WEATHER, 0)->more;
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        s->weather.size = 0;
        for (size_t k = 0; of[k].name; k++) {
            grow_put(&s->weather, k > 0 ? "," : "{", 1);
            json_put_string(&s->weather, bytes_text(of[k].name));
            grow_put(&s->weather, ":", 1);
            json_put_real32(&s->weather, load_f32le(record.data + 4 * k));
        }
        grow_put(&s->weather, "}", 1);
    }
    return !s->weather.failed || reel_fail_memory(err);
}

static void carla_report_state_take_record(struct moment *s, struct living *actor, const struct carla_packet *p,
                                           const uint8_t *at) {
    switch (p->kind) {
    case CARLA_EVENT_PARENT:
        actor->attached = true;
        actor->parent = load_u32le(at);
        break;
    case CARLA_POSITION:
        s->positions = p->layout;
        *(p->initial ? &actor->before : &actor->after) = pose_of(at, &p->layout);
        *(p->initial ? &actor->has_before : &actor->has_after) = true;
        break;
    case CARLA_KINEMATICS:
        actor->moving = true;
        carla_vec_read(at, &p->layout, actor->velocity);
        break;
    case CARLA_TRAFFIC_LIGHT:
        take_lamp(actor, at);
        break;
    case CARLA_VEHICLE_ANIMATION:
        take_animation(actor, at);
        break;
    case CARLA_WALKER_ANIMATION:
        actor->walks = true;
        actor->walk_cm_s = load_f32le(at);
        break;
    case CARLA_VEHICLE_LIGHT:
        actor->has_lights = true;
        actor->lights = load_u32le(at);
        break;
    case CARLA_DOOR:
        take_door(actor, at);
        break;
    default:
        break;
    }
}

static bool take_records(struct moment *s, const struct carla_packet *p, struct reel_error *err) {
    struct cursor c = carla_records(p->kind, p->data);
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && carla_record(p->kind, &p->layout, &c, &record); i++) {
        if (p->kind == CARLA_EVENT_ADD && !carla_report_state_create(s, p, record, err)) {
            return false;
        }
        struct living *actor = p->kind == CARLA_EVENT_ADD ? NULL : carla_report_state_find(s, load_u32le(record.data));
        if (actor) {
            carla_report_state_take_record(s, actor, p, record.data + 4);
        }
    }
    return true;
}

static bool carla_report_state_packet(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err) {
    struct moment *s = pass->state;
    if (p->initial) {
        return p->kind == CARLA_WEATHER ? take_weather(s, p, err) : take_records(s, p, err);
    }
    if (p->kind == CARLA_FRAME_START) { /* of the next frame, or of that after it */
        pass->walked = s->has_after;
        s->after_ns = s->has_after ? s->after_ns : p->time_ns;
        s->has_after = true;
    }
    return pass->walked || p->kind != CARLA_POSITION || take_records(s, p, err);
}

/* ---- the frame at or before the time */

/* Its time, and what is measured in it alone. */
static bool carla_read_frame(struct reel_carla *pass, struct reel_error *err) {
    struct moment *s = pass->state;
    struct reel_recording *recording = reel_reader_recording(pass->stream->readers[0]);
    const char *topics[] = {carla_facts[CARLA_FRAME_START].topic, carla_facts[CARLA_KINEMATICS].topic};
    struct reel_selection last = selection_all;
    last.topics = topics;
    last.n_topics = 2;
    last.start_ns = last.end_ns = pass->question.at_ns + 1;
    last.last_per_topic = true;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &last, err);
    enum reel_step step = REEL_STEP_ERROR;
    struct reel_message m;
    while (stream && (step = stream_next(stream, &m, err)) == REEL_STEP_MESSAGE) {
        struct carla_packet p = {.initial = true, .time_ns = m.time_ns};
        if (!carla_channel_read(stream->channels[m.channel], &p.id, &p.kind, &p.layout) || m.size > CARLA_PACKET_MAX) {
            continue;
        }
        if (p.kind == CARLA_FRAME_START) {
            s->has_before = true;
            s->before_ns = m.time_ns;
        } else if (!reel_stream_payload(stream, &m, &p.data, err) ||
                   (s->has_before && m.time_ns == s->before_ns && carla_count(p.kind, &p.layout, p.data, &p.total) &&
                    !take_records(s, &p, err))) {
            return false;
        }
    }
    return step == REEL_STEP_END;
}

/* ---- rows */

static double fraction_of(const struct moment *s, int64_t at_ns) {
    double step = (double)(s->after_ns - s->before_ns);
    return s->has_before && s->has_after && step > 0 ? fmin(1, (double)(at_ns - s->before_ns) / step) : 0;
}

static void interpolate(struct living *a, double fraction, bool has_after) {
    for (int i = 0; a->has_after && has_after && i < 3; i++) {
        double turn = fmod(a->after.turn[i] - a->before.turn[i], 360); /* the shorter way */
        turn = turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn;
        a->before.at[i] += fraction * (a->after.at[i] - a->before.at[i]);
        a->before.turn[i] += fraction * turn;
    }
}

static void put_velocity(const struct moment *s, const struct living *a, double turn, struct reel_cell cells[5]) {
    double v[3], step = (double)(s->after_ns - s->before_ns) / 1e9;
    bool differs = !a->moving && a->has_before && a->has_after && s->has_before && step > 0;
    for (int i = 0; i < 3; i++) {
        v[i] = a->moving ? a->velocity[i] : differs ? (a->after.at[i] - a->before.at[i]) / 100 / step : 0;
    }
    if (a->moving || differs) {
        cells[0] = reel_cell_real32((float)sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
        cells[1] = reel_cell_real32((float)v[0]);
        cells[2] = reel_cell_real32((float)(v[1] * turn + 0));
        cells[3] = reel_cell_real32((float)v[2]);
        cells[4] = reel_cell_text(bytes_text(a->moving ? "recorded" : "difference"));
    }
}

static struct reel_cell lights_cell(struct grow *json, uint32_t bits) {
    size_t from = json->size;
    grow_put(json, "[", 1);
    for (size_t i = 0, n = 0; i < CARLA_LIGHTS; i++) {
        if (bits & carla_lights[i].bit) {
            grow_put(json, ",", n++ > 0);
            json_put_string(json, bytes_text(carla_lights[i].name));
        }
    }
    grow_put(json, "]", 1);
    return json->failed ? (struct reel_cell){0} : reel_cell_json(bytes_of(json->data + from, json->size - from));
}

static struct reel_cell doors_cell(struct grow *json, uint8_t open) {
    grow_put(json, "[", 1);
    for (size_t i = 0; i < CARLA_DOORS; i++) {
        if (open & 1u << i) {
            grow_put(json, ",", json->size > 1);
            json_put_string(json, bytes_text(carla_door_names[i]));
        }
    }
    grow_put(json, "]", 1);
    return json->failed ? (struct reel_cell){0} : reel_cell_json(bytes_of(json->data, json->size));
}

static void put_controls(const struct living *a, struct reel_cell *cells) {
    if (a->driven) {
        cells[0] = reel_cell_real32(a->steering);
        cells[1] = reel_cell_real32(a->throttle);
        cells[2] = reel_cell_real32(a->brake);
        cells[3] = reel_cell_bool(a->handbrake);
        cells[4] = reel_cell_integer(a->gear);
    }
    if (a->walks) {
        cells[5] = reel_cell_real32(a->walk_cm_s);
    }
    if (a->is_lamp) {
        cells[7] = reel_cell_text(bytes_text(carla_name_of(carla_state_names, a->lamp)));
        cells[8] = reel_cell_bool(a->frozen);
        cells[9] = reel_cell_real32(a->lamp_s);
    }
}

static bool write_actor(struct reel_carla *pass, struct living *a, struct reel_error *err) {
    struct moment *s = pass->state;
    const double turn = pass->question.ros_frame ? -1 : 1; /* mirrored with the y axis: y itself, pitch and yaw; + 0:
                                                              never -0 */
    struct carla_added added;
    struct reel_bytes role = {0};
    struct reel_cell cells[COLUMNS] = {reel_cell_integer(a->id)};
    if (!carla_added_read(a->record, &s->added, &added)) {
        return true;
    }
    const struct carla_layout *layout = a->has_before ? &s->positions : &s->added;
    put_velocity(s, a, turn, cells + 11);
    if (a->has_before) {
        interpolate(a, fraction_of(s, pass->question.at_ns), s->has_after);
    } else {
        memcpy(a->before.at, added.location, sizeof added.location);
        memcpy(a->before.turn, added.rotation, sizeof added.rotation);
    }
    for (int i = 0; i < 3; i++) {
        cells[5 + i] = carla_metres(a->before.at[i] * (i == 1 ? turn : 1) + 0, layout);
        cells[8 + i] = carla_degrees(a->before.turn[i] * (i > 0 ? turn : 1) + 0, layout);
    }
    put_controls(a, cells + 16);
    s->json.size = 0;
    struct grow lights = {0}, doors = {0};
    cells[26] = carla_attributes_cell(&s->json, &added, &role);
    cells[22] = a->has_lights ? lights_cell(&lights, a->lights) : cells[22];
    cells[27] = a->has_doors ? doors_cell(&doors, a->open) : cells[27];
    cells[28] = s->weather.size > 0 ? reel_cell_json(bytes_of(s->weather.data, s->weather.size)) : cells[28];
    cells[1] = reel_cell_text(bytes_text(carla_type_name(added.type, &s->added)));
    cells[2] = reel_cell_text(added.description);
    cells[3] = role.data ? reel_cell_text(role) : cells[3];
    cells[4] = a->attached ? reel_cell_integer(a->parent) : cells[4];
    bool good =
        s->json.failed || lights.failed || doors.failed ? reel_fail_memory(err) : carla_row(pass, cells, COLUMNS, err);
    free(lights.data);
    free(doors.data);
    return good;
}

static bool carla_report_state_end(struct reel_carla *pass, bool *more, struct reel_error *err) {
    struct moment *s = pass->state;
    if (s->written == 0 && !carla_read_frame(pass, err)) {
        return false;
    }
    for (int i = 0; i < ROWS_A_STEP && s->written < s->count; i++) {
        if (!write_actor(pass, &s->actors[s->written++], err)) {
            return false;
        }
    }
    *more = s->written < s->count;
    return *more || carla_rows_end(pass, err);
}

static void carla_report_state_free_state(void *state) {
    struct moment *s = state;
    hash_table_free(&s->ids);
    free(s->actors);
    free(s->json.data);
    free(s->weather.data);
}

const struct carla_question carla_state = {.needs = carla_report_state_needs,
                                           .begin = carla_report_state_begin,
                                           .packet = carla_report_state_packet,
                                           .end = carla_report_state_end,
                                           .free = carla_report_state_free_state,
                                           .state_size = sizeof(struct moment)};
