/* Compiles a pair of definitions to moves (relay_internal.h). */
#include "formats/ros/relay_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "formats/ros/names.h"
#include "formats/ros/relay_fields.h"
#include "formats/ros/rewrite.h"
#include "formats/ros/standard.h"

enum { NO_BODY = UINT32_MAX, MOVES_MAX = 4 * REEL_DEFINITION_FIELDS_MAX };

struct compiling {
    struct ros_relay *relay;
    const struct ros_definition *from, *to;
    struct arena arena;
    struct hash_table paired;       /* from (type of the input, type of the output) to 1 + body */
    uint32_t *alone_in, *alone_out; /* bodies by type, where the other side has none */
    uint32_t fields;                /* that were listed */
    struct reel_error *err;
};

static bool to_ros2(const struct compiling *c) {
    return c->from->dialect == ROS_1;
}

/* Two definitions whose types are paired in many ways have more pairs than types. */
static bool list_fields(struct compiling *c, const struct ros_definition *def, uint32_t type,
                        struct relay_fields *fields) {
    c->fields += def->types[type].count;
    return c->fields <= MOVES_MAX ? relay_list_fields(&c->arena, def, type, fields, c->err)
                                  : reel_fail(c->err, REEL_LIMIT, "definitions of more than %d fields", MOVES_MAX);
}

/* ---- moves */

static bool compile_pair(struct compiling *c, uint32_t from, uint32_t to, uint32_t *body);
static bool compile_alone(struct compiling *c, const struct ros_definition *def, uint32_t type, uint32_t *body);

static enum ros_stamp ros_relay_stamp_of(const struct ros_definition *def, const struct ros_definition_step *s) {
    return s->kind == ROS_VALUE_TIME       ? ROS_TIME
           : s->kind == ROS_VALUE_DURATION ? ROS_DURATION
           : s->kind == ROS_VALUE_TYPE     ? (enum ros_stamp)def->types[s->type].stamp
                                           : ROS_NO_STAMP;
}

/* A move of values of no other type. False: it is of one. */
static bool set_plain(const struct ros_definition *def, const struct ros_definition_step *s, struct relay_move *m) {
    enum ros_stamp stamp = ros_relay_stamp_of(def, s);
    m->size = 1;
    m->per = 1;
    if (stamp != ROS_NO_STAMP) {
        m->kind = stamp == ROS_TIME ? RELAY_TIME : RELAY_DURATION;
    } else if (s->kind == REEL_BOOL) {
        m->kind = RELAY_BOOL;
    } else if (ros_definition_is_number(s)) {
        m->kind = RELAY_NUMBERS;
        m->size = (uint8_t)reel_number_size(s->kind);
    } else if (s->kind == ROS_VALUE_TEXT || s->kind == ROS_VALUE_WIDE_TEXT) {
        m->kind = s->kind == ROS_VALUE_TEXT ? RELAY_TEXT : RELAY_WIDE_TEXT;
    } else {
        m->kind = RELAY_GROUP;
        return false;
    }
    return true;
}

static bool same_kind(const struct compiling *c, const struct ros_definition_step *a,
                      const struct ros_definition_step *b) {
    if (ros_relay_stamp_of(c->from, a) != ros_relay_stamp_of(c->to, b)) {
        return false;
    }
    bool bytes = (a->kind == REEL_I8 || a->kind == REEL_U8) && (b->kind == REEL_I8 || b->kind == REEL_U8); /* "byte" has
                                                                                                              got no
                                                                                                              sign */
    bool texts = a->kind == ROS_VALUE_WIDE_TEXT && b->kind == ROS_VALUE_TEXT;
    return ros_relay_stamp_of(c->from, a) != ROS_NO_STAMP || a->kind == b->kind || bytes || texts;
}

static void set_many(struct relay_move *m, const struct ros_definition_step *in,
                     const struct ros_definition_step *out) {
    m->in = in ? in->many : RELAY_ABSENT;
    m->out = out ? out->many : RELAY_ABSENT;
    m->headed = in && in->many != ROS_ONE && (in->is_enum || !ros_definition_is_number(in));
    m->in_count = in ? in->count : 0;
    m->out_count = out ? out->count : 0;
    m->least = in ? in->least : 0;
}

/* Numbers of one size back to back, whatever types they are grouped in, are one move: `m` is of a group that consists
 * of such. */
static void merge_group(const struct ros_relay *relay, struct relay_move *m) {
    const struct relay_body *body = &relay->bodies[m->body];
    const struct relay_move *only = &relay->moves[body->first];
    bool plain = body->count == 1 && body->n_skips == 0 && only->kind == RELAY_NUMBERS && !only->headed &&
                 only->in == only->out && only->in != ROS_LIST && only->in_count == only->out_count;
    uint64_t per = plain ? (uint64_t)only->per * (only->in == ROS_ARRAY ? only->in_count : 1) : 0;
    if (plain && m->in != RELAY_ABSENT && m->out != RELAY_ABSENT && per > 0 && per <= UINT32_MAX) {
        m->kind = RELAY_NUMBERS;
        m->size = only->size;
        m->per = (uint32_t)per;
    }
}

static uint64_t numbers_in(const struct relay_move *m) { /* 0: not a fixed number on both sides */
    bool fixed = m->kind == RELAY_NUMBERS && !m->headed && m->in == m->out &&
                 (m->in == ROS_ONE || (m->in == ROS_ARRAY && m->in_count == m->out_count));
    return fixed ? (uint64_t)m->per * (m->in == ROS_ONE ? 1 : m->in_count) : 0;
}

/* Appends `m`, or adds it to the move before it. */
static bool add_move(struct compiling *c, struct relay_move **list, size_t *count, size_t *room,
                     const struct relay_move *m) {
    struct relay_move *last = *count > 0 ? &(*list)[*count - 1] : NULL;
    uint64_t before = last ? numbers_in(last) : 0, more = numbers_in(m);
    if (before > 0 && more > 0 && last->size == m->size && last->slot == m->slot && before + more <= UINT32_MAX) {
        last->in = last->out = ROS_ONE;
        last->per = (uint32_t)(before + more);
        last->least = ros_definition_bytes(last->size, last->per);
        return true;
    }
    if (!GROW_ARRAY(*list, *count, *room)) {
        return reel_fail_memory(c->err);
    }
    (*list)[(*count)++] = *m;
    return true;
}

/* The move of a field that the other side has too. */
static bool pair_move(struct compiling *c, const char *type, const struct relay_field *in,
                      const struct relay_field *out, struct relay_move *m) {
    const struct ros_definition_step *a = in->step, *b = out->step;
    bool arrays = a->many == ROS_ARRAY && b->many == ROS_ARRAY && a->count != b->count;
    bool one = (a->many == ROS_ONE) == (b->many == ROS_ONE);
    *m = (struct relay_move){.slot = RELAY_NO_SLOT};
    set_many(m, a, b);
    if (one && !arrays && same_kind(c, a, b)) {
        if (set_plain(c->from, a, m)) {
            return true;
        }
        if (!compile_pair(c, a->type, b->type, &m->body)) {
            return false;
        }
        merge_group(c->relay, m);
        return true;
    }
    const struct ros_definition_step *ros1 = to_ros2(c) ? a : b;
    if (one && !arrays && ros_relay_stamp_of(c->from, a) + ros_relay_stamp_of(c->to, b) != ROS_NO_STAMP &&
        ros1->kind == ROS_VALUE_TYPE) {
        m->kind = RELAY_GROUP; /* a header, or a message that consists of a time, for that time */
        return compile_pair(c, a->type, b->type, &m->body);
    }
    return reel_fail(c->err, REEL_UNSUPPORTED, "%.128s: field %s is of another kind in the other definition", type,
                     in->name);
}

/* The move of a field that only one side has: `in` or `out` is NULL. */
static bool lone_move(struct compiling *c, const char *type, const struct relay_field *in,
                      const struct relay_field *out, struct relay_move *m) {
    const struct relay_field *field = in ? in : out;
    const struct ros_definition *def = in ? c->from : c->to;
    const struct ros_optional *optional = ros_optional_field(type, bytes_text(field->name), def->dialect == ROS_2);
    if (type[0] && !optional && !field->step->hidden) {
        return reel_fail(c->err, REEL_UNSUPPORTED, "%.128s: the other definition has no field %s", type, field->name);
    }
    if (in && type[0] && !field->step->hidden) {
        size_t used = strlen(c->relay->lost);
        snprintf(c->relay->lost + used, sizeof c->relay->lost - used, "%s%s.%s", used > 0 ? ", " : "", type,
                 field->name);
    }
    *m = (struct relay_move){.slot = RELAY_NO_SLOT};
    set_many(m, in ? in->step : NULL, out ? out->step : NULL);
    bool plain = set_plain(def, field->step, m);
    m->text = optional ? optional->text : NULL;
    m->number = optional && m->kind == RELAY_NUMBERS ? optional->number : NULL;
    return plain || compile_alone(c, def, field->step->type, &m->body);
}

/* ---- bodies */

struct list {
    struct relay_move *items;
    size_t count, room;
};
static void list_done(struct list *list) {
    free(list->items);
}

static bool push(struct compiling *c, struct list *list, const struct relay_move *m) {
    if (!GROW_ARRAY(list->items, list->count, list->room)) {
        return reel_fail_memory(c->err);
    }
    list->items[list->count++] = *m;
    return true;
}

static bool ros_append(struct compiling *c, const struct list *list, uint32_t *first) {
    struct ros_relay *r = c->relay;
    *first = (uint32_t)r->n_moves;
    for (size_t i = 0; i < list->count; i++) {
        if (r->n_moves == MOVES_MAX) {
            return reel_fail(c->err, REEL_LIMIT, "a definition of more than %d fields", MOVES_MAX);
        }
        if (!GROW_ARRAY(r->moves, r->n_moves, r->moves_room)) {
            return reel_fail_memory(c->err);
        }
        r->moves[r->n_moves++] = list->items[i];
    }
    return true;
}

static bool add_body(struct compiling *c, const struct list *moves, const struct list *skips, uint32_t *body) {
    struct ros_relay *r = c->relay;
    struct relay_body b = {.count = (uint32_t)moves->count, .n_skips = (uint32_t)skips->count};
    if (!ros_append(c, moves, &b.first) || !ros_append(c, skips, &b.first_skip) ||
        !GROW_ARRAY(r->bodies, r->n_bodies, r->bodies_room)) {
        return r->n_bodies < r->bodies_room ? false : reel_fail_memory(c->err);
    }
    r->bodies[r->n_bodies] = b;
    *body = (uint32_t)r->n_bodies++;
    return true;
}

static bool compile_alone(struct compiling *c, const struct ros_definition *def, uint32_t type, uint32_t *body) {
    uint32_t *known = def == c->from ? &c->alone_in[type] : &c->alone_out[type];
    struct relay_fields fields;
    AUTO_STRUCT(list_done) struct list moves = {0};
    *body = *known;
    if (*known != NO_BODY) {
        return true;
    }
    if (!list_fields(c, def, type, &fields)) {
        return false;
    }
    for (uint32_t i = 0; i < fields.count; i++) {
        const struct relay_field *f = &fields.items[i];
        struct relay_move m;
        if (!lone_move(c, "", def == c->from ? f : NULL, def == c->to ? f : NULL, &m) || !push(c, &moves, &m)) {
            return false;
        }
    }
    return add_body(c, &moves, &(struct list){0}, body) && ((*known = *body), true);
}

/* A header or a message that consists of a time, as that time: the type of ROS 1 for a stamp of ROS 2. */
static bool compile_stamp(struct compiling *c, uint32_t ros1_type, enum ros_stamp stamp, uint32_t *body) {
    const struct ros_definition *def = to_ros2(c) ? c->from : c->to;
    struct relay_fields fields;
    AUTO_STRUCT(list_done) struct list moves = {0};
    unsigned found = 0;
    if (!list_fields(c, def, ros1_type, &fields)) {
        return false;
    }
    for (uint32_t i = 0; i < fields.count; i++) {
        const struct relay_field *f = &fields.items[i];
        bool is_it = ros_relay_stamp_of(def, f->step) == stamp && f->step->many == ROS_ONE && found == 0;
        struct relay_move m = {
            .kind = stamp == ROS_TIME ? RELAY_TIME : RELAY_DURATION, .slot = RELAY_NO_SLOT, .least = 8};
        found += is_it;
        if ((!is_it && !lone_move(c, "", to_ros2(c) ? f : NULL, to_ros2(c) ? NULL : f, &m)) || !push(c, &moves, &m)) {
            return false;
        }
    }
    bool header = fields.count == 3 && relay_find_field(&fields, "seq") && relay_find_field(&fields, "frame_id");
    if (found != 1 || (fields.count != 1 && !header)) {
        return reel_fail(c->err, REEL_UNSUPPORTED, "%.128s is no time", def->types[ros1_type].name);
    }
    return add_body(c, &moves, &(struct list){0}, body);
}

/* Which field of the input each field of the output is; -1: none. True when their order is the same. */
static bool match_fields(const struct relay_fields *in, const struct relay_fields *out, int32_t *source) {
    int32_t last = -1;
    bool ordered = true;
    for (uint32_t i = 0; i < out->count; i++) {
        const struct relay_field *f = i < in->count && strcmp(in->items[i].name, out->items[i].name) == 0
                                          ? &in->items[i]
                                          : relay_find_field(in, out->items[i].name);
        source[i] = f && !f->step->hidden ? (int32_t)(f - in->items) : -1;
        ordered = ordered && (source[i] < 0 || source[i] > last);
        last = source[i] > last ? source[i] : last;
    }
    return ordered;
}

struct pairing {
    const char *type; /* in ROS 2 */
    bool maps_level;  /* a log, which is not one of ROS 2 under the same name in a bag */
    struct relay_fields in, out;
    int32_t *source;
    struct list moves, skips;
};
static void pairing_done(struct pairing *p) {
    list_done(&p->moves);
    list_done(&p->skips);
}

static bool is_used(const struct pairing *p, uint32_t in) {
    for (uint32_t i = 0; i < p->out.count; i++) {
        if (p->source[i] == (int32_t)in) {
            return true;
        }
    }
    return false;
}

/* Moves of the fields [from, to) of the input that the output has not. */
static bool skip_unused(struct compiling *c, struct pairing *p, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        struct relay_move m;
        if (!is_used(p, i) && (!lone_move(c, p->type, &p->in.items[i], NULL, &m) || !push(c, &p->moves, &m))) {
            return false;
        }
    }
    return true;
}

static bool out_move(struct compiling *c, struct pairing *p, uint32_t out, struct relay_move *m) {
    if (p->source[out] < 0) {
        return lone_move(c, p->type, NULL, &p->out.items[out], m);
    }
    bool level = p->maps_level && strcmp(p->out.items[out].name, "level") == 0;
    if (!pair_move(c, p->type, &p->in.items[p->source[out]], &p->out.items[out], m)) {
        return false;
    }
    m->kind = level && m->kind == RELAY_NUMBERS && m->size == 1 ? RELAY_LEVEL : m->kind;
    return true;
}

static bool pair_ordered(struct compiling *c, struct pairing *p) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->out.count; i++) {
        struct relay_move m;
        uint32_t source = p->source[i] < 0 ? at : (uint32_t)p->source[i];
        if (!skip_unused(c, p, at, source) || !out_move(c, p, i, &m) ||
            !add_move(c, &p->moves.items, &p->moves.count, &p->moves.room, &m)) {
            return false;
        }
        at = p->source[i] < 0 ? at : source + 1;
    }
    return skip_unused(c, p, at, p->in.count);
}

static bool pair_disordered(struct compiling *c, struct pairing *p) {
    if (p->in.count > RELAY_SLOTS_MAX) {
        return reel_fail(c->err, REEL_UNSUPPORTED, "%.128s: the fields of the other definition have another order",
                         p->type);
    }
    for (uint32_t i = 0; i < p->in.count; i++) { /* in the place of each field of the input, for now nothing */
        if (!push(c, &p->skips, &(struct relay_move){.in = RELAY_ABSENT, .out = RELAY_ABSENT})) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->out.count; i++) {
        struct relay_move m;
        if (!out_move(c, p, i, &m)) {
            return false;
        }
        m.slot = p->source[i] < 0 ? RELAY_NO_SLOT : (uint8_t)p->source[i];
        if (p->source[i] >= 0) {
            p->skips.items[p->source[i]] = m;
        }
        if (!push(c, &p->moves, &m)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->in.count; i++) {
        if (!is_used(p, i) && !lone_move(c, p->type, &p->in.items[i], NULL, &p->skips.items[i])) {
            return false;
        }
    }
    return true;
}

static bool compile_fields(struct compiling *c, uint32_t from, uint32_t to, uint32_t *body) {
    AUTO_STRUCT(pairing_done) struct pairing p = {0};
    p.type = ros_short_name(&c->arena, to_ros2(c) ? c->to->types[to].name : c->from->types[from].name, c->err);
    if (!p.type || !list_fields(c, c->from, from, &p.in) || !list_fields(c, c->to, to, &p.out) ||
        !(to_ros2(c) ? relay_rename_old(&c->arena, p.type, c->from, &p.in, c->to, &p.out, c->err)
                     : relay_rename_old(&c->arena, p.type, c->to, &p.out, c->from, &p.in, c->err))) {
        return false;
    }
    const char *ros1 = to_ros2(c) ? c->from->types[from].name : c->to->types[to].name;
    p.maps_level = strcmp(p.type, "rcl_interfaces/Log") == 0 && strcmp(ros1, p.type) != 0;
    if (!(p.source = arena_alloc(&c->arena, (p.out.count + 1) * sizeof *p.source))) {
        return reel_fail_memory(c->err);
    }
    bool ordered = match_fields(&p.in, &p.out, p.source);
    return (ordered ? pair_ordered(c, &p) : pair_disordered(c, &p)) && add_body(c, &p.moves, &p.skips, body);
}

static bool compile_pair(struct compiling *c, uint32_t from, uint32_t to, uint32_t *body) {
    const struct hash_key pair = hash_key_number((uint64_t)from << 32 | to);
    uintptr_t known = hash_table_get(&c->paired, pair);
    const struct ros_definition_type *ros2 = to_ros2(c) ? &c->to->types[to] : &c->from->types[from];
    if (known) {
        *body = (uint32_t)(known - 1);
        return true;
    }
    bool good = ros2->stamp != ROS_NO_STAMP
                    ? compile_stamp(c, to_ros2(c) ? from : to, (enum ros_stamp)ros2->stamp, body)
                    : compile_fields(c, from, to, body);
    return good && hash_table_set(&c->paired, pair, (uintptr_t)*body + 1, c->err);
}

/* ---- opening */

static bool compile(struct compiling *c, uint32_t from_type, uint32_t to_type) {
    c->alone_in = arena_alloc(&c->arena, c->from->n_types * sizeof *c->alone_in);
    c->alone_out = arena_alloc(&c->arena, c->to->n_types * sizeof *c->alone_out);
    if (!c->alone_in || !c->alone_out) {
        return reel_fail_memory(c->err);
    }
    for (size_t i = 0; i < c->from->n_types; i++) {
        c->alone_in[i] = NO_BODY;
    }
    for (size_t i = 0; i < c->to->n_types; i++) {
        c->alone_out[i] = NO_BODY;
    }
    return compile_pair(c, from_type, to_type, &c->relay->top);
}

struct ros_relay *ros_relay_new(const struct ros_definition *from, uint32_t from_type, const struct ros_definition *to,
                                uint32_t to_type, struct reel_error *err) {
    AUTO(ros_relay_free) struct ros_relay *relay = calloc(1, sizeof *relay);
    if (!relay) {
        reel_fail_memory(err);
        return NULL;
    }
    relay->from = from->dialect;
    relay->from_omg = from->is_omg;
    struct compiling c = {.relay = relay, .from = from, .to = to, .err = err};
    bool good = compile(&c, from_type, to_type);
    arena_free(&c.arena);
    hash_table_free(&c.paired);
    return good ? TAKE(relay) : NULL;
}

struct ros_relay *ros_relay_of_rewrite(struct ros_rewrite *rewrite, struct reel_error *err) {
    struct ros_relay *relay = calloc(1, sizeof *relay);
    if (!relay) {
        ros_rewrite_free(rewrite);
        reel_fail_memory(err);
        return NULL;
    }
    relay->rewrite = rewrite;
    return relay;
}

const char *ros_relay_lost(const struct ros_relay *relay) {
    return relay->lost;
}

void ros_relay_add_older(struct ros_relay *relay, struct ros_relay *older) {
    while (relay->older) {
        relay = relay->older;
    }
    relay->older = older;
}

void ros_relay_free(struct ros_relay *relay) {
    for (struct ros_relay *older; relay; relay = older) {
        older = relay->older;
        free(relay->moves);
        free(relay->bodies);
        ros_rewrite_free(relay->rewrite);
        free(relay);
    }
}
