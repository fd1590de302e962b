/* What the catalog's files share and nobody else needs. */
#ifndef SERVER_CATALOG_OWN_H
#define SERVER_CATALOG_OWN_H

#include "catalog/catalog.h"
#include "catalog/db.h"

struct rows;

struct catalog {
    struct db *db;
    struct rows *rows;
};

/* rows.c: rows by id as they were at a version of the database (db_version). */
struct rows *rows_new(struct reel_error *err);
void rows_free(struct rows *rows);
bool rows_find(struct rows *rows, const char *id, uint64_t version, struct catalog_recording *out); /* a copy */
void rows_keep(struct rows *rows, uint64_t version, const struct catalog_recording *r);             /* copies */

/* Brings the database to the newest version; refuses one that a newer program, or another one, has made. */
bool catalog_migrate(struct db *db, struct reel_error *err);

/* The recording of that row with its parts; REEL_NOT_FOUND. */
bool catalog_load(struct db_handle *h, int64_t row, struct catalog_recording *out, struct reel_error *err);

/* Links topics and types of the index to the row and makes its words findable; index NULL: name and collection only. `fresh`: the row has
 * none yet. */
bool catalog_label(struct db_handle *h, const struct catalog_recording *r, const struct reel_index *index, bool fresh,
                   struct reel_error *err);

/* ---- list.c: what is asked of sql/queries/list.sql */
enum { LIST_FEW = 2000 }; /* a filter that leaves no more than this is the way in */
enum list_way { LIST_WALK, LIST_STREAM, LIST_COLLECTION, LIST_FORMAT, LIST_STATE, LIST_DAMAGED, LIST_WORDS, LIST_LABEL };
struct list_form {
    enum list_way way;
    const char *column; /* of the sort: "row", "name" … */
    bool descending, counting;
};
/* The statement for a query that goes that way; malloc'd, NULL without memory. */
char *list_sql(const struct catalog_query *q, const struct list_form *form);

#endif
