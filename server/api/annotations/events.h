/* For other routes that list events. */
#ifndef SERVER_API_ANNOTATIONS_EVENTS_H
#define SERVER_API_ANNOTATIONS_EVENTS_H

#include "app.h"
#include "catalog/notes.h"

/* For catalog_event_query.sees, with http_caller(r) as its context. */
bool events_caller_sees(const void *caller, const char *collection);

#endif
