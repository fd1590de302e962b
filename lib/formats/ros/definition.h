/* The definition of a channel's messages, for the decoders of ROS 1 (ros1.c) and ROS 2 (cdr.c): opens it, lists its
 * fields, and formats errors about payloads. */
#ifndef REEL_FORMATS_ROS_DEFINITION_H
#define REEL_FORMATS_ROS_DEFINITION_H

#include "base/cursor.h"
#include "formats/ros/definition_tree.h"

/* Opens the channel's own schema with the types it needs (formats/ros/channel_definition.h). What the recording lacks
 * is taken from elsewhere (assume.h), if its hash is the recorded one or none is recorded. REEL_UNSUPPORTED when
 * there is no definition, a type is missing, or the language is not supported for this dialect. */
struct ros_definition *ros_definition_open(const struct reel_channel *channel, enum ros_dialect dialect,
                                           struct reel_error *err);
/* Reads the definition of `type` from a text, and links its types. NULL with err. */
struct ros_definition *ros_definition_read(enum ros_dialect dialect, const char *type, struct reel_bytes text,
                                           enum ros_language language, bool is_omg, struct reel_error *err);
/* Whether the text of a file defines a message, a service or an action, as its name says (decode/own_definitions.h).
 * The types that it contains need not be known. */
bool ros_definition_check(const char *name, struct reel_bytes text, struct reel_error *err);
/* For struct reel_encoding; `def` is a struct ros_definition. */
const char *ros_definition_source(const struct reel_channel *channel);
bool ros_definition_fields(const void *def, reel_field_visit visit, void *context);

bool ros_definition_shape(const void *def, reel_shape_visit visit, void *context);

/* A payload being decoded. */
struct ros_definition_run {
    const struct ros_definition *def;
    struct cursor c;
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint32_t empties; /* values without bytes so far */
};

/* Both return false with an error. */
bool ros_definition_ends_early(const struct ros_definition_run *run, const struct ros_definition_step *step,
                               uint64_t needs);
bool ros_definition_too_long(const struct ros_definition_run *run);

/* Counts `count` values without bytes, which the payload's size does not bound; false with an error when there are too
 * many. */
bool ros_definition_afford(struct ros_definition_run *run, uint64_t count);

#endif
