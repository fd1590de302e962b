/* Locks by a number that all servers of one catalog share: see db_lock_try(). */
#ifndef SERVER_CATALOG_LOCKS_H
#define SERVER_CATALOG_LOCKS_H

#include "catalog/catalog.h"

bool catalog_is_remote(const struct catalog *c); /* several servers may use it */
bool catalog_lock_try(struct catalog *c, int64_t key, bool *got, struct reel_error *err);
void catalog_unlock(struct catalog *c, int64_t key);
void catalog_lock_missing(bool without);

#endif
