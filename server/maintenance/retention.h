/* Retention: the rules of catalog/retention_rules.h move recordings to the trash, and what has been in the trash for
 * trash_days (server option; 0: forever) is deleted permanently. */
#ifndef SERVER_MAINTENANCE_RETENTION_H
#define SERVER_MAINTENANCE_RETENTION_H

#include <jansson.h>

#include "app.h"
#include "catalog/retention_rows.h"
#include "catalog/retention_rules.h"

/* ---- the walk over the recordings to delete, in resumable steps */

enum retention_why { RETENTION_AGE, RETENTION_BYTES, RETENTION_TRASH };
struct retention_item {
    struct retention_row row;
    enum retention_why why; /* RETENTION_TRASH: it is deleted permanently, else moved to the trash */
};
struct retention_walk {
    bool in_trash;
    char *collection; /* malloc'd; NULL at the beginning */
    int64_t row;      /* the last one read */
    uint64_t bytes;   /* size of the collection without the recordings to delete */
    bool over;
};
void retention_walk_done(struct retention_walk *w);
char *retention_walk_text(const struct retention_walk *w); /* malloc'd */
bool retention_walk_parse(const char *text, struct retention_walk *out);

enum { RETENTION_STEP = 256 };
/* The next items, at most RETENTION_STEP and `most`, maybe none. `now_ns` is the time at which the walk began. */
bool retention_step(struct app *app, const json_t *document, int64_t now_ns, struct retention_walk *w, uint32_t most,
                    struct retention_item *out, uint32_t *n, struct reel_error *err);
void retention_items_done(struct retention_item *items, uint32_t n);

/* ---- deleting */

struct job_call;
bool retention_run(struct app *app, const struct job_call *call, struct reel_error *err); /* the job "retention" */
bool retention_is_due(struct app *app); /* once a day, counted from the last run, whoever started it */
json_t *retention_last(struct catalog *c, struct reel_error *err); /* {ended, trashed, purged, failed, bytes}; NULL
                                                                      without an error: it has never run */

#endif
