/* /s3: the tree as buckets and objects, read-only, as the clients of S3 read them: path style, XML, signatures (V4) in
 * the header or the query (access/s3_keys.h). A collection is a bucket, as are tables and searches; the bucket
 * "archive" is the whole tree, for collections whose name no client takes for a bucket's. */
#ifndef SERVER_API_TREE_S3_H
#define SERVER_API_TREE_S3_H

#include "api/tree/tree.h"

extern const struct http_protocol api_s3;

void api_s3_get(struct http_request *r);

/* s3_list.c: GET of the service and of a bucket. `base`: in front of its keys in the tree. */
void s3_list_buckets(struct http_request *r);
void s3_list_objects(struct http_request *r, const char *bucket, const char *base);

/* s3_xml.c */
void s3_reply_error(struct http_request *r, unsigned status, const char *code, const char *message);
void s3_reply_failure(struct http_request *r, const struct reel_error *err); /* by its code */
#define S3_XML "application/xml"
#define S3_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define S3_NAMESPACE " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""
void s3_put_text(FILE *out, const char *element, const char *text); /* <element>text</element> */
void s3_put_key(FILE *out, const char *element, const char *text);  /* the same with text percent-escaped */
void s3_put_time(FILE *out, const char *element, int64_t ns);
void s3_put_number(FILE *out, const char *element, uint64_t number);

#endif
