/* The catalog as maintenance sees it: checked and repaired, copied while it is in use, filled from manifests, and the results of the
 * integrity check. */
#ifndef SERVER_CATALOG_MAINTENANCE_H
#define SERVER_CATALOG_MAINTENANCE_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "catalog/notes.h"
#include "reel/scan.h"

/* Opens a catalog that is there for reading only, beside a server too. REEL_NOT_FOUND; REEL_UNSUPPORTED when it is of another version. */
struct catalog *catalog_open_readonly(const char *path, struct reel_error *err);
uint32_t catalog_version(void); /* of a catalog that this program makes */

/* ---- looked through (check.c) */

/* Calls tell() for everything that is wrong with the catalog by itself: kind "catalog", "search", "figures". `writes`: also what only a
 * catalog open for writing can tell. False when it cannot be looked through at all. */
struct catalog_check {
    void (*tell)(void *context, const char *kind, const char *text);
    void *context;
    bool writes;
};
bool catalog_check(struct catalog *c, const struct catalog_check *check, struct reel_error *err);
/* Makes anew what follows from the rest: figures, counts, words. */
bool catalog_repair(struct catalog *c, struct reel_error *err);

bool catalog_is_new(struct catalog *c, bool *fresh, struct reel_error *err); /* it has never had a recording */
bool catalog_has(struct catalog *c, const char *id, bool *has, struct reel_error *err);
bool catalog_manifest_mark(struct catalog *c, const char *id, struct reel_error *err); /* it is to be written again */
bool catalog_manifest_is_due(struct catalog *c, int64_t row, bool *due, struct reel_error *err);

/* A text that upkeep keeps (0008_upkeep.sql); NULL: takes it away. catalog_maintenance() gives a malloc'd text, "" when there is none. */
bool catalog_set_maintenance(struct catalog *c, const char *key, const char *value, struct reel_error *err);
char *catalog_maintenance(struct catalog *c, const char *key, struct reel_error *err);

/* ---- filled again (adopt.c): many recordings, some to a transaction */

struct catalog_adoption;
struct catalog_adoption *catalog_adopt_begin(struct catalog *c, struct reel_error *err);
/* `r` with its own id, revision and created_ns; r->state is its state, or with `trashed` that before the trash. *added is false when the id
 * is there already. */
struct catalog_adopted {
    struct catalog_recording *r;
    const struct reel_index *index; /* may be NULL */
    const struct catalog_notes *notes;
    const struct catalog_events *events;
    bool trashed, added;
};
bool catalog_adopt(struct catalog_adoption *a, struct catalog_adopted *one, struct reel_error *err);
bool catalog_adopt_end(struct catalog_adoption *a, bool keep, struct reel_error *err); /* frees; NULL is fine */

/* ---- copied (copy.c) */

struct catalog_copy { /* filled in */
    uint64_t bytes, recordings;
    char sha256[SHA256_HEX];
};
/* A copy as one file, of one instant, made while others read and write; it is whole under its name or not there. It remembers that it is
 * one. */
bool catalog_copy(struct catalog *c, const char *path, const struct reel_progress *progress, struct catalog_copy *out,
                  struct reel_error *err);

/* ---- the stored files (scrubs.c) */

/* The first stored file behind this hash ("" : the first); REEL_NOT_FOUND at the end. */
bool catalog_part_after(struct catalog *c, const char *after, char sha256[SHA256_HEX], uint64_t *size, struct reel_error *err);
bool catalog_parts_total(struct catalog *c, uint64_t *files, uint64_t *bytes, struct reel_error *err);
/* A stored file is not what its name says: remembered, and told as the problem of every recording that uses it. */
bool catalog_corruption_found(struct catalog *c, const char *sha256, const char *text, struct reel_error *err);
/* It is right again, or replaced. */
bool catalog_corruption_cleared(struct catalog *c, const char *sha256, struct reel_error *err);
bool catalog_corruption_count(struct catalog *c, uint64_t *files, struct reel_error *err);
bool catalog_is_corrupted(struct catalog *c, const char *sha256, bool *corrupted, struct reel_error *err);
/* [{sha256, found, problem, recordings: [{id, collection, name}]}]: at most CORRUPTION_LIST_MAX recordings of collections that `sees` lets
 * through (NULL: all). */
enum { CORRUPTION_LIST_MAX = 1000 };
json_t *catalog_corruption_list(struct catalog *c, bool (*sees)(const void *context, const char *collection), const void *context,
                                struct reel_error *err);

#endif
