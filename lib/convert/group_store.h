/* The bytes of a plan's packed groups, at their positions in the output, in an unlinked file. Forgotten by its owner,
 * it stays open for the renders that use it. */
#ifndef REEL_CONVERT_GROUP_STORE_H
#define REEL_CONVERT_GROUP_STORE_H

#include "convert/writer.h"

struct kept *kept_new(const struct reel_keep *keep); /* NULL: no memory */
void kept_free(struct kept *kept);                   /* no render uses it any more; NULL is fine */
/* While planning. False: there is no room, or the disk takes nothing. */
bool kept_put(struct kept *kept, uint64_t offset, const void *data, size_t size);
uint64_t kept_bytes(struct kept *kept);
void kept_forget(struct kept *kept);

bool kept_use(struct kept *kept); /* false: it is forgotten. NULL is fine */
void kept_leave(struct kept *kept);
bool kept_read(struct kept *kept, uint64_t offset, void *buffer, size_t size); /* between use and leave */

#endif
