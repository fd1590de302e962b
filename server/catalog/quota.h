/* Quotas: a full collection refuses new recordings and keeps what it has. */
#ifndef SERVER_CATALOG_QUOTA_H
#define SERVER_CATALOG_QUOTA_H

#include "catalog/catalog.h"

/* Is there room for `bytes` more and, with `added`, for one more recording? REEL_NO_SPACE with the numbers. */
bool quota_check(struct catalog *c, const char *collection, uint64_t bytes, bool added, struct reel_error *err);
/* The same for a recording that moves to another collection (NULL: stays in its own and is restored from the trash). */
bool quota_check_move(struct catalog *c, const char *id, const char *collection, struct reel_error *err);
/* The lock (work/locks.h) to hold from a check to the write that uses the room, by collection: two requests do not use
 * the same room. */
#define QUOTA_LOCK "quota"

#endif
