/* server/http over real sockets: bodies, hostile requests, deadlines, stopping. */
#include "base/cleanup.h"
#include "makers/http_toy.h"

/* ---- bodies */

static void send_toy_bytes(struct client *c, uint64_t from, size_t size) {
    AUTO_MEM uint8_t *bytes = malloc(size);
    toy_read(NULL, from, bytes, size, NULL);
    client_send_bytes(c, bytes, size);
}

static void upload_in_order(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 500000\r\n");
    send_toy_bytes(&c, 0, 200000);
    send_toy_bytes(&c, 200000, 300000);
    struct answer a = client_answer(&c, false);
    assert_int_equal(a.status, 201);
    assert_string_equal(a.body, "{\"bytes\":500000}\n");
    assert_string_equal(answer_header(&a, "Location"), "/items/new");
    free(a.body);
    client_request(&c, "PUT", "/items/b", "Transfer-Encoding: chunked\r\n"); /* the connection goes on */
    client_send(&c, "3e8\r\n");
    send_toy_bytes(&c, 0, 1000);
    client_send(&c, "\r\n0\r\n\r\n");
    a = client_answer(&c, false);
    assert_string_equal(a.body, "{\"bytes\":1000}\n");
    free(a.body);
    client_request(&c, "PUT", "/items/c", "Content-Length: 0\r\n");
    a = client_answer(&c, false);
    assert_string_equal(a.body, "{\"bytes\":0}\n");
    free(a.body);
    client_close(&c);
    assert_string_equal(toy_events, "begin\nhandle\nbegin\nhandle\nbegin\nhandle\n");
    assert_true(toy_waits_for(toy_log, "path=/items/a status=201 sent_bytes=17 in=500000"));
    SOON(atomic_load(&toy_freed) == 3);
}

static void refusal_comes_before_the_body(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/refused", "Content-Length: 5000000000\r\nExpect: 100-continue\r\n");
    while (c.size < 25 && client_more(&c)) {
    }
    assert_memory_equal(c.held, "HTTP/1.1 507", 12); /* and no 100 before it */
    struct answer a = client_answer(&c, false);
    assert_true(a.complete);
    assert_string_equal(answer_header(&a, "Connection"), "close");
    free(a.body);
    client_close(&c);
    c = client_open(toy_url); /* a client that sends at once still gets the answer */
    client_request(&c, "PUT", "/items/refused", "Content-Length: 3000000\r\n");
    send_toy_bytes(&c, 0, 3000000);
    a = client_answer(&c, false);
    assert_int_equal(a.status, 507);
    assert_true(a.complete);
    free(a.body);
    client_close(&c);
    c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 3\r\nExpect: 100-continue\r\n");
    while (c.size < 25 && client_more(&c)) {
    }
    assert_memory_equal(c.held, "HTTP/1.1 100", 12);
    send_toy_bytes(&c, 0, 3);
    a = client_answer(&c, false);
    assert_int_equal(a.status, 201);
    free(a.body);
    client_close(&c);
    assert_string_equal(toy_events, "begin\nbegin\nbegin\nhandle\n");
}

static void a_piece_may_answer_or_give_up(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/replies", "Content-Length: 400000\r\n");
    send_toy_bytes(&c, 0, 400000);
    struct answer a = client_answer(&c, false);
    assert_int_equal(a.status, 409);
    free(a.body);
    client_request(&c, "PUT", "/items/gives-up", "Content-Length: 400000\r\n");
    send_toy_bytes(&c, 0, 400000);
    a = client_answer(&c, false);
    assert_int_equal(a.status, 201);
    free(a.body);
    client_close(&c);
    assert_string_equal(toy_events, "begin\nbegin\nhandle\n");
}

static void an_aborted_upload_is_reported(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 500000\r\n");
    send_toy_bytes(&c, 0, 100000);
    assert_true(toy_waits_for(toy_events, "begin\n"));
    client_close(&c);
    assert_true(toy_waits_for(toy_log, "cut=true"));
    assert_int_equal(toy_metrics().streams_cut, 1);
    assert_string_equal(toy_events, "begin\naborted\n");
    SOON(atomic_load(&toy_freed) == 1);
}

static void bodies_that_are_not_read(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    client_request(&c, "POST", "/hello", "Content-Length: 60000\r\n");
    send_toy_bytes(&c, 0, 60000);
    struct answer a = client_answer(&c, false);
    assert_int_equal(a.status, 200);
    free(a.body);
    client_request(&c, "POST", "/hello", "Transfer-Encoding: chunked\r\n");
    client_send(&c, "186a0\r\n");
    send_toy_bytes(&c, 0, 100000);
    client_send(&c, "\r\n0\r\n\r\n");
    a = client_answer(&c, false);
    assert_int_equal(a.status, 413);
    free(a.body);
    client_request(&c, "POST", "/hello", "Content-Length: 70000\r\n");
    a = client_answer(&c, false);
    assert_int_equal(a.status, 413);
    free(a.body);
    client_close(&c);
}

/* ---- hostile requests */

static void ambiguous_requests_are_refused(void **state) {
    (void)state;
    static const char *const requests[] = {
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5, 5\r\n\r\nhello",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nhello",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\n",
        "POST /hello HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length : 5\r\n\r\nhello",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n",
        "GET /hello%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /hello?tag=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET http://localhost/hello HTTP/1.1\r\nHost: localhost\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct client c = client_open(toy_url);
        client_send(&c, requests[i]);
        struct answer a = client_answer(&c, false);
        if (a.status != 400) {
            print_error("%s", requests[i]);
        }
        assert_int_equal(a.status, 400);
        assert_true(i == sizeof requests / sizeof requests[0] - 1 || client_ended(&c, CLIENT_WAIT_MS));
        free(a.body);
        client_close(&c);
    }
    assert_string_equal(toy_events, "");
}

static void only_our_hosts(void **state) {
    (void)state;
    static const struct {
        const char *host;
        unsigned status;
    } cases[] = {{"localhost", 200},
                 {"LOCALHOST:99", 200},
                 {"127.0.0.1:8040", 200},
                 {"[::1]:8040", 200},
                 {"archive.example", 200},
                 {"archive.example:443", 200},
                 {"archive.example.evil", 421},
                 {"evil.example", 421},
                 {"127.0.0.2", 421},
                 {"localhost:x", 421},
                 {"", 421}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "GET /hello HTTP/1.1\r\nHost: %s\r\n\r\n", cases[i].host);
        struct client c = client_open(toy_url);
        client_send(&c, text);
        struct answer a = client_answer(&c, false);
        assert_int_equal(a.status, cases[i].status);
        free(a.body);
        client_close(&c);
    }
}

static void absurd_sizes(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    AUTO_MEM char *path = malloc(40000);
    memset(path, 'a', 39999);
    path[39999] = '\0';
    client_send(&c, "GET /");
    client_send(&c, path);
    client_send(&c, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    struct answer a = client_answer(&c, false);
    assert_true(a.status == 0 || a.status == 413 || a.status == 414 || a.status == 431);
    free(a.body);
    client_close(&c);
    char target[8000] = "/hello?";
    for (size_t i = 0; i < 300; i++) {
        strcat(target, "tag=&");
    }
    ASK(many, "GET", target, NULL);
    assert_int_equal(many->status, 414);
    target[strlen("/hello?") + 5 * 200] = '\0';
    ASK(some, "GET", target, NULL);
    assert_int_equal(some->status, 200);
    assert_non_null(strstr(some->body, "\"tags\":200"));
    memset(target, '/', 100);
    target[100] = '\0';
    ASK(deep, "GET", target, NULL);
    assert_int_equal(deep->status, 400);
    ASK(after, "GET", "/hello", NULL);
    assert_int_equal(after->status, 200);
}

/* ---- deadlines */

/* Time limits that a request on a machine with other work does not reach. */
static int start_hasty(void **state) {
    (void)state;
    return toy_start_with(3, 3);
}

static void dripped_headers_are_cut(void **state) {
    (void)state;
    struct client c = client_open(toy_url);
    long long begun = clock_ms();
    client_send(&c, "GET /hello HTTP/1.1\r\nHost: localhost\r\n");
    while (clock_ms() - begun < 20000 && !client_ended(&c, 100)) {
        if (!client_send(&c, "X")) {
            break;
        }
    }
    assert_true(clock_ms() - begun >= 2900 && clock_ms() - begun < 18000);
    client_close(&c);
    c = client_open(toy_url); /* the next request of a connection may not drip either */
    client_request(&c, "GET", "/hello", NULL);
    struct answer a = client_answer(&c, false);
    assert_int_equal(a.status, 200);
    free(a.body);
    begun = clock_ms();
    while (clock_ms() - begun < 20000 && !client_ended(&c, 100)) {
        if (!client_send(&c, "G")) {
            break;
        }
    }
    assert_true(clock_ms() - begun < 18000);
    client_close(&c);
}

static void slow_work_of_ours_is_not_idleness(void **state) {
    (void)state;
    ASK(a, "GET", "/slow?wait=4500ms", NULL); /* idle time-out: 3 s */
    assert_int_equal(a->status, 200);
    assert_string_equal(a->body, "late");
    ASK(b, "GET", "/stream?wait=4500ms&bytes=10", NULL);
    assert_true(b->complete);
    assert_int_equal(b->size, 10);
}

static void a_slow_body_is_cut(void **state) {
    (void)state;
    atomic_store(&toy_server->watch.rate_window_ms, 1000);
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 500000\r\n");
    long long begun = clock_ms();
    for (uint64_t at = 0; clock_ms() - begun < 20000 && !client_ended(&c, 50); at++) {
        send_toy_bytes(&c, at, 1); /* 20 bytes a second, 1000 are asked */
    }
    assert_true(clock_ms() - begun < 18000);
    client_close(&c);
    assert_true(toy_waits_for(toy_events, "aborted"));
    atomic_store(&toy_server->watch.rate_window_ms, 4000); /* a busy machine holds this client up for a second */
    c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 20000\r\n");
    for (uint64_t at = 0; at < 20000; at += 500) {
        send_toy_bytes(&c, at, 500);
        sleep_ms(60);
    }
    struct answer a = client_answer(&c, false);
    assert_int_equal(a.status, 201);
    free(a.body);
    client_close(&c);
}

/* ---- stopping */

static void a_slow_reader_is_cut(void **state) {
    (void)state;
    char bytes[1000];
    atomic_store(&toy_server->watch.reader_window_ms, 1000);
    struct client c = client_open(toy_url);
    client_request(&c, "GET", "/stream?bytes=100000000", NULL);
    long long begun = clock_ms();
    while (clock_ms() - begun < 20000 && !toy_log[0]) {
        (void)recv(c.fd, bytes, sizeof bytes, MSG_DONTWAIT); /* 10,000 bytes a second, 16,384 are asked */
        sleep_ms(100);
    }
    assert_true(toy_waits_for(toy_log, "cut=true"));
    assert_int_equal(toy_metrics().slow_readers, 1);
    assert_int_equal(toy_metrics().streams_cut, 1);
    client_close(&c);
    atomic_store(&toy_server->watch.reader_window_ms, 4000); /* a machine that runs other tests holds this client up for
                                                                a second */
    ASK(fast, "GET", "/stream?bytes=4000000", NULL);
    assert_true(fast->complete);
    ASK(late, "GET", "/stream?wait=5s&bytes=10", NULL); /* our own work, for longer than that */
    assert_true(late->complete);
    assert_int_equal(toy_metrics().slow_readers, 1);
}
static void *request_slow(void *context) {
    struct answer *a = context;
    *a = client_ask(toy_url, "GET", "/slow?wait=1s", NULL);
    return NULL;
}

static void stop_lets_requests_end(void **state) {
    (void)state;
    struct answer a = {0};
    pthread_t thread;
    toy_start_with(10, 10);
    char url[64];
    snprintf(url, sizeof url, "%s", toy_url);
    struct client idle = client_open(url);
    pthread_create(&thread, NULL, request_slow, &a);
    assert_true(toy_waits_for(toy_events, "slow begins"));
    http_server_stop(toy_server, 10);
    http_server_free(toy_server);
    pthread_join(thread, NULL);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "late");
    assert_string_equal(answer_header(&a, "Connection"), "close");
    assert_true(client_ended(&idle, CLIENT_WAIT_MS));
    struct client late = client_open(url);
    assert_int_equal(late.fd, -1);
    client_close(&idle);
    free(a.body);
}

static void stop_cuts_what_does_not_end(void **state) {
    (void)state;
    toy_start_with(10, 10);
    struct client c = client_open(toy_url);
    client_request(&c, "PUT", "/items/a", "Content-Length: 500000\r\n");
    send_toy_bytes(&c, 0, 1000);
    struct client s = client_open(toy_url);
    client_request(&s, "GET", "/stream?bytes=100000000000", NULL); /* no client reads it */
    assert_true(client_more(&s));
    assert_true(toy_waits_for(toy_events, "begin"));
    long long begun = clock_ms();
    http_server_stop(toy_server, 1);
    http_server_free(toy_server);
    assert_true(clock_ms() - begun >= 900 && clock_ms() - begun < 20000);
    assert_string_equal(toy_events, "begin\naborted\n");
    assert_int_equal(atomic_load(&toy_freed), 2);
    client_close(&c);
    client_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(upload_in_order, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(refusal_comes_before_the_body, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(a_piece_may_answer_or_give_up, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(an_aborted_upload_is_reported, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(bodies_that_are_not_read, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(ambiguous_requests_are_refused, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(only_our_hosts, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(absurd_sizes, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(dripped_headers_are_cut, start_hasty, toy_stop),
        cmocka_unit_test_setup_teardown(slow_work_of_ours_is_not_idleness, start_hasty, toy_stop),
        cmocka_unit_test_setup_teardown(a_slow_body_is_cut, toy_start, toy_stop),
        cmocka_unit_test_setup_teardown(a_slow_reader_is_cut, toy_start, toy_stop),
        cmocka_unit_test(stop_lets_requests_end),
        cmocka_unit_test(stop_cuts_what_does_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
