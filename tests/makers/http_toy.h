/* Toy routes and a server over them, for tests of server/http. */
#ifndef TESTS_HTTP_TOY_H
#define TESTS_HTTP_TOY_H

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "http/http_internal.h"
#include "makers/http_client.h"

enum { TOY_FILE_BYTES = 1000000 };

static pthread_mutex_t toy_mutex = PTHREAD_MUTEX_INITIALIZER;
static char toy_events[4096]; /* what the routes with a body saw */
static char toy_log[65536];
static _Atomic int toy_freed;
static _Atomic uint64_t toy_bytes;

static inline void toy_note(char *to, size_t size, const char *text) {
    pthread_mutex_lock(&toy_mutex);
    size_t used = strlen(to);
    snprintf(to + used, size - used, "%s\n", text);
    pthread_mutex_unlock(&toy_mutex);
}
static inline void toy_event(const char *text) {
    toy_note(toy_events, sizeof toy_events, text);
}
static inline bool toy_saw(const char *to, const char *text) {
    pthread_mutex_lock(&toy_mutex);
    bool saw = strstr(to, text) != NULL;
    pthread_mutex_unlock(&toy_mutex);
    return saw;
}
static inline bool toy_waits_for(const char *to, const char *text) {
    for (int i = 0; i < 10000 && !toy_saw(to, text); i++) {
        sleep_ms(5);
    }
    return toy_saw(to, text);
}
/* A client has its answer a moment before the server has tidied up after it. */
#define SOON(condition)                                                                                                \
    do {                                                                                                               \
        for (int tries_ = 0; tries_ < 10000 && !(condition); tries_++) {                                               \
            sleep_ms(5);                                                                                               \
        }                                                                                                              \
        assert_true(condition);                                                                                        \
    } while (0)

static inline uint8_t toy_byte(uint64_t i) {
    return (uint8_t)(i * 7 + i / 251);
}

static void toy_hello(struct http_request *r) {
    const char *tags[HTTP_PARAMS_MAX] = {""};
    uint64_t n = 0;
    bool report = false;
    struct reel_time at = {0};
    http_param_u64(r, "n", &n);
    http_param_bool(r, "report", &report);
    http_param_time(r, "at", &at);
    size_t count = http_params(r, "tag", tags, HTTP_PARAMS_MAX);
    http_reply_json(r, 200,
                    json_pack("{s:s, s:I, s:b, s:I, s:i, s:s, s:s}", "hello", "world", "n", (json_int_t)n, "report",
                              (int)report, "at", (json_int_t)at.ns, "tags", (int)count, "first", tags[0], "id",
                              http_id(r)));
}

static void toy_item(struct http_request *r) {
    http_reply_text(r, 200, "text/plain; charset=utf-8", http_segment(r, "id"));
}

static void toy_rest(struct http_request *r) {
    http_reply_text(r, 200, "text/plain; charset=utf-8", http_segment(r, "path"));
}

static void toy_big(struct http_request *r) {
    json_t *list = json_array();
    for (int i = 0; i < 2000; i++) {
        json_array_append_new(list, json_integer(i));
    }
    http_reply_json(r, 200, list);
}

static void toy_big_tagged(struct http_request *r) {
    http_add_header(r, "ETag", "\"v7\"");
    http_add_header(r, "X-After", "1");
    toy_big(r);
}

static void toy_tagged(struct http_request *r) {
    http_add_header(r, "ETag", "\"v1\"");
    http_add_header(r, "X-Evil", "a\r\nSet-Cookie: b");
    http_reply_json(r, 200, json_pack("{s:i}", "version", 1));
}

static void toy_count_free(void *context) {
    (void)context;
    atomic_fetch_add(&toy_freed, 1);
}

static bool toy_read(void *context, uint64_t offset, void *buffer, size_t size, struct reel_error *err) {
    if (context && offset >= 300000) {
        return reel_fail(err, REEL_IO, "the disk \"went\" away");
    }
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)buffer)[i] = toy_byte(offset + i);
    }
    return true;
}

/* Made once: a thousand requests ask for it. */
static int toy_fd;
static void toy_make_fd(void) {
    static uint8_t bytes[TOY_FILE_BYTES];
    char path[] = "/tmp/reel-http-XXXXXX";
    toy_fd = mkstemp(path);
    unlink(path);
    toy_read(NULL, 0, bytes, sizeof bytes, NULL);
    assert_int_equal(write(toy_fd, bytes, sizeof bytes), sizeof bytes);
}

static void toy_file(struct http_request *r) {
    const char *name = http_segment(r, "name");
    struct http_file file = {.length = TOY_FILE_BYTES,
                             .etag = "\"toy-1\"",
                             .media_type = "application/octet-stream",
                             .file_name = "r\xc3\xa4tsel \"1\".bag",
                             .repr_digest = "sha-256=:AAAA:",
                             .modified_ns = 784111777000000000,
                             .fd = -1,
                             .read = toy_read,
                             .free = toy_count_free,
                             .context = strcmp(name, "broken") == 0 ? &toy_freed : NULL};
    if (strcmp(name, "empty") == 0) {
        file.length = 0;
    } else if (strcmp(name, "fd") == 0) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, toy_make_fd);
        file.fd = fcntl(toy_fd, F_DUPFD_CLOEXEC, 0); /* the reply closes it */
        assert_true(file.fd >= 0);
    }
    http_reply_file(r, &file);
}

struct toy_stream {
    uint64_t left, sent;
    bool fail;
    long wait_ms;
};

static bool toy_next(void *context, void *buffer, size_t size, size_t *got, struct reel_error *err) {
    struct toy_stream *s = context;
    if (s->left == 0 && s->fail) {
        return reel_fail(err, REEL_DAMAGED, "chunk at 4096 does not decode");
    }
    sleep_ms(s->wait_ms);
    *got = s->left < size ? (size_t)s->left : size;
    toy_read(NULL, s->sent, buffer, *got, NULL);
    s->left -= *got;
    s->sent += *got;
    return true;
}

static void toy_stream_free(void *context) {
    free(context);
    atomic_fetch_add(&toy_freed, 1);
}

static void toy_stream(struct http_request *r) {
    struct toy_stream *s = calloc(1, sizeof *s);
    int64_t wait = 0;
    s->left = TOY_FILE_BYTES;
    http_param_u64(r, "bytes", &s->left);
    http_param_bool(r, "fail", &s->fail);
    http_param_duration(r, "wait", &wait);
    s->wait_ms = (long)(wait / 1000000);
    http_reply_stream(
        r, &(struct http_stream){
               .media_type = "application/x-ndjson", .next = toy_next, .free = toy_stream_free, .context = s});
}

static void toy_slow(struct http_request *r) {
    int64_t wait = 0;
    http_param_duration(r, "wait", &wait);
    toy_event("slow begins");
    sleep_ms((long)(wait / 1000000));
    http_reply_text(r, 200, "text/plain", "late");
}

static void toy_mute(struct http_request *r) {
    (void)r;
}

static void toy_error(struct http_request *r) {
    struct reel_error err;
    reel_fail(&err, REEL_NO_SPACE, "no room for 5 bytes");
    http_reply_error(r, &err);
}

static void toy_upload_begin(struct http_request *r) {
    toy_event("begin");
    atomic_store(&toy_bytes, 0);
    http_set_state(r, &toy_freed, toy_count_free);
    if (strcmp(http_segment(r, "id"), "refused") == 0) {
        http_reply_problem(r, 507, "no-space", "No room.");
    }
}
static bool toy_upload_piece(struct http_request *r, const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint64_t at = atomic_fetch_add(&toy_bytes, size);
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != toy_byte(at + i)) {
            toy_event("wrong byte");
        }
    }
    const char *id = http_segment(r, "id");
    if (strcmp(id, "replies") == 0) {
        http_reply_problem(r, 409, "offset", "Not here.");
        return false;
    }
    return strcmp(id, "gives-up") != 0;
}
static void toy_upload_handle(struct http_request *r) {
    toy_event("handle");
    http_add_header(r, "Location", "/items/new");
    http_reply_json(r, 201, json_pack("{s:I}", "bytes", (json_int_t)atomic_load(&toy_bytes)));
}
static void toy_upload_aborted(struct http_request *r) {
    (void)r;
    toy_event("aborted");
}

static const char *const toy_kinds[] = {"red", "green", NULL};
static const struct http_deprecation toy_old_param = {.what = "old of /hello",
                                                      .since = "2027-01-31",
                                                      .sunset = "2028-06-30",
                                                      .link = "https://example.org/old"},
                                     toy_old_route = {.what = "GET /old",
                                                      .since = "2027-03-01",
                                                      .sunset = "2028-03-31",
                                                      .link = "/hello"};
static const struct http_param toy_params[] = {{.name = "n", .type = HTTP_UINT},
                                               {.name = "tag", .type = HTTP_TEXT, .repeats = true},
                                               {.name = "report", .type = HTTP_BOOL},
                                               {.name = "at", .type = HTTP_TIME},
                                               {.name = "from", .type = HTTP_TIME_MS},
                                               {.name = "wait", .type = HTTP_DURATION},
                                               {.name = "bytes", .type = HTTP_UINT},
                                               {.name = "fail", .type = HTTP_BOOL},
                                               {.name = "kind", .type = HTTP_CHOICE, .choices = toy_kinds},
                                               {.name = "old", .type = HTTP_BOOL, .deprecated = &toy_old_param},
                                               {0}};
static const struct http_route toy_routes[] = {
    {.method = "GET", .path = "/hello", .params = toy_params, .handle = toy_hello},
    {.method = "POST", .path = "/hello", .params = toy_params, .handle = toy_hello},
    {.method = "GET", .path = "/items/{id}", .handle = toy_item},
    {.method = "PUT",
     .path = "/items/{id}",
     .handle = toy_upload_handle,
     .begin = toy_upload_begin,
     .piece = toy_upload_piece,
     .aborted = toy_upload_aborted},
    {.method = "GET", .path = "/rest/{path...}", .handle = toy_rest},
    {.method = "GET", .path = "/big", .handle = toy_big},
    {.method = "GET", .path = "/big/tagged", .handle = toy_big_tagged},
    {.method = "GET", .path = "/tagged", .handle = toy_tagged},
    {.method = "GET", .path = "/file/{name}", .handle = toy_file},
    {.method = "GET", .path = "/stream", .params = toy_params, .handle = toy_stream},
    {.method = "GET", .path = "/slow", .params = toy_params, .handle = toy_slow},
    {.method = "GET", .path = "/mute", .handle = toy_mute},
    {.method = "GET", .path = "/error", .handle = toy_error},
    {.method = "GET", .path = "/old", .params = toy_params, .handle = toy_hello},
    {0}};
enum { TOY_ROUTES = sizeof toy_routes / sizeof *toy_routes };
static const struct http_policy toy_policies[TOY_ROUTES] = {[TOY_ROUTES - 2] = {.deprecated = &toy_old_route}};

static void toy_log_line(void *context, const char *line) {
    assert_null(context);
    toy_note(toy_log, sizeof toy_log, line);
}

static const char *const toy_hosts[] = {"archive.example", NULL};
static const char *const toy_origins[] = {"https://viewer.example", "*", NULL};
static struct http_server *toy_server;
static const char *toy_url;

static inline int toy_start_with(unsigned header_s, unsigned idle_s) {
    struct http_options options = {.listen = "127.0.0.1:0",
                                   .routes = toy_routes,
                                   .policies = toy_policies,
                                   .hosts = toy_hosts,
                                   .origins = toy_origins,
                                   .connections_max = 200,
                                   .connections_per_address = 200,
                                   .header_timeout_s = header_s,
                                   .idle_timeout_s = idle_s,
                                   .body_min_rate = 1000,
                                   .reader_min_rate = 16384,
                                   .log = toy_log_line};
    struct reel_error err = {0};
    toy_server = http_server_start(&options, &err);
    assert_string_equal(err.text, "");
    assert_non_null(toy_server);
    toy_url = http_server_url(toy_server);
    toy_events[0] = toy_log[0] = '\0';
    atomic_store(&toy_freed, 0);
    return 0;
}
static inline int toy_start(void **state) {
    (void)state;
    return toy_start_with(10, 10);
}
static inline int toy_stop(void **state) {
    (void)state;
    http_server_stop(toy_server, 2);
    http_server_free(toy_server);
    toy_server = NULL;
    return 0;
}

static inline struct http_metrics toy_metrics(void) {
    struct http_metrics statistics;
    http_server_metrics(toy_server, &statistics);
    return statistics;
}

#define ASK(name, method, target, headers)                                                                             \
    AUTO(answer_free) struct answer *name = answer_keep(client_ask(toy_url, method, target, headers))

static inline void answer_free(struct answer *a) {
    if (a) {
        free(a->body);
        free(a);
    }
}
REEL_DEFINE_AUTO(struct answer, answer_free);
static inline struct answer *answer_keep(struct answer a) {
    struct answer *kept = malloc(sizeof *kept);
    *kept = a;
    return kept;
}

#endif
