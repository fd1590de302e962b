/* The bytes of a payload that relay_run.c reads, passes and writes, each at its alignment. */
#ifndef REEL_FORMATS_ROS_RELAY_BYTES_H
#define REEL_FORMATS_ROS_RELAY_BYTES_H

#include "base/bytes.h"
#include "base/cursor.h"
#include "formats/ros/relay_internal.h"

enum {
    RELAY_SPARE_OUT = 64 << 10, /* a payload may grow by this much, … */
    RELAY_GROWTH_OUT = 16,      /* … and to so many times its size */
};

struct relay_run {
    const struct ros_relay *relay;
    struct cursor in;
    uint64_t after;        /* bytes of the payload behind those of the cursor, which can only be passed */
    uint64_t passed;       /* how many of them have been */
    bool needs_more;       /* one of them was to be read */
    const uint8_t *origin; /* what the input is aligned to */
    bool in_cdr, out_cdr, big, is_v2;
    unsigned align_max; /* of the input */
    uint8_t *out;       /* NULL: measure */
    uint64_t pos, room;
    uint64_t budget; /* values that take no bytes of the input: so many more */
    struct reel_error *err;
};

static inline uint64_t ros_relay_run_position(const struct relay_run *r) {
    return (uint64_t)(r->in.at - r->origin) + r->passed;
}
static inline uint64_t left(const struct relay_run *r) {
    return cursor_left(&r->in) + r->after;
}

/* The bytes before `size` bytes that are aligned. False: they are not all there. */
static inline bool pad_of(struct relay_run *r, unsigned align, uint64_t size, uint64_t *pad) {
    *pad = r->in_cdr ? -ros_relay_run_position(r) & ((align < r->align_max ? align : r->align_max) - 1) : 0;
    return (*pad <= left(r) && size <= left(r) - *pad) ||
           reel_fail(r->err, REEL_DAMAGED, "byte %llu: %llu bytes are needed, %llu are left",
                     (unsigned long long)ros_relay_run_position(r), (unsigned long long)(*pad + size),
                     (unsigned long long)left(r));
}

static inline const uint8_t *ros_relay_run_take(struct relay_run *r, unsigned align, uint64_t size) {
    uint64_t pad;
    if (!pad_of(r, align, size, &pad)) {
        return NULL;
    }
    if (pad + size > cursor_left(&r->in)) {
        r->needs_more = true;
        return NULL;
    }
    cursor_take(&r->in, pad);
    return cursor_take(&r->in, size);
}

/* The same for bytes that need not be read. */
static inline bool pass(struct relay_run *r, unsigned align, uint64_t size) {
    uint64_t pad, here;
    if (!pad_of(r, align, size, &pad)) {
        return false;
    }
    here = pad + size < cursor_left(&r->in) ? pad + size : cursor_left(&r->in);
    cursor_take(&r->in, here);
    r->after -= pad + size - here;
    r->passed += pad + size - here;
    return true;
}

/* Room for `size` bytes of output. False: too many. *to is NULL while measuring. */
static inline bool give(struct relay_run *r, unsigned align, uint64_t size, uint8_t **to) {
    uint64_t pad = r->out_cdr ? -r->pos & (align - 1) : 0;
    *to = NULL;
    if (pad + size > r->room - r->pos) {
        return r->out
                   ? reel_fail(r->err, REEL_CHANGED, "a payload has no room in the other layout")
                   : reel_fail(r->err, REEL_LIMIT, "the payload becomes more than %d times larger", RELAY_GROWTH_OUT);
    }
    if (r->out) {
        if (pad > 0) {
            memset(r->out + r->pos, 0, (size_t)pad);
        }
        *to = r->out + r->pos + pad;
    }
    r->pos += pad + size;
    return true;
}

static inline bool take_u32(struct relay_run *r, uint32_t *out) {
    const uint8_t *p = ros_relay_run_take(r, 4, 4);
    if (p) {
        *out = r->big ? __builtin_bswap32(load_u32le(p)) : load_u32le(p);
    }
    return p != NULL;
}

static inline bool give_u32(struct relay_run *r, uint32_t v) {
    uint8_t *to;
    if (!give(r, 4, 4, &to)) {
        return false;
    }
    if (to) {
        store_u32le(to, v);
    }
    return true;
}

#endif
