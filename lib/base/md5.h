/* MD5 (RFC 1321). ROS identifies the revision of a type by it; not used for security. */
#ifndef REEL_BASE_MD5_H
#define REEL_BASE_MD5_H

#include "reel/bytes.h"

enum { MD5_TEXT = 33 };
void md5_hex(struct reel_bytes data, char out[MD5_TEXT]); /* 32 digits and NUL */

#endif
