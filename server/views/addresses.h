/* Addresses in answers. */
#ifndef SERVER_VIEWS_ADDRESSES_H
#define SERVER_VIEWS_ADDRESSES_H

#include <jansson.h>
#include <stdio.h>

#include "catalog/catalog.h"
#include "http/http.h"

/* All but letters, digits and -._~ as %XX. */
void address_put_escaped(FILE *f, const char *text);
void address_put_path(FILE *f, const char *path); /* the same, with its slashes as they are */
/* The server as the client knows it: --public-url, else by the request's Host, which http/guard.c has checked. No slash
 * at its end. */
void address_put_base(FILE *f, const struct http_request *r);
/* The addresses of a recording and of what belongs to it: absolute with --public-url, else from the root of the server.
 */
json_t *address_links(const struct http_request *r, const struct catalog_recording *row);

#endif
