/* Members of a tar archive, one after another: ustar, with the long names and large sizes of pax and GNU.
 *
 *   header, 512 bytes; numbers are octal text, or big-endian with the first bit set
 *   0    100  name            124  12  size         148  8   sum of the header's bytes, itself taken as spaces
 *   156  1    kind            257  6   "ustar"      345  155 folders before the name
 *   kinds: '0' NUL '7' file · 'x' pax fields of the next member · 'g' of all · 'L' name of the next member (GNU) ·
 * others: no file
 */
#ifndef REEL_SYNTAX_TAR_H
#define REEL_SYNTAX_TAR_H

#include "base/arena.h"
#include "base/source.h"

struct tar {
    struct reel_source *source; /* not owned */
    struct arena *arena;        /* names are allocated here */
    uint64_t at;
};
struct tar_member {
    const char *name; /* model text */
    uint64_t offset, size;
    uint64_t missing; /* bytes missing at the end of a cut archive */
};

bool tar_is(struct reel_bytes head);
/* The next regular file; *more = false at the end. REEL_DAMAGED when there is no valid header where one is expected. */
bool tar_next(struct tar *tar, struct tar_member *member, bool *more, struct reel_error *err);

#endif
