/* The tables of formats and writers. Rule: a new format is one line here. */
#include "formats/formats.h"

const struct reel_format *const reel_formats[] = {&reel_format_rosbag1, &reel_format_nanover, NULL};

const struct reel_writer *const reel_writers[] = {
    &reel_writer_mcap, &reel_writer_rosbag12, &reel_writer_nanover, &reel_writer_ndjson, &reel_writer_json, &reel_writer_json_seq, NULL,
};
