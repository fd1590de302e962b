/* Handlers of /dav. */
#ifndef SERVER_API_TREE_TREE_H
#define SERVER_API_TREE_TREE_H

#include "http/http.h"

/* dav.c */
void api_dav_get(struct http_request *r);
void api_dav_propfind(struct http_request *r);
void api_dav_options(struct http_request *r);

#endif
