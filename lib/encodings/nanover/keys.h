/* What the decoders of both NanoVer forms share: a frame is {"frame":{key:value}}, a state
 * {"state":{"updates":{key:value},"removals":[key]}}. */
#ifndef REEL_DECODE_NANOVER_KEYS_H
#define REEL_DECODE_NANOVER_KEYS_H

#include "reel/encoding.h"

/* The keys that NanoVer knows, with their units; a message holds those that changed. */
bool nanover_frame_fields(reel_field_visit visit, void *context);
bool nanover_state_fields(reel_field_visit visit, void *context);

#endif
