/* CARLA's packets as scenes: vehicles and walkers as cubes in their own frames (actor/24), updated by every position
 * packet; static objects as cubes in "map"; the ego vehicle as numbers; events as log lines. A scene is complete and is
 * sent when something in it changes, so the last scene is right after any seek. The state consists of events, boxes,
 * and the last position and collision packet. */
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "formats/carla/view.h"

enum { SCENE_ACTORS_MAX = 4096 };

static bool carla_of(const struct reel_channel *c, enum carla_kind *kind, struct carla_layout *layout) {
    uint8_t id;
    return carla_channel_read(c, &id, kind, layout);
}

static unsigned carla_role(const struct reel_channel *c) {
    struct carla_layout layout;
    enum carla_kind kind;
    switch (carla_of(c, &kind, &layout) ? kind : CARLA_UNKNOWN) {
    case CARLA_EVENT_ADD:
    case CARLA_EVENT_DEL:
    case CARLA_EVENT_PARENT:
    case CARLA_BOUNDING_BOX:
        return VIEW_HERE | VIEW_ALL;
    case CARLA_POSITION:
    case CARLA_COLLISION:
        return VIEW_HERE | VIEW_LAST;
    case CARLA_FRAME_START:
    case CARLA_VEHICLE_ANIMATION:
        return VIEW_HERE;
    case CARLA_FRAME_END:
        return VIEW_HERE | VIEW_OPENS;
    default:
        return 0;
    }
}

static bool carla_view_open_channel(struct view_maker *m, const struct reel_channel *channel, struct reel_error *err) {
    struct carla_view *s = m->state;
    (void)channel;
    return view_topic(m, "/view/scene", &view_schema_scene, &s->scene, err) &&
           view_topic(m, "/view/tf", &view_schema_transforms, &s->frames, err) &&
           view_topic(m, "/view/log", &view_schema_log, &s->log, err) &&
           view_topic(m, "/view/trajectories", &view_schema_scene, &s->paths, err) &&
           view_topic(m, "/view/ego", &view_schema_ego, &s->ego, err);
}

static void carla_view_forget(void *state) {
    struct carla_view *s = state;
    carla_actors_free(&s->actors);
    s->position.has = s->before.has = s->collision.has = s->changed = s->placed = s->driven = false;
}
static void carla_close_state(void *state) {
    struct carla_view *s = state;
    carla_view_forget(s);
    free(s->position.data.data);
    free(s->before.data.data);
    free(s->collision.data.data);
}

static bool carla_view_keep(struct carla_last_packet *p, const struct reel_message *message, struct reel_bytes payload,
                            struct reel_error *err) {
    p->data.size = 0;
    grow_put(&p->data, payload.data, payload.size);
    p->time_ns = message->time_ns;
    p->has = true;
    return !p->data.failed || reel_fail_memory(err);
}

/* --- positions --- */

struct walk { /* iterates over the records of a position packet */
    struct cursor c;
    struct carla_layout layout;
    uint32_t left;
};
static struct walk walk_of(const struct carla_last_packet *p, const struct carla_layout *layout) {
    struct reel_bytes data = bytes_of(p->data.data, p->has ? p->data.size : 0);
    struct walk w = {.c = cursor_of(data), .layout = *layout};
    w.left = p->has && carla_count(CARLA_POSITION, layout, data, &w.left) ? w.left : 0;
    cursor_take(&w.c, 2);
    return w;
}
static bool walk_next(struct walk *w, struct reel_bytes *record) {
    return w->left > 0 && w->left-- > 0 && carla_record(CARLA_POSITION, &w->layout, &w->c, record);
}
static struct carla_pose pose_in(const struct carla_layout *layout, struct reel_bytes record) {
    double location[3], rotation[3];
    carla_vec_read(record.data + 4, layout, location);
    carla_vec_read(record.data + 4 + layout->vec, layout, rotation);
    return carla_pose_of(location, rotation);
}

/* True when the set of actors differs from the previous packet, or an actor drawn in "map" has moved. */
static bool scene_differs(const struct carla_view *s) {
    struct walk now = walk_of(&s->position, &s->layout), before = walk_of(&s->before, &s->layout);
    struct reel_bytes a, b;
    bool differs = now.left != before.left;
    while (!differs && walk_next(&now, &a) && walk_next(&before, &b)) {
        const struct carla_actor *actor = carla_actor_of(&s->actors, load_u32le(a.data));
        differs = memcmp(a.data, b.data, 4) != 0 ||
                  (actor && !carla_moves(actor) && carla_drawn(actor) && !bytes_equal(a, b));
    }
    return differs;
}

static const struct carla_actor *ego_of(const struct carla_actors *actors) {
    const struct carla_actor *first = NULL;
    for (size_t i = 0; i < actors->count; i++) {
        const struct carla_actor *a = &actors->items[i];
        if (a->gone || a->type != CARLA_VEHICLE || a->seen == 0 || a->seen != actors->packets) {
            continue;
        }
        if (a->hero) {
            return a;
        }
        first = first ? first : a;
    }
    return first;
}

static bool show_frames(struct view_maker *m, const struct reel_message *message, struct reel_error *err) {
    const struct carla_view *s = m->state;
    struct grow *g = view_begin(m, s->frames);
    if (!g) {
        return true;
    }
    const struct carla_actor *ego = ego_of(&s->actors);
    char name[CARLA_FRAME_ROOM];
    struct walk w = walk_of(&s->position, &s->layout);
    struct reel_bytes record;
    fg_put(g, "{\"transforms\":[");
    while (walk_next(&w, &record)) {
        const struct carla_actor *a = carla_actor_of(&s->actors, load_u32le(record.data));
        if (a && carla_moves(a)) {
            carla_frame_name(a, name);
            fg_transform(g, message->time_ns, "map", name, a->pose.at, carla_turn_of(&a->pose));
        }
    }
    if (ego) {
        carla_frame_name(ego, name);
        fg_transform(g, message->time_ns, name, "ego", (struct view_vec){0, 0, 0}, VIEW_UPRIGHT);
    }
    fg_put(g, "]}");
    return view_end(m, err);
}

static bool take_position(struct view_maker *m, const struct carla_layout *layout, const struct reel_message *message,
                          struct reel_bytes payload, struct reel_error *err) {
    struct carla_view *s = m->state;
    struct carla_last_packet free_one = s->before;
    s->before = s->position;
    s->position = free_one;
    s->layout = *layout;
    s->placed = true;
    if (!carla_view_keep(&s->position, message, payload, err)) {
        return false;
    }
    struct walk w = walk_of(&s->position, layout);
    struct reel_bytes record;
    bool any = w.left > 0;
    s->actors.packets++;
    while (walk_next(&w, &record)) {
        struct carla_actor *a = carla_actor_of(&s->actors, load_u32le(record.data));
        if (a) {
            a->pose = pose_in(layout, record);
            a->seen = s->actors.packets;
        }
    }
    s->changed |= !s->before.has || scene_differs(s);
    return !any || m->silent || show_frames(m, message, err);
}

/* --- output at the end of a frame --- */

static void show_actor(struct grow *g, const struct carla_actors *actors, const struct carla_actor *a,
                       int64_t time_ns) {
    char name[CARLA_FRAME_ROOM];
    bool moves = carla_moves(a), seen = a->seen > 0 && a->seen == actors->packets;
    /* a child's location is relative to its parent */
    if (a->gone || !carla_drawn(a) || (!seen && (moves || a->child))) {
        return;
    }
    carla_frame_name(a, name);
    const struct carla_pose *pose = seen ? &a->pose : &a->created;
    struct view_quat turn = moves ? VIEW_UPRIGHT : carla_turn_of(pose);
    struct view_vec at = a->origin;
    if (!moves) { /* the box turned with the actor: v + 2 q × (q × v + w v) */
        struct view_vec c = {turn.y * at.z - turn.z * at.y + turn.w * at.x,
                             turn.z * at.x - turn.x * at.z + turn.w * at.y,
                             turn.x * at.y - turn.y * at.x + turn.w * at.z};
        at.x += pose->at.x + 2 * (turn.y * c.z - turn.z * c.y);
        at.y += pose->at.y + 2 * (turn.z * c.x - turn.x * c.z);
        at.z += pose->at.z + 2 * (turn.x * c.y - turn.y * c.x);
    }
    struct fg_entity e = fg_entity(g, time_ns, moves ? name : "map", name, true);
    fg_array(&e, "metadata");
    fg_pair(g, "type", a->name);
    if (a->hero) {
        fg_pair(g, "role_name", bytes_text("hero"));
    }
    fg_array_end(&e);
    fg_array(&e, "cubes");
    fg_cube(g, at, turn, a->size, a->color);
    fg_array_end(&e);
    fg_entity_end(&e);
}

static bool show_scene(struct view_maker *m, const struct reel_message *message, struct reel_error *err) {
    const struct carla_view *s = m->state;
    struct grow *g = view_begin(m, s->scene);
    if (!g) {
        return true;
    }
    fg_scene(g, message->time_ns);
    for (size_t i = 0; i < s->actors.count && i < SCENE_ACTORS_MAX; i++) {
        show_actor(g, &s->actors, &s->actors.items[i], message->time_ns);
    }
    fg_scene_end(g);
    return view_end(m, err);
}

static void carla_put_member(struct grow *g, const char *name, double value) {
    fg_put(g, ",\"");
    fg_put(g, name);
    fg_put(g, "\":");
    fg_number(g, value);
}

/* Metres per second, from the change since the previous packet. */
static void put_speed(struct grow *g, const struct carla_view *s, const struct carla_actor *ego) {
    struct walk w = walk_of(&s->before, &s->layout);
    struct reel_bytes record;
    double step = (double)(s->position.time_ns - s->before.time_ns) / CARLA_NS_PER_SEC;
    while (step > 0 && walk_next(&w, &record)) {
        if (load_u32le(record.data) == ego->id) {
            struct carla_pose before = pose_in(&s->layout, record);
            carla_put_member(
                g, "speed",
                hypot(hypot(ego->pose.at.x - before.at.x, ego->pose.at.y - before.at.y), ego->pose.at.z - before.at.z) /
                    step);
            return;
        }
    }
}

static bool show_ego(struct view_maker *m, struct reel_error *err) {
    const struct carla_view *s = m->state;
    const struct carla_actor *ego = ego_of(&s->actors);
    struct grow *g = ego && s->placed ? view_begin(m, s->ego) : NULL;
    if (!g) {
        return true;
    }
    fg_put(g, "{\"id\":");
    fg_count(g, ego->id);
    carla_put_member(g, "x", ego->pose.at.x);
    carla_put_member(g, "y", ego->pose.at.y);
    carla_put_member(g, "z", ego->pose.at.z);
    carla_put_member(g, "roll", ego->pose.roll);
    carla_put_member(g, "pitch", ego->pose.pitch);
    carla_put_member(g, "yaw", ego->pose.yaw);
    put_speed(g, s, ego);
    if (s->driven && s->driver == ego->id) {
        carla_put_member(g, "steering", (double)load_f32le(s->control));
        carla_put_member(g, "throttle", (double)load_f32le(s->control + 4));
        carla_put_member(g, "brake", (double)load_f32le(s->control + 8));
        fg_put(g, s->control[12] ? ",\"handbrake\":true,\"gear\":" : ",\"handbrake\":false,\"gear\":");
        int32_t gear = (int32_t)load_u32le(s->control + 13);
        fg_put(g, gear < 0 ? "-" : "");
        fg_count(g, gear < 0 ? 0 - (uint64_t)(int64_t)gear : (uint64_t)gear);
    }
    fg_put(g, "}");
    return view_end(m, err);
}

static void take_control(struct carla_view *s, const struct carla_layout *layout, struct reel_bytes payload) {
    const struct carla_actor *ego = ego_of(&s->actors);
    uint32_t count;
    struct cursor c = cursor_of(payload);
    struct reel_bytes record;
    cursor_take(&c, 2);
    if (!ego || !carla_count(CARLA_VEHICLE_ANIMATION, layout, payload, &count)) {
        return;
    }
    for (uint32_t i = 0; i < count && carla_record(CARLA_VEHICLE_ANIMATION, layout, &c, &record); i++) {
        if (load_u32le(record.data) == ego->id) {
            s->driven = true;
            s->driver = ego->id;
            memcpy(s->control, record.data + 4, sizeof s->control);
        }
    }
}

static bool end_frame(struct view_maker *m, const struct reel_message *message, struct reel_error *err) {
    struct carla_view *s = m->state;
    bool changed = s->changed;
    s->changed = false;
    if (m->silent) {
        return true;
    }
    if (((changed || m->opening) && !show_scene(m, message, err)) || !show_ego(m, err)) {
        return false;
    }
    struct grow *g = m->opening ? view_begin(m, s->paths) : NULL;
    return !g || (carla_paths_make(m, &s->actors, message->time_ns, g, err) && view_end(m, err));
}

static bool carla_view_take(struct view_maker *m, const struct reel_channel *channel,
                            const struct reel_message *message, struct reel_bytes payload, struct reel_error *err) {
    struct carla_view *s = m->state;
    struct carla_layout layout;
    enum carla_kind kind;
    if (!carla_of(channel, &kind, &layout)) {
        return true;
    }
    switch (kind) {
    case CARLA_FRAME_START:
        s->changed = s->placed = s->driven = false; /* discard what an unfinished frame left */
        return true;
    case CARLA_POSITION:
        return take_position(m, &layout, message, payload, err);
    case CARLA_VEHICLE_ANIMATION:
        take_control(s, &layout, payload);
        return true;
    case CARLA_FRAME_END:
        return end_frame(m, message, err);
    case CARLA_COLLISION:
        return carla_view_take_records(m, kind, &layout, message, payload, err) &&
               carla_view_keep(&s->collision, message, payload, err);
    default:
        return carla_view_take_records(m, kind, &layout, message, payload, err);
    }
}

const struct view_transform view_carla = {
    .encoding = &reel_encoding_carla,
    .role = carla_role,
    .nothing = 2,
    .state_size = sizeof(struct carla_view),
    .open = carla_view_open_channel,
    .close = carla_close_state,
    .forget = carla_view_forget,
    .take = carla_view_take,
};
