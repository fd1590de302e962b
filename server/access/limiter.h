/* How often something may happen for one address (IPv6: for 64 bits of it): a number at once, then one in a while. Bounded: of many
 * addresses those that have been quiet the longest are forgotten. Any thread may ask. */
#ifndef SERVER_ACCESS_LIMITER_H
#define SERVER_ACCESS_LIMITER_H

#include "access/network.h"
#include "reel/cleanup.h"

struct limiter;
struct limiter *limiter_new(unsigned at_once, unsigned every_ms, struct reel_error *err);
void limiter_free(struct limiter *l);
REEL_DEFINE_AUTO(struct limiter, limiter_free);

/* It happened once more. Returns 0, or after how many seconds it may happen again; then this one does not count. */
unsigned limiter_take(struct limiter *l, const struct address *address, int64_t now_ms);

#endif
