/* Memory that is freed all at once: texts and tables of one index, plan or parse. */
#ifndef REEL_BASE_ARENA_H
#define REEL_BASE_ARENA_H

#include "reel/bytes.h"
#include "reel/error.h"

struct arena_block;
struct arena { /* zero-initialised = empty */
    struct arena_block *blocks;
    size_t left;    /* in the first block */
    size_t used;    /* bytes allocated from the system */
    size_t max;     /* ceiling on `used`; 0 = none */
    bool no_memory; /* the last NULL was for lack of memory, not because of the ceiling */
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-byte aligned; NULL: no memory or above the ceiling */
void *arena_copy(struct arena *a, const void *data, size_t size);
const char *arena_text(struct arena *a, const char *text);                           /* copy with NUL */
const char *const *arena_texts(struct arena *a, const char *const *texts, size_t n); /* copies of all of them */
const char *arena_utf8(struct arena *a, struct reel_bytes raw); /* as model text: NUL and bytes that are not UTF-8
                                                                   become \xNN */
/* Sets the error for a NULL: REEL_NO_MEMORY (transient), or REEL_LIMIT for the ceiling. Returns false. */
bool arena_fail(const struct arena *a, struct reel_error *err);
void arena_free(struct arena *a); /* frees everything; the struct may be used again */

#endif
