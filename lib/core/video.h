/* Videos whose frames need earlier ones: which channels may have them, and what a cut of them needs. */
#ifndef REEL_CORE_VIDEO_H
#define REEL_CORE_VIDEO_H

#include "core/front.h"

/* By the type's last word. Messages of such a channel may also be pictures that stand alone. */
bool video_is_channel(const struct reel_channel *channel);

/* Adds to `front` the frames before `start_ns`, from the last key frame on, of channel `position` of its stream. */
bool video_add_front(struct reel_front *front, uint32_t position, int64_t start_ns, struct reel_error *err);

#endif
