/* Videos whose frames need earlier ones: which channels may have them, and what a cut of them needs. */
#ifndef REEL_MEDIA_VIDEO_H
#define REEL_MEDIA_VIDEO_H

#include "reel/reader.h"

/* By the type's last word. Messages of such a channel may also be pictures that stand alone. */
bool video_is_channel(const struct reel_channel *channel);
bool video_is_recorded(const struct reel_channel *channel); /* they may not */
bool video_is_image(const struct reel_channel *channel);    /* whose messages are pixels */

/* The frames of the channel before `start_ns`, from the last key frame on, newest first; none where there is no key
 * frame. The caller frees them. */
bool video_frames_before(struct reel_reader *reader, const struct reel_channel *channel, int64_t start_ns,
                         struct reel_entry **entries, size_t *n, struct reel_error *err);

#endif
