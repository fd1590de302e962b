/* Rebuilds rows of the catalog from manifests: recordings that a manifest names and the catalog does not have. After
 * the loss of the catalog these are all. */
#ifndef SERVER_MAINTENANCE_REBUILD_H
#define SERVER_MAINTENANCE_REBUILD_H

#include <jansson.h>

#include "app.h"
#include "catalog/notes.h"
#include "index/scan.h"

struct rebuild_entry {
    int64_t created_ns;
    char content[SHA256_HEX], id[RECORDING_ID_TEXT];
};
struct rebuild_list {
    struct rebuild_entry *items;
    size_t n;
    uint64_t manifests, unreadable; /* read; of them malformed */
};
void rebuild_list_done(struct rebuild_list *list);

/* In the order in which they were created. */
bool rebuild_find(struct app *app, const struct reel_progress *progress, struct rebuild_list *out,
                  struct reel_error *err);
/* Parses one recording of a manifest, with its notes and events. False: invalid (REEL_DAMAGED). `manifest` is
 * untrusted. */
struct rebuilt {
    struct catalog_recording r; /* state: from the manifest */
    struct catalog_notes notes;
    struct catalog_events events;
};
bool rebuild_read(const json_t *manifest, const json_t *item, struct rebuilt *out, struct reel_error *err);
void rebuilt_done(struct rebuilt *b);

/* Adds them to the catalog; a recording without an index is scanned. on_recording() is called for each; why is NULL on
 * success. */
struct rebuild_observer {
    void (*on_recording)(void *context, const struct rebuild_entry *entry, const struct catalog_recording *r,
                         const char *why);
    void *context;
};
bool rebuild_adopt(struct app *app, const struct rebuild_list *list, const struct rebuild_observer *observer,
                   const struct reel_progress *progress, struct reel_error *err);

/* Renames the catalog (catalog/location.h) and its side files to catalog.db.old-N; fine when there is none. The data
 * folder's lock is held. */
bool rebuild_set_catalog_aside(const char *catalog, char name[64], struct reel_error *err);
/* Descriptions of collections, from collections.json. */
bool rebuild_collections(struct app *app, struct reel_error *err);

/* At start, before the sweep: if the catalog was restored from a backup or never had a recording (the old one was
 * lost), adds the recordings of the manifests and the settings. *n: how many. */
bool rebuild_if_lost(struct app *app, uint64_t *n, struct reel_error *err);

#endif
