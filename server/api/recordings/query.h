/* The filters of the list of recordings, for other routes that take them. */
#ifndef SERVER_API_RECORDINGS_QUERY_H
#define SERVER_API_RECORDINGS_QUERY_H

#include "api/selection.h"
#include "app.h"

/* The query of LIST_FILTERS. Its texts are owned by the request, its lists by this struct. */
struct recordings_query {
    struct catalog_query q;
    const char *topics[API_GLOBS_MAX], *types[API_GLOBS_MAX], *topic_patterns[API_GLOBS_MAX],
        *type_patterns[API_GLOBS_MAX], *tags[API_GLOBS_MAX];
};
/* False: replied. */
bool recordings_read_query(struct http_request *r, struct recordings_query *out);

#endif
