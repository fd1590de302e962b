/* Frames of WebSockets over a pair of sockets: what arrives whole, and what ends the connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "http/websocket.h"

enum { MESSAGE_MAX = 1000 };
static const int64_t PATIENCE_NS = INT64_C(10000000000);

struct pair {
    int ours, theirs;
    struct websocket *ws; /* the server's end */
};

static struct pair pair_open(struct reel_bytes early) {
    int fds[2];
    struct reel_error err = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct pair p = {.ours = fds[0], .theirs = fds[1]};
    p.ws = websocket_new(&(struct websocket_options){.fd = p.ours, .early = early, .message_max = MESSAGE_MAX}, &err);
    assert_non_null(p.ws);
    return p;
}

static void pair_close(struct pair *p) {
    websocket_free(p->ws);
    close(p->ours);
    close(p->theirs);
}

static void put(const struct pair *p, const char *bytes, size_t size) {
    assert_int_equal(send(p->theirs, bytes, size, 0), size);
}
#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

static enum websocket_got receive(struct pair *p, struct websocket_message *out) {
    return websocket_wait(p->ws, -1, clock_ns() + PATIENCE_NS, out);
}

static void assert_message(struct pair *p, bool text, const char *bytes) {
    struct websocket_message m;
    assert_int_equal(receive(p, &m), WEBSOCKET_MESSAGE);
    assert_int_equal(m.text, text);
    assert_true(bytes_is(m.bytes, bytes));
}

/* Nothing more comes, and the other side gets a close frame with this code; 0: without one. */
static void assert_closed(struct pair *p, unsigned code) {
    struct websocket_message m;
    uint8_t got[4] = {0};
    assert_int_equal(receive(p, &m), WEBSOCKET_OVER);
    assert_int_equal(recv(p->theirs, got, sizeof got, MSG_DONTWAIT), code ? 4 : 2);
    assert_int_equal(got[0], 0x88);
    assert_int_equal(got[2] << 8 | got[3], code);
}

static void handshake(void **state) {
    char accept[WEBSOCKET_ACCEPT];
    (void)state;
    assert_true(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept)); /* the example of RFC 6455 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(websocket_accept("dGhlIHNhbXBsZSBub25jZ===", accept));
    assert_false(websocket_accept("c2hvcnQ=", accept));
    assert_false(websocket_accept("", accept));
    assert_true(websocket_listed("keep-alive, Upgrade", "upgrade"));
    assert_true(websocket_listed(" a ,\tb\t, c", "b"));
    assert_false(websocket_listed("keep-alive, Upgraded", "upgrade"));
    assert_false(websocket_listed("", "upgrade"));
    assert_false(websocket_listed(NULL, "upgrade"));
}

/* All masks are 0, so that payloads can be read here. */
static void messages_and_fragments(void **state) {
    (void)state;
    struct pair p = pair_open(bytes_of("\x81\x82\0\0\0\0hi\x82", 9));
    assert_message(&p, true, "hi");
    PUT(&p, "\x81\0\0\0\0x"); /* the rest of a header that began in the early bytes */
    assert_message(&p, false, "x");
    PUT(&p, "\x02\x83\0\0\0\0"
            "abc"
            "\x00\x80\0\0\0\0"
            "\x89\x81\0\0\0\0?"
            "\x80\x83\0\0\0\0"
            "def"
            "\x82\x81\0\0\0\0!");
    assert_message(&p, false, "abcdef"); /* a ping in between */
    assert_message(&p, false, "!");
    uint8_t pong[3];
    assert_true(recv(p.theirs, pong, sizeof pong, 0) == 3);
    assert_memory_equal(pong, "\x8a\x01?", 3);
    PUT(&p, "\x82\x80\0\0\0\0");
    assert_message(&p, false, "");
    pair_close(&p);
}

static void what_ends_it(void **state) {
    static const struct {
        const char *bytes;
        size_t size;
        unsigned code;
    } cases[] = {
        {"\x82\x01x", 3, WEBSOCKET_PROTOCOL},                /* no mask */
        {"\xc2\x81\0\0\0\0x", 7, WEBSOCKET_PROTOCOL},        /* a reserved bit */
        {"\x83\x81\0\0\0\0x", 7, WEBSOCKET_PROTOCOL},        /* a reserved opcode */
        {"\x09\x81\0\0\0\0x", 7, 0},                         /* a ping in fragments */
        {"\x89\xfe\0\x7e\0\0\0\0x", 9, 0},                   /* a ping of 126 bytes */
        {"\x80\x81\0\0\0\0x", 7, WEBSOCKET_PROTOCOL},        /* the rest of no message */
        {"\x82\xfe\x03\xe9\0\0\0\0x", 9, WEBSOCKET_TOO_BIG}, /* MESSAGE_MAX + 1 */
        {"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0x", 15, WEBSOCKET_TOO_BIG},
        {"\x02\x81\0\0\0\0x\x80\xfe\x03\xe8\0\0\0\0x", 16, WEBSOCKET_TOO_BIG}, /* together */
        {"\x81\x81\0\0\0\0\xff", 7, 1007},                                     /* no UTF-8 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair p = pair_open(bytes_of("", 0));
        put(&p, cases[i].bytes, cases[i].size);
        assert_closed(&p, cases[i].code);
        pair_close(&p);
    }
}

static void closing(void **state) {
    struct websocket_message m;
    (void)state;
    struct pair p = pair_open(bytes_of("", 0));
    PUT(&p, "\x82\x81\0\0\0\0x"
            "\x88\x82\0\0\0\0\x03\xe8"
            "\x82\x81\0\0\0\0y");
    assert_message(&p, false, "x"); /* what came before the close */
    assert_closed(&p, WEBSOCKET_NORMAL);
    assert_int_equal(websocket_close_code(p.ws), 1000);
    pair_close(&p);
    p = pair_open(bytes_of("", 0));
    close(p.theirs);
    assert_int_equal(receive(&p, &m), WEBSOCKET_OVER);
    struct reel_error err = {0};
    assert_false(websocket_send(p.ws, false, bytes_of("x", 1), &err));
    p.theirs = -1;
    websocket_close(p.ws, WEBSOCKET_NORMAL, "");
    pair_close(&p);
}

static bool ended(void *context) {
    return !*(const bool *)context;
}

/* What does not read ends a send when it is asked to end, and a wait ends with a descriptor. */
static void waiting(void **state) {
    static uint8_t large[8 << 20];
    struct websocket_message m;
    struct reel_error err = {0};
    bool over = false;
    int wake[2];
    (void)state;
    struct pair p = pair_open(bytes_of("", 0));
    websocket_free(p.ws);
    p.ws = websocket_new(
        &(struct websocket_options){.fd = p.ours, .message_max = 10, .goes_on = ended, .context = &over}, &err);
    assert_non_null(p.ws);
    assert_int_equal(pipe(wake), 0);
    assert_int_equal(websocket_wait(p.ws, wake[0], 0, &m), WEBSOCKET_QUIET); /* a time that has passed */
    assert_true(write(wake[1], "x", 1) == 1);
    assert_int_equal(websocket_wait(p.ws, wake[0], INT64_MAX, &m), WEBSOCKET_QUIET);
    over = true;
    assert_false(websocket_send(p.ws, false, bytes_of(large, sizeof large), &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    close(wake[0]);
    close(wake[1]);
    pair_close(&p);
}

/* A client's frames are masked, and a server's are not. */
static void both_roles(void **state) {
    struct reel_error err = {0};
    struct websocket_message m;
    (void)state;
    struct pair p = pair_open(bytes_of("", 0));
    struct websocket *client =
        websocket_new(&(struct websocket_options){.fd = p.theirs, .client = true, .message_max = MESSAGE_MAX}, &err);
    assert_non_null(client);
    assert_true(websocket_send(client, true, bytes_text("question"), &err));
    assert_message(&p, true, "question");
    assert_true(websocket_send(p.ws, false, bytes_of("answer", 6), &err));
    assert_int_equal(websocket_wait(client, -1, clock_ns() + PATIENCE_NS, &m), WEBSOCKET_MESSAGE);
    assert_true(bytes_is(m.bytes, "answer"));
    assert_true(websocket_sent(p.ws) == 8 && websocket_received(client) == 8);
    websocket_free(client);
    pair_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(handshake),    cmocka_unit_test(messages_and_fragments),
                                       cmocka_unit_test(what_ends_it), cmocka_unit_test(closing),
                                       cmocka_unit_test(waiting),      cmocka_unit_test(both_roles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
