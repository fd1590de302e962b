/* The actors that exist at a point of a CARLA recording, in the order of their creation. */
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "formats/carla/view.h"

/* + 0: never -0 */
struct carla_pose carla_pose_of(const double location[3], const double rotation[3]) {
    return (struct carla_pose){.at = {location[0] / 100, -location[1] / 100 + 0, location[2] / 100},
                               .roll = rotation[0],
                               .pitch = -rotation[1] + 0,
                               .yaw = -rotation[2] + 0};
}

/* Rotates about x, then y, then z. */
struct view_quat carla_turn_of(const struct carla_pose *p) {
    double r = p->roll * M_PI / 360, t = p->pitch * M_PI / 360, y = p->yaw * M_PI / 360;
    double cr = cos(r), sr = sin(r), cp = cos(t), sp = sin(t), cy = cos(y), sy = sin(y);
    struct view_quat q = {sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy,
                          cr * cp * cy + sr * sp * sy};
    return isfinite(q.x + q.y + q.z + q.w) ? q : VIEW_UPRIGHT;
}

struct carla_actor *carla_actor_of(const struct carla_actors *actors, uint32_t id) {
    uint32_t index = carla_ids_find(&actors->ids, id);
    struct carla_actor *a = index > 0 && index <= actors->count ? &actors->items[index - 1] : NULL;
    return a && a->id == id && !a->gone ? a : NULL;
}

static struct view_color color_of(uint8_t type) {
    switch (type) {
    case CARLA_VEHICLE:
        return (struct view_color){0.3f, 0.5f, 0.9f, 0.9f};
    case CARLA_WALKER:
        return (struct view_color){0.95f, 0.75f, 0.2f, 0.9f};
    case 3: /* traffic light */
        return (struct view_color){0.2f, 0.7f, 0.3f, 0.6f};
    default:
        return (struct view_color){0.6f, 0.6f, 0.6f, 0.5f};
    }
}

/* "255,0,10" */
static void read_color(struct reel_bytes text, struct view_color *out) {
    unsigned parts[3] = {0}, n = 0;
    for (size_t i = 0; i < text.size && n < 3; i++) {
        uint8_t c = text.data[i];
        if (c == ',') {
            n++;
        } else if (c < '0' || c > '9' || parts[n] > 255) {
            return;
        } else {
            parts[n] = parts[n] * 10 + (c - '0');
        }
    }
    if (n == 2 && parts[0] <= 255 && parts[1] <= 255 && parts[2] <= 255) {
        *out = (struct view_color){(float)parts[0] / 255, (float)parts[1] / 255, (float)parts[2] / 255, 0.9f};
    }
}

static void read_attributes(const struct carla_added *added, struct carla_actor *a) {
    struct cursor c = added->attributes;
    struct reel_bytes id, value;
    for (uint16_t i = 0; i < added->n_attributes && carla_attribute_read(&c, &id, &value); i++) {
        if (bytes_is(id, "color")) {
            read_color(value, &a->color);
        } else if (bytes_is(id, "role_name")) {
            a->hero = bytes_is(value, "hero");
        }
    }
}

/* Default box for an actor without one: vehicles stand on their location, walkers are centred on it. */
static void default_box(struct carla_actor *a) {
    if (a->type == CARLA_VEHICLE) {
        a->origin = (struct view_vec){0, 0, 0.75};
        a->size = (struct view_vec){4.5, 1.9, 1.5};
    } else if (a->type == CARLA_WALKER) {
        a->size = (struct view_vec){0.5, 0.5, 1.8};
    }
}

bool carla_actor_add(struct carla_actors *actors, const struct carla_added *added, struct carla_actor **actor,
                     struct reel_error *err) {
    *actor = carla_actor_of(actors, added->id);
    if (!*actor) {
        if (actors->count >= CARLA_ACTORS_MAX) {
            return true;
        }
        if (!GROW_ARRAY(actors->items, actors->count, actors->capacity)) {
            return reel_fail_memory(err);
        }
        if (!carla_ids_put(&actors->ids, added->id, (uint32_t)actors->count + 1, err)) {
            return false;
        }
        *actor = &actors->items[actors->count++];
    }
    actors->names.max = CARLA_NAMES_MAX;
    const uint8_t *name = arena_copy(&actors->names, added->description.data, added->description.size);
    if (!name && actors->names.no_memory) {
        return reel_fail_memory(err);
    }
    struct carla_actor *a = *actor;
    *a = (struct carla_actor){.id = added->id, .type = added->type, .color = color_of(added->type)};
    a->name = name ? bytes_of(name, added->description.size) : bytes_of("", 0);
    a->created = a->pose = carla_pose_of(added->location, added->rotation);
    default_box(a);
    read_attributes(added, a);
    return true;
}

/* Removes deleted actors. */
static void compact(struct carla_actors *actors) {
    struct reel_error ignored = {0};
    size_t n = 0;
    for (size_t i = 0; i < actors->count; i++) {
        if (!actors->items[i].gone) {
            actors->items[n++] = actors->items[i];
            carla_ids_put(&actors->ids, actors->items[i].id, (uint32_t)n, &ignored); /* already in the table: it does
                                                                                        not grow */
        }
    }
    actors->count = n;
    actors->gone = 0;
}

void carla_actor_remove(struct carla_actors *actors, struct carla_actor *actor) {
    actor->gone = true;
    if (++actors->gone > 64 && actors->gone > actors->count / 2) {
        compact(actors);
    }
}

void carla_actors_free(struct carla_actors *actors) {
    hash_table_free(&actors->ids);
    free(actors->items);
    arena_free(&actors->names);
    *actors = (struct carla_actors){.count = 0};
}

static bool begins(struct reel_bytes text, const char *prefix) {
    return bytes_start(text, bytes_text(prefix));
}

bool carla_drawn(const struct carla_actor *a) {
    bool size = a->size.x > 0 && a->size.y > 0 && a->size.z > 0;
    bool unseen = a->type == CARLA_SENSOR || a->type == CARLA_INVALID || begins(a->name, "sensor.") ||
                  begins(a->name, "spectator") || begins(a->name, "controller.");
    return size && !unseen;
}

void carla_frame_name(const struct carla_actor *a, char out[CARLA_FRAME_ROOM]) {
    snprintf(out, CARLA_FRAME_ROOM, "actor/%u", a->id);
}
