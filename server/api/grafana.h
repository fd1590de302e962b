/* The simPod JSON data source of Grafana under /grafana, and the routes of its predecessor SimpleJSON. A target is
 * "RECORDING:/topic.field"; a recording is named by its id, or as elsewhere (name:collection/name). */
#ifndef SERVER_API_GRAFANA_H
#define SERVER_API_GRAFANA_H

#include "api/common.h"

/* The "range" of a query: sets *there when it has both ends and a length. False: replied. */
bool grafana_range(struct http_request *r, const json_t *body, int64_t *from_ns, int64_t *to_ns, bool *there);

#endif
