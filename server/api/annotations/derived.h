/* Events that follow from recordings and are no annotations. */
#ifndef SERVER_API_ANNOTATIONS_DERIVED_H
#define SERVER_API_ANNOTATIONS_DERIVED_H

#include "api/recording.h"
#include "catalog/notes.h"

extern const char *const event_columns[]; /* of CSV */

/* Replies with a page of them; of the query: interval, limit, cursor. The recording is open for its messages. */
void derived_events(struct http_request *r, const struct api_recording *a, const struct catalog_event_query *query);

/* The same of all recordings that the caller sees, in the order in which these start. `cursor`: that of the query,
 * which is changed. */
void derived_search(struct http_request *r, const struct catalog_event_query *query, char *cursor);

#endif
