/* See push_http.h. */
#include "cli/push_http.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "cli/push_rate.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { JSON_BYTES_MAX = 64 << 20 };
enum { CONNECT_S = 20, STALL_S = 60, ANSWER_S = 3600 };

struct push_http {
    CURL *curl;
    char *authorization;
    bool (*go_on)(void);
    const struct push_request *request;
    struct push_answer *answer;
    struct reel_error failure; /* of write() */
    struct push_rate *rate;    /* NULL: none */
    curl_off_t uploaded;       /* of the body, and since when no more */
    int64_t moved_ns;
    bool is_stalled;
    char problem[CURL_ERROR_SIZE];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void start_library(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static size_t on_read(char *buffer, size_t size, size_t n, void *context) {
    struct push_http *h = context;
    size_t got = 0, room = push_rate_take(h->rate, size * n, h->go_on);
    return room > 0 && h->request->read(h->request->context, buffer, room, &got) ? got : CURL_READFUNC_ABORT;
}

static size_t on_write(char *data, size_t size, size_t n, void *context) {
    struct push_http *h = context;
    struct push_answer *a = h->answer;
    long status = 0;
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (h->request->write && status == (h->request->wants_part ? 206 : 200)) {
        return h->request->write(h->request->context, data, size * n, &h->failure) ? size * n : CURL_WRITEFUNC_ERROR;
    }
    size_t room = PUSH_BODY_MAX - a->body_size, take = size * n < room ? size * n : room;
    memcpy(a->body + a->body_size, data, take);
    a->body_size += take;
    a->body[a->body_size] = '\0';
    return size * n;
}

static int push_http_on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    struct push_http *h = context;
    (void)a, (void)b, (void)c;
    if (h->request->read && (d != h->uploaded || (uint64_t)d >= h->request->length)) {
        h->uploaded = d;
        h->moved_ns = clock_ns();
    }
    h->is_stalled = h->request->read && clock_ns() - h->moved_ns > (int64_t)STALL_S * 1000000000;
    return h->is_stalled || !h->go_on();
}

struct push_http *push_http_new(const char *token, bool (*go_on)(void), struct reel_error *err) {
    pthread_once(&once, start_library);
    AUTO(push_http_free) struct push_http *h = calloc(1, sizeof *h);
    if (!h || !(h->curl = curl_easy_init()) ||
        (token && asprintf(&h->authorization, "Authorization: Bearer %s", token) < 0)) {
        reel_fail_memory(err);
        return NULL;
    }
    h->go_on = go_on;
    return TAKE(h);
}

void push_http_free(struct push_http *h) {
    if (h) {
        curl_easy_cleanup(h->curl);
        free(h->authorization);
        free(h);
    }
}

/* The address in the response's header `name`, made absolute. */
static void take_address(struct push_http *h, const char *name, char *out, size_t size) {
    struct curl_header *header;
    out[0] = '\0';
    if (curl_easy_header(h->curl, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) {
        return;
    }
    CURLU *url = curl_url();
    char *text = NULL;
    if (url && curl_url_set(url, CURLUPART_URL, h->request->url, 0) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_URL, header->value, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK && strlen(text) < size) {
        strcpy(out, text);
    }
    curl_free(text);
    curl_url_cleanup(url);
}

static void set_body(CURL *curl, struct push_http *h, const struct push_request *q) {
    if (q->read) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(curl, CURLOPT_READDATA, h);
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->length);
    } else if (strcmp(q->method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
    } else if (strcmp(q->method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
}

/* Bytes that nobody has acknowledged for a minute: the link is cut. Without it the system tries for 15 minutes. */
static int set_timeout(void *context, curl_socket_t fd, curlsocktype purpose) {
    const unsigned ms = 1000 * STALL_S;
    (void)context, (void)purpose;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    return CURL_SOCKOPT_OK;
}

static void set_rules(CURL *curl, struct push_http *h) {
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); /* several threads */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, set_timeout);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, (long)STALL_S / 2);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)ANSWER_S); /* a large file's scan */
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, h->problem);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, h);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, push_http_on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, h);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "reel/" REEL_VERSION);
}

bool push_http_do(struct push_http *h, const struct push_request *q, struct push_answer *out, struct reel_error *err) {
    struct curl_slist *headers = h->authorization ? curl_slist_append(NULL, h->authorization) : NULL;
    headers = curl_slist_append(headers, "Expect:"); /* a refusal also arrives while the body is being sent */
    for (size_t i = 0; i < PUSH_HEADERS_MAX && q->headers[i]; i++) {
        headers = curl_slist_append(headers, q->headers[i]);
    }
    *out = (struct push_answer){.offset = -1};
    h->request = q;
    h->answer = out;
    h->problem[0] = '\0';
    h->failure = (struct reel_error){0};
    h->uploaded = 0;
    h->moved_ns = clock_ns();
    curl_easy_reset(h->curl); /* keeps the connection */
    set_rules(h->curl, h);
    set_body(h->curl, h, q);
    curl_easy_setopt(h->curl, CURLOPT_URL, q->url);
    curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(h->curl);
    curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &out->status);
    struct curl_header *offset;
    if (curl_easy_header(h->curl, "Upload-Offset", 0, CURLH_HEADER, -1, &offset) == CURLHE_OK) {
        out->offset = strtoll(offset->value, NULL, 10);
    }
    struct curl_header *date;
    if (curl_easy_header(h->curl, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK) {
        time_t s = curl_getdate(date->value, NULL);
        out->date_s = s > 0 ? (int64_t)s : 0;
    }
    take_address(h, "Location", out->location, sizeof out->location);
    take_address(h, "Content-Location", out->content_location, sizeof out->content_location);
    curl_slist_free_all(headers);
    if (code == CURLE_OK || (code == CURLE_SEND_ERROR && out->status >= 400)) {
        return true;
    }
    if (h->failure.code != REEL_OK) {
        return reel_error_pass(err, &h->failure);
    }
    if (h->is_stalled) {
        return reel_fail(err, REEL_IO, "nothing could be sent for a minute");
    }
    bool ended = code == CURLE_ABORTED_BY_CALLBACK;
    return reel_fail(err, ended ? REEL_CANCELLED : REEL_IO, "%s",
                     h->problem[0] ? h->problem : curl_easy_strerror(code));
}

struct exchange {
    const char *body; /* that is left to send */
    size_t size;
    struct grow answer;
};

static bool push_http_send(void *context, void *buffer, size_t size, size_t *got) {
    struct exchange *x = context;
    *got = x->size < size ? x->size : size;
    memcpy(buffer, x->body, *got);
    x->body += *got;
    x->size -= *got;
    return true;
}

static bool push_http_collect(void *context, const void *data, size_t size, struct reel_error *err) {
    struct grow *body = &((struct exchange *)context)->answer;
    if (body->size + size > JSON_BYTES_MAX) {
        return reel_fail(err, REEL_LIMIT, "the answer has more than %d MiB", JSON_BYTES_MAX >> 20);
    }
    grow_put(body, data, size);
    return !body->failed || reel_fail_memory(err);
}

json_t *push_http_json(struct push_http *h, const char *url, const char *body, bool waits, struct push_answer *out,
                       struct reel_error *err) {
    struct exchange x = {.body = body, .size = body ? strlen(body) : 0};
    const struct push_request q = {.method = body ? "POST" : "GET",
                                   .url = url,
                                   .headers = {"Accept: application/json", waits ? "Prefer: wait=30" : NULL},
                                   .read = body ? push_http_send : NULL,
                                   .length = x.size,
                                   .write = push_http_collect,
                                   .context = &x};
    bool good = push_http_do(h, &q, out, err) && out->status == 200;
    json_t *json = good ? json_loadb((const char *)x.answer.data, x.answer.size, 0, NULL) : NULL;
    grow_done(&x.answer);
    if (good && !json) {
        reel_fail(err, REEL_DAMAGED, "the answer is not what this server answers: it is no JSON");
    }
    return json;
}

bool push_http_is_transient(long status) {
    return status == 408 || status == 423 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

bool push_http_refused(const struct push_answer *a, struct reel_error *err) {
    json_auto_t *problem = json_loads(a->body, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    return reel_fail(err,
                     a->status == 404                                        ? REEL_NOT_FOUND
                     : a->status == 409                                      ? REEL_CONFLICT
                     : a->status >= 500 || push_http_is_transient(a->status) ? REEL_IO
                                                                             : REEL_ARGUMENT,
                     "the server answered %ld%s%.300s", a->status, detail ? ": " : "", detail ? detail : "");
}

void push_http_limit(struct push_http *h, struct push_rate *rate) {
    h->rate = rate;
}

char *push_http_escape(struct push_http *h, const char *text) {
    char *escaped = curl_easy_escape(h->curl, text, 0), *copy = escaped ? strdup(escaped) : NULL;
    curl_free(escaped);
    return copy;
}

void push_http_add(struct push_http *h, char **url, const char *key, const char *value) {
    AUTO_MEM char *before = *url, *escaped = value ? push_http_escape(h, value) : NULL;
    if (!before || !value) {
        before = NULL;
        return;
    }
    if (!escaped || asprintf(url, "%s&%s=%s", before, key, escaped) < 0) {
        *url = NULL;
    }
}

bool push_http_token(const char *file, char token[PUSH_TOKEN_MAX], struct reel_error *err) {
    const char *given = getenv("REEL_TOKEN");
    FILE *f = file ? fopen(file, "re") : NULL;
    if (file && !f) {
        return reel_fail_errno(err, "%.200s cannot be read", file);
    }
    snprintf(token, PUSH_TOKEN_MAX, "%s", given && !file ? given : "");
    if (f) {
        bool ok = fgets(token, PUSH_TOKEN_MAX, f);
        fclose(f);
        if (!ok) {
            return reel_fail(err, REEL_ARGUMENT, "%.200s is empty", file);
        }
    }
    token[strcspn(token, " \t\r\n")] = '\0';
    return true;
}

char *push_http_api(const char *url) {
    size_t n = strlen(url);
    char *api = NULL;
    while (n > 0 && url[n - 1] == '/') {
        n--;
    }
    bool whole = n > 7 && strncmp(url + n - 7, "/api/v1", 7) == 0;
    return asprintf(&api, "%.*s%s", (int)n, url, whole ? "" : "/api/v1") >= 0 ? api : NULL;
}
