/* What goes by itself: rules of retention by collection, and how much a collection may hold. The document:
 * {"rules": [{"collection": GLOB, "max_age": "30d", "max_bytes": N, "keep": {KEY: VALUE or null (any)}}],
 *  "quotas": [{"collection": GLOB, "bytes": N, "recordings": N}]}
 * Of rules, and of quotas, the first whose glob matches a collection is that collection's. Age counts from when a recording came in. What a
 * rule takes goes to the trash; what has been there for trash_days (of the server's configuration; 0: for ever) is purged. Quotas do not
 * count what is in the trash. */
#ifndef SERVER_RETENTION_H
#define SERVER_RETENTION_H

#include <jansson.h>

#include "app.h"
#include "catalog/retention.h"
#include "ingest/jobs.h"

enum { RETENTION_RULES_MAX = 100, RETENTION_KEEP_MAX = 32 };

/* Does the document say something? REEL_ARGUMENT. */
bool retention_check(const json_t *document, struct reel_error *err);
json_t *retention_get(struct catalog *c, struct reel_error *err); /* {"rules": [], "quotas": []} when nothing was set */
bool retention_set(struct catalog *c, const json_t *document, struct reel_error *err);

/* ---- what would go, in steps that can be taken up again anywhere */

enum retention_why { RETENTION_AGE, RETENTION_BYTES, RETENTION_TRASH };
struct retention_item {
    struct retention_row row;
    enum retention_why why; /* RETENTION_TRASH: it is purged, else it goes to the trash */
};
struct retention_walk {
    bool in_trash;
    char *collection; /* malloc'd; NULL at the beginning */
    int64_t row;      /* the last one looked at */
    uint64_t bytes;   /* what the collection holds, less what goes */
    bool over;
};
void retention_walk_done(struct retention_walk *w);
char *retention_walk_text(const struct retention_walk *w); /* malloc'd */
bool retention_walk_parse(const char *text, struct retention_walk *out);

enum { RETENTION_STEP = 256 };
/* At most RETENTION_STEP items more, maybe none; `most` of them if that is less. `now_ns` is that of the walk's beginning. */
bool retention_step(struct app *app, const json_t *document, int64_t now_ns, struct retention_walk *w, uint32_t most,
                    struct retention_item *out, uint32_t *n, struct reel_error *err);
void retention_items_done(struct retention_item *items, uint32_t n);

/* ---- doing it */

struct job *retention_run(struct app *app, struct reel_error *err); /* REEL_CONFLICT: it runs already */
json_t *retention_last(struct catalog *c,
                       struct reel_error *err); /* {ended, trashed, purged, failed, bytes}; NULL without an error: it has never run */

struct retention_daily;
struct retention_daily *retention_daily_start(struct app *app, struct reel_error *err);
void retention_daily_stop(struct retention_daily *d); /* NULL is fine */

/* ---- quotas (quota.c) */

/* Is there room for one more recording of so many bytes? `added` false: the bytes only. REEL_NO_SPACE with the figures. */
bool quota_check(struct catalog *c, const char *collection, uint64_t bytes, bool added, struct reel_error *err);
/* A recording that is there takes its room in another collection (NULL: its own, coming out of the trash). As it is now; under
 * quota_hold(). */
bool quota_check_move(struct catalog *c, const char *id, const char *collection, struct reel_error *err);
/* Around a check and what takes the room, so that two at once do not take the same. */
void quota_hold(void);
void quota_release(void);

#endif
