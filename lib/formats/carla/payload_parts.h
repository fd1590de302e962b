/* What each CARLA packet holds, as tables that payload.c walks. */
#ifndef REEL_FORMATS_CARLA_PAYLOAD_PARTS_H
#define REEL_FORMATS_CARLA_PAYLOAD_PARTS_H

#include "formats/carla/layout.h"

enum what {
    U8,
    FLAG,
    NAMED,      /* u8, then "…_name" from the table `more` */
    ACTOR_TYPE, /* u8, then "…_name" by the version */
    ATTRIBUTE,  /* u8: only its name is emitted */
    U32,
    I32,
    BITS, /* u32, then "…_on" */
    U64,
    F32,
    F64,
    XYZ,    /* a vec */
    RPY,    /* a vec of angles */
    METRES, /* three floats, whatever the type of a vec */
    TEXT,
    LIST,    /* u16 n, n times `more` */
    LIST32,  /* u32 n */
    FLOATS,  /* u32 n, n f32 */
    GAP,     /* `more` bytes that are not emitted */
    NUMBERS, /* u16 n, n u32 */
    KEYED,   /* u16 n, n records: a u32 id and `more` */
    KEYED_I32,
};
struct part { /* tables end with {0} */
    const char *name;
    enum what what;
    const void *more;
    const char *unit; /* unit of a part of a packet; parts of records have the unit of their list */
};

const struct part *carla_parts_of(enum carla_kind kind, unsigned wheel_bytes);

#endif
