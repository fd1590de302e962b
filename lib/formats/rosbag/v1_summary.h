/* Internals of the summary of a 1.2 bag. v1_summary.c: its index, and which messages are inspected ·
 * v1_summary_inspect.c: records before the index, and the channels they belong to. */
#ifndef REEL_FORMATS_ROSBAG_V1_SUMMARY_H
#define REEL_FORMATS_ROSBAG_V1_SUMMARY_H

#include "formats/rosbag/v1.h"

enum {
    ROSBAG_V1_LOOK = 512,                /* one read of a record header */
    ROSBAG_V1_LOOK_BYTES_MAX = 16 << 20, /* of all records before the index */
};

struct rosbag_v1_listed { /* an index record */
    struct reel_bytes name;
    uint64_t entries_at, first_pos;
    uint32_t count;
    struct reel_channel_stats stats;
    bool each; /* its messages are inspected one by one */
};
struct rosbag_v1_visit { /* a message to inspect for its channel */
    uint64_t pos;
    uint32_t topic;
};
struct rosbag_v1_summary {
    struct rosbag_v1 bag;
    struct window index;
    struct rosbag_v1_listed *topics;
    struct rosbag_v1_visit *visits;
    size_t n_topics, cap_topics, n_visits, cap_visits;
    uint64_t *positions; /* all positions of a whole index, sorted */
    size_t n_positions;
    bool whole;
    uint64_t taken_to;                               /* definitions before this position were read */
    uint64_t last_pos, looks, look_left, index_left; /* …_left: bytes that may still be read */
};

bool rosbag_v1_summary_record(struct rosbag_v1_summary *o, uint64_t at, struct rosbag_v1_record *r,
                              struct reel_error *err);
/* The message of an entry; a topic's first entry may point at the definition before it. */
bool rosbag_v1_summary_message(struct rosbag_v1_summary *o, uint64_t pos, struct rosbag_v1_record *r,
                               struct reel_error *err);
/* The message after message r must be in the index too. Invalidates r->fields. */
bool rosbag_v1_summary_follow(struct rosbag_v1_summary *o, const struct rosbag_v1_record *r, struct reel_error *err);
bool rosbag_v1_summary_channels(struct rosbag_v1_summary *o, struct reel_error *err); /* of all visits, with their
                                                                                         counts */

#endif
