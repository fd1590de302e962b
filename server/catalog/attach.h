/* The store of an archive that a command opens. */
#ifndef SERVER_CATALOG_ATTACH_H
#define SERVER_CATALOG_ATTACH_H

#include "catalog/catalog.h"
#include "store/store.h"

/* When the files are in a bucket: opens it, and makes the catalog its directory. NULL: there is none, and no file can
 * be found. */
bool catalog_attach(struct catalog *c, struct store *store, struct reel_error *err);

#endif
