/* The steps of a run, flattened, with what visitors need of each (syntax/visitor.h). A run has no table if one of its
 * values is a list of other types, has no bytes or may be missing, or if there were too many members: it is walked step
 * by step then. */
#include "formats/ros/definition_members.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/limits.h"
#include "syntax/json_out.h"

enum { RUN_MEMBERS_MAX = 512, RUN_BYTES_MAX = 1 << 20, JSON_SPARE = 16 };

struct listing {
    struct ros_definition *def;
    struct reel_members out;
    struct grow text; /* of one key */
    uint32_t left;    /* members that the definition may still have */
    uint32_t at, end; /* of the run: from a multiple of 8 bytes on */
    uint8_t align;    /* the largest of its values */
    struct reel_member items[RUN_MEMBERS_MAX];
};
static void listing_free(struct listing *l) {
    if (l) {
        free(l->text.data);
        free(l);
    }
}
REEL_DEFINE_AUTO(struct listing, listing_free);

/* False here and below: the run can have no table. */
static bool add_member(struct listing *l, struct reel_member m, struct reel_bytes key) {
    if (l->out.n == RUN_MEMBERS_MAX || l->out.n == l->left) {
        return false;
    }
    m.key = key;
    l->out.values += m.kind != REEL_MEMBER_END;
    l->out.array_bytes += m.kind == REEL_MEMBER_NUMBERS || m.kind == REEL_MEMBER_BYTES
                              ? (uint64_t)m.count * reel_number_size(m.number)
                              : 0;
    l->items[l->out.n++] = m;
    return true;
}

/* Values of `align` bytes each, or pairs of them, `size` bytes in all. */
static bool add_values(struct listing *l, struct reel_member m, struct reel_bytes key, uint8_t align, uint64_t size) {
    bool aligns = l->def->dialect == ROS_2;
    m.offset = aligns ? (l->end + align - 1) & -(uint32_t)align : l->end;
    l->at = l->out.n == 0 || l->align == 0 ? m.offset : l->at;
    l->align = align > l->align ? align : l->align;
    l->end = m.offset + (uint32_t)size;
    m.offset -= l->at;
    return add_member(l, m, key);
}

static bool list_members(struct listing *l, const struct ros_definition_step *s, uint32_t n);

static uint8_t stamp_kind(const struct listing *l, const struct ros_definition_step *s) {
    uint8_t stamp = s->kind == ROS_VALUE_TYPE ? l->def->types[s->type].stamp : ROS_NO_STAMP;
    return s->kind == ROS_VALUE_TIME || stamp == ROS_TIME           ? REEL_MEMBER_TIME
           : s->kind == ROS_VALUE_DURATION || stamp == ROS_DURATION ? REEL_MEMBER_DURATION
                                                                    : REEL_MEMBER_END;
}

static bool list_step(struct listing *l, const struct ros_definition_step *s, uint64_t size) {
    bool one = s->many == ROS_ONE, number = ros_definition_is_number(s);
    struct reel_member m = {.count = one ? 1 : s->count, .number = number ? s->kind : REEL_U8};
    if (number) {
        m.kind = one ? REEL_MEMBER_NUMBER : s->kind == REEL_U8 ? REEL_MEMBER_BYTES : REEL_MEMBER_NUMBERS;
        return add_values(l, m, s->key, (uint8_t)reel_number_size(s->kind), size);
    }
    m.kind = stamp_kind(l, s);
    if (one && m.kind != REEL_MEMBER_END) {
        return add_values(l, m, s->key, 4, size);
    }
    if (!one || s->kind != ROS_VALUE_TYPE || l->def->types[s->type].form != ROS_STRUCT) {
        return false;
    }
    const struct ros_definition_type *t = &l->def->types[s->type];
    m.kind = REEL_MEMBER_MAP;
    return add_member(l, m, s->key) && list_members(l, &l->def->steps[t->first], t->count) &&
           add_member(l, (struct reel_member){.kind = REEL_MEMBER_END}, bytes_of("", 0));
}

static bool list_members(struct listing *l, const struct ros_definition_step *s, uint32_t n) {
    for (const struct ros_definition_step *end = s + n; s < end; s++) {
        uint64_t size = s->many == ROS_ONE ? s->least : ros_definition_bytes(s->least, s->count);
        if (s->hidden || s->optional || size == 0 || size > RUN_BYTES_MAX - l->end || !list_step(l, s, size)) {
            return false;
        }
    }
    return true;
}

/* ,"key": */
static bool put_json(struct listing *l, struct reel_member *m) {
    l->text.size = 0;
    grow_u8(&l->text, ',');
    json_put_string(&l->text, m->key);
    grow_u8(&l->text, ':');
    uint8_t *copy = l->text.failed ? NULL : arena_alloc(&l->def->arena, l->text.size + JSON_SPARE);
    if (copy) {
        memcpy(copy, l->text.data, l->text.size);
        m->json = bytes_of(copy, l->text.size);
    }
    return copy;
}

/* *members: the table of a run that begins `from` bytes after a multiple of 8, or NULL. */
static bool make_members(struct listing *l, const struct ros_definition_step *run, uint32_t from,
                         const struct reel_members **members, struct reel_error *err) {
    bool ros2 = l->def->dialect == ROS_2;
    l->out = (struct reel_members){.nanoseconds_name = ros2 ? "nanosec" : "nsec", .of_ros2 = ros2};
    l->at = l->end = from;
    l->align = 0;
    if (!list_members(l, run, run->run)) {
        return true;
    }
    l->left -= l->out.n;
    l->out.bytes = l->end - l->at;
    for (uint32_t i = 0; i < l->out.n; i++) {
        if (l->items[i].kind != REEL_MEMBER_END && !put_json(l, &l->items[i])) {
            return reel_fail_memory(err);
        }
    }
    l->out.items = arena_copy(&l->def->arena, l->items, l->out.n * sizeof *l->items);
    *members = l->out.items ? arena_copy(&l->def->arena, &l->out, sizeof l->out) : NULL;
    return *members || reel_fail_memory(err);
}

static uint8_t align_of(const struct ros_definition *d, const struct ros_definition_step *s) {
    while (s->kind == ROS_VALUE_TYPE && d->types[s->type].stamp == ROS_NO_STAMP) {
        s = &d->steps[d->types[s->type].first];
    }
    return ros_definition_is_number(s) ? (uint8_t)reel_number_size(s->kind) : 4;
}

/* Where no value is larger than 4 bytes both tables are the same. */
static bool set_members(struct listing *l, struct ros_definition_step *run, struct reel_error *err) {
    if (!make_members(l, run, 0, &run->members, err)) {
        return false;
    }
    if (!run->members || l->def->dialect == ROS_1) {
        return true;
    }
    run->align = align_of(l->def, run);
    if (l->align < 8) {
        run->members_at_4 = run->members;
    }
    return l->align < 8 || run->align == 8 || make_members(l, run, 4, &run->members_at_4, err);
}

bool ros_definition_link_members(struct ros_definition *d, struct reel_error *err) {
    AUTO(listing_free) struct listing *l = calloc(1, sizeof *l);
    if (!l) {
        return reel_fail_memory(err);
    }
    l->def = d;
    l->left = REEL_DEFINITION_FIELDS_MAX;
    for (size_t i = 0; i < d->n_types; i++) {
        struct ros_definition_step *s = &d->steps[d->types[i].first];
        for (uint32_t k = 0; k<d->types[i].count; k += s[k].run> 0 ? s[k].run : 1) {
            if (s[k].run > 0 && !set_members(l, &s[k], err)) {
                return false;
            }
        }
    }
    return true;
}
