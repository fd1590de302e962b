/* The blocks of a tar archive (POSIX ustar, with a pax header where a name is long or not ASCII, or a file has 8 GiB or more). Pure: bytes
 * in, bytes out. */
#ifndef SERVER_API_USTAR_H
#define SERVER_API_USTAR_H

#include <stddef.h>

#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

enum {
    USTAR_BLOCK = 512,
    USTAR_NAME_MAX = 1024,            /* of a member; longer is refused by whoever makes names */
    USTAR_HEAD_MAX = 6 * USTAR_BLOCK, /* of one member: pax header, its record, the header proper */
    USTAR_END = 2 * USTAR_BLOCK,
};

/* The head of a member into `out`; returns its size, a multiple of USTAR_BLOCK. */
size_t ustar_head(const char *name, uint64_t size, int64_t modified_s, uint8_t out[USTAR_HEAD_MAX]);
/* Zeros behind a member of that size. */
static inline uint64_t ustar_padding(uint64_t size) {
    return (USTAR_BLOCK - size % USTAR_BLOCK) % USTAR_BLOCK;
}

/* Names that can stand beside each other when they are unpacked: no two alike, none that is a folder of another. Sorts `names` and gives
 * those in the way a "~" and their tag behind the name; the texts are from malloc and may be replaced. */
struct ustar_name {
    char *name;
    const char *tag; /* differs in all; borrowed */
    size_t place;    /* the caller's */
};
bool ustar_part(struct ustar_name *names, size_t n, struct reel_error *err);

#endif
