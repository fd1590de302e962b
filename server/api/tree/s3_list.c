/* GET of the service: ListBuckets; of a bucket: ListObjectsV2, ListObjects. */
#include <stdlib.h>
#include <string.h>

#include "api/job_reply.h"
#include "api/tree/s3.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "syntax/base64.h"

static const int64_t PLANS_WAIT_NS = 10000000000; /* then SlowDown, after which clients ask again */

static void reply_text(struct http_request *r, FILE *out, char **text) {
    if (text_stream_close(out, text)) {
        http_reply_text(r, 200, S3_XML, *text);
    } else {
        http_reply_no_memory(r);
    }
}

/* ---- buckets */

static void put_bucket(FILE *out, const char *name, size_t size) {
    AUTO_MEM char *text = strndup(name, size);
    fputs("<Bucket>", out);
    s3_put_text(out, "Name", text ? text : "");
    s3_put_time(out, "CreationDate", 0);
    fputs("</Bucket>", out);
}

/* Each folder of the root. */
static bool put_buckets(FILE *out, struct http_request *r, struct reel_error *err) {
    AUTO_MEM char *after = strdup("");
    bool more = true, whole = false;
    while (after && more) {
        AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
        const struct tree_query q = {.prefix = "", .after = after, .limit = TREE_PAGE_MAX};
        if (!http_hold(r, TREE_PAGE_MEMORY, err) || !tree_list(r, &q, &page, err)) {
            return false;
        }
        http_give_back(r, (uint64_t)(TREE_PAGE_MAX - page.n) * TREE_ENTRY_MEMORY);
        for (uint32_t i = 0; i < page.n; i++) {
            const char *path = page.items[i].path;
            if (!whole && strcmp(path, "archive/") >= 0) { /* in its place; instead of a collection of that name */
                put_bucket(out, "archive", strlen("archive"));
                whole = true;
            }
            if (strcmp(path, "archive/") != 0) {
                put_bucket(out, path, strlen(path) - 1);
            }
        }
        more = page.more;
        free(after);
        after = strdup(page.n > 0 ? page.items[page.n - 1].path : "");
    }
    if (!whole) {
        put_bucket(out, "archive", strlen("archive"));
    }
    return after || reel_fail_memory(err);
}

void s3_list_buckets(struct http_request *r) {
    struct reel_error err = {0};
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        http_reply_no_memory(r);
        return;
    }
    fputs(S3_HEAD "<ListAllMyBucketsResult" S3_NAMESPACE "><Owner><ID>reel</ID></Owner><Buckets>", out);
    bool good = put_buckets(out, r, &err);
    fputs("</Buckets></ListAllMyBucketsResult>\n", out);
    if (good) {
        reply_text(r, out, &text);
    } else {
        fclose(out);
        s3_reply_failure(r, &err);
    }
}

/* ---- objects */

struct listing {
    struct http_request *r;
    const char *bucket, *base;
    const char *prefix, *delimiter, *start; /* "" without one; start: start-after, or marker */
    const char *token;                      /* NULL: the first page */
    bool is_v2, escapes;
    char *query_prefix, *after; /* in the tree */
};

static void listing_done(struct listing *l) {
    free(l->query_prefix);
    free(l->after);
}

static const char *text_param(const struct http_request *r, const char *name) {
    const char *value = http_param(r, name);
    return value ? value : "";
}

/* The key that a token stands for; malloc'd, NULL: it is none. */
static char *read_token(const char *token) {
    size_t size = strlen(token), n;
    char *text = malloc(size + 1);
    if (!text || !base64url_read(bytes_of(token, size), (uint8_t *)text, &n) || memchr(text, '\0', n)) {
        free(text);
        return NULL;
    }
    text[n] = '\0';
    return text;
}

/* False: replied. */
static bool read_listing(struct http_request *r, struct listing *l) {
    const char *type = http_param(r, "list-type"), *encoding = http_param(r, "encoding-type");
    AUTO_MEM char *last = NULL;
    l->is_v2 = type && strcmp(type, "2") == 0;
    l->prefix = text_param(r, "prefix");
    l->delimiter = text_param(r, "delimiter");
    l->start = text_param(r, l->is_v2 ? "start-after" : "marker");
    l->token = l->is_v2 ? http_param(r, "continuation-token") : NULL;
    l->escapes = encoding && strcmp(encoding, "url") == 0;
    if (l->delimiter[0] && strcmp(l->delimiter, "/") != 0) {
        s3_reply_error(r, 501, "NotImplemented", "The only delimiter is a slash.");
        return false;
    }
    if (l->token && !(last = read_token(l->token))) {
        s3_reply_error(r, 400, "InvalidArgument", "The continuation token provided is incorrect");
        return false;
    }
    if (asprintf(&l->query_prefix, "%s%s", l->base, l->prefix) < 0) {
        l->query_prefix = NULL;
    }
    const char *after = last ? last : l->start;
    if (asprintf(&l->after, "%s%s", *after ? l->base : "", after) < 0) {
        l->after = NULL;
    }
    if (!l->query_prefix || !l->after) {
        http_reply_no_memory(r);
    }
    return l->query_prefix && l->after;
}

static void put_name(FILE *out, const struct listing *l, const char *element, const char *text) {
    (l->escapes ? s3_put_key : s3_put_text)(out, element, text);
}

static void put_entry(FILE *out, const struct listing *l, const struct tree_entry *e) {
    const char *key = e->path + strlen(l->base);
    if (e->is_folder) {
        fputs("<CommonPrefixes>", out);
        put_name(out, l, "Prefix", key);
        fputs("</CommonPrefixes>", out);
        return;
    }
    fputs("<Contents>", out);
    put_name(out, l, "Key", key);
    s3_put_time(out, "LastModified", e->modified_ns);
    s3_put_text(out, "ETag", e->p.etag);
    s3_put_number(out, "Size", e->p.size);
    s3_put_text(out, "StorageClass", "STANDARD");
    fputs("</Contents>", out);
}

static void put_next(FILE *out, const struct listing *l, const struct tree_page *page) {
    const char *last = page->items[page->n - 1].path + strlen(l->base);
    AUTO_MEM char *token = malloc(BASE64_TEXT(strlen(last)) + 1);
    if (!l->is_v2) {
        put_name(out, l, "NextMarker", last);
    } else if (token) {
        base64url_write(bytes_text(last), token);
        s3_put_text(out, "NextContinuationToken", token);
    }
}

/* What the request was, which S3 repeats. */
static void put_request(FILE *out, const struct listing *l, uint64_t max_keys) {
    s3_put_text(out, "Name", l->bucket);
    put_name(out, l, "Prefix", l->prefix);
    if (l->delimiter[0]) {
        put_name(out, l, "Delimiter", l->delimiter);
    }
    if (l->escapes) {
        s3_put_text(out, "EncodingType", "url");
    }
    s3_put_number(out, "MaxKeys", max_keys);
    if (!l->is_v2) {
        put_name(out, l, "Marker", l->start);
        return;
    }
    if (l->start[0]) {
        put_name(out, l, "StartAfter", l->start);
    }
    if (l->token) {
        s3_put_text(out, "ContinuationToken", l->token);
    }
}

static void reply_page(const struct listing *l, const struct tree_page *page, uint64_t max_keys) {
    AUTO_MEM char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        http_reply_no_memory(l->r);
        return;
    }
    fputs(S3_HEAD "<ListBucketResult" S3_NAMESPACE ">", out);
    put_request(out, l, max_keys);
    s3_put_text(out, "IsTruncated", page->more ? "true" : "false");
    if (l->is_v2) {
        s3_put_number(out, "KeyCount", page->n);
    }
    if (page->more) {
        put_next(out, l, page);
    }
    for (uint32_t i = 0; i < page->n; i++) {
        put_entry(out, l, &page->items[i]);
    }
    fputs("</ListBucketResult>\n", out);
    reply_text(l->r, out, &text);
}

void s3_list_objects(struct http_request *r, const char *bucket, const char *base) {
    AUTO_STRUCT(listing_done) struct listing l = {.r = r, .bucket = bucket, .base = base};
    AUTO_STRUCT(tree_page_done) struct tree_page page = {0};
    struct reel_error err = {0};
    uint64_t max_keys = TREE_PAGE_MAX;
    http_param_u64(r, "max-keys", &max_keys);
    if (!read_listing(r, &l)) {
        return;
    }
    http_forget_params(r);
    const struct tree_query q = {.prefix = l.query_prefix,
                                 .after = l.after,
                                 .deep = !l.delimiter[0],
                                 .limit = max_keys < TREE_PAGE_MAX ? (uint32_t)max_keys : TREE_PAGE_MAX,
                                 .wait_ns = api_wait_ns(r, PLANS_WAIT_NS)};
    if (!http_reserve(r, (uint64_t)q.limit * TREE_ENTRY_MEMORY)) {
        return;
    }
    if (max_keys > 0 && !tree_list(r, &q, &page, &err)) {
        s3_reply_failure(r, &err);
        return;
    }
    reply_page(&l, &page, max_keys < TREE_PAGE_MAX ? max_keys : TREE_PAGE_MAX);
}
