/* The links that open a recording in a viewer, for its JSON. */
#ifndef SERVER_VIEWS_VIEWER_LINKS_H
#define SERVER_VIEWS_VIEWER_LINKS_H

#include <jansson.h>

#include "catalog/catalog.h"
#include "http/http.h"

/* Adds to "links", if a viewer is configured, viewer, layout and mcap of a ready recording, or websocket of a live one;
 * and mol of a molecule, if a viewer of these is. */
void viewer_add_links(const struct http_request *r, json_t *recording, const struct catalog_recording *row);
/* The address of the recording as MCAP for the viewer, from malloc; NULL: no memory. */
char *viewer_mcap_address(const struct http_request *r, const struct catalog_recording *row);

#endif
