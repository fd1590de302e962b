/* Shared by upload.c and upload_object.c. */
#ifndef SERVER_STORE_UPLOAD_INTERNAL_H
#define SERVER_STORE_UPLOAD_INTERNAL_H

#include "base/digest.h"
#include "store/bucket/send.h"
#include "store/store_internal.h"

struct store_upload {
    struct store *store;
    int fd;
    int leased; /* lease on the file that this upload is a hard link to: no process can write to it meanwhile; -1: none
                 */
    char path[STORE_PATH]; /* in incoming/ */
    bool placed;           /* the file has been renamed to a blob */
    bool lasting;          /* belongs to an upload session: the file is not removed when this is freed */
    uint8_t *buffer;       /* NULL while nothing is held */
    size_t held;
    uint64_t written, started;  /* bytes given to write(), bytes whose writeback has been started */
    uint64_t sure;              /* bytes flushed: they survive a power failure */
    uint64_t hashed;            /* bytes hashed so far; store_upload_hash() reads the others back */
    struct digest hash, marked; /* marked: its state at store_upload_mark() */
    char sha256[65];            /* "" until finished */
    struct sending *sending;    /* to the bucket; NULL: this store has none */
    bool known;                 /* the bucket has all bytes already, and the file none: only their number is counted */
};
REEL_DEFINE_AUTO(struct store_upload, store_upload_free);

struct store_upload *upload_new(struct store *store, struct reel_error *err); /* without a file */
/* Of a session, with what the note says is in the bucket. */
bool upload_open_sent(struct store_upload *u, const char *note, struct reel_error *err);
/* Makes the finished upload the object of its content. */
bool upload_keep_object(struct store_upload *u, bool replace, struct reel_error *err);

#endif
