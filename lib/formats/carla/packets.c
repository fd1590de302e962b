/* What each CARLA packet is: one table, the records of its list, and its channel. */
#include "base/bytes.h"
#include "formats/carla/layout.h"

#include <stdio.h>

const struct carla_facts carla_facts[CARLA_KINDS] = {
    [CARLA_FRAME_START] = {"/frame", "carla/FrameStart", 0, CARLA_PLAIN, CARLA_START_SIZE, 0, CARLA_FRONT_NONE, 0},
    [CARLA_VISUAL_TIME] = {"/visual_time", "carla/VisualTime", 20, CARLA_PLAIN, 8, 0, CARLA_FRONT_LATEST, 0},
    [CARLA_FRAME_COUNTER] = {"/frame_counter", "carla/FrameCounter", 18, CARLA_PLAIN, 8, 0, CARLA_FRONT_NONE, 0},
    [CARLA_EVENT_ADD] = {"/event/add", "carla/EventAdd", 2, CARLA_LIST_ADD, 0, 2, CARLA_FRONT_ACTORS, 4},
    [CARLA_EVENT_DEL] = {"/event/del", "carla/EventDel", 3, CARLA_LIST, 4, 0, CARLA_FRONT_NONE, 4},
    [CARLA_EVENT_PARENT] = {"/event/parent", "carla/EventParent", 4, CARLA_LIST, 8, 0, CARLA_FRONT_KEYED, 4},
    [CARLA_COLLISION] = {"/collision", "carla/Collision", 5, CARLA_LIST, 14, 0, CARLA_FRONT_NONE, 0},
    [CARLA_DOOR] = {"/vehicle/door", "carla/VehicleDoor", 23, CARLA_LIST, 6, 0, CARLA_FRONT_KEYED, 5},
    [CARLA_POSITION] = {"/position", "carla/Position", 6, CARLA_LIST, 4, 2, CARLA_FRONT_LATEST, 4},
    [CARLA_TRAFFIC_LIGHT] = {"/traffic_light/state", "carla/TrafficLightState", 7, CARLA_LIST, 10, 0,
                             CARLA_FRONT_LATEST, 4},
    [CARLA_VEHICLE_ANIMATION] = {"/vehicle/animation", "carla/VehicleAnimation", 8, CARLA_LIST, 21, 0,
                                 CARLA_FRONT_LATEST, 4},
    [CARLA_WALKER_ANIMATION] = {"/walker/animation", "carla/WalkerAnimation", 9, CARLA_LIST, 8, 0, CARLA_FRONT_LATEST,
                                4},
    [CARLA_VEHICLE_LIGHT] = {"/vehicle/light", "carla/VehicleLight", 10, CARLA_LIST, 8, 0, CARLA_FRONT_LATEST, 4},
    [CARLA_SCENE_LIGHT] = {"/scene_light", "carla/SceneLight", 11, CARLA_LIST, 26, 0, CARLA_FRONT_KEYED, 4},
    [CARLA_WHEELS] = {"/vehicle/wheels", "carla/VehicleWheels", 21, CARLA_LIST_WHEELS, 0, 0, CARLA_FRONT_LATEST, 4},
    [CARLA_BIKER] = {"/biker", "carla/Biker", 22, CARLA_LIST, 12, 0, CARLA_FRONT_LATEST, 4},
    [CARLA_WEATHER] = {"/weather", "carla/Weather", 24, CARLA_LIST, 56, 0, CARLA_FRONT_LATEST, 0},
    [CARLA_KINEMATICS] = {"/kinematics", "carla/Kinematics", 12, CARLA_LIST, 4, 2, CARLA_FRONT_NONE, 4},
    [CARLA_BOUNDING_BOX] = {"/bounding_box", "carla/BoundingBox", 13, CARLA_LIST, 4, 2, CARLA_FRONT_KEYED, 4},
    [CARLA_TRIGGER_VOLUME] = {"/trigger_volume", "carla/TriggerVolume", 17, CARLA_LIST, 4, 2, CARLA_FRONT_KEYED, 4},
    [CARLA_PLATFORM_TIME] = {"/platform_time", "carla/PlatformTime", 14, CARLA_PLAIN, 8, 0, CARLA_FRONT_NONE, 0},
    [CARLA_PHYSICS] = {"/physics_control", "carla/PhysicsControl", 15, CARLA_LIST_PHYSICS, 0, 0, CARLA_FRONT_KEYED, 4},
    [CARLA_TRAFFIC_LIGHT_TIME] = {"/traffic_light/time", "carla/TrafficLightTime", 16, CARLA_LIST, 16, 0,
                                  CARLA_FRONT_KEYED, 4},
    [CARLA_BONES] = {"/walker/bones", "carla/WalkerBones", 19, CARLA_LIST_BONES, 0, 2, CARLA_FRONT_LATEST, 4},
    [CARLA_UNKNOWN] = {"/packet", "carla/packet", 255, CARLA_OPAQUE, 0, 0, CARLA_FRONT_NONE, 0},
    [CARLA_FRAME_END] = {"/frame_end", "carla/FrameEnd", 1, CARLA_PLAIN, 0, 0, CARLA_FRONT_NONE, 0},
};

enum carla_kind carla_kind_of(uint8_t id, const struct carla_layout *layout) {
    static const enum carla_kind ue5[] = {CARLA_DOOR, CARLA_WHEELS, CARLA_BIKER};
    if (layout->ids == CARLA_IDS_UE5 && id >= 21 && id <= 23) {
        return ue5[id - 21];
    }
    for (int kind = 0; kind < CARLA_KINDS; kind++) {
        if (carla_facts[kind].id == id && kind != CARLA_UNKNOWN) {
            return (enum carla_kind)kind;
        }
    }
    return CARLA_UNKNOWN;
}

/* --- records --- */

static void take_string(struct cursor *c) {
    cursor_take(c, cursor_u16le(c));
}

static void take_actor(struct cursor *c, uint32_t vec) {
    cursor_take(c, 5 + 2 * vec + 4);
    take_string(c);
    uint16_t n = cursor_u16le(c);
    for (uint16_t i = 0; i < n && !c->failed; i++) {
        cursor_take(c, 1);
        take_string(c);
        take_string(c);
    }
}

/* Lists of n items of these sizes, up to a 0. */
static void take_lists(struct cursor *c, const uint32_t *sizes) {
    for (; *sizes > 0; sizes++) {
        uint64_t n = cursor_u32le(c);
        cursor_take(c, n * *sizes);
    }
}

static void take_physics(struct cursor *c, uint32_t wheel) {
    const uint32_t ue4[] = {8, 12, 8, wheel, 0};   /* torque, gears, steering, wheels */
    const uint32_t ue5[] = {8, 4, 4, 8, wheel, 0}; /* torque, forward gears, reverse gears, steering, wheels */
    bool is_ue5 = wheel == CARLA_WHEEL_UE5;
    cursor_take(c, is_ue5 ? CARLA_PHYSICS_UE5 : 4 + 5 * 4 + 1 + 4 * 4 + 3 * 4);
    take_lists(c, is_ue5 ? ue5 : ue4);
}

static void take_bones(struct cursor *c, uint32_t vec) {
    cursor_take(c, 4);
    uint16_t n = cursor_u16le(c);
    for (uint16_t i = 0; i < n && !c->failed; i++) {
        take_string(c);
        cursor_take(c, 2 * vec);
    }
}

static void take_wheels(struct cursor *c) {
    cursor_take(c, 4);
    uint64_t n = cursor_u32le(c);
    cursor_take(c, n * 9);
}

bool carla_record(enum carla_kind kind, const struct carla_layout *layout, struct cursor *c,
                  struct reel_bytes *record) {
    const uint8_t *begin = c->at;
    uint32_t vec = layout->vec ? layout->vec : CARLA_VEC_FLOAT;
    switch (carla_facts[kind].body) {
    case CARLA_LIST:
        cursor_take(c, carla_record_size(kind, layout));
        break;
    case CARLA_LIST_ADD:
        take_actor(c, vec);
        break;
    case CARLA_LIST_PHYSICS:
        take_physics(c, layout->wheel ? layout->wheel : CARLA_WHEEL_NEW);
        break;
    case CARLA_LIST_BONES:
        take_bones(c, vec);
        break;
    case CARLA_LIST_WHEELS:
        take_wheels(c);
        break;
    default:
        return false;
    }
    *record = bytes_of(begin, (size_t)(c->at - begin));
    return !c->failed;
}

bool carla_fits(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data) {
    struct cursor c = cursor_of(data);
    struct reel_bytes record;
    uint16_t total = cursor_u16le(&c);
    for (uint16_t i = 0; i < total && !c.failed; i++) {
        carla_record(kind, layout, &c, &record);
    }
    return !c.failed && cursor_done(&c);
}

bool carla_count(enum carla_kind kind, const struct carla_layout *layout, struct reel_bytes data, uint32_t *count) {
    if (data.size < 2 || !carla_has_records(kind, layout)) {
        return false;
    }
    *count = load_u16le(data.data);
    if (carla_facts[kind].body != CARLA_LIST) {
        return carla_fits(kind, layout, data);
    }
    struct cursor c = carla_records(kind, data);
    size_t size = carla_record_size(kind, layout), n = cursor_left(&c) / size;
    bool whole = n * size == cursor_left(&c) && (uint16_t)n == *count && n <= UINT32_MAX;
    *count = (uint32_t)n;
    return whole;
}

/* --- header and frame start --- */

bool carla_header_read(struct reel_bytes head, struct carla_header *header) {
    struct cursor c = cursor_of(head);
    header->version = cursor_u16le(&c);
    struct reel_bytes magic = cursor_bytes(&c, cursor_u16le(&c));
    header->date = (int64_t)cursor_u64le(&c);
    header->map = cursor_bytes(&c, cursor_u16le(&c));
    header->size = (uint32_t)(c.at - head.data);
    return !c.failed && bytes_is(magic, CARLA_MAGIC);
}

struct carla_frame carla_frame_read(const uint8_t data[CARLA_START_SIZE]) {
    return (struct carla_frame){
        .id = load_u64le(data), .duration = load_f64le(data + 8), .elapsed = load_f64le(data + 16)};
}

/* --- channels --- */

static void carla_add_pair(struct carla_channel *c, const char *key, const char *value) {
    c->pairs[c->model.metadata.count++] = (struct reel_pair){.key = key, .value = value};
}

void carla_channel_make(struct carla_channel *c, uint8_t id, enum carla_kind kind, const struct carla_layout *layout) {
    const struct carla_facts *facts = &carla_facts[kind];
    *c = (struct carla_channel){.model = {.name = facts->topic, .type = facts->type, .encoding = CARLA_ENCODING}};
    c->model.metadata.items = c->pairs;
    snprintf(c->id, sizeof c->id, "%u", id);
    if (kind == CARLA_UNKNOWN) {
        snprintf(c->topic, sizeof c->topic, "/packet_%u", id);
        snprintf(c->type, sizeof c->type, "carla/packet_%u", id);
        c->model.name = c->topic;
        c->model.type = c->type;
    }
    carla_add_pair(c, "packet", c->id);
    if (facts->vecs > 0 || kind == CARLA_PHYSICS) {
        carla_add_pair(c, "vectors", layout->vec == CARLA_VEC_DOUBLE ? "double" : "float");
    }
    if (kind == CARLA_PHYSICS && layout->wheel) {
        carla_add_pair(c, "wheel_bytes",
                       layout->wheel == CARLA_WHEEL_OLD   ? "36"
                       : layout->wheel == CARLA_WHEEL_UE5 ? "208"
                                                          : "48");
    }
    if (kind == CARLA_EVENT_ADD) {
        carla_add_pair(c, "attribute_types_from", layout->attributes_from ? "1" : "0");
        if (layout->types != CARLA_TYPES_0912) {
            carla_add_pair(c, "actor_types", layout->types == CARLA_TYPES_0910 ? "0.9.10" : "0.9.4");
        }
    }
    if (kind == CARLA_DOOR || kind == CARLA_WHEELS || kind == CARLA_BIKER) {
        carla_add_pair(c, "numbering", layout->ids == CARLA_IDS_UE5 ? "ue5" : "0.9.15");
    }
}

static const char *pair_of(const struct reel_channel *channel, const char *key) {
    for (size_t i = 0; i < channel->metadata.count; i++) {
        if (strcmp(channel->metadata.items[i].key, key) == 0) {
            return channel->metadata.items[i].value;
        }
    }
    return "";
}

static bool carla_read_id(const char *text, uint8_t *id) {
    unsigned value = 0;
    size_t n = strspn(text, "0123456789");
    for (size_t i = 0; i < n && i < 3; i++) {
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *id = (uint8_t)value;
    return n >= 1 && n <= 3 && text[n] == '\0' && value <= UINT8_MAX;
}

bool carla_channel_read(const struct reel_channel *channel, uint8_t *id, enum carla_kind *kind,
                        struct carla_layout *layout) {
    if (strcmp(channel->encoding, CARLA_ENCODING) != 0 || !carla_read_id(pair_of(channel, "packet"), id)) {
        return false;
    }
    layout->vec = strcmp(pair_of(channel, "vectors"), "double") == 0 ? CARLA_VEC_DOUBLE : CARLA_VEC_FLOAT;
    const char *wheel = pair_of(channel, "wheel_bytes");
    layout->wheel = strcmp(wheel, "36") == 0    ? CARLA_WHEEL_OLD
                    : strcmp(wheel, "208") == 0 ? CARLA_WHEEL_UE5
                                                : CARLA_WHEEL_NEW;
    layout->attributes_from = strcmp(pair_of(channel, "attribute_types_from"), "1") == 0;
    const char *types = pair_of(channel, "actor_types");
    layout->types = strcmp(types, "0.9.4") == 0    ? CARLA_TYPES_094
                    : strcmp(types, "0.9.10") == 0 ? CARLA_TYPES_0910
                                                   : CARLA_TYPES_0912;
    layout->ids = strcmp(pair_of(channel, "numbering"), "ue5") == 0 ? CARLA_IDS_UE5 : CARLA_IDS_0915;
    *kind = carla_kind_of(*id, layout);
    return true;
}
