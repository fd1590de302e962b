/* NanoVer's frames as scenes: a sphere per particle, bonds and box as lines, in frame "simulation" with a nanometre as
 * a metre; heads and hands of the users in that frame; energies as numbers. More than SPHERES_MAX particles become
 * points (/view/points). A scene is complete, so the last one is right after any seek. */
#include "formats/nanover/view.h"
#include "base/bytes.h"
#include "formats/nanover/current_form.h"
#include "syntax/json_out.h"

enum { SPHERES_MAX = 2000, BONDS_MAX = 20000 };

static const char frame[] = "simulation";

struct nanover {
    uint32_t scene, points, visitors, energies, log;
    struct nanover_room room;
};

static unsigned nanover_role(const struct reel_channel *c) {
    (void)c;
    return VIEW_HERE | VIEW_ALL | VIEW_OPENS;
}

static bool nanover_open_channel(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err) {
    struct nanover *s = m->state;
    (void)channel;
    nanover_room_forget(&s->room);
    return view_topic(m, "/view/scene", &view_schema_scene, &s->scene, err) &&
           view_topic(m, "/view/points", &view_schema_cloud, &s->points, err) &&
           view_topic(m, "/view/avatars", &view_schema_poses, &s->visitors, err) &&
           view_topic(m, "/view/energies", &view_schema_energies, &s->energies, err) &&
           view_topic(m, "/view/log", &view_schema_log, &s->log, err);
}
static void nanover_forget(void *state) {
    nanover_room_forget(&((struct nanover *)state)->room);
}
static void nanover_close_state(void *state) {
    nanover_room_free(&((struct nanover *)state)->room);
}

/* --- particles --- */

struct element {
    float radius; /* nm, a third of the van der Waals radius, so that bonds stay visible */
    uint8_t r, g, b;
};
static struct element element_of(uint8_t number) {
    static const struct element by_number[] = {
        [0] = {0.04f, 160, 160, 160},   [1] = {0.037f, 240, 240, 240},  [2] = {0.047f, 200, 240, 240},
        [3] = {0.061f, 150, 80, 210},   [5] = {0.064f, 240, 170, 150},  [6] = {0.057f, 80, 80, 80},
        [7] = {0.052f, 60, 90, 230},    [8] = {0.051f, 230, 40, 40},    [9] = {0.049f, 100, 210, 90},
        [10] = {0.051f, 180, 220, 240}, [11] = {0.076f, 150, 90, 220},  [12] = {0.058f, 90, 170, 60},
        [13] = {0.061f, 180, 160, 160}, [14] = {0.07f, 220, 190, 150},  [15] = {0.06f, 240, 140, 40},
        [16] = {0.06f, 235, 205, 60},   [17] = {0.058f, 60, 200, 60},   [18] = {0.063f, 140, 200, 220},
        [19] = {0.092f, 140, 70, 200},  [20] = {0.077f, 80, 180, 80},   [26] = {0.065f, 210, 110, 60},
        [29] = {0.047f, 200, 130, 70},  [30] = {0.046f, 130, 130, 170}, [35] = {0.062f, 160, 50, 40},
        [53] = {0.066f, 140, 30, 140},  [79] = {0.055f, 240, 200, 50},
    };
    struct element e = number < sizeof by_number / sizeof *by_number ? by_number[number] : (struct element){0};
    return e.radius > 0 ? e : (struct element){0.06f, 220, 100, 180};
}

static struct element particle_of(const struct nanover_room *room, size_t i) {
    struct element e = element_of(i < room->elements.size ? room->elements.data[i] : 0);
    if (4 * i + 4 <= room->colors.size) {
        const uint8_t *c = room->colors.data + 4 * i;
        e.r = c[0];
        e.g = c[1];
        e.b = c[2];
    }
    return e;
}

static void put_spheres(struct fg_entity *e, const struct nanover_room *room, size_t n) {
    fg_array(e, "spheres");
    for (size_t i = 0; i < n; i++) {
        struct element p = particle_of(room, i);
        struct view_color color = {(float)p.r / 255, (float)p.g / 255, (float)p.b / 255, 1};
        fg_sphere(e->g, nanover_position(room, i), 2 * (double)p.radius, color);
    }
    fg_array_end(e);
}

static void put_bonds(struct fg_entity *e, const struct nanover_room *room, size_t n) {
    fg_array(e, "lines");
    fg_line(e->g, 2, 0.02);
    for (size_t at = 0; at < BONDS_MAX && 8 * at + 8 <= room->bonds.size; at++) {
        uint32_t a = load_u32le(room->bonds.data + 8 * at), b = load_u32le(room->bonds.data + 8 * at + 4);
        if (a < n && b < n) {
            fg_comma(e->g);
            fg_point(e->g, nanover_position(room, a));
            fg_comma(e->g);
            fg_point(e->g, nanover_position(room, b));
        }
    }
    fg_line_end(e->g, (struct view_color){0.7f, 0.7f, 0.7f, 1});
    fg_array_end(e);
}

/* The twelve edges: from each corner along each vector not yet added to it. */
static void put_box(struct fg_entity *e, const struct nanover_room *room) {
    fg_array(e, "lines");
    fg_line(e->g, 2, 0.01);
    for (unsigned edge = 0; edge < 24; edge++) {
        unsigned corner = edge / 3, along = edge % 3;
        for (unsigned end = 0; !(corner >> along & 1) && end < 2; end++) {
            double v[3] = {0};
            for (unsigned row = 0; row < 3; row++) {
                bool in = (corner >> row & 1) || (end == 1 && row == along);
                for (unsigned k = 0; k < 3; k++) {
                    v[k] += in ? (double)load_f32le(room->box.data + 12 * row + 4 * k) : 0;
                }
            }
            fg_comma(e->g);
            fg_point(e->g, (struct view_vec){v[0], v[1], v[2]});
        }
    }
    fg_line_end(e->g, (struct view_color){0.5f, 0.5f, 0.5f, 0.8f});
    fg_array_end(e);
}

static bool show_scene(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    const struct nanover *s = m->state;
    struct grow *g = view_begin(m, s->scene);
    if (!g) {
        return true;
    }
    size_t n = nanover_particles(&s->room);
    fg_scene(g, time_ns);
    if (n > 0) {
        struct fg_entity e = fg_entity(g, time_ns, frame, "particles", true);
        if (n <= SPHERES_MAX) {
            put_spheres(&e, &s->room, n);
        }
        put_bonds(&e, &s->room, n);
        fg_entity_end(&e);
    }
    if (s->room.box.size == 36) {
        struct fg_entity e = fg_entity(g, time_ns, frame, "box", true);
        put_box(&e, &s->room);
        fg_entity_end(&e);
    }
    fg_scene_end(g);
    return view_end(m, err);
}

static bool show_points(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    const struct nanover *s = m->state;
    size_t n = nanover_particles(&s->room);
    struct grow *g = n > SPHERES_MAX ? view_begin(m, s->points) : NULL;
    struct grow data = {0};
    if (!g) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        struct element p = particle_of(&s->room, i);
        grow_put(&data, s->room.positions.data + 12 * i, 12);
        grow_put(&data, (const uint8_t[]){p.r, p.g, p.b, 255}, 4);
    }
    fg_put(g, "{");
    fg_time(g, time_ns);
    fg_put(g, ",\"frame_id\":\"simulation\"");
    fg_pose(g, (struct view_vec){0, 0, 0}, VIEW_UPRIGHT);
    fg_put(g,
           ",\"point_stride\":16,\"fields\":[{\"name\":\"x\",\"offset\":0,\"type\":7},{\"name\":\"y\",\"offset\":4,"
           "\"type\":7},"
           "{\"name\":\"z\",\"offset\":8,\"type\":7},{\"name\":\"red\",\"offset\":12,\"type\":1},{\"name\":\"green\","
           "\"offset\":13,"
           "\"type\":1},"
           "{\"name\":\"blue\",\"offset\":14,\"type\":1},{\"name\":\"alpha\",\"offset\":15,\"type\":1}],\"data\":\"");
    json_put_base64(g, bytes_of(data.data, data.size));
    fg_put(g, "\"}");
    g->failed |= data.failed;
    free(data.data);
    return view_end(m, err);
}

/* --- users and energies --- */

static void put_pose(struct grow *g, struct view_vec at, struct view_quat turn) {
    fg_comma(g);
    fg_put(g, "{\"position\":");
    fg_point(g, at);
    fg_put(g, ",\"orientation\":");
    fg_quat(g, turn);
    fg_put(g, "}");
}

static bool show_visitors(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    const struct nanover *s = m->state;
    struct grow *g = view_begin(m, s->visitors);
    if (!g) {
        return true;
    }
    fg_put(g, "{");
    fg_time(g, time_ns);
    fg_put(g, ",\"frame_id\":\"simulation\",\"poses\":[");
    for (size_t i = 0; i < s->room.n_visitors; i++) {
        nanover_visitor_poses(&s->room, &s->room.visitors[i], put_pose, g);
    }
    fg_put(g, "]}");
    return view_end(m, err);
}

static bool show_energies(struct view_maker *m, const struct nanover_news *news, struct reel_error *err) {
    static const char *const names[ENERGIES] = {"simulation_time", "kinetic",   "potential",  "user",
                                                "total",           "work_done", "temperature"};
    const struct nanover *s = m->state;
    bool any = false;
    for (size_t i = 0; i < ENERGIES; i++) {
        any |= news->has[i];
    }
    struct grow *g = any ? view_begin(m, s->energies) : NULL;
    if (!g) {
        return true;
    }
    fg_put(g, "{");
    for (size_t i = 0; i < ENERGIES; i++) {
        if (news->has[i]) {
            fg_comma(g);
            fg_put(g, "\"");
            fg_put(g, names[i]);
            fg_put(g, "\":");
            fg_double(g, news->energies[i]);
        }
    }
    fg_put(g, "}");
    return view_end(m, err);
}

static bool write_log(struct view_maker *m, int64_t time_ns, int level, struct reel_bytes text,
                      struct reel_error *err) {
    struct grow *g = view_begin(m, ((const struct nanover *)m->state)->log);
    if (g) {
        fg_log(g, time_ns, level, "nanover.simulation", text);
    }
    return !g || view_end(m, err);
}

static bool nanover_view_take(struct view_maker *m, const struct reel_channel *channel,
                              const struct reel_message *message, struct reel_bytes payload, struct reel_error *err) {
    struct nanover *s = m->state;
    struct nanover_news news;
    int64_t now = message->time_ns;
    (void)channel;
    if (!nanover_room_take(&s->room, payload, &news, err)) {
        return false;
    }
    if (m->silent) {
        return true;
    }
    if ((news.scene || m->opening) && (!show_scene(m, now, err) || !show_points(m, now, err))) {
        return false;
    }
    bool good = !news.reset || write_log(m, now, FG_INFO, bytes_text("the simulation begins anew"), err);
    good = good && (news.exception.size == 0 || write_log(m, now, FG_ERROR, news.exception, err));
    return good && (!(news.visitors || m->opening) || show_visitors(m, now, err)) && show_energies(m, &news, err);
}

const struct view_transform view_nanover = {
    .encoding = &reel_encoding_nanover,
    .older = &reel_encoding_nanover_legacy,
    .convert = nanover_view,
    .role = nanover_role,
    .from_initial_state = true,
    .state_size = sizeof(struct nanover),
    .open = nanover_open_channel,
    .close = nanover_close_state,
    .forget = nanover_forget,
    .take = nanover_view_take,
};
