/* A payload as a stream of values, which calls a visitor for each, and those calls. */
#ifndef REEL_SYNTAX_VISITOR_H
#define REEL_SYNTAX_VISITOR_H

#include "base/bytes.h"

enum reel_number {
    REEL_BOOL,
    REEL_I8,
    REEL_U8,
    REEL_I16,
    REEL_U16,
    REEL_I32,
    REEL_U32,
    REEL_I64,
    REEL_U64,
    REEL_F32,
    REEL_F64
};
/* Bytes of one in an array. */
static inline unsigned reel_number_size(enum reel_number type) {
    static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

/* A time or a duration of a type that the schema's language has for it. */
struct reel_stamp {
    int64_t seconds, nanoseconds; /* as in the payload, not normalised; of a time since 1970 */
    const char *nanoseconds_name; /* the language's: "nsec", "nanosec" */
    bool is_duration;
    bool is_text; /* the language shows it as text: RFC 3339, or seconds with an "s" */
};

/* Members of a map that come one after another and have a fixed size each, so that a visitor takes all of them in one
 * call. A decoder makes the table once for a schema; it lives as long as the decoder. */
enum reel_member_kind {
    REEL_MEMBER_NUMBER,
    REEL_MEMBER_NUMBERS, /* a packed array of `count` */
    REEL_MEMBER_BYTES,   /* `count` of them */
    REEL_MEMBER_TIME,    /* reel_member_stamp() */
    REEL_MEMBER_DURATION,
    REEL_MEMBER_MAP, /* its members follow … */
    REEL_MEMBER_END, /* … up to this, which has no key */
};
struct reel_member {
    struct reel_bytes key;
    struct reel_bytes json; /* a comma, the key as JSON text, a colon; 16 more bytes can be read */
    uint32_t offset, count; /* bytes from the first member */
    uint8_t kind, number;   /* enum reel_member_kind, enum reel_number */
};
struct reel_members {
    const struct reel_member *items;
    uint32_t n;
    uint32_t values;      /* of all kinds but END */
    uint32_t bytes;       /* from the first member to the end of the last */
    uint64_t array_bytes; /* of NUMBERS and BYTES */
    const char *nanoseconds_name;
    bool of_ros2; /* its stamps: seconds have a sign, nanoseconds have none */
};

/* A visitor receives the values: it fills the table and embeds struct reel_visitor first in its own state. Each
 * callback returns false to end the walk: the visitor needs no more, or reached its own ceiling. Every payload is one
 * value; a map is begin_map, (key, value)…, end_map. Values whose callback is NULL are ignored. */
struct reel_visitor;
struct reel_visitor_ops {
    bool (*begin_map)(struct reel_visitor *v);
    bool (*key)(struct reel_visitor *v, struct reel_bytes name); /* any bytes: a visitor that writes text shows what is
                                                                    no UTF-8 in its own way */
    bool (*end_map)(struct reel_visitor *v);
    bool (*begin_list)(struct reel_visitor *v);
    bool (*end_list)(struct reel_visitor *v);
    bool (*null)(struct reel_visitor *v);
    bool (*boolean)(struct reel_visitor *v, bool value);
    bool (*integer)(struct reel_visitor *v, int64_t value);
    bool (*natural)(struct reel_visitor *v, uint64_t value);
    bool (*real)(struct reel_visitor *v, double value);
    bool (*real32)(struct reel_visitor *v, float value); /* 9 significant digits are exact */
    bool (*text)(struct reel_visitor *v, struct reel_bytes value);
    bool (*binary)(struct reel_visitor *v, struct reel_bytes value);
    /* A packed array: little-endian numbers back to back, data.size / reel_number_size(type) of them. columns > 1: rows
     * of so many each (a position is 3 columns); the last row may be short. A list of numbers otherwise. */
    bool (*numbers)(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns);
    bool (*stamp)(struct reel_visitor *v, const struct reel_stamp *value); /* reel_stamp_show() otherwise */
    bool (*members)(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at); /* one call for each
                                                                                                       key and value
                                                                                                       otherwise */
    bool (*inside)(struct reel_visitor *v, struct reel_bytes member); /* the next value stands for a map with this one
                                                                         key, and can be asked for by its path, too */
};
struct reel_visitor {
    const struct reel_visitor_ops *ops;
};

/* A packed array as single values, in lists; for visitors that have nothing better to do with it. Also what happens
 * when `numbers` is NULL.
 */
bool reel_numbers_expand(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns);

/* A stamp as the map {"sec", nanoseconds_name}. */
bool reel_stamp_expand(struct reel_visitor *v, const struct reel_stamp *value);
/* A stamp as its language shows it, which is also what happens when `stamp` is NULL: as text if is_text and it is in
 * the range of ProtoJSON (years 1 to 9999, durations of 10,000 years), else as the map. */
bool reel_stamp_show(struct reel_visitor *v, const struct reel_stamp *value);

/* The value of one member, or a bracket. */
bool reel_member_visit(struct reel_visitor *v, const struct reel_members *members, const struct reel_member *m,
                       const uint8_t *at);
/* Members one by one, with their keys. */
bool reel_members_expand(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at);
/* A time or duration as ROS 1 has it: seconds and nanoseconds in 4 bytes each; those of a duration have a sign. */
static inline struct reel_stamp reel_stamp_read(const uint8_t *at, bool is_duration, const char *nanoseconds_name) {
    uint32_t seconds = load_u32le(at), nanoseconds = load_u32le(at + 4);
    return (struct reel_stamp){.seconds = is_duration ? (int32_t)seconds : (int64_t)seconds,
                               .nanoseconds = is_duration ? (int32_t)nanoseconds : (int64_t)nanoseconds,
                               .nanoseconds_name = nanoseconds_name,
                               .is_duration = is_duration};
}

/* That of a member of a table. */
static inline struct reel_stamp reel_member_stamp(const struct reel_members *members, const struct reel_member *m,
                                                  const uint8_t *at) {
    struct reel_stamp stamp =
        reel_stamp_read(at + m->offset, m->kind == REEL_MEMBER_DURATION, members->nanoseconds_name);
    if (members->of_ros2) {
        stamp.seconds = (int32_t)load_u32le(at + m->offset);
        stamp.nanoseconds = load_u32le(at + m->offset + 4);
    }
    return stamp;
}

/* One little-endian number of the type. */
bool reel_number_visit(struct reel_visitor *v, enum reel_number type, const uint8_t *at);

/* ---- calls; a callback that is NULL ignores its values */

#define REEL_VISIT_(v, what, ...) ((v)->ops->what == NULL || (v)->ops->what((v)__VA_ARGS__))
static inline bool visit_begin_map(struct reel_visitor *v) {
    return REEL_VISIT_(v, begin_map);
}
static inline bool visit_key(struct reel_visitor *v, struct reel_bytes name) {
    return REEL_VISIT_(v, key, , name);
}
static inline bool visit_key_text(struct reel_visitor *v, const char *name) {
    return REEL_VISIT_(v, key, , bytes_text(name));
}
static inline bool visit_end_map(struct reel_visitor *v) {
    return REEL_VISIT_(v, end_map);
}
static inline bool visit_begin_list(struct reel_visitor *v) {
    return REEL_VISIT_(v, begin_list);
}
static inline bool visit_end_list(struct reel_visitor *v) {
    return REEL_VISIT_(v, end_list);
}
static inline bool visit_null(struct reel_visitor *v) {
    return REEL_VISIT_(v, null);
}
static inline bool visit_boolean(struct reel_visitor *v, bool value) {
    return REEL_VISIT_(v, boolean, , value);
}
static inline bool visit_integer(struct reel_visitor *v, int64_t value) {
    return REEL_VISIT_(v, integer, , value);
}
static inline bool visit_natural(struct reel_visitor *v, uint64_t value) {
    return REEL_VISIT_(v, natural, , value);
}
static inline bool visit_real(struct reel_visitor *v, double value) {
    return REEL_VISIT_(v, real, , value);
}
static inline bool visit_real32(struct reel_visitor *v, float value) {
    return REEL_VISIT_(v, real32, , value);
}
static inline bool visit_text(struct reel_visitor *v, struct reel_bytes value) {
    return REEL_VISIT_(v, text, , value);
}
static inline bool visit_binary(struct reel_visitor *v, struct reel_bytes value) {
    return REEL_VISIT_(v, binary, , value);
}
static inline bool visit_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                 unsigned columns) {
    return v->ops->numbers ? v->ops->numbers(v, type, data, columns) : reel_numbers_expand(v, type, data, columns);
}
static inline bool visit_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return v->ops->stamp ? v->ops->stamp(v, value) : reel_stamp_show(v, value);
}
static inline bool visit_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    return v->ops->members ? v->ops->members(v, members, at) : reel_members_expand(v, members, at);
}
static inline bool visit_inside(struct reel_visitor *v, struct reel_bytes member) {
    return REEL_VISIT_(v, inside, , member);
}

/* Of a visitor that ignores all values; without `numbers`, arrays would be walked value by value. */
static inline bool visit_no_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                    unsigned columns) {
    (void)v, (void)type, (void)data, (void)columns;
    return true;
}
static inline bool visit_no_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    (void)v, (void)members, (void)at;
    return true;
}
static const struct reel_visitor_ops visit_nothing = {.numbers = visit_no_numbers, .members = visit_no_members};

#endif
