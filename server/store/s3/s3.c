/* The account, and requests about one object. See s3.h. */
#include "store/s3/s3.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "store/s3/s3_internal.h"

struct s3 *s3_open(struct reel_error *err) {
    struct s3 *s3 = calloc(1, sizeof *s3);
    if (!s3 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(s3);
        reel_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&s3->mutex, NULL);
    if (!s3_credentials_load(&s3->key, s3->endpoint, err)) {
        s3_close(s3);
        return NULL;
    }
    s3->host = strstr(s3->endpoint, "://") + 3;
    return s3;
}

void s3_close(struct s3 *s3) {
    if (!s3) {
        return;
    }
    while (s3->n_idle > 0) {
        curl_easy_cleanup(s3->idle[--s3->n_idle]);
    }
    pthread_mutex_destroy(&s3->mutex);
    explicit_bzero(&s3->key, sizeof s3->key);
    free(s3);
    curl_global_cleanup();
}

const char *s3_endpoint(const struct s3 *s3) {
    return s3->endpoint;
}

void s3_take_key(struct s3 *s3, struct s3_credentials *out) {
    pthread_mutex_lock(&s3->mutex);
    *out = s3->key;
    pthread_mutex_unlock(&s3->mutex);
}

void s3_count(const struct s3 *s3, struct s3_figures *out) {
    for (unsigned i = 0; i < S3_METHODS; i++) {
        out->requests[i] = s3->requests[i];
    }
    out->retries = s3->retries;
    out->failed = s3->failed;
    out->bytes_sent = s3->bytes_sent;
    out->bytes_received = s3->bytes_received;
}

bool s3_address(const char *text, char bucket[S3_BUCKET_MAX], char key[S3_KEY_MAX + 1], struct reel_error *err) {
    const char *at = strncmp(text, "s3://", 5) == 0 ? text + 5 : "";
    size_t n = strcspn(at, "/");
    if (n < 3 || n >= S3_BUCKET_MAX ||
        strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") < n) {
        return reel_fail(err, REEL_ARGUMENT, "%s is not s3://BUCKET or s3://BUCKET/PREFIX", text);
    }
    snprintf(bucket, S3_BUCKET_MAX, "%.*s", (int)n, at);
    at += n + (at[n] == '/');
    return snprintf(key, S3_KEY_MAX + 1, "%s", at) <= S3_KEY_MAX ||
           reel_fail(err, REEL_ARGUMENT, "%s: keys have at most %d bytes", text, S3_KEY_MAX);
}

bool s3_url(const struct s3 *s3, struct s3_name name, char out[S3_URL_MAX], const char **path, struct reel_error *err) {
    size_t used = (size_t)snprintf(out, S3_URL_MAX, "%s/%s%s", s3->endpoint, name.bucket, name.key[0] ? "/" : "");
    *path = out + strlen(s3->endpoint);
    return (used < S3_URL_MAX && s3_escape(name.key, true, out + used, S3_URL_MAX - used)) ||
           reel_fail(err, REEL_LIMIT, "the name of an object is too long");
}

bool s3_head_within(struct s3 *s3, struct s3_name name, int64_t limit_ms, struct s3_object *out,
                    struct reel_error *err) {
    struct s3_call call = {.method = S3_HEAD, .name = name, .limit_ms = limit_ms};
    bool good = s3_perform(s3, &call, err);
    *out = call.object;
    s3_call_done(&call);
    return good;
}

bool s3_head(struct s3 *s3, struct s3_name name, struct s3_object *out, struct reel_error *err) {
    return s3_head_within(s3, name, 0, out, err);
}

bool s3_get(struct s3 *s3, struct s3_name name, const char *etag, uint64_t offset, void *buffer, size_t size,
            struct reel_error *err) {
    struct s3_call call = {.method = S3_GET,
                           .name = name,
                           .if_match = etag,
                           .ranged = true,
                           .offset = offset,
                           .into = buffer,
                           .room = size};
    bool good = size == 0 || s3_perform(s3, &call, err);
    bool whole = good && call.got == size;
    s3_call_done(&call);
    if (!good && call.status == 416) {
        return reel_fail(err, REEL_CHANGED, "the object %s in bucket %s became shorter", name.key, name.bucket);
    }
    return good && (whole || reel_fail(err, REEL_CHANGED, "the object %s in bucket %s ends before byte %" PRIu64,
                                       name.key, name.bucket, offset + size));
}

char *s3_get_all(struct s3 *s3, struct s3_name name, size_t max, size_t *size, char etag[S3_ETAG_MAX],
                 struct reel_error *err) {
    struct s3_call call = {.method = S3_GET, .name = name, .text_max = max};
    if (!s3_perform(s3, &call, err)) {
        s3_call_done(&call);
        return NULL;
    }
    *size = call.text_size;
    if (etag) {
        snprintf(etag, S3_ETAG_MAX, "%s", call.object.etag);
    }
    char *text = call.text ? TAKE(call.text) : strdup("");
    if (!text) {
        reel_fail_memory(err);
    }
    return text;
}

bool s3_put(struct s3 *s3, struct s3_name name, const struct s3_body *body, bool only_new, struct reel_error *err) {
    struct s3_call call = {.method = S3_PUT, .name = name, .body = body, .if_none = only_new};
    bool good = s3_perform(s3, &call, err);
    s3_call_done(&call);
    return good;
}

bool s3_delete(struct s3 *s3, struct s3_name name, struct reel_error *err) {
    struct s3_call call = {.method = S3_DELETE, .name = name};
    bool good = s3_perform(s3, &call, err);
    s3_call_done(&call);
    return good || call.status == 404;
}

/* attachment; filename*=UTF-8''NAME, as a parameter; names may have any bytes. */
static bool disposition(const char *file_name, char *out, size_t size) {
    char once[3 * 1024], text[sizeof once + 64];
    return s3_escape(file_name, false, once, sizeof once) &&
           (size_t)snprintf(text, sizeof text, "attachment; filename*=UTF-8''%s", once) < sizeof text &&
           s3_escape(text, false, out, size);
}

bool s3_presign(struct s3 *s3, struct s3_name name, const char *file_name, const char *media_type, unsigned lifetime_s,
                char *out, size_t size, struct reel_error *err) {
    char file[12 * 1024], type[512], more[sizeof file + sizeof type + 80];
    const char *path;
    AUTO_MEM char *url = malloc(S3_URL_MAX), *query = malloc(S3_URL_MAX);
    struct s3_credentials key;
    if (!url || !query) {
        return reel_fail_memory(err);
    }
    if (!s3_url(s3, name, url, &path, err)) {
        return false;
    }
    s3_take_key(s3, &key);
    const struct s3_header host = {"host", s3->host};
    const struct s3_signing what = {.credentials = &key,
                                    .now_s = (int64_t)time(NULL) + atomic_load(&s3->skew_s),
                                    .method = "GET",
                                    .path = path,
                                    .query = "",
                                    .headers = &host,
                                    .n_headers = 1,
                                    .payload = S3_UNSIGNED};
    bool good = disposition(file_name, file, sizeof file) && s3_escape(media_type, false, type, sizeof type);
    snprintf(more, sizeof more, "response-content-disposition=%s&response-content-type=%s", file, type);
    good = good && s3_sign_query(&what, lifetime_s, more, query, S3_URL_MAX);
    explicit_bzero(&key, sizeof key);
    good = good && (size_t)snprintf(out, size, "%s?%s", url, query) < size;
    return good || reel_fail(err, REEL_LIMIT, "the address of an object is too long");
}
