/* Annotations of IDL that change how payloads are laid out, and units. */
#ifndef REEL_FORMATS_ROS_IDL_ANNOTATIONS_H
#define REEL_FORMATS_ROS_IDL_ANNOTATIONS_H

#include "formats/ros/idl_constants.h"

enum { IDL_UNIT_MAX = 64 };

struct idl_annotations {
    struct reel_bytes unit; /* in the definition */
    bool optional, non_serialized, hashes_ids /* @autoid(HASH) */, hashed /* @hashid */;
    struct reel_bytes hashed_name; /* of @hashid("name"); empty: the member's own */
    bool has_id;
    uint32_t id;
    uint8_t extensibility; /* enum ros_extensibility */
    uint32_t bits;         /* @bit_bound; 0: none */
    int64_t value;         /* @value */
};

/* Reads `@name (…)` as often as it stands there. Definitions of annotations are passed over. */
bool idl_annotations_read(struct idl_constants *constants, struct idl_lexer *l, const char *scope,
                          struct idl_annotations *out, struct reel_error *err);
/* The id that @hashid and @autoid(HASH) give a member of this name. */
uint32_t idl_hashed_id(struct reel_bytes name);

#endif
