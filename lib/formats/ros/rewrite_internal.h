/* What rewrite.c compiles and rewrite_run.c executes. */
#ifndef REEL_FORMATS_ROS_REWRITE_INTERNAL_H
#define REEL_FORMATS_ROS_REWRITE_INTERNAL_H

#include "formats/ros/rewrite.h"

struct ros_rewrite {
    struct ros_definition *from, *to;
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
