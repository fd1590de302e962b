/* Definitions of messages whose recording holds none, or not all of it. */
#ifndef REEL_FORMATS_ROS_ASSUME_H
#define REEL_FORMATS_ROS_ASSUME_H

#include "formats/ros/definition_tree.h"

/* The definition of `type`, completed (complete.h): the one whose hash the recording has, or else, of ROS 2, with the
 * layouts of earlier distributions as its `older`. `recorded` is the text that the recording has; empty: none. NULL
 * with err: REEL_UNSUPPORTED when none is known, or only one with another hash. */
struct ros_definition *ros_definition_assume(const struct reel_channel *channel, enum ros_dialect dialect,
                                             const char *type, struct reel_bytes recorded, struct reel_error *err);

/* The text of such a definition, for a channel whose recording holds none: it is empty when none is known, when the
 * type has had several layouts, and for other channels. Memory comes from the arena. */
bool ros_assumed_text(struct arena *arena, const struct reel_channel *channel, struct reel_bytes *out,
                      struct reel_error *err);

#endif
