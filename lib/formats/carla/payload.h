/* Internals of CARLA's encoding. */
#ifndef REEL_FORMATS_CARLA_PAYLOAD_H
#define REEL_FORMATS_CARLA_PAYLOAD_H

#include "decode/encoding.h"
#include "formats/carla/layout.h"
#include "stream/stream.h"

extern const struct reel_encoding reel_encoding_carla;

/* reel_encoding.state_at */
bool carla_state_at(struct reel_reader *reader, int64_t time_ns, const bool *wanted, struct reel_initial_state *initial,
                    struct reel_error *err);

#endif
