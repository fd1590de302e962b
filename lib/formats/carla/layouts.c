/* Detects the layout variant of a CARLA file from its packets: floats or doubles, the numbering of 21…23, the base of
 * attribute types, the writer's version. The position of a packet is used until the size of a packet with records
 * proves the variant. */
#include "base/bytes.h"
#include "base/c_locale.h"
#include "formats/carla/container.h"
#include "reel/time.h"

#include <stdio.h>

/* --- the numbering of 21…23 --- */

static void set_ids(struct carla_scan *s, int ids) {
    s->layout.ids = ids;
    for (unsigned id = 21; id <= 23; id++) {
        s->kinds[id] = (uint8_t)carla_kind_of((uint8_t)id, &s->layout);
    }
}

/* Doors come before positions, wheels and bikers after them. */
void carla_detect_ids(struct carla_scan *s, uint8_t id) {
    set_ids(s, id == 21 && !s->has[CARLA_POSITION] ? CARLA_IDS_UE5 : CARLA_IDS_0915);
}

static bool size_of_doors(uint16_t total, uint32_t size) {
    return size == 2 + 6 * (uint32_t)total;
}
static bool size_of_bikers(uint16_t total, uint32_t size) {
    return size == 2 + 12 * (uint32_t)total;
}
static bool size_of_wheels(uint16_t total, uint32_t size) {
    uint32_t heads = 2 + 8 * (uint32_t)total;
    return size >= heads && (size - heads) % 9 == 0;
}

void carla_detect_ids_by_size(struct carla_scan *s, uint8_t id, uint16_t total, uint32_t size) {
    if (s->ids_proved) {
        return;
    }
    bool ue5 = id == 21   ? size_of_doors(total, size)
               : id == 22 ? size_of_wheels(total, size)
                          : size_of_bikers(total, size);
    bool other = id == 21   ? size_of_wheels(total, size)
                 : id == 22 ? size_of_bikers(total, size)
                            : size_of_doors(total, size);
    if (ue5 == other) { /* neither, or both, as is possible with few bikers: the position decides */
        return;
    }
    s->ids_proved = true;
    set_ids(s, ue5 ? CARLA_IDS_UE5 : CARLA_IDS_0915);
}

/* --- floats or doubles --- */

/* Position packets are conclusive, because every frame has one. */
void carla_detect_vec_by_size(struct carla_scan *s, enum carla_kind kind, uint16_t total, uint32_t size) {
    uint32_t fixed = carla_facts[kind].fixed, vecs = carla_facts[kind].vecs;
    for (uint32_t vec = CARLA_VEC_FLOAT; vec <= CARLA_VEC_DOUBLE; vec += CARLA_VEC_FLOAT) {
        if (size == 2 + (uint64_t)total * (fixed + vecs * vec) && (s->layout.vec == 0 || kind == CARLA_POSITION)) {
            s->layout.vec = (uint8_t)vec;
            s->vec_proved = kind == CARLA_POSITION;
        }
    }
}

void carla_detect_vec_by_walk(struct carla_scan *s, enum carla_kind kind, struct reel_bytes data) {
    struct carla_layout floats = s->layout, doubles = s->layout;
    floats.vec = CARLA_VEC_FLOAT;
    doubles.vec = CARLA_VEC_DOUBLE;
    bool fits_floats = carla_fits(kind, &floats, data), fits_doubles = carla_fits(kind, &doubles, data);
    if (fits_floats != fits_doubles) {
        s->layout.vec = fits_floats ? CARLA_VEC_FLOAT : CARLA_VEC_DOUBLE;
    }
}

/* --- attributes --- */

static void detect_from_actor(struct carla_scan *s, struct reel_bytes record) {
    struct cursor c = cursor_of(record);
    cursor_take(&c, 5 + 2 * (uint64_t)(s->layout.vec ? s->layout.vec : CARLA_VEC_FLOAT) + 4);
    cursor_take(&c, cursor_u16le(&c));
    uint16_t n = cursor_u16le(&c);
    for (uint16_t i = 0; i < n && !c.failed; i++) {
        uint8_t type = cursor_u8(&c);
        struct reel_bytes id = cursor_bytes(&c, cursor_u16le(&c));
        cursor_take(&c, cursor_u16le(&c));
        bool from_1 =
            type == 5 || (type == 4 && bytes_is(id, "role_name")) || (type == 2 && bytes_is(id, "number_of_wheels"));
        bool from_0 =
            type == 0 || (type == 3 && bytes_is(id, "role_name")) || (type == 1 && bytes_is(id, "number_of_wheels"));
        if (!c.failed && (from_1 || from_0)) {
            s->layout.attributes_from = from_1;
            s->attributes_proved = true;
            return;
        }
    }
}

void carla_detect_attributes(struct carla_scan *s, struct reel_bytes data) {
    struct cursor c = cursor_of(data);
    struct reel_bytes record;
    uint16_t total = cursor_u16le(&c);
    for (uint16_t i = 0; i < total && !s->attributes_proved && carla_record(CARLA_EVENT_ADD, &s->layout, &c, &record);
         i++) {
        detect_from_actor(s, record);
    }
}

/* --- metadata of the file --- */

static bool carla_layouts_put(struct carla_scan *s, const char *key, const char *value, struct reel_error *err) {
    return reel_scan_metadata(s->scan, key, bytes_text(value), err);
}

bool carla_report_header(struct carla_scan *s, struct reel_error *err) {
    char text[64];
    snprintf(text, sizeof text, "CARLA recorder, version %u", s->header.version);
    reel_scan_container(s->scan, text);
    snprintf(text, sizeof text, "%u", s->header.version);
    if (!carla_layouts_put(s, "version", text, err) || !reel_scan_metadata(s->scan, "map", s->header.map, err)) {
        return false;
    }
    char date[REEL_TIME_TEXT];
    if (carla_date_believed(s->header.date)) {
        reel_time_rfc3339(s->header.date * CARLA_NS_PER_SEC, date);
    } else {
        snprintf(date, sizeof date, "%lld", (long long)s->header.date);
    }
    return carla_layouts_put(s, "date", date, err);
}

/* A bit for each kind of packet. */
static uint64_t kinds_met(const struct carla_scan *s) {
    uint64_t kinds = 0;
    for (int id = 0; id < 256; id++) {
        kinds |= s->met[id] ? UINT64_C(1) << s->kinds[id] : 0;
    }
    return kinds;
}
static bool met(uint64_t kinds, enum carla_kind kind) {
    return kinds >> kind & 1;
}

/* Each version added packets that are in every frame. */
static const char *writer_of(const struct carla_scan *s) {
    const uint64_t kinds = kinds_met(s);
    if (s->layout.vec == CARLA_VEC_DOUBLE) {
        return "CARLA 0.10 (UE5)";
    }
    if (s->layout.ids == CARLA_IDS_UE5) {
        return "CARLA between November 2023 and March 2025 (ue4-dev)";
    }
    if (met(kinds, CARLA_WEATHER)) {
        return "CARLA of 2026 (ue4-dev)";
    }
    if (met(kinds, CARLA_DOOR) || s->header.version == 2) {
        return "CARLA 0.9.16";
    }
    if (met(kinds, CARLA_WHEELS)) {
        return "CARLA 0.9.15";
    }
    if (met(kinds, CARLA_VISUAL_TIME)) {
        return "CARLA 0.9.14";
    }
    if (met(kinds, CARLA_VEHICLE_LIGHT)) {
        return s->layout.wheel == CARLA_WHEEL_OLD   ? "CARLA 0.9.10 or 0.9.11"
               : s->layout.wheel == CARLA_WHEEL_NEW ? "CARLA 0.9.12 or 0.9.13"
                                                    : "CARLA 0.9.10 to 0.9.13";
    }
    return met(kinds, CARLA_VEHICLE_ANIMATION) ? "CARLA 0.9.6 to 0.9.9" : "CARLA 0.9.4 or 0.9.5";
}

static int types_of(const struct carla_scan *s) {
    const uint64_t kinds = kinds_met(s);
    bool lights = met(kinds, CARLA_VEHICLE_LIGHT) || met(kinds, CARLA_VISUAL_TIME) || s->layout.vec == CARLA_VEC_DOUBLE;
    return !lights ? CARLA_TYPES_094 : s->layout.wheel == CARLA_WHEEL_OLD ? CARLA_TYPES_0910 : CARLA_TYPES_0912;
}

bool carla_report_file(struct carla_scan *s, struct reel_error *err) {
    C_LOCALE;
    s->layout.types = types_of(s);
    for (unsigned id = 0; id < 256; id++) {
        struct carla_channel channel;
        if (!s->met[id]) {
            continue;
        }
        carla_channel_make(&channel, (uint8_t)id, (enum carla_kind)s->kinds[id], &s->layout);
        if (s->kinds[id] == CARLA_FRAME_START) {
            channel.pairs[channel.model.metadata.count++] = (struct reel_pair){CARLA_HEADER_KEY, s->header_digits};
        }
        if (!reel_scan_channel_update(s->scan, s->channels[id], &channel.model, err)) {
            return false;
        }
    }
    char frames[32], duration[32];
    snprintf(frames, sizeof frames, "%llu", (unsigned long long)s->frames);
    snprintf(duration, sizeof duration, "%.9g", s->elapsed);
    return carla_layouts_put(s, "frames", frames, err) && carla_layouts_put(s, "duration", duration, err) &&
           (s->frames == 0 || carla_layouts_put(s, "written by (detected from packets)", writer_of(s), err));
}
