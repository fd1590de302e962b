#ifndef REEL_FORMATS_ROS_DEFINITION_TEXT_H
#define REEL_FORMATS_ROS_DEFINITION_TEXT_H

#include "formats/ros/definition_tree.h"

/* A line of a definition, without comment. */
struct ros_line {
    struct reel_bytes word, name; /* its type and name */
    /* of a constant everything after "=", also what looks like a comment; or a field's default */
    struct reel_bytes value;
    bool is_constant;
};
/* False: the line is empty or a comment, or has no name. */
bool ros_line_read(struct reel_bytes line, struct ros_line *out);

/* Reads definitions in the .msg format. The first type is called `top`; others follow a line of "=" and "MSG: name".
 * whole_names: "a/msg/B" is not shortened to "a/B". */
bool ros_definition_read_text(struct ros_definition *def, const char *top, bool whole_names, struct reel_bytes text,
                              struct reel_error *err);

#endif
