/* What a channel's messages look like, in one text: for decoders, and for formats that keep a single definition for a channel. */
#ifndef REEL_CORE_DEFINITION_H
#define REEL_CORE_DEFINITION_H

#include "reel/error.h"
#include "reel/model.h"
#include "wire/arena.h"

/* The definition in reel_channel_schema(), followed by those of the channel's other schemas in the same language, as that language joins
 * definitions: ROS with headings (core/ros_text.h), protobuf as one FileDescriptorSet. A type or file that is there already is left out. In
 * other languages, and when the channel has one schema, it is the schema's data as it is. Memory comes from the arena.
 * False: no memory, or REEL_LIMIT when the result would exceed REEL_SCHEMA_MAX; *out is the schema's own data then. */
bool channel_definition(struct arena *arena, const struct reel_channel *channel, struct reel_bytes *out, struct reel_error *err);

#endif
