/* The moves of a relay over a payload of ROS 1 that is whole in memory, for those that nearly all definitions have:
 * fields that both sides have in the same order and number, and fields that only ROS 1 has. What is anything else, does
 * not fit, or has no room is left to relay_run.c, which also finds the error. */
#include "formats/ros/relay_internal.h"

#include "base/bytes.h"
#include "base/cursor.h"

struct quick {
    const struct ros_relay *relay;
    struct cursor in;
    uint8_t *out;
    size_t pos, room;
};

/* Room for `size` bytes at a multiple of `align`; NULL: there is none. */
static inline uint8_t *quick_give(struct quick *q, unsigned align, uint64_t size) {
    size_t pad = -q->pos & (align - 1);
    if (pad > q->room - q->pos || size > q->room - q->pos - pad) {
        return NULL;
    }
    for (; pad > 0; pad--) {
        q->out[q->pos++] = 0;
    }
    q->pos += (size_t)size;
    return q->out + (q->pos - (size_t)size);
}

static bool quick_numbers(struct quick *q, const struct relay_move *m, uint32_t n, bool writes) {
    uint64_t size;
    const uint8_t *from = __builtin_mul_overflow(m->least, n, &size) ? NULL : cursor_take(&q->in, size);
    if (!from || !writes || size == 0) { /* an empty list has no padding */
        return from;
    }
    uint8_t *to = quick_give(q, m->size, size);
    if (to) {
        memcpy(to, from, (size_t)size);
    }
    return to;
}

static bool quick_stamp(struct quick *q, const struct relay_move *m, bool writes) {
    const uint8_t *from = cursor_take(&q->in, 8); /* seconds and nanoseconds */
    uint8_t *to = from && writes ? quick_give(q, 4, 8) : NULL;
    if (to) {
        memcpy(to, from, 8);
        relay_normalise(to, m->kind == RELAY_DURATION);
    }
    return from && (to || !writes);
}

static bool quick_text(struct quick *q, bool writes) {
    uint32_t size = cursor_u32le(&q->in);
    const uint8_t *from = cursor_take(&q->in, size);
    if (q->in.failed) {
        return false;
    }
    uint8_t *to = writes ? quick_give(q, 4, 4 + (uint64_t)size + 1) : NULL;
    if (to) {
        store_u32le(to, size + 1);
        memcpy(to + 4, from, size);
        to[4 + size] = 0;
    }
    return to || !writes;
}

static bool quick_body(struct quick *q, uint32_t number);

static bool quick_values(struct quick *q, const struct relay_move *m, uint32_t n, bool writes) {
    bool good = true;
    switch ((enum relay_kind)m->kind) {
    case RELAY_NUMBERS:
        return quick_numbers(q, m, n, writes);
    case RELAY_TIME:
    case RELAY_DURATION:
        for (uint32_t i = 0; good && i < n; i++) {
            good = quick_stamp(q, m, writes);
        }
        return good;
    case RELAY_TEXT:
        for (uint32_t i = 0; good && i < n; i++) {
            good = quick_text(q, writes);
        }
        return good;
    case RELAY_GROUP:
        good = writes && m->least > 0; /* values without bytes are counted there */
        for (uint32_t i = 0; good && i < n; i++) {
            good = quick_body(q, m->body);
        }
        return good;
    case RELAY_BOOL:
    case RELAY_LEVEL:
    case RELAY_WIDE_TEXT:
        break;
    }
    return false;
}

static bool quick_move(struct quick *q, const struct relay_move *m) {
    bool writes = m->out != RELAY_ABSENT;
    uint32_t n = m->in == ROS_ARRAY ? m->in_count : 1;
    if (m->in == RELAY_ABSENT || (writes && (m->out != m->in || (m->in == ROS_ARRAY && m->in_count != m->out_count)))) {
        return false;
    }
    if (m->in == ROS_LIST) {
        n = cursor_u32le(&q->in);
        uint8_t *to = writes && n <= m->out_count ? quick_give(q, 4, 4) : NULL;
        if (q->in.failed || (writes && !to)) {
            return false;
        }
        if (to) {
            store_u32le(to, n);
        }
    }
    return quick_values(q, m, n, writes);
}

static bool quick_body(struct quick *q, uint32_t number) {
    const struct relay_body *body = &q->relay->bodies[number];
    const struct relay_move *m = &q->relay->moves[body->first], *end = m + body->count;
    for (; m < end && quick_move(q, m); m++) {
    }
    return m == end && body->n_skips == 0;
}

bool relay_quick(const struct ros_relay *relay, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size) {
    static const uint8_t head[RELAY_CDR_HEAD] = {0, 1, 0, 0};
    if (relay->from != ROS_1 || relay->rewrite || room < sizeof head) {
        return false;
    }
    memcpy(out, head, sizeof head);
    struct quick q = {.relay = relay,
                      .in = cursor_of(payload.size > 0 ? payload : bytes_of("", 0)),
                      .out = out + sizeof head, /* positions count from the end of the head */
                      .room = room - sizeof head};
    bool good = quick_body(&q, relay->top) && cursor_left(&q.in) == 0;
    *size = sizeof head + q.pos;
    return good;
}
