/* See s3.h. */
#include "api/tree/s3.h"

#include <stdlib.h>
#include <string.h>

#include "access/s3_keys.h"
#include "api/job_reply.h"
#include "base/cleanup.h"

static const char whole[] = "archive"; /* the bucket that is the whole tree */

/* ---- buckets */

/* Where the keys of a bucket are in the tree; malloc'd, NULL: replied. */
static char *base_of(struct http_request *r, const char *bucket) {
    char *base = NULL;
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    struct reel_error err = {0};
    bool found = strcmp(bucket, whole) == 0;
    if (!found && !tree_find(r, bucket, 0, &node, &found, &err)) {
        s3_reply_failure(r, &err);
        return NULL;
    }
    if (!found) {
        s3_reply_error(r, 404, "NoSuchBucket", "The specified bucket does not exist");
        return NULL;
    }
    bool is_whole = strcmp(bucket, whole) == 0;
    if (asprintf(&base, "%s%s", is_whole ? "" : bucket, is_whole ? "" : "/") < 0) {
        http_reply_no_memory(r);
        return NULL;
    }
    return base;
}

/* What S3 has besides buckets and objects; true: replied. */
static bool reply_other(struct http_request *r, bool is_bucket) {
    static const char *const others[] = {"accelerate",
                                         "acl",
                                         "analytics",
                                         "attributes",
                                         "cors",
                                         "encryption",
                                         "inventory",
                                         "legal-hold",
                                         "lifecycle",
                                         "logging",
                                         "metrics",
                                         "notification",
                                         "object-lock",
                                         "policy",
                                         "ownershipControls",
                                         "policyStatus",
                                         "retention",
                                         "publicAccessBlock",
                                         "replication",
                                         "tagging",
                                         "requestPayment",
                                         "torrent",
                                         "uploads",
                                         "versions",
                                         "website",
                                         "uploadId",
                                         "versionId",
                                         "select",
                                         "delete",
                                         "session",
                                         "intelligent-tiering"};
    if (is_bucket && http_param(r, "location")) {
        http_reply_text(r, 200, S3_XML, S3_HEAD "<LocationConstraint" S3_NAMESPACE "/>\n"); /* us-east-1 */
        return true;
    }
    if (is_bucket && http_param(r, "versioning")) {
        http_reply_text(r, 200, S3_XML, S3_HEAD "<VersioningConfiguration" S3_NAMESPACE "/>\n"); /* never enabled */
        return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *value = http_param(r, others[i]);
        if (value && !(strcmp(others[i], "versionId") == 0 && strcmp(value, "null") == 0)) {
            s3_reply_error(r, 501, "NotImplemented", "This archive has buckets and objects, which are read, only.");
            return true;
        }
    }
    return false;
}

static void get_bucket(struct http_request *r, const char *bucket) {
    AUTO_MEM char *base = base_of(r, bucket);
    if (!base) {
        return;
    }
    if (http_is_head(r)) {
        http_add_header(r, "x-amz-bucket-region", "us-east-1");
        http_reply_empty(r, 200);
    } else if (!reply_other(r, true)) {
        s3_list_objects(r, bucket, base);
    }
}

/* ---- objects */

/* What the request wants some headers to be. False: replied. */
static bool read_headers(struct http_request *r) {
    static const struct {
        const char *param, *header;
    } headers[] = {
        {"response-content-type", "Content-Type"},         {"response-content-disposition", "Content-Disposition"},
        {"response-content-encoding", "Content-Encoding"}, {"response-content-language", "Content-Language"},
        {"response-cache-control", "Cache-Control"},       {"response-expires", "Expires"}};
    http_set_file_header(r, "Content-Disposition", ""); /* S3 has none of its own */
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *value = http_param(r, headers[i].param);
        if (value && !s3_is_signed(r)) {
            s3_reply_error(r, 400, "InvalidRequest",
                           "Request specific response headers cannot be used for anonymous GET requests.");
            return false;
        }
        if (value && value[0]) {
            http_set_file_header(r, headers[i].header, value);
        }
    }
    return true;
}

static void get_object(struct http_request *r, const char *bucket, const char *key) {
    AUTO_STRUCT(tree_node_done) struct tree_node node = {0};
    AUTO_MEM char *base = reply_other(r, false) ? NULL : base_of(r, bucket);
    AUTO_MEM char *path = NULL;
    struct reel_error err = {0};
    uint64_t part = 1;
    bool found;
    if (!base) {
        return;
    }
    if (http_param_u64(r, "partNumber", &part) && part != 1) { /* each object is one part */
        s3_reply_error(r, 416, "InvalidPartNumber", "The requested partnumber is not satisfiable");
        return;
    }
    if (asprintf(&path, "%s%s", base, key) < 0) {
        http_reply_no_memory(r);
        return;
    }
    if (!tree_find(r, path, api_wait_ns(r, TREE_FIND_WAIT_NS), &node, &found, &err)) {
        s3_reply_failure(r, &err);
        return;
    }
    if (!found || !node.file || key[strlen(key) - 1] == '/') {
        s3_reply_error(r, 404, "NoSuchKey", "The specified key does not exist.");
        return;
    }
    if (read_headers(r)) {
        http_forget_params(r); /* "topic" is none of S3's */
        node.file->reply(r, &node);
    }
}

void api_s3_get(struct http_request *r) {
    const char *path = http_segment(r, "path") ? http_segment(r, "path") : "";
    size_t size = strcspn(path, "/");
    AUTO_MEM char *bucket = strndup(path, size);
    if (!bucket) {
        http_reply_no_memory(r);
    } else if (!*path) {
        s3_list_buckets(r);
    } else if (size == 0) {
        s3_reply_error(r, 400, "InvalidBucketName", "The specified bucket is not valid.");
    } else if (path[size] && path[size + 1]) {
        get_object(r, bucket, path + size + 1);
    } else {
        get_bucket(r, bucket);
    }
}
