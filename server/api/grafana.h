/* The simPod JSON data source of Grafana under /grafana, and the calls of SimpleJSON before it. A target is "RECORDING:/topic.field"; a
 * recording is named by its id, or as elsewhere (name:collection/name). */
#ifndef SERVER_API_GRAFANA_H
#define SERVER_API_GRAFANA_H

#include "api/common.h"

/* The request's JSON object; an empty body is {}. NULL: replied (400). Belongs to the request. */
json_t *grafana_body(struct http_request *r);

#endif
