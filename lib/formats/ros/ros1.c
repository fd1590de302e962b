/* Messages of ROS 1: values back to back, little-endian, nothing aligned; texts and lists begin with their length. A
 * run of steps of fixed size is checked against the payload once and then read without further checks. */
#include "base/bytes.h"
#include "formats/ros/convert.h"
#include "formats/ros/definition.h"
#include "syntax/visitor.h"

static bool emit_time(struct reel_visitor *v, const uint8_t *p, bool is_duration) {
    const struct reel_stamp value = reel_stamp_read(p, is_duration, "nsec");
    return visit_stamp(v, &value);
}

/* ---- of fixed size: `p` has all of it */

static bool fixed_steps(struct ros_definition_run *r, const struct ros_definition_step *s, uint32_t n,
                        const uint8_t *p);

static bool fixed_one(struct ros_definition_run *r, const struct ros_definition_step *s, const uint8_t *p) {
    if (ros_definition_is_number(s)) {
        return reel_number_visit(r->v, s->kind, p);
    }
    if (s->kind != ROS_VALUE_TYPE) {
        return emit_time(r->v, p, s->kind == ROS_VALUE_DURATION);
    }
    const struct ros_definition_type *t = &r->def->types[s->type];
    return visit_begin_map(r->v) && fixed_steps(r, &r->def->steps[t->first], t->count, p) && visit_end_map(r->v);
}

static bool fixed_many(struct ros_definition_run *r, const struct ros_definition_step *s, uint32_t count,
                       const uint8_t *p) {
    if (s->kind == REEL_U8) {
        return visit_binary(r->v, bytes_of(p, count));
    }
    if (ros_definition_is_number(s)) {
        return visit_numbers(r->v, s->kind, bytes_of(p, count * s->least), 0);
    }
    if (!visit_begin_list(r->v) || (s->least == 0 && !ros_definition_afford(r, count))) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!fixed_one(r, s, p + i * s->least)) {
            return false;
        }
    }
    return visit_end_list(r->v);
}

static bool fixed_steps(struct ros_definition_run *r, const struct ros_definition_step *s, uint32_t n,
                        const uint8_t *p) {
    if (n > 0 && s->members && n == s->run) {
        return visit_members(r->v, s->members, p);
    }
    for (const struct ros_definition_step *end = s + n; s < end; s++) {
        uint64_t size = s->many == ROS_ONE ? s->least : s->least * s->count;
        if (!visit_key(r->v, s->key) || (size == 0 && !ros_definition_afford(r, 1)) ||
            !(s->many == ROS_ONE ? fixed_one(r, s, p) : fixed_many(r, s, s->count, p))) {
            return false;
        }
        p += size;
    }
    return true;
}

/* ---- of any size */

static const uint8_t *ros1_take(struct ros_definition_run *r, const struct ros_definition_step *s, uint64_t size) {
    if (size > cursor_left(&r->c)) {
        ros_definition_ends_early(r, s, size);
        return NULL;
    }
    return cursor_take(&r->c, size);
}

static bool walk_type(struct ros_definition_run *r, uint32_t type);

static bool ros1_walk_one(struct ros_definition_run *r, const struct ros_definition_step *s) {
    if (s->kind == ROS_VALUE_TYPE) {
        return walk_type(r, s->type);
    }
    const uint8_t *length = ros1_take(r, s, 4), *text = length ? ros1_take(r, s, load_u32le(length)) : NULL;
    return text && visit_text(r->v, bytes_of(text, load_u32le(length)));
}

static bool walk_many(struct ros_definition_run *r, const struct ros_definition_step *s) {
    uint32_t count = s->count;
    if (s->many == ROS_LIST) {
        const uint8_t *length = ros1_take(r, s, 4);
        if (!length) {
            return false;
        }
        count = load_u32le(length);
    }
    uint64_t needs = ros_definition_bytes(s->least, count);
    if (needs > cursor_left(&r->c)) {
        return ros_definition_ends_early(r, s, needs);
    }
    if (s->fixed) {
        return fixed_many(r, s, count, cursor_take(&r->c, needs));
    }
    if (!visit_begin_list(r->v)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ros1_walk_one(r, s)) {
            return false;
        }
    }
    return visit_end_list(r->v);
}

static bool walk_type(struct ros_definition_run *r, uint32_t type) {
    const struct ros_definition_type *t = &r->def->types[type];
    const struct ros_definition_step *s = &r->def->steps[t->first], *end = s + t->count;
    if (!visit_begin_map(r->v)) {
        return false;
    }
    while (s < end) {
        if (s->run > 0) {
            const uint8_t *p = ros1_take(r, s, s->run_bytes);
            if (!p || !fixed_steps(r, s, s->run, p)) {
                return false;
            }
            s += s->run;
            continue;
        }
        if (!visit_key(r->v, s->key) || !(s->many == ROS_ONE ? ros1_walk_one(r, s) : walk_many(r, s))) {
            return false;
        }
        s++;
    }
    return visit_end_map(r->v);
}

static bool ros1_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct ros_definition *def = state;
    payload = payload.size > 0 ? payload : bytes_of("", 0);
    struct ros_definition_run r = {.def = def, .c = cursor_of(payload), .payload = payload, .v = v, .err = err};
    return walk_type(&r, def->top) && (cursor_done(&r.c) || ros_definition_too_long(&r));
}

static bool extent(const void *state, struct reel_bytes payload, size_t *size, struct reel_error *err) {
    struct reel_visitor visitor = {.ops = &visit_nothing};
    const struct ros_definition *def = state;
    payload = payload.size > 0 ? payload : bytes_of("", 0);
    struct ros_definition_run r = {.def = def, .c = cursor_of(payload), .payload = payload, .v = &visitor, .err = err};
    bool good = walk_type(&r, def->top);
    *size = payload.size - cursor_left(&r.c);
    return good;
}

static bool ros1_open_channel(const struct reel_channel *channel, void **state, struct reel_error *err) {
    return (*state = ros_definition_open(channel, ROS_1, err)) != NULL;
}
static void ros1_close_state(void *state) {
    ros_definition_free(state);
}

const struct reel_encoding reel_encoding_ros1 = {
    .name = "ros1",
    .open = ros1_open_channel,
    .close = ros1_close_state,
    .decode = ros1_decode,
    .extent = extent,
    .fields = ros_definition_fields,
    .convert = ros_convert_to_ros1,
    .shape = ros_definition_shape,
    .is_exact = true,
    .profile = "ros1",
    .languages = (const char *const[]){"ros", NULL},
    .is_viewable = true,
    .source = ros_definition_source,
    .version = 3,
};
