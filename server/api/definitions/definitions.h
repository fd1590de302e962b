#ifndef SERVER_API_DEFINITIONS_DEFINITIONS_H
#define SERVER_API_DEFINITIONS_DEFINITIONS_H

#include "http/http.h"

void api_definitions_list(struct http_request *r);
void api_definitions_add(struct http_request *r);
void api_definition_get(struct http_request *r);
void api_definition_put(struct http_request *r);
void api_definition_delete(struct http_request *r);

#endif
