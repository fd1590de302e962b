/* What rewrite.c compiles and rewrite_run.c executes. */
#ifndef REEL_FORMATS_ROS_REWRITE_INTERNAL_H
#define REEL_FORMATS_ROS_REWRITE_INTERNAL_H

#include "formats/ros/rewrite.h"

#define NO_PARTNER UINT32_MAX

struct ros_rewrite {
    struct ros_definition *from, *to;
    uint32_t *partners;  /* by type of `from`: its new form, in `to`; NO_PARTNER: not needed */
    bool *drops;         /* by step of `from` */
    const char **values; /* by step of `to`: of an added field; NULL: none */
};

static inline bool is_integer(uint8_t kind) {
    return kind >= REEL_I8 && kind <= REEL_U64;
}
static inline bool is_signed(uint8_t kind) {
    return kind == REEL_I8 || kind == REEL_I16 || kind == REEL_I32 || kind == REEL_I64;
}

#endif
