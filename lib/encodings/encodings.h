/* The decoders there are, one line each. Rule: only decoders.c names them together. */
#ifndef REEL_DECODE_DECODERS_H
#define REEL_DECODE_DECODERS_H

#include "reel/decode.h"

extern const struct reel_decoding reel_decoding_rsb, reel_decoding_bytes, reel_decoding_mira; /* of TIDE logs and MIRA tapes */
extern const struct reel_decoding reel_decoding_carla;
extern const struct reel_decoding reel_decoding_ros1, reel_decoding_cdr;
extern const struct reel_decoding reel_decoding_json, reel_decoding_msgpack, reel_decoding_protobuf;
extern const struct reel_decoding reel_decoding_nanover, reel_decoding_nanover_legacy;

#endif
