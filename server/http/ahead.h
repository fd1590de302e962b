/* Reads a long body ahead on a thread of its own, so that making the next bytes and sending the last ones overlap. */
#ifndef SERVER_HTTP_AHEAD_H
#define SERVER_HTTP_AHEAD_H

#include "http/http.h"

struct ahead;

/* Starts reading bytes [offset, end) of the file, which nobody else may read from now on. NULL: no thread or memory; read without it. */
struct ahead *ahead_start(const struct http_file *file, uint64_t offset, uint64_t end);

/* The next at most `size` bytes, in order; waits for them. 0: they cannot be read, err says why. */
size_t ahead_take(struct ahead *a, char *buffer, size_t size, struct reel_error *err);

void ahead_stop(struct ahead *a); /* waits for a read under way; NULL is fine */

#endif
