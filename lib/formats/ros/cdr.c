/* Messages of ROS 2 in CDR: a header of 4 bytes names the byte order; then values, aligned to multiples of their size
 * from the end of that header. Only ros_cdr_take() takes bytes, and it skips the padding. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/convert.h"
#include "formats/ros/definition.h"
#include "syntax/utf8.h"
#include "syntax/visitor.h"

struct cdr {
    struct ros_definition_run run; /* payload: with the 4 bytes of the header */
    bool big;                      /* numbers are big-endian */
};

enum { HEAD = 4, WIDE = 4 /* bytes of a character of a wide text */ };

/* Takes `size` bytes at a multiple of `align`; NULL with an error. */
static const uint8_t *ros_cdr_take(struct cdr *c, const struct ros_definition_step *s, unsigned align, uint64_t size) {
    struct ros_definition_run *r = &c->run;
    size_t at = r->payload.size - HEAD - cursor_left(&r->c), pad = (align - at % align) % align;
    if (pad > cursor_left(&r->c) || size > cursor_left(&r->c) - pad) {
        ros_definition_ends_early(r, s, pad + size);
        return NULL;
    }
    cursor_take(&r->c, pad);
    return cursor_take(&r->c, size);
}

static bool take_u32(struct cdr *c, const struct ros_definition_step *s, uint32_t *out) {
    const uint8_t *p = ros_cdr_take(c, s, 4, 4);
    if (p) {
        *out = c->big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : load_u32le(p);
    }
    return p != NULL;
}

/* ---- texts */

static uint32_t wide_at(const struct cdr *c, const uint8_t *p) {
    return c->big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : load_u32le(p);
}

/* Converts UTF-16, each unit in 4 bytes, to UTF-8; a long text needs memory for it. */
static bool wide_text(struct cdr *c, const struct ros_definition_step *s) {
    uint32_t n;
    if (!take_u32(c, s, &n)) {
        return false;
    }
    const uint8_t *p = ros_cdr_take(c, s, 1, (uint64_t)n * WIDE);
    uint8_t brief[1024];
    AUTO_MEM uint8_t *more = p && n > sizeof brief / 4 ? malloc((size_t)n * 4) : NULL;
    uint8_t *text = n > sizeof brief / 4 ? more : brief;
    if (!p || !text) {
        return p && reel_fail_memory(c->run.err);
    }
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = i + 1 < n ? wide_at(c, p + (size_t)(i + 1) * WIDE) : 0, used;
        size += utf8_put_units(wide_at(c, p + (size_t)i * WIDE), low, &used, text + size);
        i += used - 1;
    }
    return visit_text(c->run.v, bytes_of(text, size));
}

/* The length includes a NUL at the end, which some writers leave out. */
static bool ros_text(struct cdr *c, const struct ros_definition_step *s) {
    uint32_t size;
    const uint8_t *p = take_u32(c, s, &size) ? ros_cdr_take(c, s, 1, size) : NULL;
    return p && visit_text(c->run.v, bytes_of(p, size - (size > 0 && p[size - 1] == 0)));
}

/* ---- numbers */

static bool ros_cdr_number(struct cdr *c, const struct ros_definition_step *s, const uint8_t *p) {
    size_t size = reel_number_size(s->kind);
    if (!c->big || size == 1) {
        return reel_number_visit(c->run.v, s->kind, p);
    }
    uint8_t turned[8];
    for (size_t i = 0; i < size; i++) {
        turned[i] = p[size - 1 - i];
    }
    return reel_number_visit(c->run.v, s->kind, turned);
}

static bool ros_numbers(struct cdr *c, const struct ros_definition_step *s, uint32_t count) {
    size_t size = reel_number_size(s->kind);
    const uint8_t *p = ros_cdr_take(c, s, count > 0 ? (unsigned)size : 1, (uint64_t)count * size); /* an empty list has
                                                                                                      no alignment */
    struct reel_visitor *v = c->run.v;
    if (!p) {
        return false;
    }
    if (s->kind == REEL_U8) {
        return visit_binary(v, bytes_of(p, count));
    }
    if (!c->big || size == 1) {
        return visit_numbers(v, s->kind, bytes_of(p, count * size), 0);
    }
    if (!visit_begin_list(v)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ros_cdr_number(c, s, p + i * size)) {
            return false;
        }
    }
    return visit_end_list(v);
}

/* ---- everything */

static bool walk_type(struct cdr *c, uint32_t type);

static bool ros_cdr_walk_one(struct cdr *c, const struct ros_definition_step *s) {
    if (s->kind == ROS_VALUE_TYPE) {
        return walk_type(c, s->type);
    }
    if (s->kind == ROS_VALUE_TEXT) {
        return ros_text(c, s);
    }
    if (s->kind == ROS_VALUE_WIDE_TEXT) {
        return wide_text(c, s);
    }
    const uint8_t *p = ros_cdr_take(c, s, reel_number_size(s->kind), reel_number_size(s->kind));
    return p && ros_cdr_number(c, s, p);
}

static bool walk_many(struct cdr *c, const struct ros_definition_step *s) {
    struct ros_definition_run *r = &c->run;
    uint32_t count = s->count;
    if (s->many == ROS_LIST && !take_u32(c, s, &count)) {
        return false;
    }
    if (s->many == ROS_LIST && count > s->count) {
        return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %.*s has %u values, at most %u are allowed",
                         r->payload.size - cursor_left(&r->c), r->payload.size, (int)s->key.size,
                         (const char *)s->key.data, count, s->count);
    }
    uint64_t needs = ros_definition_bytes(s->least, count);
    if (needs > cursor_left(&r->c)) {
        return ros_definition_ends_early(r, s, needs);
    }
    if (ros_definition_is_number(s)) {
        return ros_numbers(c, s, count);
    }
    if (!visit_begin_list(r->v) || (s->least == 0 && !ros_definition_afford(r, count))) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ros_cdr_walk_one(c, s)) {
            return false;
        }
    }
    return visit_end_list(r->v);
}

static bool walk_stamp(struct cdr *c, const struct ros_definition_step *s, bool is_duration) {
    uint32_t seconds, nanoseconds;
    if (!take_u32(c, s, &seconds) || !take_u32(c, s + 1, &nanoseconds)) {
        return false;
    }
    const struct reel_stamp value = {.seconds = (int32_t)seconds,
                                     .nanoseconds = nanoseconds,
                                     .nanoseconds_name = "nanosec",
                                     .is_duration = is_duration};
    return visit_stamp(c->run.v, &value);
}

static bool walk_type(struct cdr *c, uint32_t type) {
    struct ros_definition_run *r = &c->run;
    const struct ros_definition_type *t = &r->def->types[type];
    const struct ros_definition_step *s = &r->def->steps[t->first], *end = s + t->count;
    if (t->stamp != ROS_NO_STAMP) {
        return walk_stamp(c, s, t->stamp == ROS_DURATION);
    }
    if (!visit_begin_map(r->v)) {
        return false;
    }
    for (; s < end; s++) {
        if (s->hidden) {
            if (!ros_cdr_take(c, s, 1, s->least)) {
                return false;
            }
            continue;
        }
        bool empty = s->many == ROS_ARRAY ? s->count == 0 || s->least == 0 : s->least == 0;
        if (!visit_key(r->v, s->key) || (empty && s->many != ROS_LIST && !ros_definition_afford(r, 1)) ||
            !(s->many == ROS_ONE ? ros_cdr_walk_one(c, s) : walk_many(c, s))) {
            return false;
        }
    }
    return visit_end_map(r->v);
}

/* Some writers pad the payload to a multiple of 4 bytes. */
static bool ended(const struct cdr *c) {
    return cursor_done(&c->run.c) || (cursor_left(&c->run.c) < 4 && c->run.payload.size % 4 == 0);
}

static bool decode_as(const struct ros_definition *def, struct reel_bytes payload, struct reel_visitor *v,
                      struct reel_error *err) {
    if (payload.size < HEAD) {
        return reel_fail(err, REEL_DAMAGED, "byte 0 of %zu: the head of CDR has 4 bytes", payload.size);
    }
    if (payload.data[0] != 0 || payload.data[1] > 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "byte 0 of %zu: CDR of kind %02x%02x is not read", payload.size,
                         payload.data[0], payload.data[1]);
    }
    struct cdr c = {.run = {.def = def, .payload = payload, .v = v, .err = err}, .big = payload.data[1] == 0};
    c.run.c = cursor_of(bytes_of(payload.data + HEAD, payload.size - HEAD));
    return walk_type(&c, def->top) && (ended(&c) || ros_definition_too_long(&c.run));
}

/* By the first of the layouts that the payload fits. */
static bool ros_cdr_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                           struct reel_error *err) {
    const struct ros_definition *first = state, *fits = first->older ? first : NULL;
    struct reel_visitor nothing = {.ops = &visit_nothing};
    struct reel_error why = {0};
    while (fits && !decode_as(fits, payload, &nothing, &why)) {
        fits = fits->older;
    }
    return decode_as(fits ? fits : first, payload, v, err);
}

static bool ros_cdr_open_channel(const struct reel_channel *channel, void **state, struct reel_error *err) {
    return (*state = ros_definition_open(channel, ROS_2, err)) != NULL;
}
static void ros_cdr_close_state(void *state) {
    ros_definition_free(state);
}

const struct reel_encoding reel_encoding_cdr = {
    .name = "cdr",
    .open = ros_cdr_open_channel,
    .close = ros_cdr_close_state,
    .decode = ros_cdr_decode,
    .fields = ros_definition_fields,
    .convert = ros_convert_to_ros2,
    .shape = ros_definition_shape,
    .is_exact = true,
    .profile = "ros2",
    .languages = (const char *const[]){"ros2", "omg", NULL},
    .is_viewable = true,
    .source = ros_definition_source,
    .version = 3,
};
