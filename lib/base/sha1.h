/* SHA-1 (FIPS 180-4) of bytes in memory: identifies definitions in TIDE 2.0 and events of RSB; not used for security.
 */
#ifndef REEL_BASE_SHA1_H
#define REEL_BASE_SHA1_H

#include "reel/bytes.h"

enum { SHA1_SIZE = 20 };

void sha1_of(struct reel_bytes data, uint8_t out[SHA1_SIZE]);

#endif
