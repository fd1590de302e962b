/* Which files of a folder are one recording: a .traj and its .state, the files of a rosbag2 folder. The formats decide.
 */
#ifndef SERVER_IMPORTS_COLLECT_H
#define SERVER_IMPORTS_COLLECT_H

#include <stdint.h>

#include "index/format.h"

enum { COLLECT_PARTS_MAX = 512 };

struct collect_file {
    uint64_t folder[2];               /* files of one folder have the same */
    const struct reel_format *format; /* found: NULL = none, or it cannot be read */
    uint32_t leader;                  /* found: the first part of its recording; its own number: itself */
};
/* Opens the i-th file; NULL: it cannot be opened, and is a recording of its own. */
typedef struct reel_source *(*collect_open)(void *context, uint32_t i);

void collect_parts(struct collect_file *files, uint32_t n, collect_open open, void *context);

#endif
