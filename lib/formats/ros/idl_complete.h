/* Adds the types that a definition in IDL contains and the recording lacks, as complete.h does for .msg. */
#ifndef REEL_FORMATS_ROS_IDL_COMPLETE_H
#define REEL_FORMATS_ROS_IDL_COMPLETE_H

#include "formats/ros/definition_tree.h"

/* Reads and links the definition of `type` in a text; types that it lacks come from users' definitions and from those
 * that are built in. NULL with err. */
struct ros_definition *ros_idl_completed(const char *type, struct reel_bytes text, enum ros_source source,
                                         struct reel_error *err);
/* The definition of a message of which users supplied an .idl file, and nothing else is known. NULL with err;
 * REEL_UNSUPPORTED: there is no such file. */
struct ros_definition *ros_idl_supplied(const char *type, struct reel_error *err);

#endif
