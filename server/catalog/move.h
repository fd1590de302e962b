/* Moves a catalog from one database to another: from SQLite to PostgreSQL or back. */
#ifndef SERVER_CATALOG_MOVE_H
#define SERVER_CATALOG_MOVE_H

#include <stdint.h>

#include "index/scan.h"

struct catalog_moved {
    uint64_t tables, rows;
};

/* Copies all of `from` into `to`, which must be empty, in one transaction: it is there whole or not at all. Every row
 * is read back and compared by SHA-256 before. Nobody may write to `from` meanwhile. Progress is in rows. */
bool catalog_move(const char *from, const char *to, const struct reel_progress *progress, struct catalog_moved *out,
                  struct reel_error *err);

#endif
