/* Definitions from before mid-2010 name types by packages that no reader of today knows (roslib/Header …). This gives the types
 * their later names; the messages' bytes are the same under both. */
#ifndef REEL_FORMATS_ROS_RENAME_H
#define REEL_FORMATS_ROS_RENAME_H

#include "wire/arena.h"

/* The later name of `type`, or `type` itself. */
const char *ros_rename_type(const char *type);

/* The definition of `type` (its name in the file) with every type in its later name; memory from the arena, or `text` itself when nothing
 * changes. */
bool ros_rename_definition(struct arena *arena, const char *type, struct reel_bytes text, struct reel_bytes *out, struct reel_error *err);

/* Would ros_rename_definition() change anything? */
bool ros_rename_changes(const char *type, struct reel_bytes text);

#endif
