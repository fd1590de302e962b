/* What the parts of the CARLA transform share. actors: who is there · foxglove_carla: what is shown of them · paths: where they went. */
#ifndef REEL_VIEWS_FOXGLOVE_CARLA_H
#define REEL_VIEWS_FOXGLOVE_CARLA_H

#include "reports/carla/carla.h"
#include "views/foxglove.h"

enum { CARLA_VEHICLE = 1, CARLA_WALKER = 2, CARLA_SENSOR = 5, CARLA_INVALID = 6 }; /* types of actors */

/* Metres and right-handed: y, pitch and yaw are CARLA's negated. */
struct carla_place {
    struct view_vec at;
    double roll, pitch, yaw; /* degrees */
};
struct carla_place carla_place_of(const double location[3], const double rotation[3]);
struct view_quat carla_turn_of(const struct carla_place *p);

struct carla_actor {
    uint32_t id;
    uint8_t type;
    bool hero, child;                  /* child: it moves with another */
    bool gone;                         /* its item waits to be taken out */
    uint64_t seen;                     /* the position packet that it is in (carla_actors.packets), 0: none */
    struct carla_place created, place; /* place: of that packet */
    struct view_vec origin, size;      /* of its box */
    struct view_color color;
    struct reel_bytes name; /* the description's */
};

/* In the order in which they were created. */
struct carla_actors {
    struct carla_actor *items;
    size_t count, capacity, gone;
    struct carla_ids ids; /* place in items + 1; ids of the gone may lead to another's item, or behind the end */
    struct arena names;
    uint64_t packets; /* position packets so far */
};
struct carla_actor *carla_actor_of(const struct carla_actors *actors, uint32_t id); /* NULL: not alive */
/* Event add; *actor is the one of that id now. NULL: no such record, or too many. False: no memory. */
bool carla_actor_add(struct carla_actors *actors, const struct carla_added *added, struct carla_actor **actor, struct reel_error *err);
void carla_actor_remove(struct carla_actors *actors, struct carla_actor *actor);
void carla_actors_free(struct carla_actors *actors); /* empties */

static inline bool carla_moves(const struct carla_actor *a) { /* it has a frame of its own */
    return a->type == CARLA_VEHICLE || a->type == CARLA_WALKER;
}
bool carla_drawn(const struct carla_actor *a);
/* The frame's name. */
enum { CARLA_FRAME_ROOM = 24 };
void carla_frame_name(const struct carla_actor *a, char out[CARLA_FRAME_ROOM]);

/* Where vehicles and walkers went in the whole selection, as one scene. */
bool carla_paths_make(struct view_maker *m, const struct carla_actors *now, int64_t time_ns, struct grow *out, struct reel_error *err);

#endif
