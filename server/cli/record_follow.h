/* `reel record --follow-file`: a file that another program is still writing goes into a live recording of a server. */
#ifndef SERVER_CLI_RECORD_FOLLOW_H
#define SERVER_CLI_RECORD_FOLLOW_H

#include <stdint.h>

#include "cli/record_remote.h"

/* `path` may be the folder of `ros2 bag record`: its files are followed one after another, until metadata.yaml ends the
 * last one. Sends what is complete in the file, and then what is added, until the file is renamed or removed, has not
 * grown for `idle_ns` (0: for ever), or Ctrl-C. *messages counts those that were sent. */
bool record_follow(struct record_remote *remote, const char *path, int64_t idle_ns, uint64_t *messages,
                   struct reel_error *err);
/* The name that a recorder gives the file in the end: without .active. Caller frees; NULL: no memory. */
char *record_finished_name(const char *name);

#endif
