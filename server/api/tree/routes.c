/* The archive as a folder. */
#include "api/params.h"
#include "api/tree/dav.h"

#define DAV "/dav/{path...}"

const struct http_route api_routes_dav[] = {
    {.method = "GET", .path = DAV, .role = ROLE_READ, .params = api_no_params, .handle = api_dav_get},
    {.method = "PROPFIND", .path = DAV, .role = ROLE_READ, .params = api_no_params, .handle = api_dav_propfind},
    {.method = "OPTIONS", .path = DAV, .role = ROLE_NONE, .params = api_no_params, .handle = api_dav_options},
    {0},
};
