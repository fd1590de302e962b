/* Lays a payload out anew (rewrite.h): a walk by both definitions at once. Nothing recurses deeper than types nest;
 * every read is checked by the cursor, and what is written is bounded by what is read. */
#include "formats/ros/rewrite_internal.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/number.h"

enum {
    CDR_HEAD = 4,
    CDR_END_PADDING = 3,
    WIDE = 4,             /* bytes of a character of a wide text in CDR */
    GROWTH = 16,          /* a payload may grow to so many times its size … */
    SPARE = 64 << 10,     /* … and by this much */
    VALUES_MAX = 1 << 20, /* without bytes in the payload */
};

struct rewriting {
    const struct ros_rewrite *rewrite;
    struct cursor in;
    const uint8_t *origin;
    bool is_cdr, big;
    uint8_t *out; /* NULL: measure; else the byte after the head */
    uint64_t pos, room, budget;
    struct reel_error *err;
};

/* ---- bytes */

static bool ends_early(struct rewriting *r, uint64_t size) {
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu: %llu bytes are needed, %zu are left",
                     (size_t)(r->in.at - r->origin), (unsigned long long)size, cursor_left(&r->in));
}

static uint64_t padding(const struct rewriting *r, uint64_t at, unsigned align) {
    return r->is_cdr ? -at & (align - 1) : 0;
}

static const uint8_t *rewrite_take(struct rewriting *r, unsigned align, uint64_t size) {
    uint64_t pad = padding(r, (uint64_t)(r->in.at - r->origin), align);
    if (pad > cursor_left(&r->in) || size > cursor_left(&r->in) - pad) {
        ends_early(r, size);
        return NULL;
    }
    cursor_take(&r->in, (size_t)pad);
    return cursor_take(&r->in, (size_t)size);
}

/* Room in the output; *to NULL while measuring. */
static bool rewrite_give(struct rewriting *r, unsigned align, uint64_t size, uint8_t **to) {
    uint64_t pad = padding(r, r->pos, align);
    if (size > r->room || r->pos + pad > r->room - size) {
        return reel_fail(r->err, REEL_CHANGED, "a payload has no room in the other layout");
    }
    if (r->out) {
        memset(r->out + r->pos, 0, (size_t)pad);
    }
    *to = r->out ? r->out + r->pos + pad : NULL;
    r->pos += pad + size;
    return true;
}

static uint32_t load_count(const struct rewriting *r, const uint8_t *from) {
    return r->big ? __builtin_bswap32(load_u32le(from)) : load_u32le(from);
}

static bool give_count(struct rewriting *r, uint32_t count) {
    uint8_t *to = NULL;
    if (!rewrite_give(r, 4, 4, &to)) {
        return false;
    }
    if (to) {
        store_u32le(to, r->big ? __builtin_bswap32(count) : count);
    }
    return true;
}

/* Bytes that stay as they are. */
static bool copy_bytes(struct rewriting *r, unsigned align, uint64_t size, bool writes) {
    uint8_t *to = NULL;
    const uint8_t *from = rewrite_take(r, align, size);
    if (!from || (writes && !rewrite_give(r, align, size, &to))) {
        return false;
    }
    if (to) {
        memcpy(to, from, (size_t)size);
    }
    return true;
}

/* ---- numbers */

static void turn(uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size / 2; i++) {
        uint8_t byte = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = byte;
    }
}

/* A number in little-endian order as another that has all of its values. */
static void convert_number(uint8_t from_kind, const uint8_t from[8], uint8_t to_kind, uint8_t to[8]) {
    size_t size = reel_number_size(from_kind);
    uint64_t bits = 0;
    for (size_t i = size; i-- > 0;) {
        bits = bits << 8 | from[i];
    }
    uint64_t sign = is_signed(from_kind) && size < 8 && bits >> (8 * size - 1) ? UINT64_MAX << 8 * size : 0;
    bits |= sign;
    if (to_kind == REEL_F64 || to_kind == REEL_F32) {
        float single;
        uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, sizeof single);
        double value = from_kind == REEL_F32  ? (double)single
                       : is_signed(from_kind) ? (double)(int64_t)bits
                                              : (double)bits;
        single = (float)value;
        memcpy(&low, &single, sizeof low);
        memcpy(&bits, &value, sizeof bits);
        bits = to_kind == REEL_F32 ? low : bits;
    }
    store_u64le(to, bits);
}

static bool convert_numbers(struct rewriting *r, uint8_t from_kind, uint8_t to_kind, uint64_t count) {
    size_t in = reel_number_size(from_kind), out = reel_number_size(to_kind);
    const uint8_t *from = rewrite_take(r, (unsigned)in, count * in);
    uint8_t *to = NULL;
    if (!from || !rewrite_give(r, (unsigned)out, count * out, &to)) {
        return false;
    }
    for (uint64_t i = 0; to && i < count; i++) {
        uint8_t a[8] = {0}, b[8];
        memcpy(a, from + i * in, in);
        if (r->big) {
            turn(a, in);
        }
        convert_number(from_kind, a, to_kind, b);
        if (r->big) {
            turn(b, out);
        }
        memcpy(to + i * out, b, out);
    }
    return true;
}

/* ---- values that the payload has */

static bool move_type(struct rewriting *r, uint32_t from, uint32_t to, bool writes);

static bool move_text(struct rewriting *r, bool wide, bool writes) {
    const uint8_t *at = rewrite_take(r, 4, 4);
    if (!at) {
        return false;
    }
    uint32_t count = load_count(r, at);
    return (!writes || give_count(r, count)) && copy_bytes(r, 1, wide ? (uint64_t)count * WIDE : count, writes);
}

/* `count` values of one field. */
static bool move_field(struct rewriting *r, const struct ros_definition_step *s, const struct ros_definition_step *to,
                       uint64_t count) {
    bool writes = to;
    if (count == 0) {
        return true;
    }
    if (ros_definition_bytes(s->least, count) > cursor_left(&r->in)) {
        return ends_early(r, ros_definition_bytes(s->least, count));
    }
    if (ros_definition_is_number(s)) {
        size_t size = reel_number_size(s->kind);
        return writes && s->kind != to->kind ? convert_numbers(r, s->kind, to->kind, count)
                                             : copy_bytes(r, (unsigned)size, size * count, writes);
    }
    if (s->kind == ROS_VALUE_TIME || s->kind == ROS_VALUE_DURATION) {
        return copy_bytes(r, 4, 8 * count, writes);
    }
    if (s->least == 0) {
        if (count > r->budget) {
            return reel_fail(r->err, REEL_LIMIT, "too many values that take no bytes");
        }
        r->budget -= count;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!(s->kind == ROS_VALUE_TYPE ? move_type(r, s->type, writes ? to->type : 0, writes)
                                        : move_text(r, s->kind == ROS_VALUE_WIDE_TEXT, writes))) {
            return false;
        }
    }
    return true;
}

static bool move_step(struct rewriting *r, const struct ros_definition_step *s, const struct ros_definition_step *to) {
    uint64_t count = s->many == ROS_ARRAY ? s->count : 1;
    if (s->many == ROS_LIST) {
        const uint8_t *at = rewrite_take(r, 4, 4);
        if (!at) {
            return false;
        }
        count = load_count(r, at);
        if (to && !give_count(r, (uint32_t)count)) {
            return false;
        }
    }
    return move_field(r, s, to, count);
}

/* ---- values that are added */

static bool fill_type(struct rewriting *r, uint32_t type);

static bool fill_text(struct rewriting *r, const char *value) {
    uint8_t *to = NULL;
    size_t size = strlen(value);
    if (!give_count(r, (uint32_t)(size + r->is_cdr)) || !rewrite_give(r, 1, size + r->is_cdr, &to)) {
        return false;
    }
    if (to) {
        memcpy(to, value, size + r->is_cdr);
    }
    return true;
}

/* The bytes of a number that is written as text, in the payload's order. */
static void number_bytes(const struct rewriting *r, uint8_t kind, const char *text, uint8_t out[8]) {
    int64_t integer = 0;
    uint64_t natural = 0;
    double real = 0;
    if (strcmp(text, "true") == 0) {
        natural = 1;
    } else if (!number_u64(text, &natural) && number_i64_of(text, strlen(text), &integer)) {
        natural = (uint64_t)integer;
    }
    if (kind == REEL_F32 || kind == REEL_F64) {
        number_real(text, &real);
        float single = (float)real;
        uint32_t low;
        memcpy(&low, &single, sizeof low);
        memcpy(&natural, &real, sizeof natural);
        natural = kind == REEL_F32 ? low : natural;
    }
    store_u64le(out, natural);
    if (r->big) {
        turn(out, reel_number_size(kind));
    }
}

static bool fill_values(struct rewriting *r, const struct ros_definition_step *s, const char *value, uint64_t count) {
    bool stamp = s->kind == ROS_VALUE_TIME || s->kind == ROS_VALUE_DURATION, number = ros_definition_is_number(s);
    uint8_t bytes[8] = {0}, *to = NULL;
    if (number || stamp) {
        size_t size = number ? reel_number_size(s->kind) : 8;
        if (number && value) {
            number_bytes(r, s->kind, value, bytes);
        }
        if (!rewrite_give(r, number ? (unsigned)size : 4, ros_definition_bytes(size, count), &to)) {
            return false;
        }
        for (uint64_t i = 0; to && i < count; i++) {
            memcpy(to + i * size, bytes, size);
        }
        return true;
    }
    if (count > r->budget) {
        return reel_fail(r->err, REEL_LIMIT, "too many values are added");
    }
    r->budget -= count;
    for (uint64_t i = 0; i < count; i++) {
        if (!(s->kind == ROS_VALUE_TYPE        ? fill_type(r, s->type)
              : s->kind == ROS_VALUE_WIDE_TEXT ? give_count(r, 0)
                                               : fill_text(r, value ? value : ""))) {
            return false;
        }
    }
    return true;
}

static bool fill_step(struct rewriting *r, size_t number) {
    const struct ros_definition_step *s = &r->rewrite->to->steps[number];
    const char *value = r->rewrite->values[number];
    return s->many == ROS_LIST ? give_count(r, 0) : fill_values(r, s, value, s->many == ROS_ARRAY ? s->count : 1);
}

static bool fill_type(struct rewriting *r, uint32_t type) {
    const struct ros_definition_type *t = &r->rewrite->to->types[type];
    for (uint32_t i = 0; i < t->count; i++) {
        if (!fill_step(r, t->first + i)) {
            return false;
        }
    }
    return true;
}

/* ---- types */

static bool move_type(struct rewriting *r, uint32_t from, uint32_t to, bool writes) {
    const struct ros_definition *d = r->rewrite->from;
    const struct ros_definition_type *a = &d->types[from], *b = &r->rewrite->to->types[to];
    uint32_t next = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        bool drops = !writes || r->rewrite->drops[a->first + i];
        if (!move_step(r, &d->steps[a->first + i], drops ? NULL : &r->rewrite->to->steps[b->first + next])) {
            return false;
        }
        next += !drops;
    }
    for (; writes && next < b->count; next++) {
        if (!fill_step(r, b->first + next)) {
            return false;
        }
    }
    return true;
}

static bool read_cdr_head(struct rewriting *r, const uint8_t *head) {
    r->big = head[1] == 0;
    return (head[0] == 0 && head[1] <= 1) ||
           reel_fail(r->err, REEL_UNSUPPORTED, "the payload does not begin as plain CDR does");
}

bool ros_rewrite_put(const struct ros_rewrite *w, struct reel_bytes payload, uint8_t *out, size_t room, size_t *size,
                     struct reel_error *err) {
    struct rewriting r = {.rewrite = w,
                          .in = cursor_of(payload.size > 0 ? payload : bytes_of("", 0)),
                          .is_cdr = w->from->dialect == ROS_2,
                          .room = out ? room : payload.size * GROWTH + SPARE,
                          .budget = VALUES_MAX,
                          .err = err};
    size_t head = r.is_cdr ? CDR_HEAD : 0;
    const uint8_t *begin = cursor_take(&r.in, head);
    if (head > 0 && !begin) {
        return reel_fail(err, REEL_DAMAGED, "the payload has no head of CDR");
    }
    if (head > r.room) {
        return reel_fail(err, REEL_CHANGED, "a payload has no room in the other layout");
    }
    if (head > 0 && !read_cdr_head(&r, begin)) {
        return false;
    }
    if (out && head > 0) {
        memcpy(out, begin, head);
    }
    r.origin = r.in.at;
    r.out = out ? out + head : NULL;
    r.room -= head;
    if (!move_type(&r, w->from->top, w->to->top, true)) {
        return false;
    }
    *size = (size_t)r.pos + head;
    size_t left = cursor_left(&r.in);
    return left <= (r.is_cdr ? CDR_END_PADDING : 0) || reel_fail(err, REEL_DAMAGED, "%zu bytes too many", left);
}
