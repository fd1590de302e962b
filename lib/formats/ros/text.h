/* Definitions of ROS messages as text: languages, type names, and the sections of a text that defines several types:
 *
 *   first type's text | ===…=== | MSG: package/Type | its text | ===…=== | …
 *
 * In IDL the headings begin with "IDL:"; rosbag2 stores services and actions below "SRV:" and "ACTION:", also the first
 * one. */
#ifndef REEL_FORMATS_ROS_TEXT_H
#define REEL_FORMATS_ROS_TEXT_H

#include "reel/error.h"
#include "reel/model.h"

enum ros_language { ROS_LANGUAGE_OTHER, ROS_LANGUAGE_MSG, ROS_LANGUAGE_IDL };
/* The language of a schema of a ROS channel. An empty encoding counts as .msg, and so does "unknown" of ROS 2: rosbag2
 * writes it for services whose types are all built in. */
enum ros_language ros_language_of(const struct reel_channel *channel, const struct reel_schema *schema);
/* "MSG:" or "IDL:". */
const char *ros_heading(enum ros_language language);

/* True when `schema` is known to define `type`: an empty text may be a type without fields or a missing definition, and
 * some writers store the name of the type instead. */
bool ros_is_defined(const struct reel_schema *schema, const char *type);

/* "a::msg::B" and "a/msg/B" → "a/B", or "a/msg/B" when `whole`. False: too long, or not a type name. */
enum { ROS_NAME_ROOM = 256 };
bool ros_type_name(struct reel_bytes name, bool whole, char out[ROS_NAME_ROOM]);
/* The service or action that a message type belongs to: "p/srv/X_Event" → "p/srv/X", "p/action/X_FeedbackMessage" →
 * "p/action/X". False: the name has no such ending, or is too long. */
bool ros_interface_name(const char *type, char out[ROS_NAME_ROOM]);

bool ros_is_blank(uint8_t c);
struct reel_bytes ros_trim(struct reel_bytes line);
/* Returns the first line without its newline and removes it from `text`. */
struct reel_bytes ros_next_line(struct reel_bytes *text);

struct ros_section {
    const char *heading;    /* "MSG:", "SRV:", "ACTION:", "IDL:" */
    struct reel_bytes name; /* from its heading; empty for the first section */
    struct reel_bytes text;
};
struct ros_sections { /* start with {.rest = text, .heading = ros_heading(language)} */
    struct reel_bytes rest, name;
    const char *heading; /* of the next section */
    bool ended;
};
bool ros_sections_next(struct ros_sections *s, struct ros_section *out);

#endif
