/* The definition of a channel's messages as one text: for decoders, and for formats that keep a single definition per
 * channel. */
#ifndef REEL_FORMATS_ROS_CHANNEL_DEFINITION_H
#define REEL_FORMATS_ROS_CHANNEL_DEFINITION_H

#include "base/arena.h"
#include "reel/error.h"
#include "reel/model.h"

/* The definition in reel_channel_schema(), followed by those of the channel's other schemas in the same language,
 * joined as that language does: ROS with headings (formats/ros/text.h), protobuf as one FileDescriptorSet. A type or
 * file that is already included is skipped. In other languages, and for a channel with one schema, the schema's data
 * unchanged; where that is missing, what is assumed in its place (assume.h). Memory comes from the arena. False: no
 * memory, or REEL_LIMIT when the result would exceed REEL_SCHEMA_MAX; *out is then the schema's own data. */
bool channel_definition(struct arena *arena, const struct reel_channel *channel, struct reel_bytes *out,
                        struct reel_error *err);

#endif
