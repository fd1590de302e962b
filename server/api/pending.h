/* Recordings that a search has not answered: jobs make what it needs of them, and it is asked again later. */
#ifndef SERVER_API_PENDING_H
#define SERVER_API_PENDING_H

#include "app.h"

struct pending {
    struct http_request *r;
    int64_t hard_ns; /* when reading ends */
    json_t *items;
    unsigned jobs; /* that the request has started */
};
/* reel_progress.report; the context is the struct. */
bool pending_has_time(void *context, uint64_t done, uint64_t total);
/* Adds a recording. If `why` says that its statistics are not there, a job makes them; else the reason is shown. */
void pending_add(struct pending *p, const struct catalog_recording *row, const struct reel_error *why);

#endif
