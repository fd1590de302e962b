/* Services and actions as the messages that ROS 2 derives from them. rosbag2 records the calls of a service as the
 * message NAME_Event, and of an action the feedback (NAME_FeedbackMessage) and the calls of its services; the
 * definition it stores is the .srv or .action text. */
#ifndef REEL_FORMATS_ROS_INTERFACES_H
#define REEL_FORMATS_ROS_INTERFACES_H

#include "base/arena.h"
#include "formats/ros/text.h"

/* *out is `text` with each service and action (two or three parts, separated by lines "---") replaced by its messages,
 * and with the message `top` first; the same text when it has none. Memory comes from the arena. REEL_UNSUPPORTED: the
 * service or action has no message `top`. */
bool ros_interfaces_to_messages(struct arena *arena, const char *top, struct reel_bytes text, struct reel_bytes *out,
                                struct reel_error *err);

#endif
