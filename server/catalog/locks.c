/* See locks.h. */
#include "catalog/locks.h"

#include "catalog/catalog_internal.h"

bool catalog_is_remote(const struct catalog *c) {
    return db_is_remote(c->db);
}
bool catalog_lock_try(struct catalog *c, int64_t key, bool *got, struct reel_error *err) {
    return db_lock_try(c->db, key, got, err);
}
void catalog_unlock(struct catalog *c, int64_t key) {
    db_unlock(c->db, key);
}
void catalog_lock_missing(bool without) {
    db_lock_missing(without);
}
