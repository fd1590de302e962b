/* A payload in CDR being decoded, in either version: values aligned to multiples of their size from the end of the
 * head (XCDR1), at most of 4 (XCDR2). */
#ifndef REEL_FORMATS_ROS_CDR_WALK_H
#define REEL_FORMATS_ROS_CDR_WALK_H

#include "formats/ros/definition.h"

/* What a payload does not say itself and writers do differently. */
struct cdr_layout {
    uint8_t top;         /* enum ros_extensibility of the payload's type, by its head */
    uint8_t unannotated; /* of the other types without an annotation */
    bool ignores_types;  /* annotations have no effect, as in Foxglove's writer */
    bool heads_lists; /* lists and arrays of what is not primitive begin with their size, as in the specification … */
    bool heads_enums; /* … which counts enums among them */
};

struct cdr {
    struct ros_definition_run run; /* payload: with the 4 bytes of the head; `end` is that of the innermost object of
                                      known size */
    const uint8_t *origin;         /* what values are aligned to */
    bool big;                      /* numbers are big-endian */
    bool is_v2;
    bool has_runs;     /* members of fixed sizes lie as in ros_definition_step.members */
    uint64_t oddities; /* bytes that were skipped, and members that were missing though not optional */
    unsigned align_max;
    struct cdr_layout layout;
};

/* ---- values (cdr_values.c) */

/* Takes `size` bytes at a multiple of `align`, a power of 2; NULL with an error. */
const uint8_t *cdr_take(struct cdr *c, const struct ros_definition_step *s, unsigned align, uint64_t size);
bool cdr_take_u16(struct cdr *c, const struct ros_definition_step *s, uint16_t *out);
bool cdr_take_u32(struct cdr *c, const struct ros_definition_step *s, uint32_t *out);
bool cdr_take_integer(struct cdr *c, const struct ros_definition_step *s, int64_t *out); /* of the step's kind */
bool cdr_take_text(struct cdr *c, const struct ros_definition_step *s, struct reel_bytes *out);

bool cdr_value(struct cdr *c, const struct ros_definition_step *s); /* a single one, which is of no other type */
bool cdr_numbers(struct cdr *c, const struct ros_definition_step *s, uint32_t count);

/* ---- types (cdr_walk.c) */

bool cdr_walk(struct cdr *c); /* the whole message */

#endif
