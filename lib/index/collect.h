/* Which of several files are one recording: a .traj and its .state, the files of a rosbag2 folder, the splits of an
 * MCAP recording. The formats decide (reel_format.joins). */
#ifndef REEL_INDEX_COLLECT_H
#define REEL_INDEX_COLLECT_H

#include <stdint.h>

#include "index/format.h"

enum { COLLECT_PARTS_MAX = 512 };

struct collect_file {
    uint64_t folder[2];               /* files of one folder have the same */
    const struct reel_format *format; /* found: NULL = none, or it cannot be read */
    uint32_t leader;                  /* found: the first part of its recording; its own number: itself */
    bool grouped;                     /* found: it has a leader or is one, of several files */
};
/* Opens the i-th file; NULL: it cannot be opened, and is a recording of its own. */
typedef struct reel_source *(*collect_open)(void *context, uint32_t i);

/* The files of a recording are read by the format of their leader. */
void collect_parts(struct collect_file *files, uint32_t n, collect_open open, void *context);

/* The file that gives the recording its name (run.traj, not run.state; run_0.mcap, not metadata.yaml), as its position
 * in names[n]. */
uint32_t collect_main(const char *const *names, uint32_t n, const struct reel_format *format);

#endif
