/* See params.h. */
#include "api/params.h"

const struct http_param api_no_params[] = {{0}};
const struct http_param api_any_params[] = {{.name = "*", .type = HTTP_TEXT}, {0}}; /* the page and Grafana add their
                                                                                       own */
const struct http_param api_page_params[] = {PAGING_PARAMS, {0}};
const struct http_param api_row_params[] = {PARAM_ROW_OUTPUT, {0}};
