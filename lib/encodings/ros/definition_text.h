#ifndef REEL_ENCODINGS_ROS_DEFINITION_TEXT_H
#define REEL_ENCODINGS_ROS_DEFINITION_TEXT_H

#include "encodings/ros/definition_tree.h"

/* Reads definitions in the .msg format. The first type is called `top`; others follow a line of "=" and "MSG: name". whole_names:
 * "a/msg/B" is not shortened to "a/B". */
bool ros_definition_read_text(struct ros_definition *def, const char *top, bool whole_names, struct reel_bytes text,
                              struct reel_error *err);

#endif
