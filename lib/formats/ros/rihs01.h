/* RIHS01: the hash by which ROS 2 identifies the revision of a type. It covers fields and names of types, but no
 * constants, defaults and comments. */
#ifndef REEL_FORMATS_ROS_RIHS01_H
#define REEL_FORMATS_ROS_RIHS01_H

#include "formats/ros/definition_tree.h"

/* "RIHS01_" and 64 digits, of the top type of a linked definition of ROS 2 in the .msg format whose strings have no
 * bounds; memory from the arena. NULL with err: no memory. */
const char *ros_rihs01(struct arena *arena, const struct ros_definition *def, struct reel_error *err);

#endif
