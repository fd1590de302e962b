/* Recordings in which a condition on values held, answered from field statistics (scans/statistics.h). */
#ifndef SERVER_API_RECORDINGS_SEARCH_VALUES_H
#define SERVER_API_RECORDINGS_SEARCH_VALUES_H

#include "api/recordings/query.h"
#include "api/rows.h"

/* The list of recordings with where=. */
void search_values_list(struct http_request *r, struct recordings_query *query, const struct rows_form *form);

#endif
