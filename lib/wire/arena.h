/* Memory that is freed all at once: texts and tables of one index, plan or parse. */
#ifndef REEL_CORE_ARENA_H
#define REEL_CORE_ARENA_H

#include "reel/bytes.h"
#include "reel/error.h"

struct arena_block;
struct arena { /* zero-initialised = empty */
    struct arena_block *blocks;
    size_t left;    /* in the first block */
    size_t used;    /* bytes taken from the system */
    size_t max;     /* ceiling on `used`; 0 = none */
    bool no_memory; /* a NULL was for lack of memory, not for the ceiling */
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-byte aligned; NULL: no memory or over the ceiling */
void *arena_copy(struct arena *a, const void *data, size_t size);
const char *arena_text(struct arena *a, const char *text);      /* copy with NUL */
const char *arena_utf8(struct arena *a, struct reel_bytes raw); /* as model text: other bytes and NUL as \xNN */
/* Why it gave NULL: REEL_NO_MEMORY, which may go better another time, or REEL_LIMIT with the ceiling. Returns false. */
bool arena_fail(const struct arena *a, struct reel_error *err);
void arena_free(struct arena *a); /* empties; the struct may be used again */

#endif
