/* Constants and enumerators of an IDL definition, and expressions that name them. They may be used before they are
 * defined, because the files of a definition are joined in any order. */
#ifndef REEL_FORMATS_ROS_IDL_CONSTANTS_H
#define REEL_FORMATS_ROS_IDL_CONSTANTS_H

#include "base/arena.h"
#include "base/hash_table.h"
#include "formats/ros/idl_lexer.h"

struct idl_constant {
    const char *scope;      /* "pkg/msg" */
    struct reel_bytes text; /* its expression, in the definition */
    uint32_t more;          /* an enumerator whose value is that of the item this many before it, and this many more */
    uint32_t line;
    bool is_tried, is_known; /* is_tried alone: it has no value, or is being evaluated */
    int64_t value;
};
struct idl_constants { /* start with {.arena = …}; free with idl_constants_free() */
    struct arena *arena;
    struct hash_table by_name; /* "pkg/msg/NAME", of an enumerator "pkg/msg/Enum/NAME" too: 1 + index */
    struct idl_constant *items;
    size_t n, room;
    uint32_t lookups; /* of names in expressions */
};
void idl_constants_free(struct idl_constants *constants);

/* Finds those of the whole text. False: no memory, or REEL_LIMIT. */
bool idl_constants_collect(struct idl_constants *constants, struct reel_bytes text, struct reel_error *err);

/* Where an expression stands. */
struct idl_place {
    const char *scope;
    const char *enum_word; /* names are looked up in this enum first; or NULL */
    bool is_bound;         /* ">" ends the expression */
};
/* Reads an expression whose value is an integer, a boolean or a character. */
bool idl_expression(struct idl_constants *constants, struct idl_lexer *l, const struct idl_place *place, int64_t *value,
                    struct reel_error *err);

#endif
