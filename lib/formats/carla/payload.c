/* Decodes CARLA packets: {"frame":…} for values that a frame has once; records of actors by the actor's id,
 * {"actors":{"24":{…}}}, so that actors.24.location.x stays the same actor when others appear or go; lists for records
 * without such an id. Numbers and units are those of the file. One table describes each packet, and one walk reads them
 * all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "formats/carla/names.h"
#include "formats/carla/payload.h"
#include "syntax/visitor.h"

const char *const carla_type_names[] = {"other",        "vehicle", "walker",  "traffic_light",
                                        "traffic_sign", "sensor",  "invalid", NULL};
const char *const carla_state_names[] = {"red", "yellow", "green", "off", NULL};
const char *const carla_scene_names[] = {"none", "vehicle", "street", "building", "other", NULL};
const char *const carla_door_names[] = {"Front Left", "Front Right", "Rear Left", "Rear Right",
                                        "Hood",       "Trunk",       "All",       NULL};
const char *const carla_attribute_names[] = {"bool", "int", "float", "string", "color", NULL};
const struct carla_light carla_lights[CARLA_LIGHTS] = {
    {"Position", 1}, {"LowBeam", 2},    {"HighBeam", 4}, {"Brake", 8},      {"RightBlinker", 16}, {"LeftBlinker", 32},
    {"Reverse", 64}, {"Interior", 256}, {"Fog", 128},    {"Special1", 512}, {"Special2", 1024},
};

/* --- what each packet holds --- */

enum what {
    U8,
    FLAG,
    NAMED,      /* u8, then "…_name" from the table `more` */
    ACTOR_TYPE, /* u8, then "…_name" by the version */
    ATTRIBUTE,  /* u8: only its name is emitted */
    U32,
    I32,
    BITS, /* u32, then "…_on" */
    U64,
    F32,
    F64,
    XYZ,    /* a vec */
    RPY,    /* a vec of angles */
    METRES, /* three floats, whatever the type of a vec */
    TEXT,
    LIST,    /* u16 n, n times `more` */
    LIST32,  /* u32 n */
    NUMBERS, /* u16 n, n u32 */
    KEYED,   /* u16 n, n records: a u32 id and `more` */
    KEYED_I32,
};
struct part { /* tables end with {0} */
    const char *name;
    enum what what;
    const void *more;
    const char *unit; /* unit of a part of a packet; parts of records have the unit of their list */
};

#define PARTS static const struct part
#define P(name, what)                                                                                                  \
    { name, what, NULL, "" }
#define OF(name, what, more)                                                                                           \
    { name, what, more, "" }
PARTS frame_start[] = {P("frame", U64), {"duration", F64, NULL, "s"}, {"elapsed", F64, NULL, "s"}, {0}};
PARTS frame_end[] = {{0}};
PARTS visual_time[] = {{"time", F64, NULL, "s"}, {0}};
PARTS frame_counter[] = {P("frame", U64), {0}};
PARTS platform_time[] = {{"time", F64, NULL, "s"}, {0}};

PARTS attribute[] = {P("type", ATTRIBUTE), P("id", TEXT), P("value", TEXT), {0}};
PARTS actor[] = {P("type", ACTOR_TYPE),
                 P("location", XYZ),
                 P("rotation", RPY),
                 P("uid", U32),
                 P("description", TEXT),
                 OF("attributes", LIST, attribute),
                 {0}};
PARTS event_add[] = {{"actors", KEYED, actor, "location cm, rotation deg"}, {0}};
PARTS event_del[] = {P("actors", NUMBERS), {0}};
PARTS child[] = {P("parent", U32), {0}};
PARTS event_parent[] = {OF("actors", KEYED, child), {0}};
PARTS collided[] = {P("id", U32), P("actor1", U32), P("actor2", U32), P("hero1", FLAG), P("hero2", FLAG), {0}};
PARTS collision[] = {OF("collisions", LIST, collided), {0}};

PARTS pose[] = {P("location", XYZ), P("rotation", RPY), {0}};
PARTS position[] = {{"actors", KEYED, pose, "location cm, rotation deg"}, {0}};
PARTS lamp[] = {P("frozen", FLAG), P("elapsed", F32), OF("state", NAMED, carla_state_names), {0}};
PARTS traffic_light[] = {{"actors", KEYED, lamp, "elapsed s"}, {0}};
PARTS control[] = {P("steering", F32), P("throttle", F32), P("brake", F32), P("handbrake", FLAG), P("gear", I32), {0}};
PARTS vehicle_animation[] = {OF("actors", KEYED, control), {0}};
PARTS step[] = {P("speed", F32), {0}};
PARTS walker_animation[] = {{"actors", KEYED, step, "speed cm/s"}, {0}};
PARTS lights[] = {P("lights", BITS), {0}};
PARTS vehicle_light[] = {OF("actors", KEYED, lights), {0}};
PARTS scene[] = {P("intensity", F32),
                 P("red", F32),
                 P("green", F32),
                 P("blue", F32),
                 P("alpha", F32),
                 P("on", FLAG),
                 OF("type", NAMED, carla_scene_names),
                 {0}};
PARTS scene_light[] = {{"lights", KEYED_I32, scene, "intensity lm"}, {0}};
PARTS wheel[] = {P("wheel", U8), P("steering", F32), P("rotation", F32), {0}};
PARTS wheels_of[] = {OF("wheels", LIST32, wheel), {0}};
PARTS wheels[] = {{"actors", KEYED, wheels_of, "steering deg, rotation deg"}, {0}};
PARTS pedals[] = {P("speed", F32), P("engine_rotation", F32), {0}};
PARTS biker[] = {{"actors", KEYED, pedals, "speed cm/s"}, {0}};
PARTS door_of[] = {P("actor", U32), OF("door", NAMED, carla_door_names), P("open", FLAG), {0}};
PARTS door[] = {OF("doors", LIST, door_of), {0}};
PARTS sky[] = {P("cloudiness", F32),
               P("precipitation", F32),
               P("precipitation_deposits", F32),
               P("wind_intensity", F32),
               P("sun_azimuth_angle", F32),
               P("sun_altitude_angle", F32),
               P("fog_density", F32),
               P("fog_distance", F32),
               P("fog_falloff", F32),
               P("wetness", F32),
               P("scattering_intensity", F32),
               P("mie_scattering_scale", F32),
               P("rayleigh_scattering_scale", F32),
               P("dust_storm", F32),
               {0}};
PARTS weather[] = {{"weather", LIST, sky, "angles deg"}, {0}};

PARTS motion[] = {P("linear_velocity", XYZ), P("angular_velocity", XYZ), {0}};
PARTS kinematics[] = {{"actors", KEYED, motion, "linear_velocity m/s, angular_velocity deg/s"}, {0}};
PARTS box[] = {P("origin", XYZ), P("extension", XYZ), {0}};
PARTS bounding_box[] = {{"actors", KEYED, box, "origin cm, extension cm"}, {0}};
PARTS timing[] = {P("green", F32), P("yellow", F32), P("red", F32), {0}};
PARTS traffic_light_time[] = {{"actors", KEYED, timing, "s"}, {0}};
PARTS bone[] = {P("name", TEXT), P("location", XYZ), P("rotation", RPY), {0}};
PARTS bones_of[] = {OF("bones", LIST, bone), {0}};
PARTS bones[] = {{"actors", KEYED, bones_of, "location cm, rotation deg"}, {0}};

PARTS torque[] = {P("rpm", F32), P("torque", F32), {0}};
PARTS gear[] = {P("ratio", F32), P("down_ratio", F32), P("up_ratio", F32), {0}};
PARTS steer[] = {P("speed", F32), P("factor", F32), {0}};
#define WHEEL                                                                                                          \
    P("tire_friction", F32), P("damping_rate", F32), P("max_steer_angle", F32), P("radius", F32),                      \
        P("max_brake_torque", F32), P("max_handbrake_torque", F32)
PARTS wheel_36[] = {WHEEL, P("position", METRES), {0}};
PARTS wheel_48[] = {WHEEL,
                    P("lateral_stiffness_max_load", F32),
                    P("lateral_stiffness_value", F32),
                    P("longitudinal_stiffness_value", F32),
                    P("position", METRES),
                    {0}};
#define PHYSICS(wheel)                                                                                                 \
    P("max_rpm", F32), P("moi", F32), P("damping_rate_full_throttle", F32),                                            \
        P("damping_rate_zero_throttle_clutch_engaged", F32), P("damping_rate_zero_throttle_clutch_disengaged", F32),   \
        P("use_gear_autobox", FLAG), P("clutch_strength", F32), P("final_ratio", F32), P("mass", F32),                 \
        P("drag_coefficient", F32), P("center_of_mass", METRES), OF("torque_curve", LIST32, torque),                   \
        OF("forward_gears", LIST32, gear), OF("steering_curve", LIST32, steer), OF("wheels", LIST32, wheel)
PARTS car_36[] = {PHYSICS(wheel_36), {0}};
PARTS car_48[] = {PHYSICS(wheel_48), {0}};
PARTS physics_36[] = {{"actors", KEYED, car_36, "mass kg, center_of_mass m, wheel position cm"}, {0}};
PARTS physics_48[] = {{"actors", KEYED, car_48, "mass kg, center_of_mass m, wheel position cm"}, {0}};

static const struct part *const packets[CARLA_KINDS] = {
    [CARLA_FRAME_START] = frame_start,
    [CARLA_FRAME_END] = frame_end,
    [CARLA_VISUAL_TIME] = visual_time,
    [CARLA_FRAME_COUNTER] = frame_counter,
    [CARLA_EVENT_ADD] = event_add,
    [CARLA_EVENT_DEL] = event_del,
    [CARLA_EVENT_PARENT] = event_parent,
    [CARLA_COLLISION] = collision,
    [CARLA_DOOR] = door,
    [CARLA_POSITION] = position,
    [CARLA_TRAFFIC_LIGHT] = traffic_light,
    [CARLA_VEHICLE_ANIMATION] = vehicle_animation,
    [CARLA_WALKER_ANIMATION] = walker_animation,
    [CARLA_VEHICLE_LIGHT] = vehicle_light,
    [CARLA_SCENE_LIGHT] = scene_light,
    [CARLA_WHEELS] = wheels,
    [CARLA_BIKER] = biker,
    [CARLA_WEATHER] = weather,
    [CARLA_KINEMATICS] = kinematics,
    [CARLA_BOUNDING_BOX] = bounding_box,
    [CARLA_TRIGGER_VOLUME] = bounding_box,
    [CARLA_PLATFORM_TIME] = platform_time,
    [CARLA_PHYSICS] = physics_48,
    [CARLA_TRAFFIC_LIGHT_TIME] = traffic_light_time,
    [CARLA_BONES] = bones,
};

/* --- a channel --- */

struct state {
    const struct part *parts;
    enum carla_kind kind;
    struct carla_layout layout;
    bool doubles;
    char type[48]; /* of the list of records, like "carla/Position[]" */
};

static bool carla_payload_open_channel(const struct reel_channel *channel, void **out, struct reel_error *err) {
    struct state opened = {0};
    uint8_t id;
    if (!carla_channel_read(channel, &id, &opened.kind, &opened.layout)) {
        return reel_fail(err, REEL_DAMAGED, "its metadata lacks the kind of CARLA packet");
    }
    if (opened.kind == CARLA_UNKNOWN) {
        return reel_fail(err, REEL_UNSUPPORTED, "packets %u are not defined by CARLA: their content is unknown", id);
    }
    opened.doubles = opened.layout.vec == CARLA_VEC_DOUBLE;
    if (!carla_has_records(opened.kind, &opened.layout) && carla_is_list(opened.kind)) {
        return reel_fail(err, REEL_UNSUPPORTED, "the physics of UE5 files are raw memory of the simulator");
    }
    opened.parts =
        opened.kind == CARLA_PHYSICS && opened.layout.wheel == CARLA_WHEEL_OLD ? physics_36 : packets[opened.kind];
    snprintf(opened.type, sizeof opened.type, "%s[]", carla_facts[opened.kind].type);
    struct state *state = malloc(sizeof *state);
    if (!state) {
        return reel_fail_memory(err);
    }
    *state = opened;
    *out = state;
    return true;
}

/* --- one payload --- */

struct walk {
    const struct state *state;
    struct cursor c;
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint32_t wrapped; /* number of records when the 16-bit total has wrapped; 0: the total is right */
};

static bool visit_parts(struct walk *w, const struct part *parts);

/* The part's `size` bytes, or NULL with the error set. */
static const uint8_t *carla_payload_take(struct walk *w, const struct part *part, uint64_t size) {
    size_t at = (size_t)(w->c.at - w->payload.data);
    const uint8_t *p = cursor_take(&w->c, size);
    if (!p) {
        reel_fail(w->err, REEL_DAMAGED, "byte %zu of %zu: %s is truncated", at, w->payload.size, part->name);
    }
    return p;
}

static bool visit_vec(struct walk *w, const struct part *part) {
    static const char *const axes[] = {"x", "y", "z"}, *const angles[] = {"roll", "pitch", "yaw"};
    const char *const *names = part->what == RPY ? angles : axes;
    bool doubles = w->state->doubles && part->what != METRES;
    const uint8_t *p = carla_payload_take(w, part, doubles ? CARLA_VEC_DOUBLE : CARLA_VEC_FLOAT);
    bool goes_on = p && visit_begin_map(w->v);
    for (size_t i = 0; goes_on && i < 3; i++) {
        goes_on = visit_key_text(w->v, names[i]) &&
                  (doubles ? visit_real(w->v, load_f64le(p + 8 * i)) : visit_real32(w->v, load_f32le(p + 4 * i)));
    }
    return goes_on && visit_end_map(w->v);
}

static bool visit_own_key(struct walk *w, const struct part *part, const char *end) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", part->name, end);
    return visit_key_text(w->v, name);
}

static bool visit_scalar(struct walk *w, const struct part *part) {
    static const uint8_t types[] = {
        [U8] = REEL_U8,   [FLAG] = REEL_BOOL, [NAMED] = REEL_U8, [ACTOR_TYPE] = REEL_U8, [ATTRIBUTE] = REEL_U8,
        [U32] = REEL_U32, [I32] = REEL_I32,   [U64] = REEL_U64,  [F32] = REEL_F32,       [F64] = REEL_F64};
    enum reel_number type = (enum reel_number)types[part->what];
    const uint8_t *p = carla_payload_take(w, part, reel_number_size(type));
    if (!p) {
        return false;
    }
    if (part->what == ATTRIBUTE) {
        return visit_text(
            w->v, bytes_text(carla_name_of(carla_attribute_names, (unsigned)*p - w->state->layout.attributes_from)));
    }
    bool named = part->what == NAMED || part->what == ACTOR_TYPE;
    const char *name = part->what == ACTOR_TYPE ? carla_type_name(*p, &w->state->layout)
                       : named                  ? carla_name_of(part->more, *p)
                                                : "";
    return reel_number_visit(w->v, type, p) &&
           (!named || (visit_own_key(w, part, "_name") && visit_text(w->v, bytes_text(name))));
}

static bool visit_bits(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, 4);
    uint32_t bits = p ? load_u32le(p) : 0;
    bool goes_on = p && visit_natural(w->v, bits) && visit_own_key(w, part, "_on") && visit_begin_list(w->v);
    for (size_t i = 0; goes_on && i < CARLA_LIGHTS; i++) {
        goes_on = (bits & carla_lights[i].bit) == 0 || visit_text(w->v, bytes_text(carla_lights[i].name));
    }
    return goes_on && visit_end_list(w->v);
}

/* Every item takes bytes, so a hostile count is bounded by the payload. */
static bool visit_items(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, part->what == LIST32 ? 4 : 2);
    uint32_t n = !p ? 0 : part->what == LIST32 ? load_u32le(p) : load_u16le(p);
    bool keyed = part->what == KEYED || part->what == KEYED_I32,
         goes_on = p && (keyed ? visit_begin_map(w->v) : visit_begin_list(w->v));
    if (w->wrapped > 0) {
        n = w->wrapped;
        w->wrapped = 0;
    }
    for (uint32_t i = 0; goes_on && i < n; i++) {
        if (keyed) {
            char key[16];
            goes_on = (p = carla_payload_take(w, part, 4)) != NULL;
            snprintf(key, sizeof key, part->what == KEYED ? "%u" : "%d", p ? load_u32le(p) : 0);
            goes_on = goes_on && visit_key_text(w->v, key);
        }
        goes_on = goes_on && visit_begin_map(w->v) && visit_parts(w, part->more) && visit_end_map(w->v);
    }
    return goes_on && (keyed ? visit_end_map(w->v) : visit_end_list(w->v));
}

static bool visit_packed(struct walk *w, const struct part *part) {
    struct cursor records = carla_records(w->state->kind, w->payload);
    const uint8_t *p = carla_payload_take(w, part, records.failed ? 2 : (uint64_t)(records.at - w->payload.data));
    size_t n = !p ? 0 : w->wrapped > 0 ? w->wrapped : load_u16le(p);
    const uint8_t *data = p ? carla_payload_take(w, part, 4 * (uint64_t)n) : NULL;
    return data && visit_numbers(w->v, REEL_U32, bytes_of(data, 4 * n), 1);
}

static bool visit_string(struct walk *w, const struct part *part) {
    const uint8_t *p = carla_payload_take(w, part, 2);
    size_t size = p ? load_u16le(p) : 0;
    const uint8_t *text = p ? carla_payload_take(w, part, size) : NULL;
    return text && visit_text(w->v, bytes_of(text, size));
}

static bool carla_visit_part(struct walk *w, const struct part *part) {
    switch (part->what) {
    case XYZ:
    case RPY:
    case METRES:
        return visit_vec(w, part);
    case TEXT:
        return visit_string(w, part);
    case BITS:
        return visit_bits(w, part);
    case NUMBERS:
        return visit_packed(w, part);
    case LIST:
    case LIST32:
    case KEYED:
    case KEYED_I32:
        return visit_items(w, part);
    default:
        return visit_scalar(w, part);
    }
}

static bool visit_parts(struct walk *w, const struct part *parts) {
    for (; parts->name; parts++) {
        if (!visit_key_text(w->v, parts->name) || !carla_visit_part(w, parts)) {
            return false;
        }
    }
    return true;
}

/* CARLA writes a 16-bit total even for more records than it can hold. */
static uint32_t wrapped_total(const struct state *state, struct reel_bytes payload) {
    uint32_t n;
    bool counted = carla_facts[state->kind].body == CARLA_LIST && carla_count(state->kind, &state->layout, payload, &n);
    return counted && n > UINT16_MAX ? n : 0;
}

static bool carla_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    struct walk w = {.state = state,
                     .c = cursor_of(payload),
                     .payload = payload,
                     .v = v,
                     .err = err,
                     .wrapped = wrapped_total(state, payload)};
    if (!visit_begin_map(v) || !visit_parts(&w, w.state->parts)) {
        return false;
    }
    if (!cursor_done(&w.c)) {
        return reel_fail(err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many", (size_t)(w.c.at - payload.data),
                         payload.size, cursor_left(&w.c));
    }
    return visit_end_map(v);
}

/* --- fields --- */

static bool carla_fields(const void *of, reel_field_visit visit, void *context) {
    const struct state *state = of;
    for (const struct part *p = state->parts; p->name; p++) {
        bool number = p->what == U64 || p->what == F64;
        struct reel_field f = {.path = p->name,
                               .type = p->what == U64   ? "uint64"
                                       : p->what == F64 ? "float64"
                                                        : state->type,
                               .unit = p->unit,
                               .numeric = number};
        if (!visit(context, &f)) {
            return false;
        }
    }
    return true;
}

const struct reel_encoding reel_encoding_carla = {.name = CARLA_ENCODING,
                                                  .open = carla_payload_open_channel,
                                                  .close = free,
                                                  .decode = carla_decode,
                                                  .fields = carla_fields,
                                                  .state_at = carla_state_at,
                                                  .version = 1};
