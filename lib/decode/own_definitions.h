/* Definitions of message types that users supply, for recordings that hold none. There is one set in the process:
 * decoders that are opened later use it. Safe to use from several threads. */
#ifndef REEL_DECODE_OWN_DEFINITIONS_H
#define REEL_DECODE_OWN_DEFINITIONS_H

#include "base/arena.h"
#include "reel/bytes.h"
#include "reel/error.h"

enum { OWN_DEFINITION_NAME_ROOM = 256 };

struct own_definition {
    const char *name;       /* "pkg/Type" of a .msg, "pkg/srv/Type", "pkg/action/Type"; "pkg/msg/Type.idl" … */
    struct reel_bytes text; /* of the file */
    uint32_t order;         /* in the set; of no importance to callers */
};

/* The name of the definition in a file: "a/pkg/msg/Type.msg" and "pkg/Type.msg" → "pkg/Type". False: no definition, or
 * its name is not valid. */
bool own_definition_name(const char *path, char out[OWN_DEFINITION_NAME_ROOM]);

/* Replaces the set by copies of these; of two with the same name the last counts. REEL_LIMIT: a ceiling of limits.h,
 * and the set stays as it was. */
bool own_definitions_set(const struct own_definition *items, size_t n, struct reel_error *err);
/* A copy of the text in the arena; its data is NULL if there is no such definition. False: no memory. */
bool own_definitions_find(struct arena *arena, const char *name, struct reel_bytes *out, struct reel_error *err);
/* Of the whole set: part of every ETag of decoded values. 0: it is empty. */
uint32_t own_definitions_version(void);

#endif
