/* Videos whose frames need earlier ones: which channels may have them, and what a cut of them needs. */
#ifndef REEL_MEDIA_VIDEO_H
#define REEL_MEDIA_VIDEO_H

#include "stream/initial_state.h"

/* By the type's last word. Messages of such a channel may also be pictures that stand alone. */
bool video_is_channel(const struct reel_channel *channel);
bool video_is_recorded(const struct reel_channel *channel); /* they may not */
bool video_is_image(const struct reel_channel *channel);    /* whose messages are pixels */

/* Its rule at a cut: the frames from the last key frame on; none where there is no key frame. */
extern const struct reel_cut_rule reel_cut_rule_video;

#endif
