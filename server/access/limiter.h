/* A rate limit for each address (IPv6: its /64): a burst, then one in each interval. Bounded: the addresses that were idle longest are
 * forgotten. Any thread may call. */
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
