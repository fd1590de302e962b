/* Where the catalog of a data folder is: in it or, when its disk is not fit for a database (NFS), in another folder, or
 * in PostgreSQL. */
#ifndef SERVER_CATALOG_LOCATION_H
#define SERVER_CATALOG_LOCATION_H

#include <limits.h>

#include "catalog/catalog.h"

/* The path of catalog.db, which need not be there yet, or the address of PostgreSQL: in the folder, or the address,
 * that the file "catalog-folder" of the data folder names, else in the data folder. REEL_NOT_FOUND when the named
 * folder is missing: no new catalog is created while its disk is not mounted. */
bool catalog_location(const char *data, char out[PATH_MAX], struct reel_error *err);
/* From now on the catalog of `data` is in `folder`, or at this address, for every command (NULL: no change).
 * REEL_CONFLICT when there is one elsewhere, which has to be moved first. */
bool catalog_set_location(const char *data, const char *folder, struct reel_error *err);
/* The catalog of `data`, which was moved from the file or address `from`, is at the address `to` from now on; NULL: in
 * the file `made`, which becomes catalog.db in the data folder. A file that it was in before is kept as
 * catalog.db.moved-N. */
bool catalog_switch(const char *data, const char *from, const char *to, const char *made, struct reel_error *err);
/* The id of a data folder, made when it has none: of one server among several. */
bool catalog_folder_id(const char *data, char out[RECORDING_ID_TEXT], struct reel_error *err);
/* A catalog in PostgreSQL belongs to one data folder, and any catalog of a bucket to that one: both keep the same id,
 * which the first server makes. REEL_CONFLICT: it belongs to another one. Other catalogs lie with their data: always
 * true. */
struct store;
bool catalog_claim(struct catalog *c, struct store *store, const char *data, struct reel_error *err);
/* The same for a new catalog that is about to be made from what the bucket has: the bucket is its own from now on. */
bool catalog_claim_again(struct catalog *c, struct store *store, struct reel_error *err);

#endif
