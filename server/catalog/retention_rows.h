/* The rows that retention rules and quotas go by. */
#ifndef SERVER_CATALOG_RETENTION_ROWS_H
#define SERVER_CATALOG_RETENTION_ROWS_H

#include "catalog/catalog.h"

struct retention_row {
    int64_t row;
    char id[RECORDING_ID_TEXT];
    char *collection, *name;
    uint32_t revision;
    uint64_t size;
    int64_t created_ns;
    bool kept; /* by a tag */
};
void retention_rows_done(struct retention_row *rows, uint32_t n);

/* The next collection after *name, and its bytes outside of the trash; *name becomes malloc'd, NULL at the end. */
bool catalog_retention_collection(struct catalog *c, char **name, uint64_t *bytes, struct reel_error *err);
/* At most `max` recordings of it after `row`, the oldest first; keep: a JSON object of tags, null being any value. */
bool catalog_retention_rows(struct catalog *c, const char *collection, const char *keep, int64_t row,
                            struct retention_row *out, uint32_t max, uint32_t *n, struct reel_error *err);
/* Those in the trash, untouched since before `before_ns`. */
bool catalog_retention_trash(struct catalog *c, int64_t before_ns, int64_t row, struct retention_row *out, uint32_t max,
                             uint32_t *n, struct reel_error *err);
/* What a collection holds outside of the trash. */
bool catalog_quota_used(struct catalog *c, const char *collection, uint64_t *recordings, uint64_t *bytes,
                        struct reel_error *err);

#endif
