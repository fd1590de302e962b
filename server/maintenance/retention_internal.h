/* What the files of retention share and nobody else needs. */
#ifndef SERVER_RETENTION_INTERNAL_H
#define SERVER_RETENTION_INTERNAL_H

#include <jansson.h>

#include "reel/iterate.h"

/* The rule or quota ("rules", "quotas") of a collection; NULL: it has none. */
const json_t *retention_of(const json_t *document, const char *list, const char *collection);

#endif
