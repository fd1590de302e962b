/* The standard messages: their definitions in ROS 2 (Jazzy; of Humble's only sensor_msgs/Range differs), those of ROS 1
 * (Noetic) that do not follow from them, names that changed, and fields that only one side has. Names of types are
 * "pkg/Type". */
#ifndef REEL_FORMATS_ROS_STANDARD_H
#define REEL_FORMATS_ROS_STANDARD_H

#include "formats/ros/definition_tree.h"

struct ros_standard_text {
    const char *name, *text;
};
extern const struct ros_standard_text ros2_texts[], ros1_texts[]; /* standard_texts.c */
extern const size_t ros2_texts_count, ros1_texts_count;

/* NULL: not a standard type; of ROS 1, also one whose text is that of ROS 2 by the rules of translation. */
const char *ros2_standard_text(const char *name);
const char *ros1_standard_text(const char *name);

/* All standard types of ROS 2 in one linked definition; its first type is a list of them. NULL with err: no memory. */
struct ros_definition *ros2_standard_types(struct reel_error *err);

/* The standard type of ROS 2 that a type of ROS 1 has become; NULL: none. */
const char *ros2_standard_name(const char *ros1_name);
/* The type of ROS 1 that a type of ROS 2 has been: the same name, or another one. */
const char *ros1_standard_name(const char *ros2_name);

/* The name in ROS 1 of a field of a type of ROS 2, where old definitions have another one; NULL: none. */
const char *ros_old_field(const char *type, struct reel_bytes ros2_field);

/* A field of a type of ROS 2 that one side may lack. */
struct ros_optional {
    const char *type, *field;
    bool in_ros2;       /* the side that has it */
    const char *text;   /* default of a string; NULL: "" */
    const char *number; /* default: little-endian bytes as long as the number; NULL: 0 */
};
const struct ros_optional *ros_optional_field(const char *type, struct reel_bytes field, bool in_ros2);

#endif
