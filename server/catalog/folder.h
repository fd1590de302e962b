/* A collection in the order of its names, which are paths: what folders and listings of objects are made of. */
#ifndef SERVER_CATALOG_FOLDER_H
#define SERVER_CATALOG_FOLDER_H

#include "catalog/catalog.h"

struct catalog_folder_file { /* a recording as its newest revision outside of the trash */
    char *name;
    enum recording_state state;
    int64_t row, created_ns;
    char sha256[SHA256_HEX]; /* of its first file */
    uint64_t size;
    bool is_empty, has_several; /* it has no files, or more than one */
};
struct catalog_folder {
    struct catalog_folder_file *items;
    uint32_t n;
    char *last; /* the last name that was read; NULL: there are no more */
};
void catalog_folder_done(struct catalog_folder *files);
/* The recordings of a collection whose name is `from` or after it and begins with `prefix`, by name in the order of
 * bytes. Reads at most `limit` rows, of which older revisions are left out. */
bool catalog_folder_read(struct catalog *c, const char *collection, const char *prefix, const char *from,
                         uint32_t limit, struct catalog_folder *out, struct reel_error *err);
/* The first name that is after `last` and its older revisions, or, if `last` ends with a slash, after all that begins
 * with it; malloc'd, NULL without memory. */
char *catalog_folder_after(const char *last);
/* Its parts and all else; REEL_NOT_FOUND: it is gone. */
bool catalog_folder_recording(struct catalog *c, int64_t row, struct catalog_recording *out, struct reel_error *err);

#endif
