/* A range of bytes, not owned. */
#ifndef REEL_BYTES_H
#define REEL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reel_bytes {
    const uint8_t *data;
    size_t size;
};

#endif
