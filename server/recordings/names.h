/* Checks names of recordings and collections. */
#ifndef SERVER_RECORDINGS_NAMES_H
#define SERVER_RECORDINGS_NAMES_H

#include "reel/error.h"

enum { NAME_BYTES_MAX = 255 };

/* 1–255 bytes of UTF-8 without control characters; a collection has no "/", a name has none at its ends and no segment
 * that is empty, "." or
 * "..". Names are not normalized. REEL_ARGUMENT. */
bool names_check(const char *collection, const char *name, struct reel_error *err);
/* The last segment of a name. */
const char *names_file(const char *name);

#endif
