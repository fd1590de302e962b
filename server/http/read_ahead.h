/* Reads a long body ahead in a separate thread, so that producing bytes and sending them overlap. */
#ifndef SERVER_HTTP_READ_AHEAD_H
#define SERVER_HTTP_READ_AHEAD_H

#include "http/http.h"

struct read_ahead;

/* Starts reading bytes [offset, end) of the file, which must not be read by anyone else until read_ahead_stop(). NULL:
 * no thread or memory; read directly. */
struct read_ahead *read_ahead_start(const struct http_file *file, uint64_t offset, uint64_t end);

/* The next at most `size` bytes, in order; waits for them. 0: they cannot be read; err is set. */
size_t read_ahead_take(struct read_ahead *a, char *buffer, size_t size, struct reel_error *err);

void read_ahead_stop(struct read_ahead *a); /* waits for a read in progress; NULL is allowed */

#endif
