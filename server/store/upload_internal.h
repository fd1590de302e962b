/* Shared by upload.c, which does what both kinds of stores do, folder/upload.c and bucket/upload.c. */
#ifndef SERVER_STORE_UPLOAD_INTERNAL_H
#define SERVER_STORE_UPLOAD_INTERNAL_H

#include "base/digest.h"
#include "store/store_internal.h"

struct store_upload {
    struct store *store;
    const struct store_upload_ops *ops;
    int fd;
    /* lease on the file that this upload is a hard link to: no process can write to it meanwhile; -1: none */
    int leased;
    char path[STORE_PATH]; /* in incoming/ */
    bool placed;           /* the file has been renamed to a blob, or has become an object */
    bool lasting;          /* belongs to an upload session: the file is not removed when this is freed */
    uint8_t *buffer;       /* NULL while nothing is held */
    size_t held;
    uint64_t written, started;  /* bytes given to write(), bytes whose writeback has been started */
    uint64_t sure;              /* bytes flushed: they survive a power failure */
    uint64_t hashed;            /* bytes hashed so far; store_upload_hash() reads the others back */
    struct digest hash, marked; /* marked: its state at store_upload_mark() */
    struct hasher *hasher;      /* of a long upload; NULL: none */
    char sha256[65];            /* "" until finished */
    struct sending *sending;    /* to the bucket, if there is one */
};
REEL_DEFINE_AUTO(struct store_upload, store_upload_free);

struct store_upload *upload_new(struct store *store, struct reel_error *err); /* without a file */
void upload_hash_restart(struct store_upload *u);
bool upload_write(struct store_upload *u, const void *data, size_t size, struct reel_error *err); /* to the file, and
                                                                                                     hashes it if all
                                                                                                     before it was */
bool upload_hash_all(struct store_upload *u, struct reel_error *err);                             /* sets `sha256` */
bool upload_may_be_kept(const struct store_upload *u, struct reel_error *err); /* it is finished, and not kept */
void upload_waited(int64_t began_ns); /* for the disk, since then; for store_elapsed_ns() */

#endif
