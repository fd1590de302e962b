/* The files of an upload in one request: one, or those of one recording in a form. */
#ifndef SERVER_API_UPLOADS_RECEIVED_H
#define SERVER_API_UPLOADS_RECEIVED_H

#include "uploads/upload_options.h"

struct received_file {
    struct store_upload *file;
    char name[UPLOAD_OPTION_TEXT]; /* in the form; "" = none */
    struct reel_bytes head;        /* the first bytes, of several files; malloc'd */
    char sha256[SHA256_HEX];       /* of received_finish() */
    uint64_t size;
};
struct received {
    struct received_file *items;
    uint32_t n;
    size_t room;
    char folder[UPLOAD_OPTION_TEXT]; /* of the names in the form; "" = none */
};
void received_done(struct received *r);

/* Begins the next file; its name in the form may have folders. */
bool received_begin(struct received *r, struct store *store, const char *name, struct reel_error *err);
bool received_write(struct received *r, const void *data, size_t size, struct reel_error *err); /* to the last file */
bool received_finish(struct received *r, struct reel_error *err); /* their bytes are in the store, and hashed */

/* Puts the file that the recording is read by first, the others by name; *main: the one that names the recording.
 * REEL_UNSUPPORTED: they are not one recording. */
bool received_arrange(struct received *r, uint32_t *main, struct reel_error *err);

#endif
