/* The archive as a folder, as an object store and as a Hub: their paths are those of the tree. */
#include "api/params.h"
#include "api/tree/dav.h"
#include "api/tree/hf.h"
#include "api/tree/s3.h"

#define DAV "/dav/{path...}"
#define HF "/hf"

static const struct http_param dav_params[] = {
    {.name = "archive",
     .type = HTTP_CHOICE,
     .choices = CHOICES("tar", "zip"),
     .help = "A folder as one archive; ZIP: of a dataset."},
    {0},
};
/* Clients send more than these, which means nothing here. */
static const struct http_param s3_params[] = {
    {.name = "list-type", .type = HTTP_TEXT, .help = "2: ListObjectsV2."},
    {.name = "prefix", .type = HTTP_TEXT, .help = "Only keys that begin so."},
    {.name = "delimiter", .type = HTTP_TEXT, .help = "/ or none."},
    {.name = "max-keys", .type = HTTP_UINT, .max = INT32_MAX, .help = "At most 1000 are listed at a time."},
    {.name = "continuation-token", .type = HTTP_TEXT, .help = "Of the page before."},
    {.name = "start-after", .type = HTTP_TEXT, .help = "Only keys after this one."},
    {.name = "marker", .type = HTTP_TEXT, .help = "The same of ListObjects."},
    {.name = "encoding-type", .type = HTTP_TEXT, .help = "url: keys are percent-escaped."},
    {.name = "partNumber", .type = HTTP_UINT, .min = 1, .max = 10000, .help = "1: all of the object."},
    {.name = "*", .type = HTTP_TEXT, .help = "Parameters of signatures and of clients."},
    {0},
};

static const struct http_param hf_params[] = {
    {.name = "recursive", .type = HTTP_TEXT, .help = "true: all files below the folder."},
    {.name = "expand",
     .type = HTTP_TEXT,
     .repeats = true,
     .max = 64,
     .help = "true: with lastCommit; of info: members."},
    {.name = "blobs", .type = HTTP_TEXT, .help = "true: info with sizes and digests."},
    {.name = "limit", .type = HTTP_UINT, .min = 1, .max = TREE_PAGE_MAX, .help = "Files of a page."},
    {.name = "cursor", .type = HTTP_TEXT, .help = "Of the page before."},
    {.name = "*", .type = HTTP_TEXT, .help = "Parameters of clients."},
    {0},
};

const struct http_route api_routes_tree[] = {
    {.method = "GET", .path = DAV, .role = ROLE_READ, .params = dav_params, .handle = api_dav_get},
    {.method = "PROPFIND", .path = DAV, .role = ROLE_READ, .params = api_no_params, .handle = api_dav_propfind},
    {.method = "OPTIONS", .path = DAV, .role = ROLE_NONE, .params = api_no_params, .handle = api_dav_options},
    {.method = "GET", .path = "/s3", .role = ROLE_READ, .params = s3_params, .handle = api_s3_get},
    {.method = "GET", .path = "/s3/{path...}", .role = ROLE_READ, .params = s3_params, .handle = api_s3_get},
    {.method = "GET",
     .path = HF "/datasets/{path...}",
     .role = ROLE_READ,
     .params = hf_params,
     .handle = api_hf_resolve},
    {.method = "GET",
     .path = HF "/api/datasets/{path...}",
     .role = ROLE_READ,
     .params = hf_params,
     .handle = api_hf_get},
    {.method = "POST",
     .path = HF "/api/datasets/{path...}",
     .role = ROLE_READ,
     .params = hf_params,
     .handle = api_hf_post,
     .begin = body_begin,
     .piece = body_piece},
    {.method = "GET", .path = HF "/api/whoami-v2", .role = ROLE_READ, .params = hf_params, .handle = api_hf_whoami},
    {0},
};
