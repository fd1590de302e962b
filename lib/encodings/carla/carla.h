/* Internals of CARLA's encoding. */
#ifndef REEL_ENCODINGS_CARLA_CARLA_H
#define REEL_ENCODINGS_CARLA_CARLA_H

#include "reel/encoding.h"
#include "reel/iterate.h"
#include "wire/carla.h"

extern const struct reel_encoding reel_encoding_carla;

/* reel_encoding.state_at */
bool carla_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_front *front,
                    struct reel_error *err);

#endif
