/* For code that goes on where a payload cannot be decoded, but not where this machine failed (reel_is_transient()): its
 * result would be another one next time. */
#ifndef REEL_DECODE_DECODER_H
#define REEL_DECODE_DECODER_H

#include "decode/encoding.h"

/* As reel_decoder_open(); a channel that cannot be decoded is no error: *out is NULL. */
bool decoder_try(const struct reel_channel *channel, struct reel_decoder **out, struct reel_error *err);
/* As reel_decode(); a payload that does not fit is no error: *whole (may be NULL) is false. */
bool decode_try(const struct reel_decoder *decoder, struct reel_bytes payload, struct reel_visitor *v, bool *whole,
                struct reel_error *err);

#endif
