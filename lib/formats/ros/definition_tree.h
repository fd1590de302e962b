/* The parsed definition of a ROS message: types, and for each type its fields as steps through a payload.
 * definition_text.c and definition_idl.c add types and steps, definition_link.c resolves the names of types and
 * computes sizes; after that it never changes. */
#ifndef REEL_FORMATS_ROS_DEFINITION_TREE_H
#define REEL_FORMATS_ROS_DEFINITION_TREE_H

#include "base/arena.h"
#include "decode/encoding.h"
#include "formats/ros/text.h"
#include "reel/cleanup.h"

enum ros_dialect { ROS_1, ROS_2 };

/* Kinds of a value: enum reel_number, then these. */
enum ros_value_kind {
    ROS_VALUE_TEXT = REEL_F64 + 1,
    ROS_VALUE_WIDE_TEXT,
    ROS_VALUE_TIME,
    ROS_VALUE_DURATION,
    ROS_VALUE_TYPE,        /* of another type */
    ROS_VALUE_LONG_DOUBLE, /* 16 bytes (IDL) */
};
enum ros_many { ROS_ONE, ROS_ARRAY /* of fixed length */, ROS_LIST };

struct ros_definition_step {
    struct reel_bytes key; /* the field's name */
    const char *word;      /* the type of one value, as the definition names it */
    const char *unit;      /* "" = unknown */
    uint8_t kind, many;    /* reel_number or ros_value_kind; ros_many */
    bool hidden;           /* has bytes in the payload but is not a field: the placeholder in a type without fields */
    bool fixed;            /* one value always has `least` bytes */
    bool optional;         /* a payload may lack it */
    bool is_enum;          /* of numbers: they are of an enum, which XCDR2 counts as no primitive type */
    bool inner;            /* a further dimension of the array that holds this one */
    bool linked;           /* `type` is known, and an alias replaced */
    uint32_t count;        /* length of an array; for a list its greatest length */
    uint32_t bound;        /* greatest length of a text; 0: any */
    uint32_t type;         /* of ROS_VALUE_TYPE: index in types */
    uint32_t id;           /* in a mutable type; ROS_NEXT_ID until it is linked: that of the member before plus 1 */
    uint32_t run;          /* number of steps from this one on that have a fixed size … */
    uint64_t run_bytes;    /* … and their size in ROS 1, which has no alignment */
    /* Of the run that begins here, at a multiple of 8 bytes; in ROS 2, the one for a run that begins 4 bytes after one.
     * NULL: it is walked step by step. */
    const struct reel_members *members, *members_at_4;
    uint8_t align;  /* of the first value of such a run */
    uint64_t least; /* smallest size of one value; ROS_HUGE: larger than any payload */
};
#define ROS_NEXT_ID UINT32_MAX
#define ROS_HUGE (UINT64_C(1) << 40)
static inline uint64_t ros_definition_bytes(uint64_t one, uint64_t count) {
    uint64_t bytes;
    return __builtin_mul_overflow(one, count, &bytes) || bytes > ROS_HUGE ? ROS_HUGE : bytes;
}
static inline bool ros_definition_is_number(const struct ros_definition_step *step) {
    return step->kind <= REEL_F64;
}

enum ros_stamp {
    ROS_NO_STAMP,
    ROS_TIME,
    ROS_DURATION
}; /* builtin_interfaces of ROS 2, whose steps are sec and nanosec */
enum ros_form {
    ROS_STRUCT,
    ROS_ALIAS, /* has one step: the type it stands for; linked, it is a list or array in another one */
    ROS_ENUM,  /* also a bitmask and a bitset: a number */
    ROS_UNION, /* its first step is the discriminator, which is hidden */
    ROS_MAP,   /* its steps are key and value */
};
enum ros_extensibility { ROS_NOT_ANNOTATED, ROS_FINAL, ROS_APPENDABLE, ROS_MUTABLE };

/* A value of a union's discriminator and the step that it selects. */
struct ros_label {
    int64_t value;
    uint32_t step;
};
#define ROS_NO_STEP UINT32_MAX

struct ros_definition_type {
    const char *name;       /* "geometry_msgs/Pose"; in IDL with all modules: "geometry_msgs/msg/Pose" */
    struct reel_bytes text; /* its lines in the .msg format; empty in IDL */
    uint32_t first, count;  /* its steps */
    uint32_t depth;         /* nesting depth of maps and lists */
    uint8_t form, state;    /* ros_form; used while linking */
    uint8_t stamp;          /* ros_stamp */
    uint8_t extensibility;  /* ros_extensibility */
    uint8_t number;         /* of ROS_ENUM: reel_number */
    bool fixed;             /* size is always `least` */
    uint64_t least;

    /* IDL */
    const char *base;               /* the struct whose members come first, as the definition names it; or NULL */
    const struct ros_label *labels; /* of a union, sorted by value */
    uint32_t n_labels, other;       /* `other`: the step of all other values, or ROS_NO_STEP */
    const uint32_t *by_id;          /* steps sorted by id; NULL: the id of a step is its number */
    uint32_t required;              /* members that are not optional */
    const char *beyond;             /* what a payload may have that .msg cannot say; or NULL */
};

/* Where a definition comes from, if not from the recording alone (complete.h). */
enum ros_source { ROS_RECORDED, ROS_BUILT_IN, ROS_OWN };

struct ros_definition {
    enum ros_dialect dialect;
    enum ros_source source;
    struct ros_definition *older; /* another layout that the type had in earlier distributions: a payload has that of
                                     the first it fits. NULL: none */
    struct arena arena;           /* holds all texts */
    struct ros_definition_type *types;
    struct ros_definition_step *steps;
    size_t n_types, types_room, n_steps, steps_room;
    bool is_omg;                  /* in OMG IDL that is not of ROS */
    bool varies;                  /* its payloads in XCDR2 can be laid out in several ways */
    bool has_mutable;             /* a type that it needs is annotated so */
    uint32_t top;                 /* index of the payload's type */
    uint32_t *by_name, *by_short; /* indices of types, sorted by name and by last part of the name; by_short has equal
                                     names once */
    size_t n_short;
};

void ros_definition_free(struct ros_definition *def);
REEL_DEFINE_AUTO(struct ros_definition, ros_definition_free);

/* NULL with err: no memory, a ceiling of base/limits.h, or a name that is too long. Steps are added to the last type.
 */
struct ros_definition_type *ros_definition_add_type(struct ros_definition *def, struct reel_bytes name,
                                                    struct reel_error *err);
struct ros_definition_step *ros_definition_add_step(struct ros_definition *def, struct reel_bytes name,
                                                    struct reel_error *err);
/* Whether the word is the name of a number, text or time, in any dialect. */
bool ros_definition_is_word(struct reel_bytes word);
/* Appends copies of `count` steps. */
bool ros_definition_copy_steps(struct ros_definition *def, uint32_t first, uint32_t count, struct reel_error *err);
/* Sets the type of a step to another type of this name. */
bool ros_definition_set_type(struct ros_definition *def, struct ros_definition_step *step, struct reel_bytes name,
                             struct reel_error *err);
/* Sets the type of a step: a number or text of the dialect, or the name of another type. */
bool ros_definition_set_word(struct ros_definition *def, struct ros_definition_step *step, struct reel_bytes word,
                             struct reel_error *err);

#endif
