/* The catalog as maintenance sees it: checked and repaired, copied while it is in use, filled from manifests, and the
 * results of the integrity check. */
#ifndef SERVER_CATALOG_MAINTENANCE_H
#define SERVER_CATALOG_MAINTENANCE_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "catalog/notes.h"
#include "index/scan.h"

/* Opens an existing catalog for reading only; a server may be running. REEL_NOT_FOUND; REEL_UNSUPPORTED: another
 * version. */
struct catalog *catalog_open_readonly(const char *path, struct reel_error *err);
/* Whether a catalog of any version has a token, before it is put aside. REEL_NOT_FOUND; REEL_UNSUPPORTED: it is another
 * program's, or of a newer version, and must stay. */
bool catalog_has_tokens(const char *path, bool *exist, struct reel_error *err);
uint32_t catalog_version(void); /* of a catalog that this program creates */
/* What the next start would do to an existing catalog: nothing when both versions are equal. REEL_NOT_FOUND: there is
 * none; REEL_UNSUPPORTED: this program cannot use it. */
struct catalog_pending {
    uint64_t version, newest;
};
bool catalog_pending(const char *path, struct catalog_pending *out, struct reel_error *err);
const char *catalog_migration(uint64_t version); /* the name of the one that leads from it to the next */

/* ---- checks (check.c) */

/* Calls report() for every inconsistency within the catalog: kind "catalog", "search", "totals". `writes`: also checks
 * that need a catalog open for writing. False when the checks cannot run. */
struct catalog_check {
    void (*report)(void *context, const char *kind, const char *text);
    void *context;
    bool writes;
};
bool catalog_check(struct catalog *c, const struct catalog_check *check, struct reel_error *err);
/* Recomputes what is derived: totals, counts, the full-text index. */
bool catalog_repair(struct catalog *c, struct reel_error *err);

bool catalog_is_new(struct catalog *c, bool *fresh, struct reel_error *err); /* it never had a recording */
bool catalog_has(struct catalog *c, const char *id, bool *has, struct reel_error *err);
bool catalog_manifest_mark(struct catalog *c, const char *id, struct reel_error *err); /* it has to be written again */
bool catalog_manifest_is_due(struct catalog *c, int64_t row, bool *due, struct reel_error *err);
bool catalog_manifests_any(struct catalog *c); /* some are due */

/* The texts of the table maintenance; NULL deletes one. catalog_maintenance() returns a malloc'd text, "" when there is
 * none. */
bool catalog_set_maintenance(struct catalog *c, const char *key, const char *value, struct reel_error *err);
#define CATALOG_STATISTICS "statistics" /* up to which row they are made: scans/statistics.c */
char *catalog_maintenance(struct catalog *c, const char *key, struct reel_error *err);

/* ---- rebuilding (adopt.c): many recordings, several per transaction */

struct catalog_adoption;
struct catalog_adoption *catalog_adopt_begin(struct catalog *c, struct reel_error *err);
/* `r` with its own id, revision and created_ns; r->state is its state, or with `trashed` that before the trash. *added
 * is false when the id is there already. */
struct catalog_adopted {
    struct catalog_recording *r;
    const struct reel_index *index; /* may be NULL */
    const struct catalog_notes *notes;
    const struct catalog_events *events;
    bool trashed, added;
};
bool catalog_adopt(struct catalog_adoption *a, struct catalog_adopted *one, struct reel_error *err);
bool catalog_adopt_end(struct catalog_adoption *a, bool keep, struct reel_error *err); /* frees; NULL is fine */

/* ---- copies (copy.c) */

struct catalog_copy { /* filled in */
    uint64_t bytes, recordings;
    char sha256[SHA256_HEX];
};
/* A copy at one instant as one file, while others read and write; complete under its name, or absent. It is marked as a
 * copy. */
bool catalog_copy(struct catalog *c, const char *path, const struct reel_progress *progress, struct catalog_copy *out,
                  struct reel_error *err);

/* ---- the stored files (scrubs.c) */

/* The first stored file after this hash ("" : the first); REEL_NOT_FOUND at the end. */
bool catalog_part_after(struct catalog *c, const char *after, char sha256[SHA256_HEX], uint64_t *size,
                        struct reel_error *err);
/* The same for the contents of recordings, each of which has an index pack. */
bool catalog_content_after(struct catalog *c, const char *after, char content[SHA256_HEX], struct reel_error *err);
bool catalog_parts_total(struct catalog *c, uint64_t *files, uint64_t *bytes, struct reel_error *err);
/* A stored file is corrupted: recorded, also as the problem of every recording that uses it. */
bool catalog_corruption_found(struct catalog *c, const char *sha256, const char *text, struct reel_error *err);
/* It is intact again, or replaced. */
bool catalog_corruption_cleared(struct catalog *c, const char *sha256, struct reel_error *err);
bool catalog_corruption_count(struct catalog *c, uint64_t *files, struct reel_error *err);
bool catalog_is_corrupted(struct catalog *c, const char *sha256, bool *corrupted, struct reel_error *err);
/* [{sha256, found, problem, recordings: [{id, collection, name}]}]: at most CORRUPTION_LIST_MAX recordings of
 * collections that `sees` lets through (NULL: all). */
enum { CORRUPTION_LIST_MAX = 1000 };
json_t *catalog_corruption_list(struct catalog *c, bool (*sees)(const void *context, const char *collection),
                                const void *context, struct reel_error *err);

#endif
