/* Makes a rename durable. */
#ifndef REEL_CORE_FSYNC_H
#define REEL_CORE_FSYNC_H

#include "reel/error.h"

bool fsync_folder_of(const char *path, struct reel_error *err); /* the folder that holds `path` */

#endif
