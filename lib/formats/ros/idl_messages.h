/* Definitions in OMG IDL as the .msg format has them, for those that users supply as .idl files. */
#ifndef REEL_FORMATS_ROS_IDL_MESSAGES_H
#define REEL_FORMATS_ROS_IDL_MESSAGES_H

#include "base/arena.h"
#include "formats/ros/text.h"

/* The structs in the text of an IDL file as sections of text.h, `name` ("pkg/Type") first. Typedefs and enums become
 * what they stand for. Memory comes from the arena. REEL_UNSUPPORTED: the file does not define `name`, or has what
 * .msg cannot say: unions, maps, optional members, lists of lists. */
bool ros_idl_to_messages(struct arena *arena, const char *name, struct reel_bytes text, struct reel_bytes *out,
                         struct reel_error *err);

/* The same of a service or an action, "pkg/srv/Type" or "pkg/action/Type": the fields of its structs Type_Request,
 * Type_Response or Type_Goal, Type_Result, Type_Feedback, with lines "---" between them. */
bool ros_idl_to_interface(struct arena *arena, const char *name, struct reel_bytes text, struct reel_bytes *out,
                          struct reel_error *err);

#endif
