/* The keys that a message touches, and a number for each set of them: of two messages with the same number the later
 * overrides the earlier.
 */
#ifndef REEL_FORMATS_NANOVER_KEYS_H
#define REEL_FORMATS_NANOVER_KEYS_H

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash_table.h"

enum nanover_key_role { NANOVER_KEY_FRAME = 1, NANOVER_KEY_UPDATE, NANOVER_KEY_REMOVAL };

/* The keys of one message, packed one after another; zeroed = none. */
struct nanover_keys {
    struct grow packed;
    size_t count;
    bool too_many; /* no set number possible: some keys were dropped */
};
void nanover_keys_clear(struct nanover_keys *keys);
void nanover_keys_add(struct nanover_keys *keys, enum nanover_key_role role, struct reel_bytes key);
void nanover_keys_free(struct nanover_keys *keys);

struct nanover_key_sets {    /* zeroed = empty */
    struct hash_table table; /* packed keys → number; holds each sorted set and every order in which messages have it */
    struct arena arena;
    uint32_t count;
    struct nanover_keys sorted; /* scratch */
};
/* The number of a set, from 1, independent of the order of its keys; 0 = unknown: too many sets, or too many keys.
 * False: no memory. */
bool nanover_key_sets_id(struct nanover_key_sets *sets, const struct nanover_keys *keys, uint32_t *id,
                         struct reel_error *err);
void nanover_key_sets_free(struct nanover_key_sets *sets);

#endif
