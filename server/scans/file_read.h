/* A local file read once from start to end: into an upload, or only hashed. */
#ifndef SERVER_SCANS_FILE_READ_H
#define SERVER_SCANS_FILE_READ_H

#include "base/digest.h"
#include "catalog/catalog.h"
#include "index/scan.h"
#include "store/reference.h"

struct file_read {
    int fd;
    struct store_reference *is;  /* size, times and inode of the file when it was opened */
    struct store_upload *upload; /* NULL: only hashed */
    struct digest *hash;         /* NULL: the upload hashes */
    const struct reel_progress *progress;
};
bool file_read_all(struct file_read *in, struct reel_error *err); /* REEL_CHANGED: it is still being written */
bool file_read_unchanged(const struct file_read *in, struct reel_error *err); /* REEL_CHANGED: its size or time has
                                                                                 changed */
bool file_read_hash(struct file_read *in, char sha256[SHA256_HEX], struct reel_error *err);

#endif
