/* The OpenAPI document: the components of server/api/openapi.yaml, and the paths of the route table. */
#ifndef SERVER_API_SERVICE_OPENAPI_H
#define SERVER_API_SERVICE_OPENAPI_H

#include <jansson.h>

#include "reel/error.h"

struct api_route;
struct http_param;

/* The schema of the values of a parameter, an array if it repeats; it may refer to #/components/schemas. */
json_t *openapi_schema(const struct http_param *p);

/* Adds the member paths to a copy of the document of the components. The caller releases the result. */
json_t *openapi_document(const json_t *components, struct reel_error *err);
/* Adds one operation to `paths`. */
bool openapi_add_row(json_t *paths, const struct api_route *row, struct reel_error *err);

#endif
