/* Completes the definition of a message: a recording may hold none, or lack types that it contains. What is missing
 * comes from the definitions of users (decode/own_definitions.h), then from those that are built in (builtin.h). */
#ifndef REEL_FORMATS_ROS_COMPLETE_H
#define REEL_FORMATS_ROS_COMPLETE_H

#include "formats/ros/builtin.h"

struct ros_completion {
    struct reel_bytes text; /* of messages only: services and actions are replaced (interfaces.h) */
    enum ros_source source; /* of what was added; ROS_RECORDED: nothing was missing */
    bool varies;            /* a type in it has other layouts in other distributions */
};

/* `recorded` is the text that the recording has for `type`; empty: none. Types that are found nowhere are left out.
 * Memory comes from the arena. REEL_UNSUPPORTED: there is no definition of `type` itself. */
bool ros_complete(struct arena *arena, enum ros_dialect dialect, enum ros_distribution distribution, bool uses_own,
                  const char *type, struct reel_bytes recorded, struct ros_completion *out, struct reel_error *err);

#endif
