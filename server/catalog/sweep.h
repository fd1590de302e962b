/* What a sweep compares the store with, by thousands: a query for each file takes longer than reading all of them. */
#ifndef SERVER_CATALOG_SWEEP_H
#define SERVER_CATALOG_SWEEP_H

#include "catalog/catalog.h"

enum { CATALOG_SWEPT = 4096 }; /* what one query reads */

/* ---- hashes in their order, for a sorted list of what is stored */

enum catalog_hashed { HASHED_PARTS, HASHED_CONTENTS, HASHED_OBJECTS };
struct catalog_hashes { /* all from `low` to the last item; with `rest` to the end of all */
    enum catalog_hashed of;
    char low[SHA256_HEX];
    bool rest;
    uint32_t n;
    char items[CATALOG_SWEPT][SHA256_HEX];
};
/* The page that begins at `low`. */
bool catalog_hashes_from(struct catalog *c, const char *low, struct catalog_hashes *page, struct reel_error *err);
/* Whether there is this hash. The page (at first only `of` is set) is read anew where it does not reach: a query per
 * thousands when questions come in order. What has changed since the page was read is not in it. */
bool catalog_hashes_has(struct catalog *c, struct catalog_hashes *page, const char *sha256, bool *has,
                        struct reel_error *err);

/* ---- files of recordings */

struct catalog_files { /* zeroed at first */
    int64_t after;     /* the last row that was read */
    uint32_t rows;     /* recordings of this page; 0: there are no more */
    uint32_t n, room;
    struct catalog_row_file {
        int64_t row;
        char sha256[SHA256_HEX];
    } * items;
};
/* The next page of ready recordings, by row: their files; with `objects` only those without an object. */
bool catalog_ready_files(struct catalog *c, bool objects, struct catalog_files *page, struct reel_error *err);
void catalog_files_done(struct catalog_files *page);
/* Visits the recordings of these rows; stops when visit() is false. */
bool catalog_each_row(struct catalog *c, const int64_t *rows, uint32_t n,
                      bool (*visit)(void *context, const struct catalog_recording *r), void *context,
                      struct reel_error *err);

#endif
