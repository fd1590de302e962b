/* The demonstration recordings, whole in memory (from malloc). The bytes are the same each time. */
#ifndef SERVER_RECORDINGS_DEMO_H
#define SERVER_RECORDINGS_DEMO_H

#include <stddef.h>
#include <stdint.h>

#include "reel/error.h"

struct demo {
    const char *name;
    bool (*make)(uint8_t **data, size_t *size, struct reel_error *err);
};

bool demo_bag(uint8_t **data, size_t *size, struct reel_error *err);
bool demo_nanover(uint8_t **data, size_t *size, struct reel_error *err);

static const struct demo demos[] = {{"demo.bag", demo_bag}, {"demo.nanover.zip", demo_nanover}};

#endif
