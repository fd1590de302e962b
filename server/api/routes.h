/* The route table. To add an endpoint: write its handler in the folder of its resource, declare it in that folder's
 * header (api/export/export.h), add its row to that folder's routes.c, and add its response (and the body it takes) to
 * server/api/openapi.yaml. The OpenAPI document's paths come from the rows (service/openapi.h). */
#ifndef SERVER_API_ROUTES_H
#define SERVER_API_ROUTES_H

#include "http/http.h"

/* The HEAD of a GET route as an operation of its own. */
struct api_head {
    const char *id, *summary, *answers;
};

/* A route and its description. Names of components are those of server/api/openapi.yaml. */
struct api_route {
    struct http_route http; /* .summary: one sentence that says what the operation does */
    const char *id, *tag;   /* the operation id; also names its response and its request body in the components */
    const char *detail;     /* more sentences; NULL: none */
    const char *headers;    /* names of components/parameters, separated by spaces; NULL: none */
    /* Statuses separated by spaces: "200" is answered by the response component that is called like the operation,
     * "404:NotFound" by that of this name. */
    const char *answers;
    const struct api_head *head;
    struct http_policy policy;
};

extern const struct api_route *const api_tables[]; /* by resource, each ends with a row without id; ends with NULL */

/* The rows as the HTTP server takes them; ends with {0}. */
const struct http_route *api_routes(void);
const struct http_policy *api_policies(void);       /* of each, by its index */
const char *api_hint(const struct http_request *r); /* for struct http_options */
/* What a {name} in a path is, by the literal segment before it ("recordings" of /recordings/{id}); NULL: nothing is
 * known. */
const struct http_param *api_path_param(const char *segment, const char *name);

#endif
