/* The definition of a ROS message as a program: for each type the steps that its payload is made of, one a field. ros1.c and cdr.c run it. Made once
 * per channel, immutable then. Its one rule: whatever the text was, nesting ends (REEL_DEPTH_MAX) and every step knows the fewest bytes it takes. */
#ifndef REEL_DECODE_MSGDEF_H
#define REEL_DECODE_MSGDEF_H

#include "wire/arena.h"
#include "wire/cursor.h"
#include "reel/decode.h"

enum msgdef_dialect { MSGDEF_ROS1, MSGDEF_ROS2 };

/* Of one value; the numbers stand before these, as in enum reel_number. */
enum msgdef_kind {
    MSGDEF_TEXT = REEL_F64 + 1,
    MSGDEF_WIDE_TEXT,
    MSGDEF_TIME,
    MSGDEF_DURATION,
    MSGDEF_TYPE,
};
enum msgdef_many { MSGDEF_ONE, MSGDEF_ARRAY /* always so many */, MSGDEF_LIST };

struct msgdef_step {
    struct bytes key;   /* the field's name */
    const char *word;   /* the type of one value, as the definition names it */
    const char *unit;   /* "" = unknown */
    uint8_t kind, many; /* enum msgdef_kind or reel_number; enum msgdef_many */
    bool hidden;        /* takes its bytes, and is not told */
    bool fixed;         /* one value always takes `least` bytes */
    uint32_t count;     /* of an array; of a list: at most */
    uint32_t type;      /* of MSGDEF_TYPE: place in types */
    uint32_t run;       /* this step and those after it that take a fixed number of bytes, if nothing is aligned … */
    uint64_t run_bytes; /* … and those bytes */
    uint64_t least;     /* bytes of one value, at least; MSGDEF_HUGE = no payload has them */
};
#define MSGDEF_HUGE (UINT64_C(1) << 40)
static inline uint64_t msgdef_bytes(uint64_t one, uint64_t count) {
    return one > 0 && count > MSGDEF_HUGE / one ? MSGDEF_HUGE : one * count;
}

enum msgdef_form { MSGDEF_STRUCT, MSGDEF_ALIAS /* one step: what it stands for */, MSGDEF_ENUM };

struct msgdef_type {
    const char *name; /* "geometry_msgs/Pose"; in IDL with all modules: "geometry_msgs/msg/Pose" */
    uint32_t first, count;
    uint32_t depth; /* maps and lists in each other */
    uint8_t form, state;
    bool fixed;
    uint64_t least;
};

struct msgdef {
    enum msgdef_dialect dialect;
    struct arena arena; /* all texts */
    struct msgdef_type *types;
    struct msgdef_step *steps;
    size_t n_types, types_room, n_steps, steps_room;
    uint32_t top;                 /* the payload is one of these */
    uint32_t *by_name, *by_short; /* places of types, sorted by name, and by its last part without the names that stood before; while linking */
    size_t n_short;
};

/* For struct reel_decoding. */
struct msgdef *msgdef_open(const struct reel_channel *channel, enum msgdef_dialect dialect, struct reel_error *err);
void msgdef_free(struct msgdef *def);
REEL_DEFINE_AUTO(struct msgdef, msgdef_free);
bool msgdef_fields(const void *def, reel_field_visit visit, void *context);

/* ---- making one */

/* Steps are added to the last type. NULL with err: no memory, a ceiling, a name that is too long. */
struct msgdef_type *msgdef_add_type(struct msgdef *def, struct bytes name, struct reel_error *err);
struct msgdef_step *msgdef_add_step(struct msgdef *def, struct bytes name, struct reel_error *err);
/* Takes the word of a type: a number or text of the dialect, or the name of a type that msgdef_link() finds. */
bool msgdef_set_word(struct msgdef *def, struct msgdef_step *step, struct bytes word, struct reel_error *err);

/* Text of .msg files, joined by lines of = and "MSG: name"; the first type is `top`. `whole_names`: "a/msg/B" is not called "a/B". */
bool msgdef_read_text(struct msgdef *def, const char *top, bool whole_names, struct bytes text, struct reel_error *err);
bool msgdef_read_idl(struct msgdef *def, struct bytes text, struct reel_error *err);
/* Resolves the names and measures, from the type `top` on; what it does not reach may be broken. */
bool msgdef_link(struct msgdef *def, const char *top, struct reel_error *err);

/* "a::msg::B" and "a/msg/B" → "a/B", or "a/msg/B" when `whole`. False: too long, or no name. */
enum { MSGDEF_NAME_ROOM = 256 };
bool msgdef_name(struct bytes name, bool whole, char out[MSGDEF_NAME_ROOM]);

/* ---- running one */

struct msgdef_run {
    const struct msgdef *def;
    struct cursor c;
    struct bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint32_t empties; /* values without a byte, up to now */
};

/* Both return false, told. */
bool msgdef_ends_early(const struct msgdef_run *run, const struct msgdef_step *step, uint64_t needs);
bool msgdef_too_long(const struct msgdef_run *run);

/* `count` more values that take no bytes: only these could be told without end. */
bool msgdef_afford(struct msgdef_run *run, uint64_t count);

static inline bool msgdef_is_number(const struct msgdef_step *step) {
    return step->kind <= REEL_F64;
}

#endif
