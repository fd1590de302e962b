/* Executes the moves of a relay over a payload. Nothing recurses deeper than types nest, every read is checked by the
 * cursor, and what is written is bounded by what is read. */
#include "formats/ros/relay_internal.h"

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "formats/ros/relay_bytes.h"
#include "formats/ros/rewrite.h"
#include "syntax/utf8.h"

enum {
    WIDE = 4,             /* bytes of a character of a wide text in ROS 2; others have 2, and before them not the number
                             of the characters, but of the bytes */
    CDR_END_PADDING = 3,  /* zeros that some writers append */
    MOVES_PER_VALUE = 16, /* so many of a value without bytes count as one */
};

/* ---- values of no other type */

static void copy_turned(uint8_t *to, const uint8_t *from, uint64_t bytes, unsigned size) {
    for (uint64_t at = 0; at < bytes; at += size) {
        for (unsigned i = 0; i < size; i++) {
            to[at + i] = from[at + size - 1 - i];
        }
    }
}

static bool move_numbers(struct relay_run *r, const struct relay_move *m, uint64_t n, bool writes) {
    uint64_t bytes = ros_definition_bytes(m->size, n * m->per);
    uint8_t *to;
    if (bytes == 0) { /* an empty list has no padding */
        return true;
    }
    if (!writes || !r->out) {
        return pass(r, m->size, bytes) && (!writes || give(r, m->size, bytes, &to));
    }
    const uint8_t *from = ros_relay_run_take(r, m->size, bytes);
    if (!from || !give(r, m->size, bytes, &to)) {
        return false;
    }
    if (r->big && m->size > 1) {
        copy_turned(to, from, bytes, m->size);
    } else {
        memcpy(to, from, (size_t)bytes);
    }
    return true;
}

static uint8_t level_of(uint8_t level, bool to_ros2) {
    static const uint8_t levels[][2] = {{1, 10}, {2, 20}, {4, 30}, {8, 40}, {16, 50}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (levels[i][!to_ros2] == level) {
            return levels[i][to_ros2];
        }
    }
    return level;
}

static bool move_bytes(struct relay_run *r, const struct relay_move *m, uint64_t n, bool writes) {
    uint8_t *to;
    if (n == 0) {
        return true;
    }
    if (!writes || !r->out) {
        return pass(r, 1, n) && (!writes || give(r, 1, n, &to));
    }
    const uint8_t *from = ros_relay_run_take(r, 1, n);
    if (!from || !give(r, 1, n, &to)) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        to[i] = m->kind == RELAY_BOOL ? from[i] != 0 : level_of(from[i], r->out_cdr);
    }
    return true;
}

static bool move_stamp(struct relay_run *r, const struct relay_move *m) {
    uint8_t *to;
    const uint8_t *from = ros_relay_run_take(r, 4, 8);
    if (!from || !give(r, 4, 8, &to)) {
        return false;
    }
    memcpy(to, from, 8);
    if (r->out_cdr) {
        relay_normalise(to, m->kind == RELAY_DURATION);
    }
    return true;
}

static bool move_stamps(struct relay_run *r, const struct relay_move *m, uint64_t n, bool writes) {
    if (n == 1 && writes && r->out && !r->big) { /* as nearly all are */
        return move_stamp(r, m);
    }
    uint64_t at = r->pos;
    static const struct relay_move numbers = {.kind = RELAY_NUMBERS, .size = 4, .per = 2};
    if (!move_numbers(r, &numbers, n, writes)) {
        return false;
    }
    at += r->pos > at ? (r->pos - at) % 8 : 0; /* padding */
    for (; writes && r->out && r->out_cdr && at < r->pos; at += 8) {
        relay_normalise(r->out + at, m->kind == RELAY_DURATION);
    }
    return true;
}

static bool give_text(struct relay_run *r, const uint8_t *text, uint32_t size) {
    uint8_t *to;
    if (!give(r, 4, 4 + (uint64_t)size + r->out_cdr, &to)) {
        return false;
    }
    if (to) {
        store_u32le(to, size + r->out_cdr);
    }
    if (to && size > 0) {
        memcpy(to + 4, text, size);
    }
    if (to && r->out_cdr) {
        to[4 + size] = 0;
    }
    return true;
}

static bool move_text(struct relay_run *r, bool writes) {
    uint32_t size = 0;
    if (!take_u32(r, &size)) {
        return false;
    }
    if (!r->in_cdr && size < UINT32_MAX && (!writes || !r->out)) {
        return pass(r, 1, size) && (!writes || give_text(r, NULL, size));
    }
    const uint8_t *text = ros_relay_run_take(r, 1, size);
    if (!text) {
        return false;
    }
    size -= r->in_cdr && size > 0 && text[size - 1] == 0;
    if (size == UINT32_MAX) {
        return reel_fail(r->err, REEL_LIMIT, "a text of 4 GiB");
    }
    return !writes || give_text(r, text, size);
}

/* ---- wide texts, which only ROS 2 has: units of UTF-16 in 4 bytes each */

static uint32_t unit_at(const struct relay_run *r, const uint8_t *p, uint32_t wide) {
    if (wide < WIDE) {
        return r->big ? (uint32_t)p[0] << 8 | p[1] : load_u16le(p);
    }
    return r->big ? __builtin_bswap32(load_u32le(p)) : load_u32le(p);
}

static bool move_wide_text(struct relay_run *r, bool writes) {
    uint32_t n = 0, size = 0, wide = r->is_v2 || r->relay->from_omg ? 2 : WIDE;
    const uint8_t *p = take_u32(r, &n) ? ros_relay_run_take(r, 1, wide < WIDE ? n : (uint64_t)n * WIDE) : NULL;
    if (!p || !writes) {
        return p;
    }
    n /= wide < WIDE ? wide : 1;
    for (int pass = 0; pass < 2; pass++) { /* the size first, then the bytes */
        uint8_t *to = NULL, utf8[4];
        if (pass == 1 && (!give_u32(r, size) || !give(r, 1, size, &to))) {
            return false;
        }
        for (uint32_t i = 0, at = 0; i < n && (pass == 0 || to); i++) {
            uint32_t low = i + 1 < n ? unit_at(r, p + (size_t)(i + 1) * wide, wide) : 0, used = 1;
            size_t bytes = utf8_put_units(unit_at(r, p + (size_t)i * wide, wide), low, &used, utf8);
            i += used - 1;
            if (to) {
                memcpy(to + at, utf8, bytes);
            }
            at += (uint32_t)bytes;
            size = pass == 0 ? at : size;
        }
    }
    return true;
}

/* ---- moves */

static bool run_body(struct relay_run *r, uint32_t body, bool reads, bool writes);

/* Values that take no bytes of the input are not bounded by its size, so they are counted, with the moves of each. */
static bool afford(struct relay_run *r, const struct relay_move *m, bool reads, uint64_t n) {
    if (m->kind != RELAY_GROUP || (reads && m->least > 0)) {
        return true;
    }
    uint64_t each = 1 + r->relay->bodies[m->body].count / MOVES_PER_VALUE;
    if (n > r->budget / each) {
        return reel_fail(r->err, REEL_LIMIT, "too many values that take no bytes");
    }
    r->budget -= n * each;
    return true;
}

static bool ros_fill(struct relay_run *r, const struct relay_move *m, uint64_t n) {
    static const unsigned sizes[] = {[RELAY_BOOL] = 1, [RELAY_LEVEL] = 1, [RELAY_TIME] = 8, [RELAY_DURATION] = 8};
    bool numbers = m->kind == RELAY_NUMBERS, text = m->kind == RELAY_TEXT || m->kind == RELAY_WIDE_TEXT;
    if (text || m->kind == RELAY_GROUP) {
        for (uint64_t i = 0; i < n; i++) {
            const char *value = m->text ? m->text : "";
            if (!(text ? give_text(r, (const uint8_t *)value, (uint32_t)strlen(value))
                       : run_body(r, m->body, false, true))) {
                return false;
            }
        }
        return true;
    }
    uint64_t bytes = numbers ? ros_definition_bytes(m->size, n * m->per) : n * sizes[m->kind];
    uint8_t *to;
    if (bytes == 0) {
        return true;
    }
    if (!give(r, numbers ? m->size : bytes % 8 == 0 ? 4 : 1, bytes, &to)) {
        return false;
    }
    if (to) {
        memset(to, 0, (size_t)bytes);
        memcpy(to, m->number ? m->number : "", m->number ? m->size : 0);
    }
    return true;
}

static bool move_values(struct relay_run *r, const struct relay_move *m, uint64_t n, bool writes) {
    switch ((enum relay_kind)m->kind) {
    case RELAY_NUMBERS:
        return move_numbers(r, m, n, writes);
    case RELAY_BOOL:
    case RELAY_LEVEL:
        return move_bytes(r, m, n, writes);
    case RELAY_TIME:
    case RELAY_DURATION:
        return move_stamps(r, m, n, writes);
    default:
        break;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (!(m->kind == RELAY_GROUP  ? run_body(r, m->body, true, writes)
              : m->kind == RELAY_TEXT ? move_text(r, writes)
                                      : move_wide_text(r, writes))) {
            return false;
        }
    }
    return true;
}

/* How many values the input has. */
static bool ros_count_in(struct relay_run *r, const struct relay_move *m, uint8_t in, uint64_t *n) {
    uint32_t count = in == ROS_ONE ? 1 : in == ROS_ARRAY ? m->in_count : 0, size;
    if (m->headed && r->is_v2 && !take_u32(r, &size)) {
        return false;
    }
    if (in == ROS_LIST && !take_u32(r, &count)) {
        return false;
    }
    *n = count;
    uint64_t needs = ros_definition_bytes(m->least, count);
    return needs <= left(r) || reel_fail(r->err, REEL_DAMAGED, "byte %llu: %u values need %llu bytes, %llu are left",
                                         (unsigned long long)ros_relay_run_position(r), count,
                                         (unsigned long long)needs, (unsigned long long)left(r));
}

/* One value on both sides, as most fields are: there is nothing to count. */
static bool is_single(const struct relay_move *m) {
    return m->in == ROS_ONE && m->out == ROS_ONE && (m->kind != RELAY_GROUP || m->least > 0);
}

static bool run_move(struct relay_run *r, const struct relay_move *m, bool reads, bool writes) {
    if (reads && writes && is_single(m)) {
        return m->kind == RELAY_GROUP ? run_body(r, m->body, true, true) : move_values(r, m, 1, true);
    }
    /* in the direction that runs now */
    uint8_t from = reads ? m->in : RELAY_ABSENT, to = writes ? m->out : RELAY_ABSENT;
    uint64_t in = 0;
    if (from != RELAY_ABSENT && !ros_count_in(r, m, from, &in)) {
        return false;
    }
    uint64_t out = to == ROS_LIST ? in : to == ROS_ARRAY ? m->out_count : to == ROS_ONE, both = in < out ? in : out;
    if (to == ROS_LIST && out > m->out_count) {
        return reel_fail(r->err, REEL_LIMIT, "a list of %llu values, which may have %u", (unsigned long long)out,
                         m->out_count);
    }
    return (to != ROS_LIST || give_u32(r, (uint32_t)out)) && afford(r, m, from != RELAY_ABSENT, in) &&
           move_values(r, m, both, true) && (in == both || move_values(r, m, in - both, false)) &&
           (out == both || (afford(r, m, false, out - both) && ros_fill(r, m, out - both)));
}

struct spot { /* in the input */
    const uint8_t *at;
    uint64_t after, passed;
};
static void go_to(struct relay_run *r, const struct spot *spot) {
    r->in.at = spot->at;
    r->after = spot->after;
    r->passed = spot->passed;
}

/* Where the input has another order, its fields are found first. */
static bool run_disordered(struct relay_run *r, const struct relay_body *body, bool writes) {
    const struct relay_move *skips = &r->relay->moves[body->first_skip], *moves = &r->relay->moves[body->first];
    struct spot at[RELAY_SLOTS_MAX], end;
    for (uint32_t i = 0; i < body->n_skips; i++) {
        at[i] = (struct spot){r->in.at, r->after, r->passed};
        if (!run_move(r, &skips[i], true, false)) {
            return false;
        }
    }
    end = (struct spot){r->in.at, r->after, r->passed};
    for (uint32_t i = 0; i < body->count && writes; i++) {
        go_to(r, moves[i].slot != RELAY_NO_SLOT ? &at[moves[i].slot] : &end);
        if (!run_move(r, &moves[i], moves[i].slot != RELAY_NO_SLOT, true)) {
            return false;
        }
    }
    go_to(r, &end);
    return true;
}

static bool run_body(struct relay_run *r, uint32_t number, bool reads, bool writes) {
    const struct relay_body *body = &r->relay->bodies[number];
    if (body->n_skips > 0 && reads) {
        return run_disordered(r, body, writes);
    }
    for (uint32_t i = 0; i < body->count; i++) {
        if (!run_move(r, &r->relay->moves[body->first + i], reads, writes)) {
            return false;
        }
    }
    return true;
}

/* ---- a payload */

static bool ros_read_head(struct relay_run *r) {
    const uint8_t *head = ros_relay_run_take(r, 1, RELAY_CDR_HEAD);
    r->origin = r->in.at;
    r->big = head && (head[1] & 1) == 0;
    r->is_v2 = head && head[0] == 0 && ((head[1] & 0xfe) == 0x06 || (head[1] & 0xfe) == 0x10);
    r->align_max = r->is_v2 ? 4 : 8;
    return head && (r->is_v2 || (head[0] == 0 && head[1] <= 1) ||
                    reel_fail(r->err, REEL_DAMAGED, "the payload does not begin as plain CDR does"));
}

static bool read_end(struct relay_run *r) {
    return left(r) == 0 || (r->in_cdr && left(r) <= CDR_END_PADDING) ||
           reel_fail(r->err, REEL_DAMAGED, "byte %llu: %llu bytes too many",
                     (unsigned long long)ros_relay_run_position(r), (unsigned long long)left(r));
}

static bool run_payload(struct relay_run *r, struct reel_bytes payload) {
    static const uint8_t head[RELAY_CDR_HEAD] = {0, 1, 0, 0};
    r->in = cursor_of(payload.size > 0 ? payload : bytes_of("", 0));
    r->origin = r->in.at;
    r->budget = REEL_EMPTY_VALUES_MAX + (uint64_t)payload.size + r->after;
    r->in_cdr = r->relay->from == ROS_2;
    r->align_max = 8; /* of the head */
    r->out_cdr = !r->in_cdr;
    if (r->out_cdr && r->out) {
        if (r->room < sizeof head) {
            return reel_fail(r->err, REEL_CHANGED, "a payload has no room in the other layout");
        }
        memcpy(r->out, head, sizeof head);
    }
    if (r->out_cdr) { /* positions count from the end of the head */
        r->out = r->out ? r->out + sizeof head : NULL;
        r->room -= sizeof head;
    }
    return (!r->in_cdr || ros_read_head(r)) && run_body(r, r->relay->top, true, true) && read_end(r);
}

static bool measure_moves(const struct ros_relay *relay, struct reel_bytes begin, uint64_t payload_size, size_t *size,
                          bool *needs_more, struct reel_error *err) {
    struct relay_run r = {.relay = relay,
                          .room = payload_size * RELAY_GROWTH_OUT + RELAY_SPARE_OUT,
                          .after = payload_size - begin.size,
                          .err = err};
    bool good = run_payload(&r, begin);
    *needs_more = r.needs_more;
    *size = (size_t)r.pos + (r.out_cdr ? RELAY_CDR_HEAD : 0);
    return good;
}

static bool size_as(const struct ros_relay *relay, struct reel_bytes begin, uint64_t payload_size, size_t *size,
                    bool *needs_more, struct reel_error *err) {
    bool good;
    if (relay->rewrite) {
        *needs_more = begin.size < payload_size;
        good = !*needs_more && ros_rewrite_put(relay->rewrite, begin, NULL, 0, size, err);
    } else {
        good = measure_moves(relay, begin, payload_size, size, needs_more, err);
    }
    return good && (*size <= REEL_MESSAGE_MEMORY_MAX ||
                    reel_fail(err, REEL_LIMIT, "the payload becomes %zu bytes large", *size));
}

bool ros_relay_size(const struct ros_relay *relay, struct reel_bytes begin, uint64_t payload_size, size_t *size,
                    bool *needs_more, struct reel_error *err) {
    if (!relay->older) {
        return size_as(relay, begin, payload_size, size, needs_more, err);
    }
    struct reel_error why = {0};
    *needs_more = begin.size < payload_size; /* only the whole payload shows which layout it has */
    for (const struct ros_relay *one = relay; one && !*needs_more; one = one->older) {
        if (size_as(one, begin, payload_size, size, needs_more, one == relay ? err : &why)) {
            return true;
        }
    }
    return false;
}

static bool put_as(const struct ros_relay *relay, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size,
                   struct reel_error *err) {
    if (relay->rewrite) {
        return ros_rewrite_put(relay->rewrite, payload, out, room, size, err);
    }
    struct relay_run r = {.relay = relay, .out = out, .room = room, .err = err};
    bool good = run_payload(&r, payload);
    *size = (size_t)r.pos + (r.out_cdr ? RELAY_CDR_HEAD : 0);
    return good;
}

bool ros_relay_put(const struct ros_relay *relay, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size,
                   struct reel_error *err) {
    if (relay_quick(relay, payload, out, room, size)) {
        return true;
    }
    for (const struct ros_relay *one = relay; one; one = one->older) {
        struct reel_error why;
        reel_error_clear(&why);
        if (put_as(one, payload, out, room, size, &why)) {
            return true;
        }
        if (one == relay || why.code == REEL_CHANGED) { /* it may fit, and only need more room */
            reel_error_pass(err, &why);
        }
    }
    return false;
}
