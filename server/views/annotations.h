/* JSON of annotations. All return a new reference, or NULL when out of memory. */
#ifndef SERVER_VIEWS_ANNOTATIONS_H
#define SERVER_VIEWS_ANNOTATIONS_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "catalog/notes.h"

/* Adds epoch, calendar_start, calendar_end, tags, description, custom, notes, events. In a list long members are
 * shortened; "cut" then has their names. */
bool view_add_annotations(json_t *recording, const struct catalog_recording *r);
json_t *view_note(const struct catalog_note *note);
json_t *view_event(const struct catalog_event *event);
json_t *view_collection(const struct catalog_collection *collection);

#endif
