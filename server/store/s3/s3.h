/* Requests to S3 or what speaks its protocol. Each call blocks its thread, tries again after errors that pass (growing
 * pauses with jitter), and ends: a try after ten silent seconds, or 10 s plus the time that its bytes take at 256
 * KiB/s, all of them after 20 s, or with the second one. Paths have the form /BUCKET/KEY. Any thread may call; each
 * call has a connection to itself, and connections are kept.
 *
 * Errors: REEL_BUSY, the service does not answer or is overloaded; REEL_NOT_FOUND; REEL_CONFLICT or REEL_CHANGED, a
 * condition does not hold; REEL_NO_SPACE; REEL_IO, it refuses, and why. None contains a credential. */
#ifndef SERVER_STORE_S3_S3_H
#define SERVER_STORE_S3_S3_H

#include <stddef.h>
#include <stdint.h>

#include "reel/cleanup.h"
#include "reel/error.h"

struct s3;
struct s3 *s3_open(struct reel_error *err); /* credentials.h; asks nothing */
void s3_close(struct s3 *s3);               /* NULL is fine */
REEL_DEFINE_AUTO(struct s3, s3_close);
const char *s3_endpoint(const struct s3 *s3);

enum { S3_ETAG_MAX = 128, S3_KEY_MAX = 1024, S3_BUCKET_MAX = 64, S3_UPLOAD_MAX = 1024, S3_PARTS_MAX = 10000 };
struct s3_name {
    const char *bucket, *key; /* not escaped */
};
/* Splits s3://BUCKET or s3://BUCKET/KEY; the key may be "". REEL_ARGUMENT. */
bool s3_address(const char *text, char bucket[S3_BUCKET_MAX], char key[S3_KEY_MAX + 1], struct reel_error *err);

struct s3_object {
    uint64_t size;
    char etag[S3_ETAG_MAX]; /* with its quotes */
    int64_t modified_s;
};
bool s3_head(struct s3 *s3, struct s3_name name, struct s3_object *out, struct reel_error *err);
/* The same, ended after `limit_ms`: REEL_BUSY. */
bool s3_head_within(struct s3 *s3, struct s3_name name, int64_t limit_ms, struct s3_object *out,
                    struct reel_error *err);
/* Exactly these bytes. REEL_CHANGED: the object has another etag (NULL: any) or does not have that many bytes. */
bool s3_get(struct s3 *s3, struct s3_name name, const char *etag, uint64_t offset, void *buffer, size_t size,
            struct reel_error *err);
/* The whole object, with a NUL behind it, to be freed; REEL_LIMIT above `max` bytes. `etag` may be NULL. */
char *s3_get_all(struct s3 *s3, struct s3_name name, size_t max, size_t *size, char etag[S3_ETAG_MAX],
                 struct reel_error *err);

struct s3_body { /* memory, or a range of a file */
    const void *data;
    int fd; /* used when data is NULL */
    uint64_t offset, size;
};
/* REEL_CONFLICT: `only_new`, and it is there. The service checks the bytes by their MD5. */
bool s3_put(struct s3 *s3, struct s3_name name, const struct s3_body *body, bool only_new, struct reel_error *err);
bool s3_delete(struct s3 *s3, struct s3_name name, struct reel_error *err); /* also when it is not there */

/* Multipart uploads. Parts count from 1 and may be sent again; all but the last have at least 5 MiB. REEL_NOT_FOUND: it
 * has ended. */
bool s3_begin(struct s3 *s3, struct s3_name name, char upload[S3_UPLOAD_MAX], struct reel_error *err);
bool s3_part(struct s3 *s3, struct s3_name name, const char *upload, unsigned number, const struct s3_body *body,
             char etag[S3_ETAG_MAX], struct reel_error *err);
bool s3_complete(struct s3 *s3, struct s3_name name, const char *upload, const char (*etags)[S3_ETAG_MAX], unsigned n,
                 struct reel_error *err);
/* also when it has ended */
bool s3_abort(struct s3 *s3, struct s3_name name, const char *upload, struct reel_error *err);

/* Every object whose key begins with `prefix`, in order; `key` is what follows the first `below` bytes. Stops when
 * visit() is false. */
bool s3_list(struct s3 *s3, const char *bucket, const char *prefix, size_t below,
             bool (*visit)(void *context, const char *key, const struct s3_object *object), void *context,
             struct reel_error *err);
/* Every multipart upload that has not ended. */
bool s3_uploads(struct s3 *s3, const char *bucket, const char *prefix, size_t below,
                bool (*visit)(void *context, const char *key, const char *upload, int64_t begun_s), void *context,
                struct reel_error *err);

/* An address that answers a GET for `lifetime_s` seconds, as a download of that name and media type. */
bool s3_presign(struct s3 *s3, struct s3_name name, const char *file_name, const char *media_type, unsigned lifetime_s,
                char *out, size_t size, struct reel_error *err);

enum s3_method { S3_GET, S3_HEAD, S3_PUT, S3_POST, S3_DELETE, S3_METHODS };
struct s3_figures { /* since it was opened */
    uint64_t requests[S3_METHODS], retries, failed, bytes_sent, bytes_received;
};
void s3_count(const struct s3 *s3, struct s3_figures *out);
int64_t s3_elapsed_ns(void); /* how long this thread has waited for S3 in total */

#endif
