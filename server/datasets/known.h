/* Which dataset a definition is now: its sha, so that the recordings of one that is asked for again and again are
 * looked up only when the catalog has changed. An entry holds for one version of the catalog, read before the
 * recordings are, and, as searches may be relative to the time, for KNOWN_NS. */
#ifndef SERVER_DATASETS_KNOWN_H
#define SERVER_DATASETS_KNOWN_H

#include "base/digest.h"
#include "reel/error.h"

enum { DATASETS_KNOWN_MAX = 256 }; /* more than may be saved: previews are known, too */

struct known_datasets;
struct known_datasets *known_datasets_new(struct reel_error *err);
void known_datasets_free(struct known_datasets *known); /* NULL is fine */

struct known_key {
    char name[SHA1_HEX]; /* of all in the request that decides; "": no memory */
    uint64_t version;    /* of the catalog */
};
bool known_find(struct known_datasets *known, const struct known_key *key, char sha[SHA1_HEX]);
/* In place of what was known of it, or of the entry that came first. */
void known_keep(struct known_datasets *known, const struct known_key *key, const char *sha);

#endif
