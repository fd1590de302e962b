/* The decoders there are, one line each. Rule: only decoders.c names them together. */
#ifndef REEL_DECODE_DECODERS_H
#define REEL_DECODE_DECODERS_H

#include "reel/encoding.h"

extern const struct reel_encoding reel_encoding_rsb, reel_encoding_bytes, reel_encoding_mira; /* of TIDE logs and MIRA tapes */
extern const struct reel_encoding reel_encoding_carla;
extern const struct reel_encoding reel_encoding_ros1, reel_encoding_cdr;
extern const struct reel_encoding reel_encoding_json, reel_encoding_msgpack, reel_encoding_protobuf;
extern const struct reel_encoding reel_encoding_nanover, reel_encoding_nanover_legacy;

#endif
