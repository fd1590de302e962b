/* The definition of a channel's messages in the other dialect, and the relay that lays its payloads out so. */
#ifndef REEL_FORMATS_ROS_TRANSLATE_H
#define REEL_FORMATS_ROS_TRANSLATE_H

#include "formats/ros/relay.h"
#include "formats/ros/standard.h"

/* Metadata of a channel of ROS 2 that was one of ROS 1: what it was, for the way back. */
#define ROS1_TYPE_KEY "ros1.type"
#define ROS1_MD5_KEY "ros1.md5sum"
#define ROS1_DEFINITION_KEY "ros1.definition"

struct ros_translation {
    const char *type;             /* "pkg/Type" */
    struct reel_bytes definition; /* with the types it needs (formats/ros/text.h) */
    const char *hash;             /* MD5 sum, or RIHS01; "" = not computed */
    struct ros_relay *relay;      /* ros_relay_free() */
    bool lost_constants;          /* constants that the other dialect cannot have */
    const char *custom; /* a standard type's name with another layout, which became "ros1_compat/Type"; NULL: none */
};

/* All but the relay comes from the arena. `standard` is ros2_standard_types(). False with err: no memory;
 * REEL_UNSUPPORTED or another code when the channel's messages cannot be translated. */
bool ros_translate(struct arena *arena, const struct reel_channel *channel, enum ros_dialect to,
                   const struct ros_definition *standard, struct ros_translation *out, struct reel_error *err);

/* The same dialect, by rules. True without a relay: no rule applies. Sets used[i] for those whose type it has. */
struct ros_rules;
bool ros_translate_by_rules(struct arena *arena, const struct reel_channel *channel, enum ros_dialect dialect,
                            const struct ros_rules *rules, bool *used, struct ros_translation *out,
                            struct reel_error *err);

/* ---- translate_to_ros2.c, translate_to_ros1.c: the texts of single types */

struct ros_texts { /* of types by name; the first is the channel's */
    struct ros_standard_text *items;
    size_t count, room;
};

struct ros_translating {
    struct arena *arena;
    const struct ros_definition *def, *standard;
    struct ros_texts texts;
    struct ros_translation *out;
    struct reel_error *err;
};
bool ros_texts_to_ros2(struct ros_translating *t);
/* `originals`: types of which ROS 1 has another text than the rules give have that; without, only the header has. */
bool ros_texts_to_ros1(struct ros_translating *t, bool originals);

/* Adds a text, which is copied. */
bool ros_texts_add(struct ros_translating *t, const char *name, struct reel_bytes text);

#endif
