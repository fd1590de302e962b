/* Moves the files of an archive from its data folder into a bucket, or back. No server runs on it. */
#ifndef SERVER_MAINTENANCE_MOVE_FILES_H
#define SERVER_MAINTENANCE_MOVE_FILES_H

#include "catalog/catalog.h"
#include "index/scan.h"

struct moved_files {
    uint64_t files, bytes; /* that the archive has in the new place */
    uint64_t copied, gone; /* files copied by this call; files that were missing before already */
    uint64_t indexes;
};

/* `to`: s3://BUCKET/PREFIX, or NULL for the data folder. Every file is hashed on its way; only when all are there does
 * the archive switch. Interrupted, it goes on where it was: a file that is there with its size is not copied again.
 * Progress is in bytes. */
bool move_files(const char *data, const char *to, const struct reel_progress *progress, struct moved_files *out,
                struct reel_error *err);

#endif
