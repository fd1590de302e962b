/* The nested shape of a message (decode/encoding.h). A definition cannot contain itself. */
#include "base/bytes.h"
#include "formats/ros/definition.h"
#include "formats/ros/definition_link.h"

struct shaping {
    const struct ros_definition *def;
    reel_shape_visit visit;
    void *context;
    bool optional; /* the member that is visited next */
};

static enum reel_shape_next ros_shape_put(const struct shaping *s, enum reel_shape_kind kind, struct reel_bytes name) {
    return s->visit(s->context, &(struct reel_shape){.kind = kind, .name = name, .optional = s->optional});
}

/* Members that a type had not yet in earlier distributions. */
static bool is_newer(const struct ros_definition *def, const struct ros_definition_type *t,
                     const struct ros_definition_step *step) {
    for (const struct ros_definition *older = def->older; older; older = older->older) {
        uint32_t type;
        bool has = !ros_definition_find(older, t->name, &type);
        for (uint32_t i = 0; !has && i < older->types[type].count; i++) {
            has = bytes_equal(older->steps[older->types[type].first + i].key, step->key);
        }
        if (!has) {
            return true;
        }
    }
    return false;
}

static bool ros_shape_put_type(const struct shaping *s, uint32_t type, struct reel_bytes name);

static bool put_one(const struct shaping *s, const struct ros_definition_step *step, struct reel_bytes name) {
    const struct reel_shape number = {
        .kind = REEL_SHAPE_NUMBER, .name = name, .number = (enum reel_number)step->kind, .optional = s->optional};
    switch (step->kind) {
    case ROS_VALUE_TEXT:
    case ROS_VALUE_WIDE_TEXT:
        return ros_shape_put(s, REEL_SHAPE_TEXT, name) != REEL_SHAPE_STOP;
    case ROS_VALUE_TIME:
        return ros_shape_put(s, REEL_SHAPE_TIME, name) != REEL_SHAPE_STOP;
    case ROS_VALUE_DURATION:
        return ros_shape_put(s, REEL_SHAPE_DURATION, name) != REEL_SHAPE_STOP;
    case ROS_VALUE_TYPE:
        return ros_shape_put_type(s, step->type, name);
    default:
        return s->visit(s->context, &number) != REEL_SHAPE_STOP;
    }
}

static bool put_step(const struct shaping *s, const struct ros_definition_step *step) {
    if (step->many == ROS_ONE) {
        return put_one(s, step, step->key);
    }
    bool bytes = step->kind == REEL_U8;
    enum reel_shape_next next = ros_shape_put(s, bytes ? REEL_SHAPE_BYTES : REEL_SHAPE_LIST, step->key);
    struct shaping element = *s;
    element.optional = false;
    return bytes || next != REEL_SHAPE_ENTER ? next != REEL_SHAPE_STOP
                                             : put_one(&element, step, (struct reel_bytes){0});
}

static bool ros_shape_put_type(const struct shaping *s, uint32_t type, struct reel_bytes name) {
    const struct ros_definition_type *t = &s->def->types[type];
    if (t->stamp != ROS_NO_STAMP) {
        return ros_shape_put(s, t->stamp == ROS_TIME ? REEL_SHAPE_TIME : REEL_SHAPE_DURATION, name) != REEL_SHAPE_STOP;
    }
    enum reel_shape_next next = ros_shape_put(s, REEL_SHAPE_STRUCT, name);
    if (next != REEL_SHAPE_ENTER) {
        return next != REEL_SHAPE_STOP;
    }
    bool more = true;
    for (uint32_t i = 0; more && i < t->count; i++) {
        const struct ros_definition_step *step = &s->def->steps[t->first + i];
        struct shaping member = *s;
        member.optional = is_newer(s->def, t, step);
        more = step->hidden || put_step(&member, step);
    }
    return more && s->visit(s->context, &(struct reel_shape){.kind = REEL_SHAPE_END, .name = name}) != REEL_SHAPE_STOP;
}

bool ros_definition_shape(const void *state, reel_shape_visit visit, void *context) {
    const struct ros_definition *def = state;
    const struct shaping s = {.def = def, .visit = visit, .context = context};
    return ros_shape_put_type(&s, def->top, (struct reel_bytes){0});
}
