/* What a channel becomes whose messages are converted between ROS 1 and ROS 2, or by rules. */
#ifndef REEL_FORMATS_ROS_CONVERT_CHANNEL_H
#define REEL_FORMATS_ROS_CONVERT_CHANNEL_H

#include "formats/ros/translate.h"
#include "stream/stream.h"

struct converted_channel {
    struct arena *arena; /* of the new channel */
    const struct reel_stream *stream;
    enum ros_dialect to;
    bool by_rules; /* it stays in its dialect */
};

/* NULL: no memory, or its definition cannot be read. */
const struct reel_channel *ros_converted_channel(const struct converted_channel *how, const struct reel_channel *from,
                                                 const struct ros_translation *t, struct reel_error *err);

#endif
