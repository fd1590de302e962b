/* Numbers and texts in CDR (cdr_walk.h). Only cdr_take() takes bytes, and it skips the padding. */
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/cdr_walk.h"
#include "syntax/utf8.h"
#include "syntax/visitor.h"

const uint8_t *cdr_take(struct cdr *c, const struct ros_definition_step *s, unsigned align, uint64_t size) {
    struct ros_definition_run *r = &c->run;
    size_t at = (size_t)(r->c.at - c->origin), pad = -at & ((align < c->align_max ? align : c->align_max) - 1);
    if (pad > cursor_left(&r->c) || size > cursor_left(&r->c) - pad) {
        ros_definition_ends_early(r, s, pad + size);
        return NULL;
    }
    cursor_take(&r->c, pad);
    return cursor_take(&r->c, size);
}

static uint64_t cdr_load(const struct cdr *c, const uint8_t *p, unsigned size) {
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++) {
        v = v << 8 | p[c->big ? i : size - 1 - i];
    }
    return v;
}

bool cdr_take_u16(struct cdr *c, const struct ros_definition_step *s, uint16_t *out) {
    const uint8_t *p = cdr_take(c, s, 2, 2);
    *out = p ? (uint16_t)cdr_load(c, p, 2) : 0;
    return p != NULL;
}

bool cdr_take_u32(struct cdr *c, const struct ros_definition_step *s, uint32_t *out) {
    const uint8_t *p = cdr_take(c, s, 4, 4);
    if (p) {
        *out = c->big ? __builtin_bswap32(load_u32le(p)) : load_u32le(p);
    }
    return p != NULL;
}

bool cdr_take_integer(struct cdr *c, const struct ros_definition_step *s, int64_t *out) {
    unsigned size = reel_number_size(s->kind), unused = 64 - 8 * size;
    const uint8_t *p = cdr_take(c, s, size, size);
    bool has_sign = s->kind == REEL_I8 || s->kind == REEL_I16 || s->kind == REEL_I32;
    if (p) {
        uint64_t v = cdr_load(c, p, size);
        *out = has_sign ? (int64_t)(v << unused) >> unused : (int64_t)v;
    }
    return p != NULL;
}

/* ---- texts */

/* Converts UTF-16 to UTF-8; a long text needs memory for it. ROS has each unit in 4 bytes and their number before
 * them, others have 2 bytes each and the number of bytes. */
static bool cdr_wide_text(struct cdr *c, const struct ros_definition_step *s) {
    unsigned wide = c->is_v2 || c->run.def->is_omg ? 2 : 4;
    uint32_t n;
    if (!cdr_take_u32(c, s, &n)) {
        return false;
    }
    const uint8_t *p = cdr_take(c, s, 1, (uint64_t)n * (wide == 2 ? 1 : wide));
    n /= wide == 2 ? 2 : 1;
    uint8_t brief[1024];
    AUTO_MEM uint8_t *more = p && n > sizeof brief / 4 ? malloc((size_t)n * 4) : NULL;
    uint8_t *text = n > sizeof brief / 4 ? more : brief;
    if (!p || !text) {
        return p && reel_fail_memory(c->run.err);
    }
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = i + 1 < n ? (uint32_t)cdr_load(c, p + (size_t)(i + 1) * wide, wide) : 0, used;
        size += utf8_put_units((uint32_t)cdr_load(c, p + (size_t)i * wide, wide), low, &used, text + size);
        i += used - 1;
    }
    return visit_text(c->run.v, bytes_of(text, size));
}

/* The length includes a NUL at the end, which some writers leave out. */
bool cdr_take_text(struct cdr *c, const struct ros_definition_step *s, struct reel_bytes *out) {
    uint32_t size;
    const uint8_t *p = cdr_take_u32(c, s, &size) ? cdr_take(c, s, 1, size) : NULL;
    *out = bytes_of(p, p ? size - (size > 0 && p[size - 1] == 0) : 0);
    return p != NULL;
}

/* ---- numbers */

static bool cdr_number(struct cdr *c, const struct ros_definition_step *s, const uint8_t *p) {
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

/* IEEE 754 binary128: a sign, 15 bits of exponent, 112 of the fraction. */
static bool cdr_long_double(struct cdr *c, const struct ros_definition_step *s) {
    const uint8_t *p = cdr_take(c, s, 8, 16);
    if (!p) {
        return false;
    }
    uint64_t high = cdr_load(c, p + (c->big ? 0 : 8), 8), low = cdr_load(c, p + (c->big ? 8 : 0), 8),
             fraction = high & 0xffffffffffff;
    int exponent = (int)(high >> 48 & 0x7fff);
    double size = exponent == 0x7fff ? (fraction | low ? NAN : INFINITY)
                                     : ldexp(ldexp((double)low, -64) + (double)fraction + (exponent ? 0x1p48 : 0.0),
                                             (exponent ? exponent : 1) - 16383 - 48);
    return visit_real(c->run.v, high >> 63 ? -size : size);
}

bool cdr_numbers(struct cdr *c, const struct ros_definition_step *s, uint32_t count) {
    size_t size = reel_number_size(s->kind);
    const uint8_t *p = cdr_take(c, s, count > 0 ? (unsigned)size : 1, (uint64_t)count * size); /* an empty list has no
                                                                                                  alignment */
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
        if (!cdr_number(c, s, p + i * size)) {
            return false;
        }
    }
    return visit_end_list(v);
}

bool cdr_value(struct cdr *c, const struct ros_definition_step *s) {
    struct reel_bytes text;
    if (s->kind == ROS_VALUE_TEXT) {
        return cdr_take_text(c, s, &text) && visit_text(c->run.v, text);
    }
    if (s->kind == ROS_VALUE_WIDE_TEXT) {
        return cdr_wide_text(c, s);
    }
    if (s->kind == ROS_VALUE_LONG_DOUBLE) {
        return cdr_long_double(c, s);
    }
    const uint8_t *p = cdr_take(c, s, reel_number_size(s->kind), reel_number_size(s->kind));
    return p && cdr_number(c, s, p);
}
