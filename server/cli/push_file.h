/* Uploads one file, resuming after every interruption. */
#ifndef SERVER_CLI_PUSH_FILE_H
#define SERVER_CLI_PUSH_FILE_H

#include <stdatomic.h>

#include "cli/push_http.h"

struct push_options {
    const char *api;     /* http://…/api/v1 */
    bool (*go_on)(void); /* false: interrupted */
    /* Part of the key of each upload session, so that two machines with one host name have sessions of their own; NULL:
     * none. */
    const char *agent;
    struct push_rate *rate; /* NULL: no limit */
    const char *collection, *group;
    const char *const *tags; /* "key=value", NULL-terminated; may be NULL */
    bool replace;
    unsigned retries; /* attempts in a row without progress */
};

struct push_file {
    const char *path, *name;
    const char *file_name; /* if the recording is not named after the file; else NULL */
    const char *part_of;   /* the recording's main file; NULL: this is it */
    char text[256];        /* output: the result, for printing */
    bool already_stored;
    char sha256[65], id[33]; /* output: of the content that the server was seen to store, and its recording */
    int64_t verified_s;      /* and when that was, by the server's clock, since 1970; 0: unknown */
};
/* The SHA-256 of an open file. */
bool push_file_hash(int fd, bool (*go_on)(void), char hex[65], struct reel_error *err);
/* A name that the recording gets instead of one that has other content: "run-0a1b2c3d.bag", with the beginning of its
 * SHA-256; malloc'd. */
char *push_file_other_name(const char *name, const char *path, bool (*go_on)(void), struct reel_error *err);
/* Whether the recording, as the API returns it, has a file of this content. */
bool push_file_has_content(const json_t *recording, const char *sha256);
/* Adds to *sent the bytes that the server has received. */
bool push_file(struct push_http *http, const struct push_options *options, struct push_file *file,
               _Atomic uint64_t *sent, struct reel_error *err);

#endif
