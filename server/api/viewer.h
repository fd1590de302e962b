/* How a recording opens in a viewer: its links, for the JSON of a recording. */
#ifndef SERVER_VIEWER_H
#define SERVER_VIEWER_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "http/http.h"

/* Adds "links": {viewer, mcap, layout} when the server was told of a viewer and the recording is ready; else nothing. */
void viewer_add_links(const struct http_request *r, json_t *recording, const struct catalog_recording *row);

#endif
