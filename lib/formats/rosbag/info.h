/* What `rosbag info` prints of a recording of ROS, byte for byte for the bags that it reads, from the index alone. */
#ifndef REEL_FORMATS_ROSBAG_INFO_H
#define REEL_FORMATS_ROSBAG_INFO_H

#include "read/reader.h"
#include "tables/table.h"

struct reel_bag_question {
    const char *path; /* as its first line shall say */
    bool yaml;        /* --yaml */
    bool freq;        /* --freq: each topic's frequency, which bags of version 1 always print */
};

/* From malloc, with the line's end that rosbag prints. REEL_UNSUPPORTED: nothing in it is ROS's. Times stand in the
 * zone of the process, as there. */
char *reel_bag_info(struct reel_recording *recording, const struct reel_bag_question *question, struct reel_error *err);

/* Its topics as rows: topic, type, messages, connections, frequency_hz (null: unknown, as of topics with one message).
 * Fails alike; REEL_CANCELLED: the table stopped. */
bool reel_bag_topics(struct reel_recording *recording, const struct reel_table *to, struct reel_error *err);

#endif
