/* Makes CARLA recorder files in memory, packet by packet: every packet of every version in the order of that version,
 * ids that CARLA does not know, and every defect wanted. For tests, golden cases and the fuzz corpus; shares no line
 * with the reader or the writer. */
#ifndef TESTS_CARLA_MAKER_H
#define TESTS_CARLA_MAKER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    uint8_t *data;
    size_t size, room;
};

static inline void make_bytes(struct maker *m, const void *data, size_t size) {
    if (m->size + size > m->room) {
        m->room = (m->size + size) * 2;
        m->data = (uint8_t *)realloc(m->data, m->room);
        assert(m->data);
    }
    if (size > 0) {
        memcpy(m->data + m->size, data, size);
    }
    m->size += size;
}
static inline void make_number(struct maker *m, uint64_t v, unsigned bytes) {
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> 8 * i);
    }
    make_bytes(m, b, bytes);
}
static inline void make_patch(struct maker *m, size_t at, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        m->data[at + i] = (uint8_t)(v >> 8 * i);
    }
}
static inline void make_f32(struct maker *m, float v) {
    make_bytes(m, &v, sizeof v);
}
static inline void make_f64(struct maker *m, double v) {
    make_bytes(m, &v, sizeof v);
}
static inline void make_string(struct maker *m, const char *text) {
    make_number(m, strlen(text), 2);
    make_bytes(m, text, strlen(text));
}

/* One version of CARLA. */
struct make_style {
    const char *name;
    uint16_t version;
    bool doubles, ue5_ids, attributes_from_1, additional;
    unsigned wheel;
    const char *order; /* packets of a frame between start and end, as characters 'A' + id */
};
enum { MAKE_STYLES = 8 };
static const struct make_style make_styles[MAKE_STYLES] = {
    {"0.9.4", 1, false, false, false, false, 36, "CDEFGH"},
    {"0.9.6", 1, false, false, false, false, 36, "CDEFGHIJ"},
    {"0.9.10", 1, false, false, false, true, 36, "CDEFGHIJKLMNROPQ"},
    {"0.9.14", 1, false, false, false, true, 48, "UCDEFGHIJKLMNROPQT"},
    {"0.9.15", 1, false, false, false, true, 48, "UCDEFGHIJKLVWMNROPQT"},
    {"0.9.16", 2, false, false, true, true, 48, "UCDEFXGHIJKLVWMNROPQT"},
    {"dev2026", 2, false, false, true, true, 48, "UCDEFXGHIJKLVWYMNROPQT"},
    {"ue5", 1, true, true, true, true, 208, "UCDEFVGHIJKLWXMNROPQT"},
};
#define MAKE_DATE INT64_C(1600000000)
#define MAKE_MAP "Town05"

static inline void make_header(struct maker *m, uint16_t version, int64_t date, const char *map) {
    make_number(m, version, 2);
    make_string(m, "CARLA_RECORDER");
    make_number(m, (uint64_t)date, 8);
    make_string(m, map);
}
/* make_packet(), data, make_close(). */
static inline size_t make_packet(struct maker *m, uint8_t id) {
    make_number(m, id, 1);
    make_number(m, 0, 4);
    return m->size;
}
static inline void make_close(struct maker *m, size_t packet) {
    make_patch(m, packet - 4, m->size - packet, 4);
}
static inline void make_raw(struct maker *m, uint8_t id, const char *text) {
    size_t p = make_packet(m, id);
    make_bytes(m, text, strlen(text));
    make_close(m, p);
}
static inline void make_start(struct maker *m, uint64_t frame, double duration, double elapsed) {
    size_t p = make_packet(m, 0);
    make_number(m, frame, 8);
    make_f64(m, duration);
    make_f64(m, elapsed);
    make_close(m, p);
}
static inline void make_end(struct maker *m) {
    make_close(m, make_packet(m, 1));
}
/* An empty list. */
static inline void make_none(struct maker *m, uint8_t id) {
    size_t p = make_packet(m, id);
    make_number(m, 0, 2);
    make_close(m, p);
}
static inline void make_vec(struct maker *m, const struct make_style *s, float x, float y, float z) {
    const float v[] = {x, y, z};
    for (unsigned i = 0; i < 3; i++) {
        if (s->doubles) {
            make_f64(m, (double)v[i]);
        } else {
            make_f32(m, v[i]);
        }
    }
}

/* --- records --- */

static inline void make_attribute(struct maker *m, const struct make_style *s, uint8_t type, const char *id,
                                  const char *value) {
    make_number(m, type + s->attributes_from_1, 1);
    make_string(m, id);
    make_string(m, value);
}
static inline void make_actor(struct maker *m, const struct make_style *s, uint32_t id, uint8_t type, float x,
                              const char *description, const char *role) {
    make_number(m, id, 4);
    make_number(m, type, 1);
    make_vec(m, s, x, 2, 3);
    make_vec(m, s, 0, 0, 90);
    make_number(m, id + 100, 4);
    make_string(m, description);
    make_number(m, role ? 2 : 0, 2);
    if (role) {
        make_attribute(m, s, 1, "number_of_wheels", "4");
        make_attribute(m, s, 3, "role_name", role);
    }
}
static inline void make_moved(struct maker *m, const struct make_style *s, uint32_t id, float x) { /* packets 6, 12, 13,
                                                                                                      17 */
    make_number(m, id, 4);
    make_vec(m, s, x, 5, 6);
    make_vec(m, s, 1, 2, 3);
}
/* As CARLA for UE5 writes it: a wheel is the memory of a C++ object. */
static inline void make_wheel_ue5(struct maker *m, unsigned number) {
    size_t begin = m->size;
    make_number(m, number, 4); /* axle type, padding */
    for (unsigned i = 0; i < 12; i++) {
        make_f32(m, 0.5f + (float)i);
    }
    make_number(m, 0x010001000101, 6);
    make_number(m, 0xcccc, 2);
    make_f32(m, 30);
    make_number(m, 1, 8);
    for (unsigned i = 0; i < 3; i++) {
        make_number(m, 0x7fff12345678, 8); /* pointers */
    }
    for (unsigned i = 0; i < 12; i++) {
        make_f32(m, 100 + (float)i);
    }
    make_number(m, (uint64_t)-2, 4);
    make_f32(m, 0.25f);
    make_number(m, 0xcccc0201, 4);
    make_f32(m, 1500);
    make_f32(m, 3000);
    make_number(m, number, 4);
    for (unsigned i = 0; i < 9; i++) {
        make_f32(m, 200 + (float)i);
    }
    make_number(m, 0xcccccccc, 4);
    assert(m->size - begin == 208);
}
static inline void make_physics_ue5(struct maker *m, uint32_t id, float mass) {
    make_number(m, id, 4);
    for (unsigned i = 0; i < 6; i++) {
        make_f32(m, 10 + (float)i);
    }
    make_number(m, 2, 1);
    make_f32(m, 0.5f);
    make_number(m, 1, 1);
    for (unsigned i = 0; i < 19; i++) { /* gear_change_time … sleep_slope_limit */
        make_f32(m, i == 5 ? mass : 20 + (float)i);
    }
    make_number(m, 1, 1);
    make_number(m, 2, 4);
    for (unsigned i = 0; i < 4; i++) {
        make_f32(m, 2 - (float)(i / 2)); /* CARLA prints the second point first */
    }
    make_number(m, 3, 4);
    make_f32(m, 2.85f);
    make_f32(m, 2.02f);
    make_f32(m, 1.35f);
    make_number(m, 1, 4);
    make_f32(m, -2.86f);
    make_number(m, 0, 4);
    make_number(m, 2, 4);
    make_wheel_ue5(m, 0);
    make_wheel_ue5(m, 1);
}
static inline void make_physics(struct maker *m, const struct make_style *s, uint32_t id, float mass) {
    if (s->wheel == 208) {
        make_physics_ue5(m, id, mass);
        return;
    }
    make_number(m, id, 4);
    for (unsigned i = 0; i < 5; i++) {
        make_f32(m, 1.5f);
    }
    make_number(m, 1, 1);
    for (unsigned i = 0; i < 4; i++) {
        make_f32(m, i == 2 ? mass : 2);
    }
    make_f32(m, 0);
    make_f32(m, 0);
    make_f32(m, -1);
    for (unsigned list = 0; list < 3; list++) { /* torque, gears, steering */
        make_number(m, 1, 4);
        for (unsigned i = 0; i < (list == 1 ? 3u : 2u); i++) {
            make_f32(m, 7);
        }
    }
    make_number(m, 2, 4);
    for (unsigned i = 0; i < 2 * s->wheel / 4; i++) {
        make_f32(m, 8);
    }
}
static inline void make_bones(struct maker *m, const struct make_style *s, uint32_t id) {
    make_number(m, id, 4);
    make_number(m, 2, 2);
    make_string(m, "crl_root");
    make_vec(m, s, 1, 1, 1);
    make_vec(m, s, 2, 2, 2);
    make_string(m, "");
    make_vec(m, s, 3, 3, 3);
    make_vec(m, s, 4, 4, 4);
}
static inline void make_scene_light(struct maker *m, int32_t id, float intensity) {
    make_number(m, (uint64_t)(int64_t)id, 4);
    make_f32(m, intensity);
    for (unsigned i = 0; i < 4; i++) {
        make_f32(m, 1);
    }
    make_number(m, 1, 1);
    make_number(m, 2, 1);
}

/* --- a small world: one frame of it, with every packet of the version ---
 * Actors: 1 spectator, 2 traffic light, 24 hero, 25 bicycle, 27 its sensor from frame 2 on, with a parent; 26 walker in
 * frames 2 to 4. The hero's position is 100 x frame. Frame 1 has all lights, frame 3 one of them and a door of the
 * hero, frame 4 weather. */

struct make_list {
    struct maker *m;
    size_t packet;
    uint16_t total;
};
static inline void make_total(struct make_list *l) {
    make_patch(l->m, l->packet, ++l->total, 2);
}

static inline void make_events(struct make_list *l, const struct make_style *s, char kind, unsigned frame) {
    struct maker *m = l->m;
    if (kind == 'C' && frame == 1) {
        make_actor(m, s, 1, 0, 10, "spectator", NULL);
        make_total(l);
        make_actor(m, s, 2, 3, 20, "traffic.traffic_light", NULL);
        make_total(l);
        make_actor(m, s, 24, 1, 30, "vehicle.tesla.model3", "hero");
        make_total(l);
        make_actor(m, s, 25, 1, 40, "vehicle.diamondback.century", "autopilot \xc3\xa9t\xc3\xa9");
        make_total(l);
    } else if (kind == 'C' && frame == 2) {
        make_actor(m, s, 26, 2, 50, "walker.pedestrian.0001", NULL);
        make_total(l);
        make_actor(m, s, 27, 5, 1, "sensor.camera.rgb", NULL);
        make_total(l);
    } else if (kind == 'D' && frame == 4) {
        make_number(m, 26, 4);
        make_total(l);
    } else if (kind == 'E' && frame == 2) {
        make_number(m, 27, 4);
        make_number(m, 24, 4);
        make_total(l);
    } else if (kind == 'F' && frame == 3) {
        make_number(m, 7, 4);
        make_number(m, 24, 4);
        make_number(m, 0xffffffff, 4);
        make_number(m, 1, 2);
        make_total(l);
    }
}

static inline void make_states(struct make_list *l, const struct make_style *s, char kind, unsigned frame) {
    struct maker *m = l->m;
    unsigned movers = frame >= 2 && frame <= 3 ? 3 : 2;
    for (unsigned i = 0; i < movers && (kind == 'G' || kind == 'M'); i++) {
        make_moved(m, s, 24 + i, 100.0f * (float)frame + (float)i);
        make_total(l);
    }
    for (unsigned i = 0; i < 2 && (kind == 'I' || kind == 'K'); i++) {
        make_number(m, 24 + i, 4);
        make_number(m, frame, 4); /* light bits, or what is a float */
        if (kind == 'I') {
            make_f32(m, 0.5f);
            make_f32(m, 0);
            make_number(m, 0, 1);
            make_number(m, 0xffffffff, 4);
        }
        make_total(l);
    }
    if (kind == 'H') {
        make_number(m, 2, 4);
        make_number(m, 0, 1);
        make_f32(m, (float)frame);
        make_number(m, frame % 4, 1);
        make_total(l);
    } else if (kind == 'J' && movers == 3) {
        make_number(m, 26, 4);
        make_f32(m, 140);
        make_total(l);
    } else if (kind == 'T' && movers == 3) {
        make_bones(m, s, 26);
        make_total(l);
    }
}

static inline void make_changes(struct make_list *l, const struct make_style *s, char kind, unsigned frame) {
    struct maker *m = l->m;
    if (kind == 'L' && (frame == 1 || frame == 3)) {
        make_scene_light(m, -1, (float)frame);
        make_total(l);
        if (frame == 1) {
            make_scene_light(m, 6, 5);
            make_total(l);
        }
    } else if (kind == 'N' && frame <= 2) {
        make_moved(m, s, frame == 1 ? 24 : 26, (float)frame);
        make_total(l);
    } else if (kind == 'R' && frame == 1) {
        make_moved(m, s, 2, 9);
        make_total(l);
    } else if (kind == 'P' && (frame == 1 || frame == 3)) {
        make_physics(m, s, 24, 1000.0f * (float)frame);
        make_total(l);
    } else if (kind == 'Q' && frame == 1) {
        make_number(m, 2, 4);
        make_f32(m, 10);
        make_f32(m, 3);
        make_f32(m, 2);
        make_total(l);
    } else if (kind == 'Y' && (frame == 1 || frame == 4)) {
        for (unsigned i = 0; i < 14; i++) {
            make_f32(m, (float)(frame * 10 + i));
        }
        make_total(l);
    }
}

static inline void make_late(struct make_list *l, char meaning, unsigned frame) { /* 21…23 by meaning: wheels V, biker
                                                                                     W, door X */
    struct maker *m = l->m;
    if (meaning == 'V') {
        make_number(m, 24, 4);
        make_number(m, 4, 4);
        for (unsigned i = 0; i < 4; i++) {
            make_number(m, i, 1);
            make_f32(m, 0.5f);
            make_f32(m, (float)frame);
        }
        make_total(l);
    } else if (meaning == 'W') {
        make_number(m, 25, 4);
        make_f32(m, 300);
        make_f32(m, 0.25f);
        make_total(l);
    } else if (meaning == 'X' && (frame == 1 || frame == 3)) {
        make_number(m, 24, 4);
        make_number(m, frame == 1 ? 0 : 5, 1);
        make_number(m, 1, 1);
        make_total(l);
    }
}

/* Packets that stand in a frame only when they hold something. */
static inline bool make_leaves_out(char kind, uint16_t total) {
    return total == 0 && strchr("LMPQRY", kind);
}

static inline void make_one(struct maker *m, const struct make_style *s, char kind, unsigned frame) {
    size_t before = m->size;
    struct make_list l = {.m = m, .packet = make_packet(m, (uint8_t)(kind - 'A'))};
    if (kind == 'O' || kind == 'U') {
        make_f64(m, kind == 'O' ? 0.125 * frame : 0.5 * frame);
        make_close(m, l.packet);
        return;
    }
    make_number(m, 0, 2);
    make_events(&l, s, kind, frame);
    make_states(&l, s, kind, frame);
    make_changes(&l, s, kind, frame);
    if (kind >= 'V' && kind <= 'X') {
        make_late(&l, s->ue5_ids ? (kind == 'V' ? 'X' : (char)(kind - 1)) : kind, frame);
    }
    make_close(m, l.packet);
    if (make_leaves_out(kind, l.total)) {
        m->size = before;
    }
}
static inline void make_body(struct maker *m, const struct make_style *s, unsigned frame) {
    for (const char *kind = s->order; *kind; kind++) {
        make_one(m, s, *kind, frame);
    }
}
static inline double make_elapsed(unsigned frame) { /* steps of 1/8 s: sums are exact */
    return 0.125 * (frame - 1);
}
static inline void make_frame(struct maker *m, const struct make_style *s, unsigned frame, bool last) {
    make_start(m, frame, last ? -1 : 0.125, make_elapsed(frame));
    make_body(m, s, frame);
    make_end(m);
}
static inline struct maker make_world(const struct make_style *s, unsigned frames) {
    struct maker m = {0};
    make_header(&m, s->version, MAKE_DATE, MAKE_MAP);
    for (unsigned i = 1; i <= frames; i++) {
        make_frame(&m, s, i, i == frames);
    }
    return m;
}

#endif
