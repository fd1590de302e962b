/* Which object in S3 has a content: the rows behind struct store_directory. Any thread may call. */
#ifndef SERVER_CATALOG_OBJECTS_H
#define SERVER_CATALOG_OBJECTS_H

#include "catalog/catalog.h"
#include "store/directory.h"

/* The catalog as the store's directory; it must outlive the store. */
struct store_directory catalog_directory(struct catalog *c);
/* Whether an upload session that is open, or waits to be concatenated, needs this object, whose name is hex digits. */
bool catalog_object_in_session(struct catalog *c, const char *name, bool *needed, struct reel_error *err);
/* Whether a content has the object at this location. */
bool catalog_object_known(struct catalog *c, const char *location, bool *known, struct reel_error *err);

#endif
