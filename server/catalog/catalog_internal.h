/* Shared by the catalog's files only. */
#ifndef SERVER_CATALOG_CATALOG_INTERNAL_H
#define SERVER_CATALOG_CATALOG_INTERNAL_H

#include "catalog/catalog.h"
#include "catalog/db.h"

struct catalog_cache;
struct list_sets;
struct catalog_note;
struct catalog_event;

struct catalog {
    struct db *db;
    struct catalog_cache *cache; /* catalog_cache.h */
    struct list_sets *lists;     /* list.h; NULL: none are kept */
};

/* The recording of that row with its parts and tags; REEL_NOT_FOUND. */
bool catalog_load(struct db_handle *h, int64_t row, struct catalog_recording *out, struct reel_error *err);
/* load.c: the same of n rows at once into zeroed items, which the caller frees in any case; a row that is not there
 * leaves its item zeroed.
 */
bool catalog_load_rows(struct db_handle *h, const int64_t *rows, uint32_t n, struct catalog_recording *items,
                       struct reel_error *err);
char *rows_json(const int64_t *rows, uint32_t n); /* [1,2,3]; malloc'd, NULL without memory */

/* The newest of that name that is not in the trash; the one that a statement finds by an id or hash. REEL_NOT_FOUND. */
bool row_by_name(struct db_handle *h, const char *collection, const char *name, int64_t *row, struct reel_error *err);
bool row_by_hex(struct db_handle *h, const char *statement, const char *parameter, const char *hex, const char *what,
                int64_t *row, struct reel_error *err);

bool row_insert_parts(struct db_handle *h, const struct catalog_recording *r, struct reel_error *err);

/* Gives the row the labels of the index and makes its name findable; index NULL: it has no labels. `fresh`: the row is
 * new. */
bool catalog_label(struct db_handle *h, const struct catalog_recording *r, const struct reel_index *index, bool fresh,
                   struct reel_error *err);

/* Brings the full text of labels up to date, after labels, tags or events were changed, or recordings deleted. */
bool labels_sweep(struct db_handle *h, struct reel_error *err);

/* A note or an event as a new row of the recording, with the id and times it has. `statement`: event_insert, or one
 * that changes it. */
bool note_write(struct db_handle *h, int64_t row, const struct catalog_note *note, int64_t *note_row,
                struct reel_error *err);
bool event_write(struct db_handle *h, const char *statement, int64_t row, const struct catalog_event *e,
                 struct reel_error *err);

/* announced.c */
/* Fetches of the row after its files changed: who waits, waits for the agent that has announced it last; none waits for
 * a file that has arrived. */
bool fetches_follow(struct db_handle *h, const char *announced, int64_t row, struct reel_error *err);

/* change.c */
/* The row of a recording's id; REEL_NOT_FOUND. */
bool annotations_find_row(struct db_handle *h, const char *id, int64_t *row, struct reel_error *err);
/* A statement that takes ":row" and ":now". */
bool annotations_run(struct db_handle *h, const char *statement, int64_t row, struct reel_error *err);
/* A new version, and the words of its annotations. */
bool annotations_touch(struct db_handle *h, int64_t row, struct reel_error *err);
/* `text` ("" is {}) with the merge patch (RFC 7396) applied, compact, "" when nothing is left; malloc'd. Both are no
 * deeper than a body may be. */
char *annotations_merge(const char *text, const char *patch, struct reel_error *err);
bool annotations_write_tags(struct db_handle *h, int64_t row, const struct catalog_tag *tags, uint32_t n, bool clear,
                            unsigned *changes, struct reel_error *err);

static inline uint32_t annotations_page_limit(uint32_t limit) {
    return limit < 1 ? 1 : limit > PAGE_ITEMS_MAX ? PAGE_ITEMS_MAX : limit;
}

/* retention_rules.c: rules and quotas of a collection that gets another name. */
bool collections_describe(struct db_handle *h, const char *name, const char *description, struct reel_error *err);
bool retention_rename(struct db_handle *h, const char *from, const char *to, struct reel_error *err);

/* allowed.c: the names of collections that such globs (catalog_query.allowed) mean, as a JSON array for json_each();
 * malloc'd. */
bool catalog_allowed(struct db_handle *h, const char *const *globs, char **names, struct reel_error *err);

#endif
