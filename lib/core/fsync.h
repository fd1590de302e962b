/* Folders of files: which it is, and a rename in it made durable. */
#ifndef REEL_CORE_FSYNC_H
#define REEL_CORE_FSYNC_H

#include <limits.h>

#include "reel/error.h"

bool folder_of(const char *path, char out[PATH_MAX]);           /* the one that holds `path`; false: its path is too long */
bool fsync_folder_of(const char *path, struct reel_error *err); /* the folder that holds `path` */

#endif
