/* The write-ahead log of a database (log.c), and which one belongs to which (logs.c). */
#ifndef REEL_FORMATS_ROSBAG2_LOG_H
#define REEL_FORMATS_ROSBAG2_LOG_H

#include "formats/rosbag2/container.h"

struct rosbag2_log_state {
    const char *problem; /* why the log cannot be used at all; NULL: none */
    uint32_t frames;     /* that were read: those up to the last commit */
    bool damaged;        /* the frame after the last valid one belongs to this use of the file, but is damaged */
    bool cut;            /* there are more frames than are read */
    uint64_t unread_at;  /* where the rest of the log begins */
};
/* *out: the database with the changes of its log, both of which must outlive it; NULL when the log changes nothing. */
bool rosbag2_log_read(struct reel_source *base, struct reel_source *log, struct reel_source **out,
                      struct rosbag2_log_state *state, struct reel_error *err);
/* reel_format.open_logged */
struct reel_source *rosbag2_open_logged(struct reel_source *base, struct reel_source *log, struct reel_error *err);

/* Replaces the databases that have a log among the files by the two together, and reports logs that cannot be used. */
bool rosbag2_logs_join(struct rosbag2_files *files, struct reel_scan *scan, struct reel_error *err);

#endif
