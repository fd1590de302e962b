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
/* The same without creating one: it continues a recording of an earlier run. */
struct record_remote *record_remote_resume(const struct record_remote_options *options, const char *id,
                                           struct reel_error *err);
/* Appends a batch once, however often it is called with this number (from 1 up); `log_ns`: the time of rows without
 * one, 0: their arrival. */
bool record_remote_send(struct record_remote *remote, struct reel_bytes rows, uint64_t number, int64_t log_ns,
                        struct reel_error *err);
enum record_fate {
    RECORD_FAILED,  /* the rows may be taken later: with another token, when a proxy lets them pass */
    RECORD_REFUSED, /* never: they are wrong, or too large */
    RECORD_OVER,    /* not by this recording, which the server has finished or deleted meanwhile */
};
/* After record_remote_send() has failed. */
enum record_fate record_remote_fate(struct record_remote *remote);
bool record_remote_is_too_large(const struct record_remote *remote);
/* Goes on in a new recording: NAME-2, in the group NAME. */
bool record_remote_continue(struct record_remote *remote, struct reel_error *err);
/* Appends a batch; while the server cannot be reached it tries again, until it is interrupted. */
bool record_remote_append(struct record_remote *remote, struct reel_bytes rows, struct reel_error *err);
/* From now on an interrupt does not end what is sent: it is the rest. */
void record_remote_uninterrupted(struct record_remote *remote);
bool record_remote_finish(struct record_remote *remote, struct reel_error *err);
const char *record_remote_id(const struct record_remote *remote);
void record_remote_free(struct record_remote *remote);
REEL_DEFINE_AUTO(struct record_remote, record_remote_free);

#endif
