/* Handlers of the service document, health, metrics, the page and the OpenAPI document. */
#ifndef SERVER_API_SERVICE_SERVICE_H
#define SERVER_API_SERVICE_SERVICE_H

#include "http/http.h"

/* service.c */
void api_service(struct http_request *r);
void api_health(struct http_request *r);
void api_ready(struct http_request *r);
void api_problem(struct http_request *r);
/* metrics.c */
void api_metrics(struct http_request *r);
/* page.c */
void api_root(struct http_request *r);
void api_page(struct http_request *r);
bool api_page_unknown(struct http_request *r); /* for struct http_options */
void api_page_asset(struct http_request *r);
void api_favicon(struct http_request *r);
void api_demo(struct http_request *r);
void api_openapi(struct http_request *r);

#endif
