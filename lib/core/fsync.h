/* The folder of a file, and making a rename in it durable. */
#ifndef REEL_CORE_FSYNC_H
#define REEL_CORE_FSYNC_H

#include <limits.h>

#include "reel/error.h"

bool folder_of(const char *path, char out[PATH_MAX]);           /* the folder that contains `path`; false: its path is too long */
bool fsync_folder_of(const char *path, struct reel_error *err); /* fsyncs the folder that contains `path` */

#endif
