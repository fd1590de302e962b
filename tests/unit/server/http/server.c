/* server/http over real sockets: what is answered to well-formed requests. */
#include "makers/http_toy.h"

static void json_text_and_trace(void **state) {
    (void)state;
    ASK(a, "GET", "/hello?n=5&tag=a%26b&tag=c&report&at=%2B2.5s", "X-Request-Id: run.7-b_C\r\n");
    assert_int_equal(a->status, 200);
    assert_string_equal(a->body, "{\"hello\":\"world\",\"n\":5,\"report\":true,\"at\":2500000000,\"tags\":2,\"first\":"
                                 "\"a&b\",\"id\":\"run.7-b_C\"}\n");
    assert_string_equal(answer_header(a, "X-Request-Id"), "run.7-b_C");
    assert_string_equal(answer_header(a, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(answer_header(a, "Referrer-Policy"), "no-referrer");
    assert_string_equal(answer_header(a, "Cache-Control"), "private, no-cache");
    ASK(b, "GET", "/hello?at=+2.5s", "X-Request-Id: no blank\r\n");
    assert_non_null(strstr(b->body, "\"at\":2500000000"));
    assert_int_equal(strlen(answer_header(b, "X-Request-Id")), 16);
    ASK(c, "GET", "/items/%C3%A4%2Fb%20c", NULL);
    assert_string_equal(c->body, "\xc3\xa4/b c");
    ASK(d, "GET", "/rest/a/b%20c/", NULL);
    assert_string_equal(d->body, "a/b c/");
    ASK(e, "GET", "/rest/", NULL);
    assert_int_equal(e->status, 200);
    assert_string_equal(e->body, "");
    assert_true(toy_waits_for(toy_log, "id=run.7-b_C method=GET path=/hello status=200 sent_bytes="));
    assert_false(toy_saw(toy_log, "a%26b"));
}

static void problems_name_what_is_wrong(void **state) {
    (void)state;
    ASK(a, "GET", "/hello?n=-1&other=1&n=2&kind=blue&from=soon&at=2024-02-30T00:00:00Z", NULL);
    assert_int_equal(a->status, 400);
    assert_string_equal(answer_header(a, "Content-Type"), "application/problem+json");
    json_t *problem = json_loads(a->body, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(problem, "type")), "/problems/bad-parameter");
    assert_string_equal(json_string_value(json_object_get(problem, "instance")), "/hello");
    assert_string_equal(json_string_value(json_object_get(problem, "request_id")), answer_header(a, "X-Request-Id"));
    const json_t *errors = json_object_get(problem, "errors");
    const char *const wrong[] = {"n", "other", "n", "kind", "from", "at"};
    assert_int_equal(json_array_size(errors), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(json_string_value(json_object_get(json_array_get(errors, i), "param")), wrong[i]);
    }
    json_decref(problem);
    ASK(b, "GET", "/nothing/here", NULL);
    assert_int_equal(b->status, 404);
    assert_int_equal(b->body[b->size - 1], '\n');
    ASK(c, "DELETE", "/hello", NULL);
    assert_int_equal(c->status, 405);
    assert_string_equal(answer_header(c, "Allow"), "GET, HEAD, POST, OPTIONS");
    ASK(d, "GET", "/error", NULL);
    assert_int_equal(d->status, 507);
    assert_non_null(strstr(d->body, "no room for 5 bytes"));
    ASK(e, "GET", "/mute", NULL);
    assert_int_equal(e->status, 500);
    const char *const bad_paths[] = {"/items/%zz",    "/items/%ff",       "/items/..",
                                     "/items/%2e%2e", "/rest/a%2F..%2Fb", "/items/%00"};
    for (size_t i = 0; i < sizeof bad_paths / sizeof bad_paths[0]; i++) {
        ASK(bad, "GET", bad_paths[i], NULL);
        assert_int_equal(bad->status, 400);
    }
}

static void file_whole_and_ranges(void **state) {
    (void)state;
    const char *const names[] = {"/file/fd", "/file/read"};
    for (size_t i = 0; i < 2; i++) {
        ASK(whole, "GET", names[i], NULL);
        assert_int_equal(whole->status, 200);
        assert_true(whole->complete);
        assert_int_equal(whole->size, TOY_FILE_BYTES);
        for (size_t k = 0; k < whole->size; k++) {
            assert_int_equal((uint8_t)whole->body[k], toy_byte(k));
        }
        assert_string_equal(answer_header(whole, "Accept-Ranges"), "bytes");
        assert_string_equal(answer_header(whole, "ETag"), "\"toy-1\"");
        assert_string_equal(answer_header(whole, "Last-Modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_string_equal(answer_header(whole, "Repr-Digest"), "sha-256=:AAAA:");
        assert_string_equal(answer_header(whole, "Content-Disposition"),
                            "attachment; filename=\"r__tsel _1_.bag\"; filename*=UTF-8''r%C3%A4tsel%20%221%22.bag");
        ASK(part, "GET", names[i], "Range: bytes=999998-\r\n");
        assert_int_equal(part->status, 206);
        assert_int_equal(part->size, 2);
        assert_string_equal(answer_header(part, "Content-Range"), "bytes 999998-999999/1000000");
        assert_int_equal((uint8_t)part->body[1], toy_byte(999999));
        ASK(suffix, "GET", names[i], "Range: bytes=-250000\r\nIf-Range: \"toy-1\"\r\n");
        assert_int_equal(suffix->status, 206);
        assert_int_equal(suffix->size, 250000);
        assert_int_equal((uint8_t)suffix->body[0], toy_byte(750000));
        ASK(merged, "GET", names[i], "Range: bytes=0-99,50-149,150-199\r\n");
        assert_string_equal(answer_header(merged, "Content-Range"), "bytes 0-199/1000000");
        ASK(head, "HEAD", names[i], "Range: bytes=0-0\r\n");
        assert_int_equal(head->status, 200);
        assert_string_equal(answer_header(head, "Content-Length"), "1000000");
    }
    ASK(stale, "GET", "/file/fd", "Range: bytes=0-9\r\nIf-Range: \"other\"\r\n");
    assert_int_equal(stale->status, 200);
    ASK(weak, "GET", "/file/fd", "Range: bytes=0-9\r\nIf-Range: W/\"toy-1\"\r\n");
    assert_int_equal(weak->status, 200);
    ASK(empty, "GET", "/file/empty", NULL);
    assert_int_equal(empty->status, 200);
    assert_string_equal(answer_header(empty, "Content-Length"), "0");
}

static void file_multipart(void **state) {
    (void)state;
    const char *const names[] = {"/file/fd", "/file/read"};
    for (size_t i = 0; i < 2; i++) {
        ASK(a, "GET", names[i], "Range: bytes=500000-899999, 0-3\r\n");
        assert_int_equal(a->status, 206);
        assert_true(a->complete);
        const char *type = answer_header(a, "Content-Type");
        assert_memory_equal(type, "multipart/byteranges; boundary=", 31);
        char expected[1024], boundary[64];
        snprintf(boundary, sizeof boundary, "%s", type + 31);
        snprintf(expected, sizeof expected,
                 "--%s\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes 500000-899999/1000000\r\n\r\n",
                 boundary);
        assert_memory_equal(a->body, expected, strlen(expected));
        const uint8_t *data = (const uint8_t *)a->body + strlen(expected);
        for (size_t k = 0; k < 400000; k++) {
            assert_int_equal(data[k], toy_byte(500000 + k));
        }
        char tail[1024];
        snprintf(tail, sizeof tail,
                 "\r\n--%s\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes 0-3/1000000\r\n\r\n",
                 boundary);
        assert_memory_equal(data + 400000, tail, strlen(tail));
        snprintf(expected, sizeof expected, "\r\n--%s--\r\n", boundary);
        assert_string_equal(a->body + a->size - strlen(expected), expected);
        assert_int_equal(a->size,
                         (size_t)(data - (const uint8_t *)a->body) + 400000 + strlen(tail) + 4 + strlen(expected));
    }
}

static void file_conditions(void **state) {
    (void)state;
    static const struct {
        const char *headers;
        unsigned status;
    } cases[] = {
        {"If-None-Match: \"toy-1\"\r\n", 304},
        {"If-None-Match: \"a\", W/\"toy-1\"\r\n", 304},
        {"If-None-Match: *\r\n", 304},
        {"If-None-Match: \"a\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200},
        {"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 304},
        {"If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200},
        {"If-Match: \"toy-1\"\r\n", 200},
        {"If-Match: W/\"toy-1\"\r\n", 412},
        {"If-Match: \"a\"\r\n", 412},
        {"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412},
        {"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200},
        {"Range: bytes=1000000-\r\n", 416},
        {"Range: bytes=5-1\r\n", 200},
        {"Range: lines=1-2\r\n", 200},
        {"Range: bytes=0-0\r\nIf-None-Match: \"toy-1\"\r\n", 304},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ASK(a, "GET", "/file/fd", cases[i].headers);
        assert_int_equal(a->status, cases[i].status);
        if (a->status == 416) {
            assert_string_equal(answer_header(a, "Content-Range"), "bytes */1000000");
        }
    }
    ASK(tagged, "GET", "/tagged", "If-None-Match: \"v1\"\r\n");
    assert_int_equal(tagged->status, 304);
    ASK(plain, "GET", "/tagged", NULL);
    assert_null(answer_header(plain, "X-Evil"));
    assert_null(answer_header(plain, "Set-Cookie"));
    int freed = atomic_load(&toy_freed);
    ASK(last, "GET", "/file/read", "If-None-Match: *\r\n");
    assert_int_equal(last->status, 304);
    SOON(atomic_load(&toy_freed) == freed + 1);
}

static void broken_bodies_are_cut(void **state) {
    (void)state;
    ASK(file, "GET", "/file/broken", NULL);
    assert_int_equal(file->status, 200);
    assert_false(file->complete);
    assert_true(file->size < TOY_FILE_BYTES);
    ASK(stream, "GET", "/stream?fail=1&bytes=300000", NULL);
    assert_int_equal(stream->status, 200);
    assert_int_equal(stream->size, 300000);
    assert_false(stream->complete);
    assert_true(toy_waits_for(toy_log, "cut=true error=\"chunk at 4096 does not decode\""));
    assert_int_equal(toy_metrics().streams_cut, 2);
    SOON(atomic_load(&toy_freed) == 2);
}

static void streams_are_chunked(void **state) {
    (void)state;
    ASK(a, "GET", "/stream", NULL);
    assert_string_equal(answer_header(a, "Transfer-Encoding"), "chunked");
    assert_true(a->complete);
    assert_int_equal(a->size, TOY_FILE_BYTES);
    for (size_t k = 0; k < a->size; k++) {
        assert_int_equal((uint8_t)a->body[k], toy_byte(k));
    }
    ASK(head, "HEAD", "/stream", NULL);
    assert_int_equal(head->status, 200);
    assert_int_equal(head->size, 0);
    ASK(none, "GET", "/stream?bytes=0", NULL);
    assert_true(none->complete);
    long long begun = clock_ms();
    struct client c = client_open(toy_url);
    client_request(&c, "GET", "/stream?wait=5s&bytes=10", NULL);
    while (!c.size && client_more(&c)) {
    }
    assert_true(clock_ms() - begun < 4500); /* the headers do not wait for the first byte */
    client_close(&c);                       /* and a client may go at any time */
}

static void json_is_compressed_on_request(void **state) {
    (void)state;
    ASK(packed, "GET", "/big", "Accept-Encoding: br, gzip;q=0.5\r\n");
    assert_string_equal(answer_header(packed, "Content-Encoding"), "gzip");
    assert_int_equal((uint8_t)packed->body[0], 0x1f);
    assert_non_null(strcasestr(packed->head, "\r\nVary: Accept-Encoding\r\n"));
    ASK(plain, "GET", "/big", "Accept-Encoding: gzip;q=0\r\n");
    assert_null(answer_header(plain, "Content-Encoding"));
    assert_non_null(strcasestr(plain->head, "\r\nVary: Accept-Encoding\r\n"));
    assert_true(plain->size > packed->size);
    ASK(small, "GET", "/hello", "Accept-Encoding: gzip\r\n");
    assert_null(answer_header(small, "Content-Encoding"));
    ASK(file, "GET", "/file/fd", "Accept-Encoding: gzip\r\n");
    assert_null(answer_header(file, "Content-Encoding"));
}

static void a_packed_form_has_a_tag_of_its_own(void **state) {
    (void)state;
    ASK(plain, "GET", "/big/tagged", NULL);
    assert_string_equal(answer_header(plain, "ETag"), "\"v7\"");
    assert_string_equal(answer_header(plain, "Vary"), "Accept-Encoding");
    ASK(packed, "GET", "/big/tagged", "Accept-Encoding: gzip\r\n");
    assert_string_equal(answer_header(packed, "Content-Encoding"), "gzip");
    assert_string_equal(answer_header(packed, "ETag"), "\"v7-gzip\"");
    assert_string_equal(answer_header(packed, "X-After"), "1");
    assert_int_equal((uint8_t)packed->body[0], 0x1f);
    ASK(known, "GET", "/big/tagged", "Accept-Encoding: gzip\r\nIf-None-Match: \"v7-gzip\"\r\n");
    assert_int_equal(known->status, 304);
    assert_string_equal(answer_header(known, "ETag"), "\"v7-gzip\"");
    assert_non_null(strcasestr(known->head, "\r\nVary: Accept-Encoding\r\n"));
    ASK(known_plain, "GET", "/big/tagged", "If-None-Match: \"v7\"\r\n");
    assert_int_equal(known_plain->status, 304);
    ASK(other_form, "GET", "/big/tagged", "Accept-Encoding: gzip\r\nIf-None-Match: \"v7\"\r\n");
    assert_int_equal(other_form->status, 200);
    ASK(either, "GET", "/big/tagged", "Accept-Encoding: gzip\r\nIf-Match: \"v7\"\r\n"); /* the same state, in whatever
                                                                                           form */
    assert_int_equal(either->status, 200);
    ASK(or_the_other, "GET", "/big/tagged", "If-Match: \"v7-gzip\"\r\n");
    assert_int_equal(or_the_other->status, 200);
    ASK(older, "GET", "/big/tagged", "If-Match: \"v6-gzip\"\r\n");
    assert_int_equal(older->status, 412);
}

static void other_origins(void **state) {
    (void)state;
    ASK(any, "GET", "/hello", "Origin: https://elsewhere.example\r\n");
    assert_string_equal(answer_header(any, "Access-Control-Allow-Origin"), "*");
    assert_null(answer_header(any, "Access-Control-Allow-Credentials"));
    assert_non_null(strstr(answer_header(any, "Access-Control-Expose-Headers"), "Content-Range"));
    ASK(listed, "GET", "/nothing", "Origin: https://viewer.example\r\n");
    assert_int_equal(listed->status, 404);
    assert_string_equal(answer_header(listed, "Access-Control-Allow-Origin"), "https://viewer.example");
    assert_string_equal(answer_header(listed, "Access-Control-Allow-Credentials"), "true");
    ASK(preflight, "OPTIONS", "/items/x", "Origin: https://viewer.example\r\nAccess-Control-Request-Method: PUT\r\n");
    assert_int_equal(preflight->status, 204);
    assert_string_equal(answer_header(preflight, "Access-Control-Allow-Methods"), "GET, HEAD, PUT, OPTIONS");
    assert_non_null(strstr(answer_header(preflight, "Access-Control-Allow-Headers"), "If-Range"));
    assert_non_null(answer_header(preflight, "Access-Control-Max-Age"));
    ASK(reads, "OPTIONS", "/items/x", "Origin: https://elsewhere.example\r\nAccess-Control-Request-Method: PUT\r\n");
    assert_string_equal(answer_header(reads, "Access-Control-Allow-Methods"), "GET, HEAD");
    ASK(options, "OPTIONS", "/items/x", NULL);
    assert_int_equal(options->status, 204);
    assert_string_equal(answer_header(options, "Allow"), "GET, HEAD, PUT, OPTIONS");
    static const struct {
        const char *headers;
        unsigned status;
    } writes[] = {{NULL, 200},
                  {"Origin: http://localhost\r\n", 200},
                  {"Origin: https://viewer.example\r\nSec-Fetch-Site: cross-site\r\n", 200},
                  {"Origin: http://localhost:81\r\n", 403},
                  {"Origin: https://elsewhere.example\r\n", 403},
                  {"Origin: null\r\n", 403},
                  {"Sec-Fetch-Site: cross-site\r\n", 403},
                  {"Sec-Fetch-Site: same-origin\r\n", 200}};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        ASK(a, "POST", "/hello", writes[i].headers);
        assert_int_equal(a->status, writes[i].status);
    }
}

struct crowd {
    pthread_t thread;
    unsigned good;
};

static void *crowd_run(void *context) {
    struct crowd *crowd = context;
    struct client c = client_open(toy_url);
    for (int i = 0; i < 200; i++) { /* all on one connection */
        client_request(&c, "GET", i % 3 ? "/hello?n=5" : "/file/fd", i % 3 ? NULL : "Range: bytes=10-19\r\n");
        struct answer a = client_answer(&c, false);
        crowd->good +=
            a.complete && (i % 3 ? a.status == 200 && strstr(a.body, "\"n\":5") : a.status == 206 && a.size == 10);
        free(a.body);
    }
    client_close(&c);
    return NULL;
}

static void many_at_once(void **state) {
    (void)state;
    struct crowd crowd[16] = {0};
    for (size_t i = 0; i < 16; i++) {
        pthread_create(&crowd[i].thread, NULL, crowd_run, &crowd[i]);
    }
    for (size_t i = 0; i < 16; i++) {
        pthread_join(crowd[i].thread, NULL);
        assert_int_equal(crowd[i].good, 200);
    }
    SOON(toy_metrics().requests == 16 * 200);
    assert_int_equal(toy_metrics().status[2], 16 * 200);
    SOON(toy_metrics().connections == 0);
}

static void bad_starts_are_reported(void **state) {
    (void)state;
    static const struct http_route bad_routes[] = {{.method = "GET", .path = "/{a...}/b", .handle = toy_hello}, {0}};
    struct reel_error err = {0};
    struct http_options options = {.listen = "127.0.0.1:0", .routes = bad_routes};
    assert_null(http_server_start(&options, &err));
    assert_string_equal(err.text, "malformed route GET /{a...}/b");
    options.routes = toy_routes;
    options.listen = "localhost";
    assert_null(http_server_start(&options, &err));
    assert_non_null(strstr(err.text, "not an address to listen on"));
    options.listen = "[::1]:0";
    struct http_server *v6 = http_server_start(&options, &err);
    if (v6) { /* a machine may have no IPv6 */
        assert_memory_equal(http_server_url(v6), "http://[::1]:", 13);
        http_server_stop(v6, 0);
        http_server_free(v6);
    }
    options.listen = strstr(toy_url, "127");
    assert_null(http_server_start(&options, &err));
    assert_int_equal(err.code, REEL_IO);
}

/* ---- what will be removed */

static uint64_t toy_uses(const char *what) {
    struct http_deprecated_use uses[HTTP_DEPRECATED_USES_MAX];
    size_t n = http_server_deprecated(toy_server, uses);
    uint64_t requests = 0;
    for (size_t i = 0; i < n; i++) {
        requests += strcmp(uses[i].what, what) == 0 ? uses[i].requests : 0;
    }
    return requests;
}

static void deprecated_parts_are_announced(void **state) {
    (void)state;
    ASK(plain, "GET", "/hello", NULL);
    assert_null(answer_header(plain, "Deprecation"));
    assert_null(answer_header(plain, "Sunset"));
    ASK(param, "GET", "/hello?old=true", NULL);
    assert_int_equal(param->status, 200);
    assert_string_equal(answer_header(param, "Deprecation"), "@1801353600"); /* 2027-01-31 */
    assert_string_equal(answer_header(param, "Sunset"), "Fri, 30 Jun 2028 00:00:00 GMT");
    assert_string_equal(answer_header(param, "Link"), "<https://example.org/old>; rel=\"deprecation\"");
    ASK(route, "GET", "/old", NULL);
    assert_string_equal(answer_header(route, "Deprecation"), "@1803859200"); /* 2027-03-01 */
    assert_string_equal(answer_header(route, "Sunset"), "Fri, 31 Mar 2028 00:00:00 GMT");
    assert_string_equal(answer_header(route, "Link"), "</hello>; rel=\"deprecation\"");
    ASK(both, "GET", "/old?old", NULL); /* the earlier dates */
    assert_string_equal(answer_header(both, "Deprecation"), "@1801353600");
    assert_string_equal(answer_header(both, "Sunset"), "Fri, 31 Mar 2028 00:00:00 GMT");
    ASK(wrong, "GET", "/hello?old=maybe", NULL);
    assert_int_equal(wrong->status, 400);
    assert_non_null(answer_header(wrong, "Deprecation"));
    assert_int_equal(toy_uses("old of /hello"), 3);
    assert_int_equal(toy_uses("GET /old"), 2);
    SOON(toy_saw(toy_log, "deprecated=\"GET /old, old of /hello\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(json_text_and_trace, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(problems_name_what_is_wrong, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(file_whole_and_ranges, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(file_multipart, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(file_conditions, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(broken_bodies_are_cut, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(streams_are_chunked, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(json_is_compressed_on_request, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(a_packed_form_has_a_tag_of_its_own, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(other_origins, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(deprecated_parts_are_announced, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(many_at_once, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(bad_starts_are_reported, toy_start, toy_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
