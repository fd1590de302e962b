/* One request and its repetitions. A body is used only when its transfer has ended well: a connection that breaks may
 * have answered 200 before. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "store/s3/s3_internal.h"
#include "store/s3/xml.h"
#include "syntax/base64.h"

enum {
    CONNECT_MS = 3000,
    BASE_MS = 10000, /* a request without bytes */
    BYTES_MS = 256,  /* the slowest transfer, in bytes a millisecond */
    SILENT_S = 10,   /* this long below SLOW bytes a second ends a try */
    SLOW = 16 << 10,
    TRIES = 6,
    PAUSE_MS = 50, /* before the second try; doubled each time */
    PAUSE_MAX_MS = 5000,
    BUDGET_MS = 20000, /* of all tries */
    ERROR_MAX = 16 << 10,
    UPLOAD_BUFFER = 512 << 10,
};
static const char *const names[S3_METHODS] = {"GET", "HEAD", "PUT", "POST", "DELETE"};

static _Thread_local int64_t elapsed_ns;
int64_t s3_elapsed_ns(void) {
    return elapsed_ns;
}

void s3_call_done(struct s3_call *call) {
    free(call->text);
    call->text = NULL;
}

static int64_t clock_ms(void) {
    return clock_ns() / 1000000;
}

/* ---- callbacks of libcurl */

struct transfer {
    CURL *curl;
    struct s3_call *call;
    int64_t end_ms; /* of all tries */
    uint64_t sent;
    bool too_long;
    char problem[CURL_ERROR_SIZE];
};

static size_t on_data(char *data, size_t size, size_t n, void *context) {
    struct transfer *t = context;
    struct s3_call *call = t->call;
    size_t bytes = size * n;
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 300 && call->into) {
        if (bytes > call->room - call->got) {
            t->too_long = true;
            return 0;
        }
        memcpy(call->into + call->got, data, bytes);
        call->got += bytes;
        return bytes;
    }
    size_t max = status < 300 ? call->text_max : ERROR_MAX;
    if (bytes > max - call->text_size) {
        t->too_long = true;
        return 0;
    }
    char *more = realloc(call->text, call->text_size + bytes + 1);
    if (!more) {
        return 0;
    }
    call->text = more;
    memcpy(more + call->text_size, data, bytes);
    call->text_size += bytes;
    more[call->text_size] = '\0';
    return bytes;
}

static size_t on_body(char *out, size_t size, size_t n, void *context) {
    struct transfer *t = context;
    const struct s3_body *b = t->call->body;
    uint64_t left = b->size - t->sent;
    size_t bytes = left < size * n ? (size_t)left : size * n;
    if (b->data) {
        memcpy(out, (const char *)b->data + t->sent, bytes);
    } else {
        ssize_t got = pread(b->fd, out, bytes, (off_t)(b->offset + t->sent));
        if (got < 0 || (got == 0 && bytes > 0)) {
            return CURL_READFUNC_ABORT;
        }
        bytes = (size_t)got;
    }
    t->sent += bytes;
    return bytes;
}

static int on_seek(void *context, curl_off_t offset, int origin) {
    struct transfer *t = context;
    if (origin != SEEK_SET) {
        return CURL_SEEKFUNC_CANTSEEK;
    }
    t->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- one try */

static bool digest_body(const struct s3_body *b, char out[32], struct reel_error *err) {
    enum { PIECE = 128 << 10 };
    uint8_t raw[DIGEST_MD5];
    struct digest hash;
    AUTO_MEM uint8_t *piece = b->data ? NULL : malloc(PIECE);
    if (!b->data && !piece) {
        return reel_fail_memory(err);
    }
    digest_start(&hash, DIGEST_MD5);
    if (b->data) {
        digest_add(&hash, b->data, b->size);
    }
    for (uint64_t at = 0; piece && at < b->size;) {
        ssize_t got =
            pread(b->fd, piece, b->size - at < PIECE ? (size_t)(b->size - at) : PIECE, (off_t)(b->offset + at));
        if (got <= 0) {
            return got < 0 ? reel_fail_errno(err, "a file cannot be read back")
                           : reel_fail(err, REEL_CHANGED, "a file became shorter");
        }
        digest_add(&hash, piece, (size_t)got);
        at += (uint64_t)got;
    }
    digest_end(&hash, raw);
    base64_write(bytes_of(raw, sizeof raw), out);
    out[BASE64_TEXT(sizeof raw)] = '\0';
    return true;
}

__attribute__((format(printf, 2, 3))) static bool add_header(struct curl_slist **list, const char *format, ...) {
    char line[S3_TOKEN_MAX + 64];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct curl_slist *more = n > 0 && (size_t)n < sizeof line ? curl_slist_append(*list, line) : NULL;
    *list = more ? more : *list;
    return more;
}

/* The headers, with the signature. */
static bool make_headers(struct s3 *s3, const struct s3_call *call, const char *path, const char *md5,
                         struct curl_slist **out) {
    struct s3_credentials key;
    char date[S3_DATE_TEXT], authorization[S3_AUTHORIZATION_MAX];
    int64_t now_s = (int64_t)time(NULL) + atomic_load(&s3->skew_s);
    s3_take_key(s3, &key);
    s3_date(now_s, date);
    const struct s3_header headers[] = {{"host", s3->host},
                                        {"x-amz-content-sha256", S3_UNSIGNED},
                                        {"x-amz-date", date},
                                        {"x-amz-security-token", key.token}};
    const struct s3_signing what = {.credentials = &key,
                                    .now_s = now_s,
                                    .method = names[call->method],
                                    .path = path,
                                    .query = call->query ? call->query : "",
                                    .headers = headers,
                                    .n_headers = key.token[0] ? 4 : 3,
                                    .payload = S3_UNSIGNED};
    bool good = s3_sign(&what, authorization) && add_header(out, "Authorization: %s", authorization) &&
                add_header(out, "x-amz-content-sha256: " S3_UNSIGNED) && add_header(out, "x-amz-date: %s", date) &&
                (!key.token[0] || add_header(out, "x-amz-security-token: %s", key.token)) &&
                add_header(out, "Expect:") && add_header(out, "Content-Type:") &&
                (!md5[0] || add_header(out, "Content-MD5: %s", md5)) &&
                (!call->if_match || add_header(out, "If-Match: %s", call->if_match)) &&
                (!call->if_none || add_header(out, "If-None-Match: *"));
    explicit_bzero(&key, sizeof key);
    return good;
}

static long longest_ms(const struct s3_call *call, int64_t end_ms) {
    int64_t most = BASE_MS + (int64_t)(((call->body ? call->body->size : 0) + call->room) / BYTES_MS),
            left = end_ms - clock_ms();
    return call->limit_ms == 0 || most < left ? (long)most : left > 1 ? (long)left : 1;
}

static void set_up(struct transfer *t, const char *url, struct curl_slist *headers) {
    const struct s3_call *call = t->call;
    CURL *c = t->curl;
    curl_easy_reset(c); /* keeps its connections */
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, longest_ms(call, t->end_ms));
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "reel/" REEL_VERSION);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->problem);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    if (getenv("AWS_CA_BUNDLE")) {
        curl_easy_setopt(c, CURLOPT_CAINFO, getenv("AWS_CA_BUNDLE"));
    }
    if (call->body) {
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->body->size);
        curl_easy_setopt(c, CURLOPT_READFUNCTION, on_body);
        curl_easy_setopt(c, CURLOPT_READDATA, t);
        curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(c, CURLOPT_SEEKDATA, t);
        curl_easy_setopt(c, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    }
    if (call->method == S3_HEAD) {
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, names[call->method]);
    }
    if (call->ranged) {
        char range[64];
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, call->offset, call->offset + call->room - 1);
        curl_easy_setopt(c, CURLOPT_RANGE, range);
    }
}

static const char *header(CURL *curl, const char *name) {
    struct curl_header *h;
    return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? h->value : "";
}

static void on_error_text(void *context, const char *path, const char *text) {
    struct s3_call *call = context;
    if (strcmp(path, "Code") == 0) {
        snprintf(call->code, sizeof call->code, "%s", text);
    }
}

static void read_answer(struct transfer *t) {
    struct s3_call *call = t->call;
    curl_off_t length = -1;
    snprintf(call->object.etag, sizeof call->object.etag, "%s", header(t->curl, "etag"));
    call->object.modified_s = (int64_t)curl_getdate(header(t->curl, "last-modified"), NULL);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    const char *total = strrchr(header(t->curl, "content-range"), '/');
    call->object.size = total ? strtoull(total + 1, NULL, 10) : length > 0 ? (uint64_t)length : 0;
    call->code[0] = '\0';
    /* a completion may fail with status 200 */
    if (call->text && (call->status >= 300 || strstr(call->text, "<Error>"))) {
        s3_xml(call->text, call->text_size, on_error_text, call);
    }
}

static CURLcode try_once(struct s3 *s3, struct s3_call *call, CURL *curl, const char *url, const char *path,
                         const char *md5, int64_t end_ms, char problem[CURL_ERROR_SIZE]) {
    struct transfer t = {.curl = curl, .call = call, .end_ms = end_ms};
    struct curl_slist *headers = NULL;
    s3_call_done(call);
    call->got = call->text_size = 0;
    call->status = 0;
    CURLcode result = CURLE_OUT_OF_MEMORY;
    if (make_headers(s3, call, path, md5, &headers)) {
        set_up(&t, url, headers);
        result = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &call->status);
        read_answer(&t);
        snprintf(problem, CURL_ERROR_SIZE, "%s",
                 t.too_long     ? "its answer is too long"
                 : t.problem[0] ? t.problem
                                : curl_easy_strerror(result));
    }
    curl_slist_free_all(headers);
    atomic_fetch_add(&s3->requests[call->method], 1);
    atomic_fetch_add(&s3->bytes_sent, t.sent);
    atomic_fetch_add(&s3->bytes_received, call->got + call->text_size);
    return result;
}

/* ---- again, or not */

static bool clock_was_wrong(struct s3 *s3, const struct s3_call *call, CURL *curl) {
    int64_t theirs =
        strcmp(call->code, "RequestTimeTooSkewed") == 0 ? (int64_t)curl_getdate(header(curl, "date"), NULL) : -1;
    if (theirs <= 0) {
        return false;
    }
    atomic_store(&s3->skew_s, theirs - (int64_t)time(NULL));
    return true;
}

static bool key_has_expired(struct s3 *s3, const struct s3_call *call) {
    struct s3_credentials now;
    char endpoint[S3_ENDPOINT_MAX];
    struct reel_error ignored;
    if (strcmp(call->code, "ExpiredToken") != 0 || !s3_credentials_load(&now, endpoint, &ignored)) {
        return false;
    }
    pthread_mutex_lock(&s3->mutex);
    s3->key = now;
    pthread_mutex_unlock(&s3->mutex);
    explicit_bzero(&now, sizeof now);
    return true;
}

static bool is_transient(CURLcode result, const struct s3_call *call) {
    static const char *const codes[] = {"RequestTimeout", "BadDigest",     "OperationAborted",
                                        "SlowDown",       "InternalError", "ServiceUnavailable"};
    switch (result) {
    case CURLE_OK:
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return true;
    default:
        return false;
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(call->code, codes[i]) == 0) {
            return true;
        }
    }
    return call->status == 429 || (call->status >= 500 && call->status != 501 && call->status != 507);
}

static unsigned pause_ms(unsigned tries, CURL *curl) {
    unsigned chance = 0, most = tries < 7 ? PAUSE_MS << (tries - 1) : PAUSE_MAX_MS;
    const char *after = header(curl, "retry-after");
    if (after[0] >= '0' && after[0] <= '9') {
        unsigned long wanted = strtoul(after, NULL, 10) * 1000;
        return wanted < PAUSE_MAX_MS ? (unsigned)wanted : PAUSE_MAX_MS;
    }
    (void)!getrandom(&chance, sizeof chance, 0);
    return most / 2 + chance % (most / 2 + 1);
}

static void sleep_ms(unsigned ms) {
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

static bool explain(const struct s3 *s3, const struct s3_call *call, CURLcode result, bool transient,
                    const char *problem, struct reel_error *err) {
    const char *what = names[call->method], *bucket = call->name.bucket;
    if (result != CURLE_OK) {
        return reel_fail(err, transient ? REEL_BUSY : REEL_IO, "the store at %s does not answer: %s (%s in bucket %s)",
                         s3->host, problem, what, bucket);
    }
    if (transient) {
        return reel_fail(err, REEL_BUSY, "the store at %s is not available: %ld %s (%s in bucket %s)", s3->host,
                         call->status, call->code, what, bucket);
    }
    if (strcmp(call->code, "NoSuchBucket") == 0) {
        return reel_fail(err, REEL_IO, "the store at %s has no bucket %s", s3->host, bucket);
    }
    if (call->status == 404) {
        return reel_fail(err, REEL_NOT_FOUND, "the bucket %s has no object %s", bucket, call->name.key);
    }
    if (call->status == 412) {
        return reel_fail(err, call->if_match ? REEL_CHANGED : REEL_CONFLICT, "the object %s in bucket %s is %s",
                         call->name.key, bucket, call->if_match ? "not what it was" : "there already");
    }
    if (call->status == 507 || strcmp(call->code, "QuotaExceeded") == 0) {
        return reel_fail(err, REEL_NO_SPACE, "the store at %s has no room: %ld %s", s3->host, call->status, call->code);
    }
    return reel_fail(err, REEL_IO, "the store at %s refuses %s in bucket %s: %ld %s%s", s3->host, what, bucket,
                     call->status, call->code,
                     call->status == 403 ? "; check the credentials and what they may do" : "");
}

static CURL *take_handle(struct s3 *s3) {
    pthread_mutex_lock(&s3->mutex);
    CURL *curl = s3->n_idle > 0 ? s3->idle[--s3->n_idle] : NULL;
    pthread_mutex_unlock(&s3->mutex);
    return curl ? curl : curl_easy_init();
}

static void give_handle(struct s3 *s3, CURL *curl) {
    pthread_mutex_lock(&s3->mutex);
    if (s3->n_idle < S3_IDLE_MAX) {
        s3->idle[s3->n_idle++] = TAKE(curl);
    }
    pthread_mutex_unlock(&s3->mutex);
    curl_easy_cleanup(curl);
}

static bool perform(struct s3 *s3, struct s3_call *call, CURL *curl, const char *url, const char *path, const char *md5,
                    struct reel_error *err) {
    char problem[CURL_ERROR_SIZE];
    bool corrected = false;
    const int64_t end_ms = clock_ms() + (call->limit_ms ? call->limit_ms : BUDGET_MS);
    for (unsigned tries = 1;; tries++) {
        CURLcode result = try_once(s3, call, curl, url, path, md5, end_ms, problem);
        if (result == CURLE_OK && call->status >= 200 && call->status < 300 && !call->code[0]) {
            return true;
        }
        if (result == CURLE_OK && !corrected && (clock_was_wrong(s3, call, curl) || key_has_expired(s3, call))) {
            corrected = true;
            continue;
        }
        bool transient = is_transient(result, call);
        unsigned ms = pause_ms(tries, curl);
        if (!transient || tries == TRIES || ((tries > 1 || call->limit_ms) && clock_ms() + ms >= end_ms)) {
            atomic_fetch_add(&s3->failed, call->status != 404 && call->status != 412);
            return explain(s3, call, result, transient, problem, err);
        }
        atomic_fetch_add(&s3->retries, 1);
        sleep_ms(ms);
    }
}

bool s3_perform(struct s3 *s3, struct s3_call *call, struct reel_error *err) {
    char md5[32] = "";
    const char *path;
    AUTO_MEM char *url = malloc(S3_URL_MAX), *bare = malloc(S3_URL_MAX);
    int64_t begun_ns = clock_ns();
    if (!url || !bare) {
        return reel_fail_memory(err);
    }
    if (!s3_url(s3, call->name, bare, &path, err) || (call->body && !digest_body(call->body, md5, err))) {
        return false;
    }
    if (snprintf(url, S3_URL_MAX, "%s%s%s", bare, call->query ? "?" : "", call->query ? call->query : "") >=
        S3_URL_MAX) {
        return reel_fail(err, REEL_LIMIT, "the address of an object is too long");
    }
    CURL *curl = take_handle(s3);
    if (!curl) {
        return reel_fail_memory(err);
    }
    bool good = perform(s3, call, curl, url, path, md5, err);
    give_handle(s3, curl);
    elapsed_ns += clock_ns() - begun_ns;
    return good;
}
