#ifndef REEL_FORMATS_ROS_DEFINITION_MEMBERS_H
#define REEL_FORMATS_ROS_DEFINITION_MEMBERS_H

#include "formats/ros/definition_tree.h"

/* Makes the tables of the runs of a linked definition of ROS 1 (ros_definition_step.members). */
bool ros_definition_link_members(struct ros_definition *def, struct reel_error *err);

#endif
