/* Shared by the parts of the CARLA transform. view_actors.c: the actors that exist · view_events.c: what changes them ·
 * view.c: output · view_paths.c: their paths. */
#ifndef REEL_FORMATS_CARLA_VIEW_H
#define REEL_FORMATS_CARLA_VIEW_H

#include "formats/carla/report.h"
#include "formats/foxglove/view.h"

enum { CARLA_VEHICLE = 1, CARLA_WALKER = 2, CARLA_SENSOR = 5, CARLA_INVALID = 6 }; /* types of actors */

/* Metres, right-handed: y, pitch and yaw are CARLA's negated. */
struct carla_pose {
    struct view_vec at;
    double roll, pitch, yaw; /* degrees */
};
struct carla_pose carla_pose_of(const double location[3], const double rotation[3]);
struct view_quat carla_turn_of(const struct carla_pose *p);

struct carla_actor {
    uint32_t id;
    uint8_t type;
    bool hero, child;                /* child: attached to another actor */
    bool gone;                       /* its item is to be removed */
    uint64_t seen;                   /* the last position packet that contains it (carla_actors.packets), 0: none */
    struct carla_pose created, pose; /* location in that packet */
    struct view_vec origin, size;    /* of its box */
    struct view_color color;
    struct reel_bytes name; /* from the description */
};

/* In order of creation. */
struct carla_actors {
    struct carla_actor *items;
    size_t count, capacity, gone;
    /* index in items + 1; ids of deleted actors may refer to another's item, or beyond the end */
    struct hash_table ids;
    struct arena names;
    uint64_t packets; /* number of position packets */
};
struct carla_actor *carla_actor_of(const struct carla_actors *actors, uint32_t id); /* NULL: does not exist */
/* Event add; *actor is the actor that has the id now. NULL: invalid record, or too many actors. False: no memory. */
bool carla_actor_add(struct carla_actors *actors, const struct carla_added *added, struct carla_actor **actor,
                     struct reel_error *err);
void carla_actor_remove(struct carla_actors *actors, struct carla_actor *actor);
void carla_actors_free(struct carla_actors *actors); /* frees everything */

static inline bool carla_moves(const struct carla_actor *a) { /* it has its own frame */
    return a->type == CARLA_VEHICLE || a->type == CARLA_WALKER;
}
bool carla_drawn(const struct carla_actor *a);
/* The name of its frame. */
enum { CARLA_FRAME_ROOM = 24 };
void carla_frame_name(const struct carla_actor *a, char out[CARLA_FRAME_ROOM]);

/* --- the state of the transform --- */

struct carla_last_packet { /* a copy of the last packet of a kind */
    struct grow data;
    int64_t time_ns;
    bool has;
};

struct carla_view {
    uint32_t scene, frames, log, paths, ego;
    struct carla_actors actors;
    struct carla_last_packet position, before, collision;
    struct carla_layout layout; /* from the position packets */
    bool changed;               /* the scene changed in this frame */
    bool placed, driven;        /* `position`, `control` belong to this frame */
    uint32_t driver;
    uint8_t control[17];
};

/* The records of a packet of events, boxes or collisions (view_events.c). Logs them unless m->silent. */
bool carla_view_take_records(struct view_maker *m, enum carla_kind kind, const struct carla_layout *layout,
                             const struct reel_message *message, struct reel_bytes payload, struct reel_error *err);

/* The paths of vehicles and walkers over the whole selection, as one scene. */
bool carla_paths_make(struct view_maker *m, const struct carla_actors *now, int64_t time_ns, struct grow *out,
                      struct reel_error *err);

#endif
