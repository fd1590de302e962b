/* A file that appears whole under its name, or not at all. What exists and is no regular file (a pipe, a device) is
 * written directly. */
#ifndef REEL_BASE_OUTPUT_FILE_H
#define REEL_BASE_OUTPUT_FILE_H

#include <stddef.h>

#include "reel/error.h"

struct output_file {
    const char *path; /* NULL: standard output */
    char *temporary;  /* NULL: written directly */
    int fd;
    bool replace;
};
/* "-" is standard output. A file that exists is REEL_CONFLICT, unless `replace`. */
bool output_file_open(struct output_file *o, const char *path, bool replace, struct reel_error *err);
bool output_file_write(void *output_file, const void *data, size_t size, struct reel_error *err);
/* its first bytes */
bool output_file_rewrite(void *output_file, const void *data, size_t size, struct reel_error *err);
bool output_file_rewrites(const struct output_file *o); /* false: it is a pipe, a device or standard output */
bool output_file_finish(struct output_file *o, struct reel_error *err); /* makes it durable and renames it */
void reel_auto_output_file_done(struct output_file *o);                 /* removes an unfinished file */

#endif
