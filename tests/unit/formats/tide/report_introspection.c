/* Who took part in an RSB system, from made events of its introspection. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/tide/report.h"
#include "makers/pb_maker.h"
#include "makers/tide_scan.h"

#define SCHEMA ".rsb.protocol.introspection."
#define SCOPE "/__rsb/introspection/participants/"
enum { HELLO, BYE };

static void log_part(struct log *l, unsigned channel, uint64_t seconds, const struct pb *event) {
    log_number(l, channel, 4);
    log_number(l, LOG_T0 + seconds * (uint64_t)LOG_S, 8);
    log_number(l, event->size, 4);
    log_bytes(l, event->data, event->size);
}

/* An event of RSB 0.9 around a payload. */
static struct pb event_of(const struct pb *payload) {
    struct pb e = {.size = 0}, id = {.size = 0};
    pb_part(&id, 1, "0123456789abcdef", 16);
    pb_number(&id, 2, 7);
    pb_text(&e, 6, SCOPE);
    pb_message(&e, 9, payload);
    pb_message(&e, 108, &id);
    return e;
}

static void put_id(struct pb *p, uint32_t field, char id) {
    uint8_t uuid[16];
    memset(uuid, id, sizeof uuid);
    pb_part(p, field, uuid, sizeof uuid);
}

struct who {
    char id, parent;
    const char *kind, *scope, *type, *process, *host;
};

static void hello(struct log *l, uint64_t seconds, const struct who *who) {
    struct pb p = {.size = 0}, process = {.size = 0}, host = {.size = 0};
    pb_text(&p, 1, who->kind);
    put_id(&p, 2, who->id);
    if (who->parent) {
        put_id(&p, 3, who->parent);
    }
    pb_text(&p, 4, who->scope);
    if (who->type) {
        pb_text(&p, 5, who->type);
        pb_text(&p, 6, "socket:");
        pb_text(&p, 6, "spread://hub:4803");
    }
    if (who->process) {
        pb_text(&process, 1, who->process);
        pb_text(&process, 2, "/usr/bin/camera");
        pb_text(&process, 3, "--left");
        pb_number(&process, 4, 1400000000500000);
        pb_text(&process, 5, "ada");
        pb_message(&p, 7, &process);
        pb_text(&host, 1, who->host);
        pb_text(&host, 2, who->host);
        pb_text(&host, 3, "x86_64");
        pb_message(&p, 8, &host);
    }
    struct pb e = event_of(&p);
    log_part(l, HELLO, seconds, &e);
}

static void bye(struct log *l, uint64_t seconds, char id) {
    struct pb p = {.size = 0};
    put_id(&p, 1, id);
    struct pb e = event_of(&p);
    log_part(l, BYE, seconds, &e);
}

static void begin(struct log *l, uint32_t events, uint64_t seconds) {
    log_tide(l, 0, 0);
    log_channel_of(l, HELLO, SCOPE ":" SCHEMA "Hello", "rsb-event-0.9:" SCHEMA "Hello", "", "", "");
    log_channel_of(l, BYE, SCOPE ":" SCHEMA "Bye", "rsb-event-0.9:" SCHEMA "Bye", "", "", "");
    log_chunk(l, 0, events, LOG_T0, LOG_T0 + seconds * (uint64_t)LOG_S);
}

#define UUID(d) "\"" d d d d "-" d d "-" d d "-" d d "-" d d d d d d "\""
#define PROCESS(id)                                                                                                    \
    "{\"id\":\"" id "\",\"program_name\":\"/usr/bin/camera\",\"commandline_arguments\":[\"--left\"],\"start_time\":"   \
    "\"2014-05-13T16:53:20.500000000Z\",\"executing_user\":\"ada\",\"rsb_version\":null,\"display_name\":null,"        \
    "\"participants\":[\n  "
#define HOST(id)                                                                                                       \
    "{\"id\":\"" id "\",\"hostname\":\"" id                                                                            \
    "\",\"machine_type\":\"x86_64\",\"machine_version\":null,\"software_type\":null,"                                  \
    "\"software_version\":null,\"processes\":[\n "
#define TIME(s) "\"2014-05-13T16:53:" s ".000000000Z\""

static void assert_tree(struct reel_recording *r, const struct reel_selection *q, const char *want) {
    struct reel_error err = {0};
    AUTO_MEM char *text = reel_tide_introspection(r, q, &err);
    if (!text) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(text, want);
}

static void hosts_processes_participants(void **state) {
    (void)state;
    LOG l = {0};
    begin(&l, 8, 8);
    hello(&l, 0, &(struct who){'3', 0, "listener", "/b/", NULL, "20", "zulu"});
    hello(&l, 1, &(struct who){'1', 0, "server", "/a/", NULL, "10", "alpha"});
    hello(&l, 2, &(struct who){'2', '1', "informer", "/a/\"x\"/", "string", NULL, NULL}); /* a part of the server */
    hello(&l, 3, &(struct who){'1', 0, "renamed", "/a/", NULL, "10", "alpha"});           /* the answer to a survey */
    hello(&l, 4, &(struct who){'4', 0, "listener", "/c/", NULL, "11", "alpha"});
    bye(&l, 5, '3');
    bye(&l, 6, '9'); /* no Hello came before */
    struct pb odd = {.size = 0};
    pb_text(&odd, 9, "no event");
    log_part(&l, HELLO, 7, &odd);
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    assert_tree(r, NULL,
                "{\"hosts\":[\n" HOST("alpha") PROCESS("10") "{\"id\":" UUID(
                    "31") ",\"parent\":null,\"kind\":\"server\",\"scope\":\"/a/\",\"type\":null,\"transport\":[],"
                          "\"first_hello\":" TIME("21") ",\"last_hello\":" TIME(
                              "23") ",\"bye\":null},\n  "
                                    "{\"id\":" UUID("32") ",\"parent\":" UUID(
                                        "31") ",\"kind\":\"informer\",\"scope\":\"/a/\\\"x\\\"/"
                                              "\",\"type\":\"string\","
                                              "\"transport\":[\"socket:\",\"spread://"
                                              "hub:4803\"],\"first_hello\":" TIME("22") ",\"last_hello\":" TIME("22") ",\"bye\":null}]},\n " PROCESS("11") "{\"id\":" UUID(
                                                  "34") ",\"parent\":null,\"kind\":"
                                                        "\"listener\",\"scope\":\"/c/"
                                                        "\",\"type\":null,\"transport\":[],"
                                                        "\"first_hello\":" TIME("24") ",\"last_hello\":" TIME(
                                                            "24") ",\"bye\":null}]}]},\n" HOST("zulu")
                                                            PROCESS("20") "{\"id\":" UUID(
                                                                "33") ",\"parent\":null,"
                                                                      "\"kind\":\"listener\","
                                                                      "\"scope\":\"/b/"
                                                                      "\",\"type\":null,"
                                                                      "\"transport\":[],"
                                                                      "\"first_hello\":" TIME(
                                                                          "2"
                                                                          "0") ",\"last_hello\":" TIME("20") ",\"bye\""
                                                                                                             ":" TIME(
                                                                                                                 "25") "}]}]"
                                                                                                                       "}]}"
                                                                                                                       "\n");
    struct reel_selection before = selection_all;
    before.end_ns = (int64_t)LOG_T0;
    assert_tree(r, &before, "{\"hosts\":[]}\n");
}

static void parents_that_go_round(void **state) {
    (void)state;
    LOG l = {0};
    begin(&l, 2, 2);
    hello(&l, 0, &(struct who){'1', '2', "part", "/", NULL, NULL, NULL});
    hello(&l, 1, &(struct who){'2', '1', "part", "/", NULL, NULL, NULL});
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    struct reel_error err = {0};
    AUTO_MEM char *text = reel_tide_introspection(r, NULL, &err);
    assert_non_null(text);
    const char *host = "{\"hosts\":[\n{\"id\":null,\"hostname\":null,";
    assert_memory_equal(text, host, strlen(host));
    assert_null(strstr(strstr(text, "participants") + 1, "participants"));
}

static void others_have_none(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel_of(&l, 0, "/a/:int32", "rsb-event-0.9:int32", "", "", "");
    RECORDING *r = log_scan(&l);
    assert_tree(r, NULL, "{\"hosts\":[]}\n");
    LOG plain = {0};
    log_tide(&plain, 0, 0);
    log_channel(&plain, 0, "/a");
    RECORDING *other = log_scan(&plain);
    struct reel_error err = {0};
    assert_null(reel_tide_introspection(other, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
}

/* More participants than the limit are an error, not dropped. */
static void too_many(void **state) {
    (void)state;
    enum { MANY = 16385 };
    LOG l = {0};
    begin(&l, MANY, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        struct pb p = {.size = 0};
        uint8_t id[16] = {0};
        store_u32le(id, i * 2654435761U);
        pb_text(&p, 1, "listener");
        pb_part(&p, 2, id, sizeof id);
        pb_text(&p, 4, "/");
        struct pb e = event_of(&p);
        log_part(&l, HELLO, 0, &e);
    }
    log_chunk_end(&l, LOG_PLAIN);
    RECORDING *r = log_scan(&l);
    struct reel_error err = {0};
    assert_null(reel_tide_introspection(r, NULL, &err));
    assert_int_equal(err.code, REEL_LIMIT);
    assert_non_null(strstr(err.text, "16384 participants"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_processes_participants),
                                       cmocka_unit_test(parents_that_go_round), cmocka_unit_test(others_have_none),
                                       cmocka_unit_test(too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
