/* The nested shape of a message (decode/encoding.h). A definition cannot contain itself. */
#include "formats/ros/definition.h"

struct shaping {
    const struct ros_definition *def;
    reel_shape_visit visit;
    void *context;
};

/* How a value is called: a member by its name, an element not at all. */
struct naming {
    struct reel_bytes name;
    bool optional;
};

static enum reel_shape_next ros_shape_put(const struct shaping *s, enum reel_shape_kind kind, const struct naming *as) {
    return s->visit(s->context, &(struct reel_shape){.kind = kind, .name = as->name, .optional = as->optional});
}

static bool ros_shape_put_type(const struct shaping *s, uint32_t type, const struct naming *as);

static bool put_one(const struct shaping *s, const struct ros_definition_step *step, const struct naming *as) {
    bool long_double = step->kind == ROS_VALUE_LONG_DOUBLE;
    const struct reel_shape number = {.kind = REEL_SHAPE_NUMBER,
                                      .name = as->name,
                                      .optional = as->optional,
                                      .number = long_double ? REEL_F64 : (enum reel_number)step->kind};
    switch (step->kind) {
    case ROS_VALUE_TEXT:
    case ROS_VALUE_WIDE_TEXT:
        return ros_shape_put(s, REEL_SHAPE_TEXT, as) != REEL_SHAPE_STOP;
    case ROS_VALUE_TIME:
        return ros_shape_put(s, REEL_SHAPE_TIME, as) != REEL_SHAPE_STOP;
    case ROS_VALUE_DURATION:
        return ros_shape_put(s, REEL_SHAPE_DURATION, as) != REEL_SHAPE_STOP;
    case ROS_VALUE_TYPE:
        return ros_shape_put_type(s, step->type, as);
    default:
        return s->visit(s->context, &number) != REEL_SHAPE_STOP;
    }
}

static bool put_step(const struct shaping *s, const struct ros_definition_step *step, const struct naming *as) {
    if (step->many == ROS_ONE) {
        return put_one(s, step, as);
    }
    bool bytes = step->kind == REEL_U8;
    enum reel_shape_next next = ros_shape_put(s, bytes ? REEL_SHAPE_BYTES : REEL_SHAPE_LIST, as);
    return bytes || next != REEL_SHAPE_ENTER ? next != REEL_SHAPE_STOP : put_one(s, step, &(struct naming){0});
}

static bool put_members(const struct shaping *s, const struct ros_definition_type *t, const struct naming *as) {
    enum reel_shape_next next = ros_shape_put(s, REEL_SHAPE_STRUCT, as);
    if (next != REEL_SHAPE_ENTER) {
        return next != REEL_SHAPE_STOP;
    }
    bool more = true, may_lack = t->form == ROS_UNION || t->extensibility == ROS_MUTABLE;
    for (uint32_t i = 0; more && i < t->count; i++) {
        const struct ros_definition_step *step = &s->def->steps[t->first + i];
        const struct naming member = {.name = step->key, .optional = step->optional || may_lack};
        more = step->hidden || put_step(s, step, &member);
    }
    const struct naming end = {.name = as->name};
    return more && ros_shape_put(s, REEL_SHAPE_END, &end) != REEL_SHAPE_STOP;
}

static bool ros_shape_put_type(const struct shaping *s, uint32_t type, const struct naming *as) {
    const struct ros_definition_type *t = &s->def->types[type];
    if (t->stamp != ROS_NO_STAMP) {
        return ros_shape_put(s, t->stamp == ROS_TIME ? REEL_SHAPE_TIME : REEL_SHAPE_DURATION, as) != REEL_SHAPE_STOP;
    }
    if (t->form == ROS_ALIAS) {
        return put_step(s, &s->def->steps[t->first], as);
    }
    return t->form == ROS_MAP ? ros_shape_put(s, REEL_SHAPE_ANY, as) != REEL_SHAPE_STOP : put_members(s, t, as);
}

bool ros_definition_shape(const void *state, reel_shape_visit visit, void *context) {
    const struct ros_definition *def = state;
    const struct shaping s = {.def = def, .visit = visit, .context = context};
    return ros_shape_put_type(&s, def->top, &(struct naming){0});
}
