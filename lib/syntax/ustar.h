/* The blocks of a tar archive (POSIX ustar, with a pax header where a name is long or not ASCII, or a file has 8 GiB or
 * more). No I/O. */
#ifndef SYNTAX_USTAR_H
#define SYNTAX_USTAR_H

#include <stddef.h>

#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

enum {
    USTAR_BLOCK = 512,
    USTAR_NAME_MAX = 1024,            /* of a member; the caller rejects longer ones */
    USTAR_HEAD_MAX = 6 * USTAR_BLOCK, /* of one member: pax header, its record, the header proper */
    USTAR_END = 2 * USTAR_BLOCK,
};

/* Writes the header blocks of a member to `out`; returns their size, a multiple of USTAR_BLOCK. */
size_t ustar_head(const char *name, uint64_t size, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]);
/* The same, of a size that does not depend on that of the member: for one that is written before that is known. */
size_t ustar_head_wide(const char *name, uint64_t size, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]);
/* The padding after a member of that size. */
static inline uint64_t ustar_padding(uint64_t size) {
    return (USTAR_BLOCK - size % USTAR_BLOCK) % USTAR_BLOCK;
}

/* A name may be a path of the client's disk: "..", absolute paths, backslashes and control characters are replaced. */
void archive_make_safe(char *name);
/* Makes names unique for unpacking: no two equal, none a folder of another. Sorts `names` and appends "~" and the tag
 * to those that collide; the texts are malloc'd and may be replaced. */
struct ustar_name {
    char *name;
    const char *tag; /* unique; borrowed */
    size_t position; /* for the caller */
};
bool ustar_part(struct ustar_name *names, size_t n, struct reel_error *err);

#endif
