/* metadata.yaml of a written ROS 2 bag. */
#ifndef REEL_FORMATS_ROSBAG2_WRITE_YAML_H
#define REEL_FORMATS_ROSBAG2_WRITE_YAML_H

#include "base/grow.h"
#include "convert/writer.h"

enum { ROSBAG2_VERSION_MIN = 5, ROSBAG2_VERSION_MAX = 9 };

struct rosbag2_yaml {
    unsigned version;
    const char *storage, *file; /* "mcap"; the file's name in the folder */
    const struct reel_stream *stream;
    const struct reel_write_counts *counts;
};

/* Is this channel one that ROS 2 plays? */
bool rosbag2_plays(const struct reel_channel *channel);

/* Appends the text. False: no memory. */
bool rosbag2_put_yaml(struct grow *out, const struct rosbag2_yaml *yaml, struct reel_error *err);

#endif
