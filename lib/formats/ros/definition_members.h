#ifndef REEL_FORMATS_ROS_DEFINITION_MEMBERS_H
#define REEL_FORMATS_ROS_DEFINITION_MEMBERS_H

#include "formats/ros/definition_tree.h"

/* Makes the tables of the runs of a linked definition (ros_definition_step.members). Those of ROS 2 are for CDR in
 * little-endian order and version 1, without mutable types. */
bool ros_definition_link_members(struct ros_definition *def, struct reel_error *err);

#endif
