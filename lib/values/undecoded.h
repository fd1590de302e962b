/* Why the messages of a channel are bytes and no values. */
#ifndef REEL_VALUES_UNDECODED_H
#define REEL_VALUES_UNDECODED_H

#include "reel/open.h"

/* *why: what prevents it, in its definition or in its first message; REEL_OK: nothing. A message that cannot be read is
 * no reason. False: this machine failed (err). */
bool channel_undecoded(struct reel_recording *recording, uint32_t channel, struct reel_error *why,
                       struct reel_error *err);
/* Of the first channel of the topic that has a reason. */
bool topic_undecoded(struct reel_recording *recording, const char *topic, struct reel_error *why,
                     struct reel_error *err);
bool channel_has_topic(const struct reel_channel *channel, const char *topic); /* a leading slash does not count */
/* Each topic with a reason once, by its channels' name. visit() false ends it. */
typedef bool (*undecoded_visit)(void *context, const char *topic, const char *why);
bool undecoded_topics(struct reel_recording *recording, undecoded_visit visit, void *context, struct reel_error *err);

#endif
