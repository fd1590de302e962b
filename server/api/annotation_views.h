/* JSON of what people say of recordings. All return a new reference, NULL when memory ends. */
#ifndef SERVER_API_SAID_VIEWS_H
#define SERVER_API_SAID_VIEWS_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "catalog/notes.h"

/* Adds epoch, calendar_start, calendar_end, tags, description, custom, notes, events – and in a list, where something is too long for one,
 * "cut" with the names of the members that are not whole. */
bool view_add_said(json_t *recording, const struct catalog_recording *r);
json_t *view_note(const struct catalog_note *note);
json_t *view_event(const struct catalog_event *event);
json_t *view_collection(const struct catalog_collection *collection);

#endif
