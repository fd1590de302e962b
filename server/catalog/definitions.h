/* Definitions of message types that users supply, for recordings that hold none (decode/own_definitions.h has the
 * names). */
#ifndef SERVER_CATALOG_DEFINITIONS_H
#define SERVER_CATALOG_DEFINITIONS_H

#include "catalog/catalog.h"

enum {
    DEFINITIONS_MAX = 4096,
    DEFINITIONS_CHARACTERS_MAX = 4 << 20, /* of all texts */
};

struct catalog_definition { /* texts belong to it */
    char *name, *text, *author;
    int64_t created_ns, updated_ns; /* updated_ns grows with every change: it is the version */
};
void catalog_definition_done(struct catalog_definition *one);

struct catalog_definitions {
    struct catalog_definition *items; /* by name */
    uint32_t n;
};
void catalog_definitions_done(struct catalog_definitions *all);

/* All of them. */
bool catalog_definitions_list(struct catalog *c, struct catalog_definitions *out, struct reel_error *err);
/* At most `limit` after this name ("": from the first), without their texts. */
bool catalog_definitions_page(struct catalog *c, const char *after, uint32_t limit, struct catalog_definitions *out,
                              struct reel_error *err);
/* REEL_NOT_FOUND. */
bool catalog_definition_get(struct catalog *c, const char *name, struct catalog_definition *out,
                            struct reel_error *err);
/* If its version is this one: CATALOG_ABSENT: there is none, CATALOG_ANY_VERSION: in any case; otherwise
 * REEL_CHANGED. put() sets the times that are 0. REEL_LIMIT. */
bool catalog_definition_put(struct catalog *c, struct catalog_definition *one, int64_t version, struct reel_error *err);
bool catalog_definition_delete(struct catalog *c, const char *name, int64_t version, struct reel_error *err);
/* All or none; in any version. */
bool catalog_definitions_put(struct catalog *c, struct catalog_definition *items, uint32_t n, struct reel_error *err);

/* Other than before if anything in the catalog has changed. */
uint64_t catalog_definitions_version(struct catalog *c);
/* Whether they have changed since the last call with the same state, which begins zeroed. */
struct catalog_definitions_state {
    bool known;
    uint64_t version; /* of the catalog */
    char stamp[24];   /* of the definitions */
};
bool catalog_definitions_changed(struct catalog *c, struct catalog_definitions_state *state, bool *changed,
                                 struct reel_error *err);

#endif
