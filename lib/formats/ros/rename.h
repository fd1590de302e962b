/* Definitions from before mid-2010 use package names that current readers do not know (roslib/Header …). Replaces them
 * by the later names; the bytes of messages are the same under both. */
#ifndef REEL_FORMATS_ROS_RENAME_H
#define REEL_FORMATS_ROS_RENAME_H

#include "base/arena.h"

/* The later name of `type`, or `type` itself. */
const char *ros_rename_type(const char *type);

/* The definition of `type` (its name in the file) with all types renamed; memory from the arena, or `text` itself when
 * nothing changes. */
bool ros_rename_definition(struct arena *arena, const char *type, struct reel_bytes text, struct reel_bytes *out,
                           struct reel_error *err);

/* True when ros_rename_definition() would change the text. */
bool ros_rename_changes(const char *type, struct reel_bytes text);

#endif
