/* Rules that change the messages of a selection and their definitions, such as those of rosbag's migration
 * (formats/ros/rules.h): a view that is made of a file. */
#ifndef REEL_STREAM_RULES_H
#define REEL_STREAM_RULES_H

#include "stream/stream.h"

/* The first member of a struct of the subject's own, which must outlive every stream. */
struct reel_rules {
    /* Takes `below` over, also when it fails; returns it as it is where no rule applies. */
    struct reel_stream *(*open)(const struct reel_rules *rules, struct reel_stream *below, struct reel_error *err);
};

#endif
