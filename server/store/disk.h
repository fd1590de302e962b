/* Files and folders, for all parts of the server. */
#ifndef SERVER_STORE_DISK_H
#define SERVER_STORE_DISK_H

#include <limits.h>
#include <stddef.h>

#include "reel/error.h"

bool disk_join(char out[PATH_MAX], const char *folder, const char *name, struct reel_error *err); /* folder/name; REEL_ARGUMENT: too long */
/* Writes all of it, in several calls if the system needs them; false with errno. */
bool disk_write_all(int fd, const void *data, size_t size);
/* Makes its names durable: after a file was created in it, renamed or removed. */
bool disk_sync_folder(const char *folder, struct reel_error *err);
bool disk_sync_folder_of(const char *path, struct reel_error *err); /* the one that holds `path` */

#endif
