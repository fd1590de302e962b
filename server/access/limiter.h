/* A rate limit for each address (IPv6: its /64): a burst, then one per interval. Memory is bounded: the addresses idle
 * longest are forgotten. Thread-safe. */
#ifndef SERVER_ACCESS_LIMITER_H
#define SERVER_ACCESS_LIMITER_H

#include "access/network.h"
#include "reel/cleanup.h"

struct limiter;
struct limiter *limiter_new(unsigned at_once, unsigned every_ms, struct reel_error *err);
void limiter_free(struct limiter *l);
REEL_DEFINE_AUTO(struct limiter, limiter_free);

/* Counts one event and returns 0; over the limit, counts nothing and returns the seconds until the next event is
 * allowed. */
unsigned limiter_take(struct limiter *l, const struct address *address, int64_t now_ms);

#endif
