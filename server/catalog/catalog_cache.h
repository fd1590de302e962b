/* What requests ask the catalog for again and again: recordings with the answer made of them, and tokens.
 *
 * Rule: an entry is valid for one version of the catalog (db_version()), read before the transaction that the value
 * comes from. After a commit of anybody the value is read anew; if it is the same then, its answer stays. Times are not
 * part of the rule: whoever uses a token checks its expiry at each use.
 *
 * Bounds: CACHE_BYTES_MAX in total, CACHE_ENTRY_MAX each; what is absent has slots of its own, so that unknown tokens
 * displace no valid ones. Locks: one mutex per stripe; nothing else is locked and no query is run under it. */
#ifndef SERVER_CATALOG_CATALOG_CACHE_H
#define SERVER_CATALOG_CATALOG_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

enum { CACHE_BYTES_MAX = 32 << 20, CACHE_ENTRY_MAX = 64 << 10 };

struct catalog_cache;

struct catalog_cache_kind { /* of values; static */
    enum { CACHE_RECORDING, CACHE_TOKEN, CACHE_KINDS } number;
    size_t size;                                /* of the struct */
    size_t (*bytes)(const void *value);         /* of what it owns */
    bool (*copy)(const void *from, void *to);   /* false, and *to is empty: no memory */
    void (*done)(void *value);                  /* frees what it owns */
    bool (*same)(const void *a, const void *b); /* an answer made of one is that of the other */
};
struct catalog_cache_key {
    const struct catalog_cache_kind *kind;
    const char *prefix; /* static; separates keys of one kind that could have the same bytes */
    const void *data;
    size_t size;
};

struct catalog_cache *catalog_cache_new(struct reel_error *err);
void catalog_cache_free(struct catalog_cache *cache); /* NULL is fine */

/* A copy into *value; NULL asks whether it is known to be absent. False: there is no entry of this version. */
bool catalog_cache_find(struct catalog_cache *cache, const struct catalog_cache_key *key, uint64_t version,
                        void *value);
/* Copies; NULL: it is absent. What is too large or finds no memory is not kept. */
void catalog_cache_keep(struct catalog_cache *cache, const struct catalog_cache_key *key, uint64_t version,
                        const void *value);

/* The answer that was made of this value with these definitions (own_definitions_version()): malloc'd; NULL: there is
 * none. */
char *catalog_cache_find_answer(struct catalog_cache *cache, const struct catalog_cache_key *key, const void *value,
                                uint32_t definitions);
void catalog_cache_keep_answer(struct catalog_cache *cache, const struct catalog_cache_key *key, const void *value,
                               uint32_t definitions, const char *text); /* copies */

size_t catalog_cache_bytes(struct catalog_cache *cache); /* of all entries; for tests */

#endif
