/* A CARLA recording as one actor sees it. */
#ifndef REEL_FORMATS_CARLA_FOLLOW_H
#define REEL_FORMATS_CARLA_FOLLOW_H

#include "reel/stream.h"

/* A CARLA recording seen from one actor: the positions of all actors (the channels of type carla/Position) are in the
 * actor's frame, which moves with it; positions from before its creation or after its end are left out. Other messages
 * are as recorded. Axes and units are CARLA's. Takes ownership of `below`, also when it fails. */
struct reel_stream *reel_carla_follow(struct reel_stream *below, uint32_t actor, struct reel_error *err);
/* REEL_NOT_FOUND: the recording never creates this actor. REEL_UNSUPPORTED: it is no CARLA recording. */
bool reel_carla_has_actor(struct reel_recording *recording, uint32_t actor, struct reel_error *err);

#endif
