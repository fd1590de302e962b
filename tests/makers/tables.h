/* Every format, writer and encoding by name, for tests of one of them. */
#ifndef REEL_TESTS_TABLES_H
#define REEL_TESTS_TABLES_H

#include "convert/writer.h"
#include "decode/encoding.h"
#include "index/format.h"

extern const struct reel_format reel_format_rosbag_v1, reel_format_rosbag_v2, reel_format_rosbag2, reel_format_mcap,
    reel_format_carla, reel_format_mira, reel_format_tide, reel_format_nanover, reel_format_nanover_legacy,
    reel_format_ulog;
extern const struct reel_writer reel_writer_mcap, reel_writer_rosbag_v2, reel_writer_rosbag_v2_named,
    reel_writer_rosbag_v1, reel_writer_nanover, reel_writer_carla, reel_writer_mira, reel_writer_tide,
    reel_writer_tide0, reel_writer_tide2, reel_writer_ndjson, reel_writer_json, reel_writer_json_seq,
    reel_writer_events, reel_writer_csv, reel_writer_msgpack, reel_writer_parquet, reel_writer_arrow,
    reel_writer_rosbag2, reel_writer_rosbag2_tar;

#endif
