/* The formats and writers there are, one line each. Rule: only formats.c names them together; everything else goes through the tables
 * reel_formats[] (reel/format.h) and reel_writers[] (reel/write.h). */
#ifndef REEL_FORMATS_FORMATS_H
#define REEL_FORMATS_FORMATS_H

#include "reel/format.h"
#include "reel/write.h"

/* Of the MCAP scan: a rosbag2 may be stored as MCAP, so its version rises with this one. */
enum { MCAP_SCAN_VERSION = 2 };

extern const struct reel_format reel_format_rosbag1;
extern const struct reel_format reel_format_rosbag2_0;
extern const struct reel_format reel_format_nanover;
extern const struct reel_format reel_format_rosbag2;
extern const struct reel_format reel_format_nanover_legacy;
extern const struct reel_format reel_format_carla;
extern const struct reel_format reel_format_mcap;
extern const struct reel_format reel_format_mira;
extern const struct reel_format reel_format_tide;

extern const struct reel_writer reel_writer_mcap;
extern const struct reel_writer reel_writer_rosbag2_0;
extern const struct reel_writer reel_writer_rosbag2_0_named; /* ?version=2.0 */
extern const struct reel_writer reel_writer_rosbag12;
extern const struct reel_writer reel_writer_nanover;
extern const struct reel_writer reel_writer_carla;
extern const struct reel_writer reel_writer_mira;
extern const struct reel_writer reel_writer_tide;
extern const struct reel_writer reel_writer_tide0; /* ?version=0.0, the same */
extern const struct reel_writer reel_writer_tide2; /* ?version=2.0 */
extern const struct reel_writer reel_writer_ndjson;
extern const struct reel_writer reel_writer_json;
extern const struct reel_writer reel_writer_json_seq;
extern const struct reel_writer reel_writer_events;
extern const struct reel_writer reel_writer_csv;
extern const struct reel_writer reel_writer_msgpack;

#endif
