/* Uploads one file, resuming after every interruption. */
#ifndef SERVER_CLI_PUSH_FILE_H
#define SERVER_CLI_PUSH_FILE_H

#include <stdatomic.h>

#include "cli/push_http.h"

struct push_options {
    const char *api; /* http://…/api/v1 */
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
};
/* Adds to *sent the bytes that the server has received. */
bool push_file(struct push_http *http, const struct push_options *options, struct push_file *file,
               _Atomic uint64_t *sent, struct reel_error *err);

#endif
