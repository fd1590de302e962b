#ifndef REEL_FORMATS_ROS_DEFINITION_IDL_H
#define REEL_FORMATS_ROS_DEFINITION_IDL_H

#include "formats/ros/definition_tree.h"

/* Reads definitions in OMG IDL. */
bool ros_definition_read_idl(struct ros_definition *def, struct reel_bytes text, struct reel_error *err);

#endif
