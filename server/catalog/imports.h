/* Local files as rows: what was inspected, what failed. Texts belong to the structs. */
#ifndef SERVER_CATALOG_IMPORTS_H
#define SERVER_CATALOG_IMPORTS_H

#include "catalog/catalog.h"

enum { IMPORTS_OF_FOLDER_MAX = 100000 };

enum import_mode { IMPORT_COPY, IMPORT_MOVE, IMPORT_REFERENCE };

struct catalog_import { /* a file in a folder */
    char *name;
    uint64_t device, inode, size;
    int64_t mtime_ns;
    char fingerprint[65]; /* "" = it was not read */
    enum import_mode mode;
    char content[SHA256_HEX];          /* "" = it was not taken */
    char recording[RECORDING_ID_TEXT]; /* the same */
    int64_t failure;                   /* the row of why; 0 = none, or it was forgotten */
    enum reel_code code;               /* of that failure */
};
struct catalog_imports {
    struct catalog_import *items;
    uint32_t n;
};
void catalog_imports_done(struct catalog_imports *list);

bool catalog_imports_of_folder(struct catalog *c, const char *folder, struct catalog_imports *out,
                               struct reel_error *err); /* by name */
bool catalog_imports_of_failure(struct catalog *c, int64_t failure, struct catalog_imports *out,
                                struct reel_error *err);
bool catalog_import_is_known(struct catalog *c, const char *folder, const char *name, bool *known,
                             struct reel_error *err);
/* Fingerprint, content and failure of one; *recorded: its recording is there. REEL_NOT_FOUND. */
bool catalog_import_find(struct catalog *c, const char *folder, const char *name, struct catalog_import *out,
                         bool *recorded, struct reel_error *err);
/* Files of a folder that were taken, or passed over; what had failed of them is no failure any more. One transaction.
 */
bool catalog_imports_put(struct catalog *c, const char *folder, const struct catalog_import *items, uint32_t n,
                         struct reel_error *err);
bool catalog_imports_forget(struct catalog *c, const char *folder, const struct catalog_import *items, uint32_t n,
                            struct reel_error *err);

struct catalog_referenced { /* a page of what is referenced, by folder and name */
    char *folder, *name;
    char content[SHA256_HEX];
};
/* At most `max` after (folder, name); *n of them. */
bool catalog_referenced_after(struct catalog *c, const char *folder, const char *name, struct catalog_referenced *out,
                              uint32_t max, uint32_t *n, struct reel_error *err);
void catalog_referenced_done(struct catalog_referenced *items, uint32_t n);
/* The recordings that have this file as a part: their ids, at most `max`. */
bool catalog_recordings_of_file(struct catalog *c, const char *sha256, char (*ids)[RECORDING_ID_TEXT], uint32_t max,
                                uint32_t *n, struct reel_error *err);
/* The same of a content. */
bool catalog_recordings_of_content(struct catalog *c, const char *content, char (*ids)[RECORDING_ID_TEXT], uint32_t max,
                                   uint32_t *n, struct reel_error *err);

struct catalog_failure {
    int64_t row;
    char *folder, *name;               /* of a file, the first one of several; "" when it is a recording */
    char recording[RECORDING_ID_TEXT]; /* "" when it is a file */
    char *recording_name;
    char *collection, *reason, *request; /* request: JSON, how to try again */
    enum reel_code code;                 /* REEL_OK for a recording */
    uint64_t tries;
    int64_t first_ns, last_ns;
};
void catalog_failure_done(struct catalog_failure *f);
/* Why the files could not be taken, under the first one's name; one more try when that is there. One transaction. Sets
 * f->row. */
bool catalog_failure_put(struct catalog *c, struct catalog_failure *f, const struct catalog_import *items, uint32_t n,
                         struct reel_error *err);
bool catalog_failures_after(struct catalog *c, int64_t row, struct catalog_failure *out, uint32_t max, uint32_t *n,
                            struct reel_error *err);
/* REEL_NOT_FOUND */
bool catalog_failure_get(struct catalog *c, int64_t row, struct catalog_failure *out, struct reel_error *err);
bool catalog_failure_forget(struct catalog *c, int64_t row, struct reel_error *err); /* REEL_NOT_FOUND */
bool catalog_failures_count(struct catalog *c, uint64_t most, uint64_t *count, struct reel_error *err);

#endif
