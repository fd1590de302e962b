/* Rows of text: exact bytes of every kind, whole and pulled in the smallest pieces; limits and their cursors; large
 * payloads. */
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "makers/tables.h"

/* 2010-05-10T21:14:03.000000042Z */
#define T0 1273526043000000042LL

static char *render(struct toy *toy, const struct reel_writer *writer, const struct reel_write_options *options,
                    const struct reel_selection *selection, size_t step) {
    struct reel_error err = {0};
    size_t size = 0;
    struct reel_recording *recording = toy_open(toy);
    char *text = toy_render_streamed(recording, writer, options, selection, step, &size, &err);
    reel_recording_free(recording);
    if (!text) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(strlen(text), size);
    return text;
}

static void check(struct toy *toy, const struct reel_writer *writer, const struct reel_write_options *options,
                  const struct reel_selection *selection, const char *expected) {
    for (size_t step = 1; step <= 1 << 20; step *= 1 << 10) {
        char *text = render(toy, writer, options, selection, step);
        assert_string_equal(text, expected);
        free(text);
    }
}

/* Two channels, three messages. */
static void small(struct toy *toy, enum reel_clock clock) {
    struct reel_pair pairs[] = {{"x", "y"}, {"callerid", "/node \"1\""}};
    toy_start(toy, clock);
    toy_channel(toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "ros1"});
    toy_channel(toy,
                &(struct reel_channel){
                    .name = "b\\\"\n\x01\x1f\x7f/\xc3\xa4", .type = "T", .encoding = "opaque", .metadata = {pairs, 2}});
    toy_message(toy, 0, T0, 7, "", 0);
    toy_message(toy, 1, T0 + 999999958, 4294967295U, "\xff", 1);
    toy_message(toy, 0, T0 + 1000000000, 9, "ab", 2);
}

#define ROW0                                                                                                           \
    "{\"topic\":\"/"                                                                                                   \
    "a\",\"sequence\":7,\"log_time\":\"2010-05-10T21:14:03.000000042Z\",\"publish_time\":\"2010-05-10T21:14:03."       \
    "000000043Z\","                                                                                                    \
    "\"data\":{\"$base64\":\"\"},\"encoding\":\"ros1\"}"
#define ROW1                                                                                                           \
    "{\"topic\":\"b\\\\\\\"\\u000a\\u0001\\u001f\x7f/"                                                                 \
    "\xc3\xa4\",\"sequence\":4294967295,\"log_time\":\"2010-05-10T21:14:04.000000000Z\","                              \
    "\"publish_time\":\"2010-05-10T21:14:04.000000001Z\",\"callerid\":\"/node "                                        \
    "\\\"1\\\"\",\"data\":{\"$base64\":\"/w==\"},\"encoding\":\"opaque\"}"
#define ROW2                                                                                                           \
    "{\"topic\":\"/"                                                                                                   \
    "a\",\"sequence\":9,\"log_time\":\"2010-05-10T21:14:04.000000042Z\",\"publish_time\":\"2010-05-10T21:14:04."       \
    "000000043Z\","                                                                                                    \
    "\"data\":{\"$base64\":\"YWI=\"},\"encoding\":\"ros1\"}"
#define END(count) "{\"$end\":{\"complete\":true,\"messages\":" count ",\"next\":null}}"

static void the_three_kinds(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_write_options plain = {0}, ended = {.separated = true};
    small(&toy, REEL_CLOCK_WALL);
    check(&toy, &reel_writer_ndjson, &plain, NULL, ROW0 "\n" ROW1 "\n" ROW2 "\n");
    check(&toy, &reel_writer_ndjson, &ended, NULL, ROW0 "\n" ROW1 "\n" ROW2 "\n" END("3") "\n");
    check(&toy, &reel_writer_json, &plain, NULL, "[\n" ROW0 ",\n" ROW1 ",\n" ROW2 "\n]\n");
    check(&toy, &reel_writer_json, &ended, NULL, "[\n" ROW0 ",\n" ROW1 ",\n" ROW2 ",\n" END("3") "\n]\n");
    check(&toy, &reel_writer_json_seq, &plain, NULL, "\x1e" ROW0 "\n\x1e" ROW1 "\n\x1e" ROW2 "\n");
    check(&toy, &reel_writer_json_seq, &ended, NULL, "\x1e" ROW0 "\n\x1e" ROW1 "\n\x1e" ROW2 "\n\x1e" END("3") "\n");
    toy_free(&toy);
}

static void no_messages(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_write_options plain = {0}, ended = {.separated = true};
    toy_start(&toy, REEL_CLOCK_WALL);
    check(&toy, &reel_writer_ndjson, &plain, NULL, "");
    check(&toy, &reel_writer_ndjson, &ended, NULL, END("0") "\n");
    check(&toy, &reel_writer_json, &plain, NULL, "[\n]\n");
    check(&toy, &reel_writer_json, &ended, NULL, "[\n" END("0") "\n]\n");
    check(&toy, &reel_writer_json_seq, &plain, NULL, "");
    toy_free(&toy);
}

static void check_time(enum reel_clock clock, int64_t time, enum reel_time_format format, int64_t start,
                       const char *expected) {
    struct toy toy = {0};
    struct reel_write_options options = {.time_format = format, .start_ns = start};
    toy_start(&toy, clock);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "ros1"});
    toy_message(&toy, 0, time, 0, "", 0);
    char *text = render(&toy, &reel_writer_ndjson, &options, NULL, 4096);
    char *found = strstr(text, "\"log_time\":");
    assert_non_null(found);
    found += strlen("\"log_time\":");
    assert_memory_equal(found, expected, strlen(expected));
    assert_int_equal(found[strlen(expected)], ',');
    free(text);
    toy_free(&toy);
}

static void times_in_every_format(void **state) {
    (void)state;
    check_time(REEL_CLOCK_WALL, 0, REEL_TIME_RFC3339, 0, "\"1970-01-01T00:00:00.000000000Z\"");
    check_time(REEL_CLOCK_WALL, -1, REEL_TIME_RFC3339, 0, "\"1969-12-31T23:59:59.999999999Z\"");
    check_time(REEL_CLOCK_WALL, 4102444800000000000LL, REEL_TIME_RFC3339, 0, "\"2100-01-01T00:00:00.000000000Z\"");
    check_time(REEL_CLOCK_WALL, INT64_MAX - 1, REEL_TIME_RFC3339, 0, "\"2262-04-11T23:47:16.854775806Z\"");
    check_time(REEL_CLOCK_WALL, INT64_MIN + 1, REEL_TIME_RFC3339, 0, "\"1677-09-21T00:12:43.145224193Z\"");
    check_time(REEL_CLOCK_RELATIVE, 12345678000, REEL_TIME_RFC3339, 0, "\"12.345678000\"");
    check_time(REEL_CLOCK_RELATIVE, -5, REEL_TIME_RFC3339, 0, "\"-0.000000005\"");
    check_time(REEL_CLOCK_WALL, T0, REEL_TIME_SECONDS, 0, "1273526043.000000042");
    check_time(REEL_CLOCK_WALL, -1500000000, REEL_TIME_SECONDS, 0, "-1.500000000");
    check_time(REEL_CLOCK_WALL, T0, REEL_TIME_MILLISECONDS, 0, "1273526043000.000042");
    check_time(REEL_CLOCK_WALL, 7, REEL_TIME_MILLISECONDS, 0, "0.000007");
    check_time(REEL_CLOCK_WALL, T0, REEL_TIME_NANOSECONDS, 0, "\"1273526043000000042\"");
    check_time(REEL_CLOCK_WALL, 0, REEL_TIME_NANOSECONDS, 0, "\"0\"");
    check_time(REEL_CLOCK_WALL, T0, REEL_TIME_RELATIVE, T0 - 2500000000, "2.500000000");
    check_time(REEL_CLOCK_WALL, T0, REEL_TIME_RELATIVE, T0 + 1, "-0.000000001");
    check_time(REEL_CLOCK_WALL, INT64_MAX - 1, REEL_TIME_RELATIVE, INT64_MIN, "18446744073.709551614");
}

static void messages_before_the_start_say_so(void **state) {
    (void)state;
    struct toy toy = {0};
    struct reel_write_options options = {.time_format = REEL_TIME_NANOSECONDS};
    struct reel_selection cut = selection_all;
    cut.start_ns = 20;
    cut.last_per_topic = true;
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
    toy_message(&toy, 0, 10, 1, "1", 1);
    toy_message(&toy, 0, 30, 2, "2", 1);
    check(&toy, &reel_writer_ndjson, &options, &cut,
          "{\"topic\":\"/"
          "a\",\"sequence\":1,\"log_time\":\"10\",\"publish_time\":\"11\",\"before_start\":true,\"data\":{\"$base64\":"
          "\"MQ==\"},"
          "\"encoding\":\"x\"}\n"
          "{\"topic\":\"/"
          "a\",\"sequence\":2,\"log_time\":\"30\",\"publish_time\":\"31\",\"data\":{\"$base64\":\"Mg==\"},\"encoding\":"
          "\"x\"}\n");
    toy_free(&toy);
}

static void several_recordings_are_named(void **state) {
    (void)state;
    struct toy toys[2] = {{0}, {0}};
    struct reel_recording *recordings[2];
    struct reel_error err = {0};
    const char *const ids[] = {"one", "tw\"o"};
    for (int i = 0; i < 2; i++) {
        toy_start(&toys[i], REEL_CLOCK_WALL);
        toy_channel(&toys[i], &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
        toy_message(&toys[i], 0, 10 - i, 1, "", 0);
        recordings[i] = toy_open(&toys[i]);
    }
    struct reel_write_options options = {.time_format = REEL_TIME_NANOSECONDS, .source_ids = ids};
    struct reel_stream *stream = reel_stream_open(recordings, 2, &selection_all, &err);
    struct reel_row_output *render = reel_row_output_new(&reel_writer_ndjson, &options, stream, &err);
    assert_non_null(render);
    char text[4096] = "";
    size_t got = 0;
    assert_true(reel_row_output_next(render, text, sizeof text - 1, &got, &err));
    assert_string_equal(text, "{\"recording\":\"tw\\\"o\",\"topic\":\"/"
                              "a\",\"sequence\":1,\"log_time\":\"9\",\"publish_time\":\"10\",\"data\":{\"$base64\":"
                              "\"\"},\"encoding\":\"x\"}\n"
                              "{\"recording\":\"one\",\"topic\":\"/"
                              "a\",\"sequence\":1,\"log_time\":\"10\",\"publish_time\":\"11\",\"data\":{\"$base64\":"
                              "\"\"},\"encoding\":\"x\"}\n");
    reel_row_output_free(render);
    for (int i = 0; i < 2; i++) {
        reel_recording_free(recordings[i]);
        toy_free(&toys[i]);
    }
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* Reads in pages of `limit` by the cursor that each one ends with; together they are the whole. */
static void read_in_pages(struct reel_recording *recording, uint64_t limit, const char *whole, uint64_t total) {
    struct reel_error err = {0};
    struct toy all = {0};
    struct reel_write_options options = {.separated = true, .limit = limit};
    struct reel_position mark;
    bool more = true, resumed = false;
    for (uint64_t given = 0; more;) {
        struct reel_stream *stream = toy_stream(recording, NULL);
        assert_true(!resumed || stream_seek(stream, &mark, &err));
        struct reel_row_output *render = reel_row_output_new(&reel_writer_ndjson, &options, stream, &err);
        struct toy page = {0};
        char piece[999];
        for (size_t got = 1; got > 0;) {
            assert_true(reel_row_output_next(render, piece, sizeof piece, &got, &err));
            toy_put(&page, piece, got);
        }
        reel_row_output_free(render);
        toy_put(&page, "", 1);
        char *end = strstr((char *)page.data, "{\"$end\"");
        uint64_t expected = total - given < limit ? total - given : limit;
        char count[64];
        snprintf(count, sizeof count,
                 "{\"$end\":{\"complete\":true,\"messages\":%llu,\"next\":", (unsigned long long)expected);
        assert_non_null(end);
        assert_memory_equal(end, count, strlen(count));
        toy_put(&all, page.data, (size_t)(end - (char *)page.data));
        given += expected;
        end += strlen(count);
        more = *end == '"';
        resumed = true;
        assert_int_equal(more, given < total); /* a limit met by the very last message is no cut */
        if (more) {
            end[1 + strcspn(end + 1, "\"")] = '\0';
            assert_true(reel_cursor_decode(end + 1, &mark));
        }
        toy_free(&page);
    }
    toy_put(&all, "", 1);
    assert_string_equal((char *)all.data, whole);
    toy_free(&all);
}

static void limits_and_cursors(void **state) {
    (void)state;
    enum { TOTAL = 1500 };
    struct toy toy = {0};
    struct reel_error err = {0};
    size_t size = 0;
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
    toy_channel(&toy, &(struct reel_channel){.name = "/b", .type = "T", .encoding = "x"});
    for (uint32_t i = 0; i < TOTAL; i++) {
        toy_message(&toy, i % 2, i / 4, i, &i, sizeof i); /* four messages share a time */
    }
    struct reel_recording *recording = toy_open(&toy);
    struct reel_write_options plain = {0};
    char *whole = toy_render_streamed(recording, &reel_writer_ndjson, &plain, NULL, 1 << 20, &size, &err);
    assert_non_null(whole);
    assert_int_equal(count_lines(whole), TOTAL);
    const uint64_t limits[] = {250, 512, 513, TOTAL - 1, TOTAL, TOTAL + 1, 37};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        read_in_pages(recording, limits[i], whole, TOTAL);
    }
    free(whole);
    reel_recording_free(recording);
    toy_free(&toy);
}

/* Far more than the sink's window: the group is rendered again and again, window by window. */
static void a_large_payload_between_small_ones(void **state) {
    (void)state;
    enum { SIZE = (5 << 20) + 1 };
    struct toy toy = {0};
    struct reel_write_options options = {.time_format = REEL_TIME_NANOSECONDS, .separated = true};
    uint8_t *payload = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        payload[i] = (uint8_t)(i * 31 + i / 1021);
    }
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "T", .encoding = "x"});
    for (uint32_t i = 0; i < 20; i++) {
        toy_message(&toy, 0, i, i, payload + i, i % 10 == 5 ? SIZE - i : i);
    }
    char *text = render(&toy, &reel_writer_json, &options, NULL, 100003);
    char *line = text + 2;
    for (uint32_t i = 0; i < 20; i++) {
        char start[200];
        size_t n = (size_t)snprintf(
            start, sizeof start,
            "{\"topic\":\"/a\",\"sequence\":%u,\"log_time\":\"%u\",\"publish_time\":\"%u\",\"data\":{\"$base64\":\"", i,
            i, i + 1);
        assert_memory_equal(line, start, n);
        size_t size = i % 10 == 5 ? SIZE - i : i, length = strcspn(line + n, "\"");
        assert_int_equal(length, (size + 2) / 3 * 4);
        for (size_t k = 0; k + 3 <= size; k += 3) { /* decode what stands whole */
            static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            const char *four = line + n + k / 3 * 4;
            uint32_t v = (uint32_t)payload[i + k] << 16 | (uint32_t)payload[i + k + 1] << 8 | payload[i + k + 2];
            if (four[0] != alphabet[v >> 18] || four[1] != alphabet[v >> 12 & 63] || four[2] != alphabet[v >> 6 & 63] ||
                four[3] != alphabet[v & 63]) {
                fail_msg("message %u differs at byte %zu", i, k);
            }
        }
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, END("20") "\n]\n");
    free(text);
    free(payload);
    toy_free(&toy);
}

static void cursors_come_back_equal_and_others_are_refused(void **state) {
    (void)state;
    struct reel_position mark = {.time_ns = INT64_MIN + 5,
                                 .offset = UINT64_MAX - 1,
                                 .source = 1,
                                 .chunk = 2,
                                 .initial = 3,
                                 .again = 0xfffefdfc},
                         back = {0};
    char text[REEL_CURSOR_ROOM];
    assert_false(reel_cursor_encode(&mark, text, sizeof text - 1));
    assert_true(reel_cursor_encode(&mark, text, sizeof text));
    assert_int_equal(strlen(text), REEL_CURSOR_ROOM - 1);
    assert_int_equal(strcspn(text, "+/="), strlen(text));
    assert_true(reel_cursor_decode(text, &back));
    assert_true(back.time_ns == mark.time_ns && back.offset == mark.offset && back.source == 1 && back.chunk == 2 &&
                back.initial == 3 && back.again == mark.again);
    char bad[REEL_CURSOR_ROOM + 1];
    assert_false(reel_cursor_decode("", &back));
    snprintf(bad, sizeof bad, "%sA", text);
    assert_false(reel_cursor_decode(bad, &back));
    snprintf(bad, sizeof bad, "%.*s", REEL_CURSOR_ROOM - 2, text);
    assert_false(reel_cursor_decode(bad, &back));
    snprintf(bad, sizeof bad, "%.*s=", REEL_CURSOR_ROOM - 2, text);
    assert_false(reel_cursor_decode(bad, &back));
    snprintf(bad, sizeof bad, "%.*s_", REEL_CURSOR_ROOM - 2, text); /* bits beyond the last byte */
    assert_false(reel_cursor_decode(bad, &back));
    snprintf(bad, sizeof bad, "\xff%s", text + 1);
    assert_false(reel_cursor_decode(bad, &back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_kinds),
        cmocka_unit_test(no_messages),
        cmocka_unit_test(times_in_every_format),
        cmocka_unit_test(messages_before_the_start_say_so),
        cmocka_unit_test(several_recordings_are_named),
        cmocka_unit_test(limits_and_cursors),
        cmocka_unit_test(a_large_payload_between_small_ones),
        cmocka_unit_test(cursors_come_back_equal_and_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
