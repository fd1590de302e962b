/* The questions of CARLA's own tools, answered from a stored recorder file in one pass: the text that the simulator
 * prints, byte for byte, or rows. */
#ifndef REEL_FORMATS_CARLA_QUESTION_H
#define REEL_FORMATS_CARLA_QUESTION_H

#include "read/reader.h"
#include "tables/table.h"

/* Whose words: CARLA's text changed with its versions. */
enum reel_carla_dialect {
    REEL_CARLA_0_9_4,  /* and 0.9.5 */
    REEL_CARLA_0_9_6,  /* to 0.9.9 */
    REEL_CARLA_0_9_10, /* to 0.9.13 */
    REEL_CARLA_0_9_14,
    REEL_CARLA_0_9_15, /* the default: what ScenarioRunner's metrics read, whatever wrote the file */
    REEL_CARLA_0_9_16,
    REEL_CARLA_0_10, /* UE5 */
    REEL_CARLA_DEV_2026,
};
/* "0.9.13", "0.10", "dev2026" …; REEL_ARGUMENT with what there is. */
bool reel_carla_dialect_named(const char *name, enum reel_carla_dialect *dialect, struct reel_error *err);

enum reel_carla_topic {
    REEL_CARLA_INFO, /* show_recorder_file_info; as rows: what happened (created, destroyed, attached, collided) */
    REEL_CARLA_COLLISIONS, /* show_recorder_collisions */
    REEL_CARLA_BLOCKED,    /* show_recorder_actors_blocked */
    REEL_CARLA_ACTORS,     /* rows only: the actors, with their first and last time */
    REEL_CARLA_TRAJECTORY, /* rows only: where one actor was, frame by frame */
    REEL_CARLA_STATE,      /* rows only: the living actors at a time, with interpolated positions */
    REEL_CARLA_MOMENTS,    /* rows only: events with a title: collisions, actors added and removed, vehicles blocked,
                              traffic lights changed; in no order */
};

struct reel_carla_question {
    enum reel_carla_topic topic;
    bool all;                        /* info: states of every frame too */
    enum reel_carla_dialect dialect; /* info */
    char type1, type2;               /* collisions: h hero, v vehicle, w walker, t traffic light, o other, a any */
    double min_time_s;               /* blocked */
    double min_distance_cm;          /* blocked: moved less than this is not moved */
    uint32_t actor;                  /* trajectory */
    int64_t at_ns;                   /* state */
    bool ros_frame; /* trajectory, state: right-handed, as ROS has it (y, pitch and yaw negated); else CARLA's
                       left-handed one */
};
/* With CARLA's defaults: 0.9.15, any, 30 s, 10 cm. */
struct reel_carla_question reel_carla_question(enum reel_carla_topic topic);

/* One pass under way. Memory: what is remembered of actors, and the text of one packet. */
struct reel_carla;
/* `rows` NULL: text to `text`; else rows, and `text` may be NULL. Both are copied, their contexts outlive the pass.
 * REEL_UNSUPPORTED: the recording is no CARLA log, or there is no such text; REEL_ARGUMENT. */
struct reel_carla *reel_carla_open(struct reel_recording *recording, const struct reel_carla_question *question,
                                   const struct reel_text_sink *text, const struct reel_table *rows,
                                   struct reel_error *err);
void reel_carla_free(struct reel_carla *pass);
REEL_DEFINE_AUTO(struct reel_carla, reel_carla_free);
/* Continues for a bounded number of packets; *done: all is emitted. A sink that takes no more: false with
 * REEL_CANCELLED. REEL_NOT_FOUND: the actor of a trajectory is not in the file; no row was emitted then. */
bool reel_carla_step(struct reel_carla *pass, bool *done, struct reel_error *err);

#endif
