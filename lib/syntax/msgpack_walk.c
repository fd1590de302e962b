/* See msgpack_walk.h. One walk with a small stack of counts; map keys of any type are reported as text. */
#include "syntax/msgpack_walk.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/shortest_number.h"
#include "reel/time.h"
#include "syntax/visitor.h"

enum { EXT_TIMESTAMP = -1, NS_PER_S = 1000000000 };

static bool msgpack_walk_fail_at(struct msgpack_walk *t, const uint8_t *at, enum reel_code code, const char *why) {
    return reel_fail(t->err, code, "byte %zu of %zu: %s", (size_t)(at - t->payload.data), t->payload.size, why);
}
static bool fail_result(struct msgpack_walk *t, const uint8_t *at, enum msgpack_result r) {
    return msgpack_walk_fail_at(t, at, r == MSGPACK_DEEP ? REEL_LIMIT : REEL_DAMAGED, msgpack_result_text(r));
}

bool msgpack_walk_read(struct msgpack_walk *t, struct msgpack_item *item) {
    const uint8_t *begin = t->at.at;
    enum msgpack_result r = msgpack_read(&t->at, item);
    uint64_t least = item->kind == MSGPACK_MAP ? 2 * item->count : item->count; /* each item is a byte or more */
    if (r == MSGPACK_OK && least > cursor_left(&t->at)) {
        r = MSGPACK_SHORT;
    }
    return r == MSGPACK_OK || fail_result(t, begin, r);
}

/* ---- single values */

static bool fits_time(int64_t seconds, uint32_t ns) {
    return ns < NS_PER_S && seconds > INT64_MIN / NS_PER_S && seconds < INT64_MAX / NS_PER_S;
}

/* The three forms of a timestamp: 32 bits of seconds; 30 of nanoseconds and 34 of seconds; 32 of nanoseconds and 64 of
 * seconds. */
static bool msgpack_walk_read_time(struct reel_bytes data, int64_t *ns) {
    struct cursor c = cursor_of(data);
    uint64_t seconds = 0;
    uint32_t part = 0;
    if (data.size == 4) {
        seconds = cursor_be(&c, 4);
    } else if (data.size == 8) {
        uint64_t both = cursor_be(&c, 8);
        part = (uint32_t)(both >> 34);
        seconds = both & ((UINT64_C(1) << 34) - 1);
    } else if (data.size == 12) {
        part = (uint32_t)cursor_be(&c, 4);
        seconds = cursor_be(&c, 8);
    } else {
        return false;
    }
    *ns = fits_time((int64_t)seconds, part) ? (int64_t)seconds * NS_PER_S + part : 0;
    return fits_time((int64_t)seconds, part);
}

/* A timestamp as RFC 3339, anything else with its number. */
static bool tell_ext(struct reel_visitor *v, struct reel_bytes ext) {
    struct cursor c = cursor_of(ext);
    int8_t type = (int8_t)cursor_u8(&c);
    struct reel_bytes data = cursor_bytes(&c, cursor_left(&c));
    int64_t ns;
    if (type == EXT_TIMESTAMP && msgpack_walk_read_time(data, &ns)) {
        char text[REEL_TIME_TEXT];
        size_t size = reel_time_rfc3339(ns, text);
        return visit_text(v, bytes_of(text, size));
    }
    return visit_begin_map(v) && visit_key_text(v, "$ext") && visit_integer(v, type) && visit_key_text(v, "data") &&
           visit_binary(v, data) && visit_end_map(v);
}

static bool tell_single(struct reel_visitor *v, const struct msgpack_item *item) {
    switch (item->kind) {
    case MSGPACK_NIL:
        return visit_null(v);
    case MSGPACK_BOOL:
        return visit_boolean(v, item->integer != 0);
    case MSGPACK_INT:
        return item->over ? visit_natural(v, item->natural) : visit_integer(v, item->integer);
    case MSGPACK_FLOAT:
        return item->narrow ? visit_real32(v, (float)item->number) : visit_real(v, item->number);
    case MSGPACK_STR:
        return visit_text(v, item->bytes);
    case MSGPACK_BIN:
        return visit_binary(v, item->bytes);
    case MSGPACK_EXT:
        return tell_ext(v, item->bytes);
    case MSGPACK_ARRAY:
    case MSGPACK_MAP:
        break;
    }
    return false;
}

/* ---- keys */

/* The text for a single value that is not a str; empty: none. */
static struct reel_bytes key_text(const struct msgpack_item *item, char room[SHORTEST_ROOM]) {
    size_t size = 0;
    if (item->kind == MSGPACK_NIL || item->kind == MSGPACK_BOOL) {
        return bytes_text(item->kind == MSGPACK_NIL ? "null" : item->integer ? "true" : "false");
    }
    if (item->kind == MSGPACK_INT) {
        size = (size_t)(item->over ? snprintf(room, SHORTEST_ROOM, "%" PRIu64, item->natural)
                                   : snprintf(room, SHORTEST_ROOM, "%" PRIi64, item->integer));
    } else if (item->kind == MSGPACK_FLOAT && isfinite(item->number)) {
        size = item->narrow ? shortest_float((float)item->number, room) : shortest_double(item->number, room);
    } else if (item->kind == MSGPACK_FLOAT) {
        return bytes_text(isnan(item->number) ? "NaN" : item->number > 0 ? "Infinity" : "-Infinity");
    }
    return bytes_of(room, size);
}

bool msgpack_walk_key(struct msgpack_walk *t, struct reel_bytes *text) {
    struct cursor begin = t->at;
    struct msgpack_item item;
    struct msgpack_faults faults = {.text = false};
    char room[SHORTEST_ROOM];
    enum msgpack_result r = msgpack_take(&t->at, &item, REEL_DEPTH_MAX, &faults);
    *text = bytes_of("", 0);
    if (r != MSGPACK_OK) {
        return fail_result(t, begin.at, r);
    }
    switch (item.kind) {
    case MSGPACK_STR:
        *text = item.bytes;
        return visit_key(t->v, item.bytes);
    case MSGPACK_BIN:
        return visit_key(t->v, item.bytes);
    case MSGPACK_EXT:
    case MSGPACK_ARRAY:
    case MSGPACK_MAP: /* no text would be unambiguous: use its bytes */
        return visit_key(t->v, cursor_bytes(&begin, (uint64_t)(t->at.at - begin.at)));
    default:
        return visit_key(t->v, key_text(&item, room));
    }
}

/* ---- what is made of them */

static bool is_level(const struct msgpack_item *item) { /* a container on the stack */
    return msgpack_is_container(item) || item->kind == MSGPACK_EXT;
}

bool msgpack_walk_item(struct msgpack_walk *t, const struct msgpack_item *outer, unsigned depth) {
    struct {
        uint64_t left; /* values still to come */
        bool map;
    } stack[REEL_DEPTH_MAX];
    struct msgpack_item item = *outer;
    struct reel_bytes key;
    uint32_t values = 0;
    for (unsigned level = 0;;) {
        if (!cancel_check_step(&values, t->err)) {
            return false;
        }
        if (is_level(&item) && (level >= depth || level >= REEL_DEPTH_MAX)) {
            return fail_result(t, t->at.at, MSGPACK_DEEP);
        }
        if (msgpack_is_container(&item)) {
            stack[level].left = item.count;
            stack[level].map = item.kind == MSGPACK_MAP;
            if (!(stack[level++].map ? visit_begin_map(t->v) : visit_begin_list(t->v))) {
                return false;
            }
        } else if (!tell_single(t->v, &item)) {
            return false;
        }
        for (; level > 0 && stack[level - 1].left == 0; level--) {
            if (!(stack[level - 1].map ? visit_end_map(t->v) : visit_end_list(t->v))) {
                return false;
            }
        }
        if (level == 0) {
            return true;
        }
        stack[level - 1].left--;
        if ((stack[level - 1].map && !msgpack_walk_key(t, &key)) || !msgpack_walk_read(t, &item)) {
            return false;
        }
    }
}

bool msgpack_walk_value(struct msgpack_walk *t, unsigned depth) {
    struct msgpack_item item;
    return msgpack_walk_read(t, &item) && msgpack_walk_item(t, &item, depth);
}

bool msgpack_walk_end(struct msgpack_walk *t) {
    return cursor_done(&t->at) || reel_fail(t->err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many",
                                            (size_t)(t->at.at - t->payload.data), t->payload.size, cursor_left(&t->at));
}
