/* The entry of a recording in the manifest of its content. */
#ifndef SERVER_MANIFESTS_MANIFEST_ENTRY_H
#define SERVER_MANIFESTS_MANIFEST_ENTRY_H

#include "catalog/catalog.h"
#include "catalog/notes.h"
#include "manifests/manifest_entry.h"

struct store;

struct manifest_annotations {
    const struct catalog_notes *notes;
    const struct catalog_events *events;
};
/* Adds or replaces the entry of r in the manifest of r->content. `annotations` NULL: keeps the notes and events in the
 * manifest. */
bool manifest_write(struct store *store, const struct catalog_recording *r,
                    const struct manifest_annotations *annotations, struct reel_error *err);

#endif
