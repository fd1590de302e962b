/* Paths, and writing files so that they last. Errors name no path. */
#ifndef REEL_BASE_DISK_H
#define REEL_BASE_DISK_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "reel/error.h"

bool disk_join(char out[PATH_MAX], const char *folder, const char *name, struct reel_error *err); /* folder/name;
                                                                                                     REEL_ARGUMENT: too
                                                                                                     long */
/* `path` with `suffix` at its end, from malloc, always the same; a name that would be too long for a file system is cut
 * and gets digits of its hash. NULL: no memory. */
char *disk_adjacent(const char *path, const char *suffix);
/* the folder that holds `path`; false: its path is too long */
bool disk_folder_of(const char *path, char out[PATH_MAX]);
/* Writes all of it, in several calls if the system needs them; false with errno. */
bool disk_write_all(int fd, const void *data, size_t size);
/* The same at an offset. */
bool disk_write_at(int fd, const void *data, size_t size, uint64_t offset);
/* Reads all of it; false: with errno, or 0 when the file ends before. */
bool disk_read_at(int fd, void *data, size_t size, uint64_t offset);
/* Makes the file `size` bytes long at least, with room on the disk for them; false with errno. */
bool disk_allocate(int fd, uint64_t size);
/* Copies a file, whole or not at all; *gone: there is none. */
bool disk_copy(const char *from, const char *to, bool *gone, struct reel_error *err);
/* Renames unless `to` exists; false with errno. On file systems without RENAME_NOREPLACE a name that is taken meanwhile
 * is replaced. */
bool disk_rename_new(const char *from, const char *to);
/* Makes all that was written to the file system of a folder durable; false with errno. */
bool disk_sync_all(const char *folder);
/* Makes its names durable: after a file was created in it, renamed or removed. */
bool disk_sync_folder(const char *folder, struct reel_error *err);
bool disk_sync_folder_of(const char *path, struct reel_error *err); /* the one that holds `path` */

#endif
