/* The definition of a ROS message as a program: for each type the steps that its payload is made of, one a field. ros1.c and cdr.c run it.
 * Made once per channel, immutable then. Its one rule: whatever the text was, nesting ends (REEL_DEPTH_MAX) and every step knows the fewest
 * bytes it takes. */
#ifndef REEL_DECODE_MSGDEF_H
#define REEL_DECODE_MSGDEF_H

#include "reel/encoding.h"
#include "wire/arena.h"
#include "wire/cursor.h"

enum ros_definition_dialect { MSGDEF_ROS1, MSGDEF_ROS2 };

/* Of one value; the numbers stand before these, as in enum reel_number. */
enum ros_definition_kind {
    MSGDEF_TEXT = REEL_F64 + 1,
    MSGDEF_WIDE_TEXT,
    MSGDEF_TIME,
    MSGDEF_DURATION,
    MSGDEF_TYPE,
};
enum ros_definition_many { MSGDEF_ONE, MSGDEF_ARRAY /* always so many */, MSGDEF_LIST };

struct ros_definition_step {
    struct reel_bytes key; /* the field's name */
    const char *word;      /* the type of one value, as the definition names it */
    const char *unit;      /* "" = unknown */
    uint8_t kind, many;    /* enum ros_definition_kind or reel_number; enum ros_definition_many */
    bool hidden;           /* takes its bytes, and is not told */
    bool fixed;            /* one value always takes `least` bytes */
    uint32_t count;        /* of an array; of a list: at most */
    uint32_t type;         /* of MSGDEF_TYPE: place in types */
    uint32_t run;          /* this step and those after it that take a fixed number of bytes, if nothing is aligned … */
    uint64_t run_bytes;    /* … and those bytes */
    uint64_t least;        /* bytes of one value, at least; MSGDEF_HUGE = no payload has them */
};
#define MSGDEF_HUGE (UINT64_C(1) << 40)
static inline uint64_t ros_definition_bytes(uint64_t one, uint64_t count) {
    return one > 0 && count > MSGDEF_HUGE / one ? MSGDEF_HUGE : one * count;
}

enum ros_definition_form { MSGDEF_STRUCT, MSGDEF_ALIAS /* one step: what it stands for */, MSGDEF_ENUM };

struct ros_definition_type {
    const char *name; /* "geometry_msgs/Pose"; in IDL with all modules: "geometry_msgs/msg/Pose" */
    uint32_t first, count;
    uint32_t depth; /* maps and lists in each other */
    uint8_t form, state;
    bool fixed;
    uint64_t least;
};

struct ros_definition {
    enum ros_definition_dialect dialect;
    struct arena arena; /* all texts */
    struct ros_definition_type *types;
    struct ros_definition_step *steps;
    size_t n_types, types_room, n_steps, steps_room;
    uint32_t top; /* the payload is one of these */
    uint32_t *by_name,
        *by_short; /* places of types, sorted by name, and by its last part without the names that stood before; while linking */
    size_t n_short;
};

/* For struct reel_encoding. */
struct ros_definition *ros_definition_open(const struct reel_channel *channel, enum ros_definition_dialect dialect, struct reel_error *err);
void ros_definition_free(struct ros_definition *def);
REEL_DEFINE_AUTO(struct ros_definition, ros_definition_free);
bool ros_definition_fields(const void *def, reel_field_visit visit, void *context);

/* ---- making one */

/* Steps are added to the last type. NULL with err: no memory, a ceiling, a name that is too long. */
struct ros_definition_type *ros_definition_add_type(struct ros_definition *def, struct reel_bytes name, struct reel_error *err);
struct ros_definition_step *ros_definition_add_step(struct ros_definition *def, struct reel_bytes name, struct reel_error *err);
/* Takes the word of a type: a number or text of the dialect, or the name of a type that ros_definition_link() finds. */
bool ros_definition_set_word(struct ros_definition *def, struct ros_definition_step *step, struct reel_bytes word, struct reel_error *err);

/* Text of .msg files, joined by lines of = and "MSG: name"; the first type is `top`. `whole_names`: "a/msg/B" is not called "a/B". */
bool ros_definition_read_text(struct ros_definition *def, const char *top, bool whole_names, struct reel_bytes text,
                              struct reel_error *err);
bool ros_definition_read_idl(struct ros_definition *def, struct reel_bytes text, struct reel_error *err);
/* Resolves the names and measures, from the type `top` on; what it does not reach may be broken. */
bool ros_definition_link(struct ros_definition *def, const char *top, struct reel_error *err);

/* "a::msg::B" and "a/msg/B" → "a/B", or "a/msg/B" when `whole`. False: too long, or no name. */
enum { MSGDEF_NAME_ROOM = 256 };
bool ros_definition_name(struct reel_bytes name, bool whole, char out[MSGDEF_NAME_ROOM]);

/* ---- running one */

struct ros_definition_run {
    const struct ros_definition *def;
    struct cursor c;
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint32_t empties; /* values without a byte, up to now */
};

/* Both return false, told. */
bool ros_definition_ends_early(const struct ros_definition_run *run, const struct ros_definition_step *step, uint64_t needs);
bool ros_definition_too_long(const struct ros_definition_run *run);

/* `count` more values that take no bytes: only these could be told without end. */
bool ros_definition_afford(struct ros_definition_run *run, uint64_t count);

static inline bool ros_definition_is_number(const struct ros_definition_step *step) {
    return step->kind <= REEL_F64;
}

#endif
