/* Names of ROS 1 by the rules of ROS 2, whose code generator refuses others: lower-case fields and packages, types
 * without "_", upper-case constants. */
#ifndef REEL_FORMATS_ROS_NAMES_H
#define REEL_FORMATS_ROS_NAMES_H

#include "base/hash_table.h"
#include "formats/ros/definition_tree.h"

enum { ROS_TYPE_FIELDS_MAX = 1024 }; /* of a type that is translated: names are compared with each other */

/* The first of "base", "base" separator "2", "3" … that is not in `taken`, which has it then. Keys in `taken` are names
 * in the arena, their values the last number that was tried: 1 at first. NULL: no memory. */
const char *ros_free_name(struct arena *arena, struct hash_table *taken, const char *base, const char *separator);

/* "pkg/Type" of any name of a type ("pkg/msg/Type", "pkg::msg::Type"); NULL with err. */
const char *ros_short_name(struct arena *arena, const char *name, struct reel_error *err);

/* The name in ROS 2 of "pkg/type_name": "pkg/TypeName". NULL: no memory. */
const char *ros2_type_name(struct arena *arena, const char *name);
/* Of a constant, at most `room` bytes with NUL. */
void ros2_constant_name(struct reel_bytes name, char *out, size_t room);
/* Of the fields of a type of a definition of ROS 1, in order. Of two that become equal, the one that is legal keeps its
 * name, the other gets a number. NULL: no memory. */
const char *const *ros2_field_names(struct arena *arena, const struct ros_definition *def, uint32_t type);

#endif
