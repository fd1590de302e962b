/* The links that open a recording in a viewer, for its JSON. */
#ifndef SERVER_API_CONTENTS_VIEWER_H
#define SERVER_API_CONTENTS_VIEWER_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "http/http.h"

/* Adds viewer, mcap and layout to "links" if a viewer is configured and the recording is ready. */
void viewer_add_links(const struct http_request *r, json_t *recording, const struct catalog_recording *row);

#endif
