/* One request, shared by the files of this folder. */
#ifndef SERVER_STORE_S3_S3_INTERNAL_H
#define SERVER_STORE_S3_S3_INTERNAL_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/s3/credentials.h"
#include "store/s3/s3.h"

enum {
    S3_IDLE_MAX = 32,
    S3_CODE_MAX = 64,
    S3_URL_MAX = 3 * (S3_KEY_MAX + S3_UPLOAD_MAX) + S3_ENDPOINT_MAX + S3_TOKEN_MAX * 3 + 1024
};

struct s3 {
    char endpoint[S3_ENDPOINT_MAX];
    const char *host;          /* in endpoint */
    pthread_mutex_t mutex;     /* guards what follows */
    struct s3_credentials key; /* read again when they have expired */
    CURL *idle[S3_IDLE_MAX];   /* each with its connections */
    unsigned n_idle;
    atomic_int_least64_t skew_s; /* the service's clock minus ours */
    _Atomic uint64_t requests[S3_METHODS], retries, failed, bytes_sent, bytes_received;
};

struct s3_call {
    enum s3_method method;
    struct s3_name name;
    const char *query; /* escaped and sorted; NULL: none */
    const struct s3_body *body;
    const char *if_match; /* NULL: none; REEL_CHANGED */
    bool if_none;         /* If-None-Match: *; REEL_CONFLICT */
    int64_t limit_ms;     /* of all tries together; 0: the usual one, which a long transfer may exceed */
    bool ranged;          /* bytes offset … offset + room - 1 into `into` */
    uint64_t offset;
    uint8_t *into; /* the body of a success; NULL: into text, of at most text_max bytes */
    size_t room, text_max;
    /* What came. */
    size_t got;
    char *text; /* to be freed; NUL behind it; of an error, too */
    size_t text_size;
    struct s3_object object; /* of the headers */
    char code[S3_CODE_MAX];  /* of an error */
    long status;
};
bool s3_perform(struct s3 *s3, struct s3_call *call, struct reel_error *err);
void s3_call_done(struct s3_call *call);
/* https://HOST/BUCKET/KEY, the path escaped; `path` is its part after the host. */
bool s3_url(const struct s3 *s3, struct s3_name name, char out[S3_URL_MAX], const char **path, struct reel_error *err);
void s3_take_key(struct s3 *s3, struct s3_credentials *out);

#endif
