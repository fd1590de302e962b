/* The bytes of a plan's compressed groups, in an unlinked file at their offsets in the output, so that they are
 * compressed once. The plan's owner may release the file while outputs read it: it is closed after the last one. */
#ifndef REEL_CONVERT_GROUP_STORE_H
#define REEL_CONVERT_GROUP_STORE_H

#include "convert/writer.h"

struct group_store;
struct group_store *group_store_new(const struct reel_keep *keep); /* NULL: no memory */
void group_store_free(struct group_store *store);                  /* no output uses it; NULL is fine */

/* Only while the plan is made. False: there is no room for the bytes, or they could not be written. */
bool group_store_put(struct group_store *store, uint64_t offset, const void *data, size_t size);
uint64_t group_store_bytes(struct group_store *store); /* 0 once it is released */
void group_store_release(struct group_store *store);

/* An output reads between acquire and drop. False: the store is NULL or released. */
bool group_store_acquire(struct group_store *store);
void group_store_drop(struct group_store *store);
bool group_store_read(struct group_store *store, uint64_t offset, void *buffer, size_t size);

#endif
