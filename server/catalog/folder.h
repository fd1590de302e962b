/* A collection as a folder: names of recordings are paths. */
#ifndef SERVER_CATALOG_FOLDER_H
#define SERVER_CATALOG_FOLDER_H

#include "catalog/catalog.h"

struct catalog_folder_entry {
    char *folder; /* the path of a folder, without a slash at its end; NULL: a recording */
    struct catalog_recording recording;
};
enum { FOLDER_PAGE = 100 };
struct catalog_folder {
    struct catalog_folder_entry items[FOLDER_PAGE];
    uint32_t n;
    char *next; /* where the next page begins; NULL: there is none */
};
void catalog_folder_done(struct catalog_folder *folder);
/* A page of what is directly in the folder `path` of a collection ("": its top), in order of names. `from`: `next` of
 * the page before; NULL: the first page. A recording is there once, as its newest revision. */
bool catalog_folder_list(struct catalog *c, const char *collection, const char *path, const char *from,
                         struct catalog_folder *out, struct reel_error *err);

#endif
