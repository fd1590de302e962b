/* SHA-256 (FIPS 180-4) of bytes in memory: identifies types of ROS 2; not used for security. */
#ifndef REEL_BASE_SHA256_H
#define REEL_BASE_SHA256_H

#include "reel/bytes.h"

enum { SHA256_TEXT = 65 };
void sha256_hex(struct reel_bytes data, char out[SHA256_TEXT]); /* 64 digits and NUL */

#endif
