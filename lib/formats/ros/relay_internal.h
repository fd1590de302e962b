/* The moves that relay.c compiles and relay_run.c executes. */
#ifndef REEL_FORMATS_ROS_RELAY_INTERNAL_H
#define REEL_FORMATS_ROS_RELAY_INTERNAL_H

#include "base/bytes.h"
#include "formats/ros/relay.h"

enum relay_kind {
    RELAY_NUMBERS, /* `per` numbers of `size` bytes in one value, copied in one piece */
    RELAY_BOOL,    /* any byte that is not 0 becomes 1 */
    RELAY_TIME,
    RELAY_DURATION,
    RELAY_LEVEL, /* of a log */
    RELAY_TEXT,
    RELAY_WIDE_TEXT,
    RELAY_GROUP, /* values of another type: `body` */
};
enum { RELAY_ABSENT = ROS_LIST + 1 /* beside enum ros_many: this side has no such field */, RELAY_SLOTS_MAX = 32 };
#define RELAY_NO_SLOT UINT8_MAX

struct relay_move {
    uint8_t kind, size;
    uint8_t in, out; /* ros_many, or RELAY_ABSENT: is skipped, or filled with the default */
    bool headed;     /* in XCDR2 its size comes before the input's list or array */
    uint8_t slot;    /* in a body that is not in the order of the input: which of its skips stands at the field */
    uint32_t per;    /* RELAY_NUMBERS */
    uint32_t in_count, out_count; /* of arrays; of a list out, the most */
    uint32_t body;
    uint64_t least;     /* bytes of one value in the input at least */
    const char *text;   /* default of a text, or NULL */
    const char *number; /* default of a number: `size` bytes, or NULL: 0 */
};

/* A type: its moves, in the order of the output. Where the input has another order: first `n_skips` moves that find its
 * fields. */
struct relay_body {
    uint32_t first, count;
    uint32_t first_skip, n_skips;
};

struct ros_relay {
    enum ros_dialect from;
    bool from_omg; /* wide texts of the input are as in XCDR2 */
    struct relay_move *moves;
    struct relay_body *bodies;
    size_t n_moves, moves_room, n_bodies, bodies_room;
    uint32_t top;                /* body */
    struct ros_rewrite *rewrite; /* by rules, within one dialect: instead of the moves; NULL: none */
    struct ros_relay *older;     /* of another layout that payloads may have (struct ros_definition); NULL: none */
    char lost[256];              /* see ros_relay_lost() */
};

enum { RELAY_CDR_HEAD = 4 };

/* ROS 2 has nanoseconds from 0 to 999999999. The seconds of a time keep their 32 bits, which ROS 1 reads without a
 * sign. */
static inline void relay_normalise(uint8_t *stamp, bool is_duration) {
    enum { NS_PER_S = 1000000000 };
    uint32_t sec = load_u32le(stamp), nsec = load_u32le(stamp + 4);
    if (nsec < NS_PER_S) {
        return;
    }
    int64_t ns = is_duration ? (int32_t)nsec : (int64_t)nsec, carry = ns / NS_PER_S - (ns % NS_PER_S < 0);
    store_u32le(stamp, sec + (uint32_t)carry);
    store_u32le(stamp + 4, (uint32_t)(ns - carry * NS_PER_S));
}

/* relay_quick.c: as ros_relay_put(). False: it is not done so, whatever `out` has now. */
bool relay_quick(const struct ros_relay *relay, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size);

#endif
