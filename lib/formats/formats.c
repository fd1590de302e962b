/* The formats and the writers: a new one of either is one line here. */
#include "convert/writer.h"
#include "index/format.h"

#define FORMATS(X)                                                                                                     \
    X(rosbag_v1)                                                                                                       \
    X(rosbag_v2)                                                                                                       \
    X(nanover)                                                                                                         \
    X(nanover_legacy)                                                                                                  \
    X(carla)                                                                                                           \
    X(mcap)                                                                                                            \
    X(rosbag2)                                                                                                         \
    X(mira)                                                                                                            \
    X(tide)                                                                                                            \
    X(ulog)                                                                                                            \
    X(rows)

/* Of one extension the first is used when no version is asked for. */
#define WRITERS(X)                                                                                                     \
    X(mcap)                                                                                                            \
    X(rosbag2)                                                                                                         \
    X(rosbag2_sqlite3)                                                                                                 \
    X(rosbag2_tar)                                                                                                     \
    X(rosbag2_tar_sqlite3)                                                                                             \
    X(rosbag_v2)                                                                                                       \
    X(rosbag_v2_named)                                                                                                 \
    X(rosbag_v1)                                                                                                       \
    X(nanover)                                                                                                         \
    X(carla)                                                                                                           \
    X(mira)                                                                                                            \
    X(tide)                                                                                                            \
    X(tide0)                                                                                                           \
    X(tide2)                                                                                                           \
    X(ndjson)                                                                                                          \
    X(json)                                                                                                            \
    X(json_seq)                                                                                                        \
    X(events)                                                                                                          \
    X(csv)                                                                                                             \
    X(msgpack)                                                                                                         \
    X(parquet)                                                                                                         \
    X(arrow)                                                                                                           \
    X(images)                                                                                                          \
    X(clouds)                                                                                                          \
    X(ply)                                                                                                             \
    X(mp4)                                                                                                             \
    X(pdb)                                                                                                             \
    X(gro)                                                                                                             \
    X(trr)                                                                                                             \
    X(dcd)                                                                                                             \
    X(xtc)

#define DECLARE_FORMAT(name) extern const struct reel_format reel_format_##name;
#define DECLARE_WRITER(name) extern const struct reel_writer reel_writer_##name;
FORMATS(DECLARE_FORMAT)
WRITERS(DECLARE_WRITER)

#define LIST_FORMAT(name) &reel_format_##name,
#define LIST_WRITER(name) &reel_writer_##name,
const struct reel_format *const reel_formats[] = {FORMATS(LIST_FORMAT) NULL};
const struct reel_writer *const reel_writers[] = {WRITERS(LIST_WRITER) NULL};
