/* The audit log: rows are queued and written by a thread of their own, so that no request waits for the disk. The queue
 * is bounded; lost rows are counted and reported. */
#ifndef SERVER_ACCESS_AUDIT_H
#define SERVER_ACCESS_AUDIT_H

#include "catalog/access.h"
#include "reel/cleanup.h"

struct audit;
struct audit *audit_open(struct catalog *c, struct reel_error *err);
void audit_close(struct audit *a); /* writes the queued rows */
REEL_DEFINE_AUTO(struct audit, audit_close);

void audit_add(struct audit *a, const struct audit_row *row); /* copies the row; sets row and time_ns */
/* Call for every use; written at most once a minute. `used_ns` is the time in the catalog. */
void audit_token_used(struct audit *a, int64_t token, int64_t used_ns);

#endif
