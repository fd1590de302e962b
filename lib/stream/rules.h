/* Rules that change the messages of a selection and their definitions, such as those of rosbag's migration
 * (formats/ros/rules.h): a view that is made of a file. */
#ifndef REEL_STREAM_RULES_H
#define REEL_STREAM_RULES_H

#include "stream/stream.h"

/* The first member of a struct of the subject's own. Counted references: an opened selection has one, so that they
 * outlive its streams. */
struct reel_rules {
    _Atomic uint32_t references;
    void (*free)(struct reel_rules *rules); /* after the last one */
    /* Takes `below` over, also when it fails; returns it as it is where no rule applies. */
    struct reel_stream *(*open)(const struct reel_rules *rules, struct reel_stream *below, struct reel_error *err);
};
/* NULL is fine. */
void reel_rules_ref(struct reel_rules *rules);
void reel_rules_free(struct reel_rules *rules); /* gives one reference back */

#endif
