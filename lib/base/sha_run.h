/* What SHA-1 and SHA-256 (FIPS 180-4) share: blocks of 64 bytes, padding, and a digest of big-endian words. */
#ifndef REEL_BASE_SHA_RUN_H
#define REEL_BASE_SHA_RUN_H

#include "reel/bytes.h"

/* `h`: the initial hash value, which take_block() updates by the 64 bytes at `p`. `size`: bytes of the digest, four for
 * each word. */
void sha_run(struct reel_bytes data, void (*take_block)(uint32_t *h, const uint8_t *p), uint32_t *h, uint8_t *out,
             size_t size);

#endif
