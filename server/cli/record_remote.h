/* A live recording on a server, for `reel record`. */
#ifndef SERVER_CLI_RECORD_REMOTE_H
#define SERVER_CLI_RECORD_REMOTE_H

#include <stdbool.h>

#include "reel/bytes.h"
#include "reel/cleanup.h"
#include "reel/error.h"

struct record_remote_options {
    const char *server, *name, *collection; /* collection NULL: the server's default */
    const char *token_file;
    const char *media_type; /* of the batches */
    bool (*go_on)(void);    /* false: interrupted */
};

struct record_remote;
struct record_remote *record_remote_open(const struct record_remote_options *options, struct reel_error *err);
/* Appends a batch; while the server cannot be reached it tries again, until it is interrupted. */
bool record_remote_append(struct record_remote *remote, struct reel_bytes rows, struct reel_error *err);
/* From now on an interrupt does not end what is sent: it is the rest. */
void record_remote_uninterrupted(struct record_remote *remote);
bool record_remote_finish(struct record_remote *remote, struct reel_error *err);
const char *record_remote_id(const struct record_remote *remote);
void record_remote_free(struct record_remote *remote);
REEL_DEFINE_AUTO(struct record_remote, record_remote_free);

#endif
