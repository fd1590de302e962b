/* Definitions of ROS messages as text: languages, type names, and the sections of a text that defines several types:
 *
 *   first type's text | ===…=== | MSG: package/Type | its text | ===…=== | …          (in IDL the headings begin with
 * "IDL:") */
#ifndef REEL_FORMATS_ROS_TEXT_H
#define REEL_FORMATS_ROS_TEXT_H

#include "reel/error.h"
#include "reel/model.h"

enum ros_language { ROS_LANGUAGE_OTHER, ROS_LANGUAGE_MSG, ROS_LANGUAGE_IDL };
/* The language of a schema of a ROS channel; an empty encoding counts as .msg. */
enum ros_language ros_language_of(const struct reel_channel *channel, const struct reel_schema *schema);
/* "MSG:" or "IDL:". */
const char *ros_heading(enum ros_language language);

/* True when `schema` is known to define `type`: an empty text may be a type without fields or a missing definition. */
bool ros_is_defined(const struct reel_schema *schema, const char *type);

/* "a::msg::B" and "a/msg/B" → "a/B", or "a/msg/B" when `whole`. False: too long, or not a type name. */
enum { ROS_NAME_ROOM = 256 };
bool ros_type_name(struct reel_bytes name, bool whole, char out[ROS_NAME_ROOM]);

bool ros_is_blank(uint8_t c);
struct reel_bytes ros_trim(struct reel_bytes line);
/* Returns the first line without its newline and removes it from `text`. */
struct reel_bytes ros_next_line(struct reel_bytes *text);

struct ros_section {
    struct reel_bytes name; /* from its heading; empty for the first section */
    struct reel_bytes text;
};
struct ros_sections { /* start with {.rest = text, .heading = ros_heading(language)} */
    struct reel_bytes rest, name;
    const char *heading;
    bool ended;
};
bool ros_sections_next(struct ros_sections *s, struct ros_section *out);

#endif
