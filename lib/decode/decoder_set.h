/* The decoders of many channels. Those of one definition share one, since a recording may have it on each of 65,535
 * channels. */
#ifndef REEL_DECODE_DECODER_SET_H
#define REEL_DECODE_DECODER_SET_H

#include "base/hash_table.h"
#include "decode/encoding.h"

struct decoder_set { /* zeroed = empty */
    struct opened_decoder *first;
    struct hash_table known; /* by definition and type */
};

/* As reel_decoder_open(); the decoder belongs to the set, and the channel must outlive it. */
const struct reel_decoder *decoder_set_open(struct decoder_set *set, const struct reel_channel *channel,
                                            struct reel_error *err);
/* As decoder_try(). */
bool decoder_set_try(struct decoder_set *set, const struct reel_channel *channel, const struct reel_decoder **out,
                     struct reel_error *err);
/* Whether channels of one recording share a decoder in a set. */
bool channels_decode_alike(const struct reel_channel *a, const struct reel_channel *b);
void decoder_set_free(struct decoder_set *set);

#endif
