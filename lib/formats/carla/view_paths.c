/* The paths of vehicles and walkers, one line each, from all position packets of the selection. A line has a bounded
 * number of points; when it is full, every second point is dropped and the distance between new points doubles. */
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/carla/view.h"

enum { PATHS_MAX = 1024, POINTS_MAX = 256 };
#define APART 0.5 /* metres between points, initially */

struct path {
    struct view_vec points[POINTS_MAX];
    struct view_vec last; /* last location */
    unsigned n;
    double apart;
    uint32_t id;
    struct view_color color;
};
struct paths {
    struct path *items;
    size_t count, capacity;
    struct hash_table open; /* index + 1 of the item of the actor that has the id now; PATHS_MAX + 1: none */
};

static void paths_done(struct paths *p) {
    free(p->items);
    hash_table_free(&p->open);
}

static struct path *carla_path_of(const struct paths *p, uint32_t id) {
    uint32_t index = carla_ids_find(&p->open, id);
    return index > 0 && index <= p->count ? &p->items[index - 1] : NULL;
}

static bool path_begin(struct paths *p, uint32_t id, struct view_color color, struct reel_error *err) {
    const struct path *now = carla_path_of(p, id);
    if ((now && now->n == 0) || p->count >= PATHS_MAX) {
        return true;
    }
    if (!GROW_ARRAY(p->items, p->count, p->capacity)) {
        return reel_fail_memory(err);
    }
    struct path *path = &p->items[p->count++];
    path->n = 0;
    path->id = id;
    path->apart = APART;
    path->color = color;
    return carla_ids_put(&p->open, id, (uint32_t)p->count, err);
}

static double carla_view_paths_distance(struct view_vec a, struct view_vec b) {
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

static void path_add(struct path *path, struct view_vec at) {
    path->last = at;
    if (path->n > 0 && !(carla_view_paths_distance(path->points[path->n - 1], at) >= path->apart)) {
        return;
    }
    if (path->n == POINTS_MAX) {
        for (unsigned i = 0; i < POINTS_MAX / 2; i++) {
            path->points[i] = path->points[2 * i];
        }
        path->n = POINTS_MAX / 2;
        path->apart *= 2;
        path_add(path, at);
        return;
    }
    path->points[path->n++] = at;
}

static bool take_added(struct paths *p, struct reel_bytes record, const struct carla_layout *layout,
                       struct reel_error *err) {
    struct carla_added added;
    bool moves =
        carla_added_read(record, layout, &added) && (added.type == CARLA_VEHICLE || added.type == CARLA_WALKER);
    struct view_color color = {0.3f, 0.5f, 0.9f, 0.9f};
    if (added.type == CARLA_WALKER) {
        color = (struct view_color){0.95f, 0.75f, 0.2f, 0.9f};
    }
    return !moves || path_begin(p, added.id, color, err);
}

static bool carla_view_paths_take_packet(struct paths *p, const struct reel_channel *channel, struct reel_bytes payload,
                                         struct reel_error *err) {
    struct carla_layout layout;
    enum carla_kind kind;
    uint8_t id;
    uint32_t count;
    struct reel_bytes record;
    if (!carla_channel_read(channel, &id, &kind, &layout) || !carla_count(kind, &layout, payload, &count)) {
        return true;
    }
    struct cursor c = carla_records(kind, payload);
    for (uint32_t i = 0; i < count && carla_record(kind, &layout, &c, &record); i++) {
        uint32_t actor = load_u32le(record.data);
        struct path *path = kind == CARLA_POSITION ? carla_path_of(p, actor) : NULL;
        bool good = true;
        if (path) {
            double location[3], none[3] = {0};
            carla_vec_read(record.data + 4, &layout, location);
            path_add(path, carla_pose_of(location, none).at);
        } else if (kind == CARLA_EVENT_ADD) {
            good = take_added(p, record, &layout, err);
        } else if (kind == CARLA_EVENT_DEL) {
            good = carla_path_of(p, actor) == NULL || carla_ids_put(&p->open, actor, PATHS_MAX + 1, err);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool carla_view_paths_run(struct paths *p, const struct view_maker *m, struct reel_error *err) {
    const char *const topics[] = {carla_facts[CARLA_EVENT_ADD].topic, carla_facts[CARLA_EVENT_DEL].topic,
                                  carla_facts[CARLA_POSITION].topic};
    AUTO(reel_stream_free) struct reel_stream *stream = view_whole(m, topics, 3, err);
    for (;;) {
        struct reel_message message;
        struct reel_bytes payload;
        enum reel_step step = stream ? stream_next(stream, &message, err) : REEL_STEP_ERROR;
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (message.size > 2 && (!reel_stream_payload(stream, &message, &payload, err) ||
                                 !carla_view_paths_take_packet(p, stream->channels[message.channel], payload, err))) {
            return false;
        }
    }
}

static void carla_show(struct grow *g, struct path *path, size_t number, int64_t time_ns) {
    char name[48], id[16];
    if (path->n == 0 || carla_view_paths_distance(path->points[0], path->last) == 0) {
        return;
    }
    snprintf(name, sizeof name, "trajectory/%zu", number);
    snprintf(id, sizeof id, "%u", path->id);
    struct fg_entity e = fg_entity(g, time_ns, "map", name, true);
    fg_array(&e, "metadata");
    fg_pair(g, "actor", bytes_text(id));
    fg_array_end(&e);
    fg_array(&e, "lines");
    fg_line(g, 0, 0.15);
    for (unsigned i = 0; i < path->n; i++) {
        fg_comma(g);
        fg_point(g, path->points[i]);
    }
    fg_comma(g);
    fg_point(g, path->last);
    fg_line_end(g, path->color);
    fg_array_end(&e);
    fg_entity_end(&e);
}

bool carla_paths_make(struct view_maker *m, const struct carla_actors *now, int64_t time_ns, struct grow *out,
                      struct reel_error *err) {
    AUTO_STRUCT(paths_done) struct paths p = {.count = 0};
    for (size_t i = 0; i < now->count; i++) {
        const struct carla_actor *a = &now->items[i];
        if (!a->gone && carla_moves(a) && !path_begin(&p, a->id, a->color, err)) {
            return false;
        }
    }
    if (!carla_view_paths_run(&p, m, err)) {
        return false;
    }
    fg_scene(out, time_ns);
    for (size_t i = 0; i < p.count; i++) {
        carla_show(out, &p.items[i], i + 1, time_ns);
    }
    fg_scene_end(out);
    return true;
}
