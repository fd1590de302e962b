/* Messages in CDR by their definition (cdr_walk.h). An object of known size is a region: nothing in it reads beyond its
 * end, and what is left of it is skipped. */
#include "formats/ros/cdr_walk.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "syntax/visitor.h"

static bool cdr_type(struct cdr *c, const struct ros_definition_step *s, uint32_t type);
static bool cdr_step(struct cdr *c, const struct ros_definition_step *s);

static bool cdr_damaged(struct cdr *c, const struct ros_definition_step *s, const char *what) {
    const struct ros_definition_run *r = &c->run;
    return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %.*s%s%s", (size_t)(r->c.at - r->payload.data),
                     r->payload.size, (int)s->key.size, (const char *)s->key.data, s->key.size > 0 ? " " : "", what);
}

/* ---- regions */

struct region { /* around the current one */
    const uint8_t *end, *origin;
};

static bool cdr_enter(struct cdr *c, const struct ros_definition_step *s, uint64_t size, struct region *outer) {
    struct cursor *at = &c->run.c;
    *outer = (struct region){.end = at->end, .origin = c->origin};
    if (size > cursor_left(at)) {
        return ros_definition_ends_early(&c->run, s, size);
    }
    at->end = at->at + size;
    return true;
}
static bool cdr_leave(struct cdr *c, const struct region *outer) {
    size_t left = cursor_left(&c->run.c);
    c->oddities += left > 3 || c->is_v2 ? left : 0; /* in XCDR1 sizes may include padding */
    c->run.c.at = c->run.c.end;
    c->run.c.end = outer->end;
    c->origin = outer->origin;
    return true;
}
/* Enters the object whose size is the next number (a DHEADER). */
static bool cdr_enter_headed(struct cdr *c, const struct ros_definition_step *s, struct region *outer) {
    uint32_t size;
    return cdr_take_u32(c, s, &size) && cdr_enter(c, s, size, outer);
}

/* ---- parameters: members with their id and size */

struct parameter {
    uint32_t id;
    uint64_t size;
    bool ends; /* the list of parameters */
};
enum {
    PID_ID = 0x3fff,
    PID_EXTENDED = 0x3f01,
    PID_END = 0x3f02,
    PID_IGNORE = 0x3f03,
    ID_MASK = 0x0fffffff,
    ID_NONE = ID_MASK + 1,
};

static bool cdr_parameter_v1(struct cdr *c, const struct ros_definition_step *s, struct parameter *out) {
    uint16_t id, size;
    uint32_t long_id, long_size;
    if (!cdr_take(c, s, 4, 0) || !cdr_take_u16(c, s, &id) || !cdr_take_u16(c, s, &size)) {
        return false;
    }
    id &= PID_ID;
    *out = (struct parameter){.id = id == PID_IGNORE ? ID_NONE : id, .size = size, .ends = id == PID_END};
    if (id == PID_EXTENDED) {
        if (!cdr_take_u32(c, s, &long_id) || !cdr_take_u32(c, s, &long_size)) {
            return false;
        }
        *out = (struct parameter){.id = long_id & ID_MASK, .size = long_size};
    }
    return true;
}

/* Of the codes 5 to 7 the size is also the first number of the member: it stays. */
static bool cdr_parameter_v2(struct cdr *c, const struct ros_definition_step *s, struct parameter *out) {
    static const uint8_t factors[] = {1, 4, 8};
    uint32_t head, size;
    *out = (struct parameter){.ends = cursor_left(&c->run.c) < 4};
    if (out->ends) {
        return true;
    }
    if (!cdr_take_u32(c, s, &head)) {
        return false;
    }
    unsigned code = head >> 28 & 7;
    out->id = head & ID_MASK;
    out->size = UINT64_C(1) << (code & 3);
    if (code < 4) {
        return true;
    }
    if (!cdr_take_u32(c, s, &size)) {
        return false;
    }
    out->size = size;
    if (code > 4) {
        c->run.c.at -= 4;
        out->size = 4 + (uint64_t)size * factors[code - 5];
    }
    return true;
}

/* Enters the next parameter's value, unless out->ends. */
static bool cdr_enter_parameter(struct cdr *c, const struct ros_definition_step *s, struct parameter *out,
                                struct region *outer) {
    *out = (struct parameter){0};
    if (!(c->is_v2 ? cdr_parameter_v2(c, s, out) : cdr_parameter_v1(c, s, out)) || out->ends) {
        return out->ends;
    }
    if (!cdr_enter(c, s, out->size, outer)) {
        return false;
    }
    c->origin = c->is_v2 ? c->origin : c->run.c.at;
    return true;
}

/* The number of a member; ROS_NO_STEP: the type has none of this id. */
static uint32_t cdr_member(const struct ros_definition *d, const struct ros_definition_type *t, uint32_t id) {
    if (!t->by_id) {
        return id < t->count ? id : ROS_NO_STEP;
    }
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->steps[t->first + t->by_id[middle]].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < t->count && d->steps[t->first + t->by_id[low]].id == id ? t->by_id[low] : ROS_NO_STEP;
}

static bool cdr_mutable_members(struct cdr *c, const struct ros_definition_step *s,
                                const struct ros_definition_type *t) {
    uint64_t seen[REEL_MUTABLE_MEMBERS_MAX / 64] = {0};
    uint32_t required = 0;
    if (t->count > REEL_MUTABLE_MEMBERS_MAX) {
        return reel_fail(c->run.err, REEL_LIMIT, "%.128s has more than %d members", t->name, REEL_MUTABLE_MEMBERS_MAX);
    }
    for (;;) {
        struct parameter p;
        struct region outer;
        if (!cdr_enter_parameter(c, s, &p, &outer) || p.ends) {
            c->oddities += t->required - required;
            return p.ends;
        }
        uint32_t at = cdr_member(c->run.def, t, p.id);
        const struct ros_definition_step *member = &c->run.def->steps[t->first + (at != ROS_NO_STEP ? at : 0)];
        bool absent = at == ROS_NO_STEP || member->hidden || (member->optional && p.size == 0);
        if (!absent) {
            bool twice = seen[at / 64] >> at % 64 & 1;
            required += !member->optional;
            seen[at / 64] |= UINT64_C(1) << at % 64;
            if (twice ? !cdr_damaged(c, member, "occurs twice")
                      : !visit_key(c->run.v, member->key) || !cdr_step(c, member)) {
                return false;
            }
        }
        cdr_leave(c, &outer);
    }
}

/* ---- structs */

/* A member that may be missing: behind a byte (XCDR2), or as a parameter without bytes. */
static bool cdr_optional(struct cdr *c, const struct ros_definition_step *s) {
    struct parameter p;
    struct region outer;
    if (c->is_v2) {
        const uint8_t *there = cdr_take(c, s, 1, 1);
        return there && (*there == 0 || (visit_key(c->run.v, s->key) && cdr_step(c, s)));
    }
    if (!cdr_enter_parameter(c, s, &p, &outer) || p.ends) {
        return p.ends && cdr_damaged(c, s, "is missing");
    }
    return (p.size == 0 || (visit_key(c->run.v, s->key) && cdr_step(c, s))) && cdr_leave(c, &outer);
}

/* The table of the run that begins with `s`, if the payload has all of it, with its bytes; NULL: the run is walked step
 * by step, which also finds the error. */
static const struct reel_members *cdr_take_run(struct cdr *c, const struct ros_definition_step *s, const uint8_t **at) {
    if (!s->members || !c->has_runs) {
        return NULL;
    }
    size_t from = (size_t)(c->run.c.at - c->origin), pad = -from & (s->align - 1U), phase = (from + pad) & 7;
    const struct reel_members *members = phase == 0 ? s->members : phase == 4 ? s->members_at_4 : NULL;
    if (!members || pad + members->bytes > cursor_left(&c->run.c)) {
        return NULL;
    }
    cursor_take(&c->run.c, pad);
    *at = cursor_take(&c->run.c, members->bytes);
    return members;
}

static bool cdr_members(struct cdr *c, const struct ros_definition_type *t) {
    const struct ros_definition_step *s = &c->run.def->steps[t->first], *end = s + t->count;
    for (; s < end; s++) {
        const uint8_t *at;
        const struct reel_members *members = cdr_take_run(c, s, &at);
        if (members) {
            if (!visit_members(c->run.v, members, at)) {
                return false;
            }
            s += s->run - 1;
            continue;
        }
        if (s->hidden || s->optional) {
            if (s->hidden ? !cdr_take(c, s, 1, s->least) : !cdr_optional(c, s)) {
                return false;
            }
            continue;
        }
        bool empty = s->many == ROS_ARRAY ? s->count == 0 || s->least == 0 : s->least == 0;
        if (!visit_key(c->run.v, s->key) || (empty && s->many != ROS_LIST && !ros_definition_afford(&c->run, 1)) ||
            !cdr_step(c, s)) {
            return false;
        }
    }
    return true;
}

/* Seconds and nanoseconds. */
static bool cdr_put_stamp(struct cdr *c, const uint32_t values[2], bool is_duration) {
    const struct reel_stamp value = {.seconds = (int32_t)values[0],
                                     .nanoseconds = values[1],
                                     .nanoseconds_name = "nanosec",
                                     .is_duration = is_duration};
    return visit_stamp(c->run.v, &value);
}

static bool cdr_stamp(struct cdr *c, const struct ros_definition_step *s, bool is_duration) {
    uint32_t values[2];
    return cdr_take_u32(c, s, &values[0]) && cdr_take_u32(c, s + 1, &values[1]) &&
           cdr_put_stamp(c, values, is_duration);
}

/* Members that are missing are 0. */
static bool cdr_mutable_stamp(struct cdr *c, const struct ros_definition_step *s, bool is_duration) {
    uint32_t values[2] = {0};
    for (;;) {
        struct parameter p;
        struct region outer;
        if (!cdr_enter_parameter(c, s, &p, &outer)) {
            return false;
        }
        if (p.ends) {
            return cdr_put_stamp(c, values, is_duration);
        }
        if (p.id < 2 && !cdr_take_u32(c, s + p.id, &values[p.id])) {
            return false;
        }
        cdr_leave(c, &outer);
    }
}

/* ---- unions */

/* The step that a discriminator selects; ROS_NO_STEP: none. */
static uint32_t cdr_selected(const struct ros_definition_type *t, int64_t value) {
    uint32_t low = 0, high = t->n_labels;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (t->labels[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < t->n_labels && t->labels[low].value == value ? t->labels[low].step : t->other;
}

static bool cdr_union_value(struct cdr *c, const struct ros_definition_type *t, uint32_t selected) {
    const struct ros_definition_step *s = &c->run.def->steps[t->first + (selected != ROS_NO_STEP ? selected : 0)];
    return selected == ROS_NO_STEP || (visit_key(c->run.v, s->key) && cdr_step(c, s));
}

static bool cdr_plain_union(struct cdr *c, const struct ros_definition_type *t) {
    int64_t value;
    return cdr_take_integer(c, &c->run.def->steps[t->first], &value) && cdr_union_value(c, t, cdr_selected(t, value));
}

/* The discriminator is the first parameter, the value the second. */
static bool cdr_mutable_union(struct cdr *c, const struct ros_definition_type *t) {
    const struct ros_definition_step *s = &c->run.def->steps[t->first];
    uint32_t selected = ROS_NO_STEP;
    for (unsigned n = 0;; n++) {
        struct parameter p;
        struct region outer;
        int64_t value;
        if (!cdr_enter_parameter(c, s, &p, &outer) || p.ends) {
            return p.ends && (n > 0 || cdr_damaged(c, s, "is missing"));
        }
        if (n == 0 && !cdr_take_integer(c, s, &value)) {
            return false;
        }
        selected = n == 0 ? cdr_selected(t, value) : selected;
        if (n == 1 && !cdr_union_value(c, t, selected)) {
            return false;
        }
        cdr_leave(c, &outer);
    }
}

/* ---- types */

static enum ros_extensibility cdr_extensibility(const struct cdr *c, uint32_t type) {
    uint8_t own = c->run.def->types[type].extensibility;
    uint8_t of = type == c->run.def->top   ? c->layout.top
                 : c->layout.ignores_types ? ROS_FINAL
                 : own                     ? own
                                           : c->layout.unannotated;
    return (enum ros_extensibility)of;
}

static bool cdr_object(struct cdr *c, const struct ros_definition_step *s, uint32_t type, bool is_mutable) {
    const struct ros_definition_type *t = &c->run.def->types[type];
    if (t->stamp != ROS_NO_STAMP) {
        return (is_mutable ? cdr_mutable_stamp : cdr_stamp)(c, &c->run.def->steps[t->first], t->stamp == ROS_DURATION);
    }
    bool is_union = t->form == ROS_UNION;
    return visit_begin_map(c->run.v) &&
           (is_union     ? is_mutable ? cdr_mutable_union(c, t) : cdr_plain_union(c, t)
                : is_mutable ? cdr_mutable_members(c, s, t)
                         : cdr_members(c, t)) &&
           visit_end_map(c->run.v);
}

/* An element of fixed type: neither a struct nor a list, nor an enum where these count as none. */
static bool cdr_is_primitive(const struct cdr *c, const struct ros_definition_step *s) {
    const struct ros_definition *d = c->run.def;
    while (s->kind == ROS_VALUE_TYPE && d->types[s->type].form == ROS_ALIAS &&
           d->steps[d->types[s->type].first].inner) {
        s = &d->steps[d->types[s->type].first];
    }
    return s->kind == ROS_VALUE_LONG_DOUBLE || (ros_definition_is_number(s) && !(s->is_enum && c->layout.heads_enums));
}

static bool cdr_key(struct cdr *c, const struct ros_definition_step *s) {
    struct reel_bytes text;
    char digits[24];
    int64_t value;
    if (s->kind == ROS_VALUE_TEXT) {
        return cdr_take_text(c, s, &text) && visit_key(c->run.v, text);
    }
    if (!cdr_take_integer(c, s, &value)) {
        return false;
    }
    if (s->kind == REEL_BOOL) {
        return visit_key_text(c->run.v, value != 0 ? "true" : "false");
    }
    snprintf(digits, sizeof digits, s->kind == REEL_U64 ? "%" PRIu64 : "%" PRIi64, value);
    return visit_key_text(c->run.v, digits);
}

static bool cdr_entries(struct cdr *c, const struct ros_definition_step *s, const struct ros_definition_step *pair) {
    uint32_t count;
    if (!cdr_take_u32(c, s, &count)) {
        return false;
    }
    uint64_t needs = ros_definition_bytes(pair[0].least, count);
    if (needs > cursor_left(&c->run.c)) {
        return ros_definition_ends_early(&c->run, s, needs);
    }
    if (!visit_begin_map(c->run.v)) {
        return false;
    }
    for (uint32_t i = 0, n = 0; i < count; i++) {
        if (!cancel_check_step(&n, c->run.err) || !cdr_key(c, &pair[0]) || !cdr_step(c, &pair[1])) {
            return false;
        }
    }
    return visit_end_map(c->run.v);
}

static bool cdr_map(struct cdr *c, const struct ros_definition_step *s, const struct ros_definition_type *t) {
    const struct ros_definition_step *pair = &c->run.def->steps[t->first];
    bool primitive = cdr_is_primitive(c, &pair[0]) && pair[1].many == ROS_ONE && cdr_is_primitive(c, &pair[1]);
    struct region outer;
    if (!c->is_v2 || !c->layout.heads_lists || primitive) {
        return cdr_entries(c, s, pair);
    }
    return cdr_enter_headed(c, s, &outer) && cdr_entries(c, s, pair) && cdr_leave(c, &outer);
}

static bool cdr_type(struct cdr *c, const struct ros_definition_step *s, uint32_t type) {
    const struct ros_definition_type *t = &c->run.def->types[type];
    if (t->form == ROS_ALIAS) {
        return cdr_step(c, &c->run.def->steps[t->first]);
    }
    if (t->form == ROS_MAP) {
        return cdr_map(c, s, t);
    }
    enum ros_extensibility how = cdr_extensibility(c, type);
    struct region outer;
    if (!c->is_v2 || how == ROS_FINAL) {
        return cdr_object(c, s, type, how == ROS_MUTABLE);
    }
    return cdr_enter_headed(c, s, &outer) && cdr_object(c, s, type, how == ROS_MUTABLE) && cdr_leave(c, &outer);
}

/* ---- lists */

static bool cdr_list(struct cdr *c, const struct ros_definition_step *s) {
    struct ros_definition_run *r = &c->run;
    uint32_t count = s->count;
    if (s->many == ROS_LIST && !cdr_take_u32(c, s, &count)) {
        return false;
    }
    if (s->many == ROS_LIST && count > s->count) {
        return reel_fail(r->err, REEL_DAMAGED, "byte %zu of %zu: %.*s has %u values, at most %u are allowed",
                         (size_t)(r->c.at - r->payload.data), r->payload.size, (int)s->key.size,
                         (const char *)s->key.data, count, s->count);
    }
    uint64_t needs = ros_definition_bytes(s->least, count);
    if (needs > cursor_left(&r->c)) {
        return ros_definition_ends_early(r, s, needs);
    }
    if (ros_definition_is_number(s)) {
        return cdr_numbers(c, s, count);
    }
    if (!visit_begin_list(r->v) || (s->least == 0 && !ros_definition_afford(r, count))) {
        return false;
    }
    for (uint32_t i = 0, n = 0; i < count; i++) {
        if (!cancel_check_step(&n, r->err) ||
            !(s->kind == ROS_VALUE_TYPE ? cdr_type(c, s, s->type) : cdr_value(c, s))) {
            return false;
        }
    }
    return visit_end_list(r->v);
}

static bool cdr_step(struct cdr *c, const struct ros_definition_step *s) {
    struct region outer;
    if (s->many == ROS_ONE) {
        return s->kind == ROS_VALUE_TYPE ? cdr_type(c, s, s->type) : cdr_value(c, s);
    }
    if (!c->is_v2 || !c->layout.heads_lists || s->inner || cdr_is_primitive(c, s)) {
        return cdr_list(c, s);
    }
    return cdr_enter_headed(c, s, &outer) && cdr_list(c, s) && cdr_leave(c, &outer);
}

bool cdr_walk(struct cdr *c) {
    static const struct ros_definition_step message = {.key = {(const uint8_t *)"the message", 11}, .word = ""};
    return cdr_type(c, &message, c->run.def->top);
}
