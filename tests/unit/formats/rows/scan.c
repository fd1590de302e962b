/* formats/rows/append.h: rows become messages, all of a batch or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "exact.h"
#include "formats/rows/append.h"
#include "index/format.h"
#include "reel/open.h"
#include "stream/stream.h"

static struct reel_error err;
static char path[512];
static struct reel_recorder *recorder;
static struct reel_rows *rows;

static int set_up(void **state) {
    (void)state;
    unlink(path);
    recorder = reel_recorder_open(path, reel_writer_named(".mcap", NULL, &err), NULL, &err);
    rows = recorder ? reel_rows_new(recorder, &err) : NULL;
    return rows ? 0 : -1;
}
static int tear_down(void **state) {
    (void)state;
    reel_rows_free(rows);
    reel_recorder_free(recorder);
    recorder = NULL;
    return 0;
}

static struct reel_rows_added append(const char *text) {
    struct reel_rows_added added;
    if (!reel_rows_append(rows, REEL_ROWS_JSON, bytes_text(text), 1700000000000000000, &added, &err)) {
        fail_msg("%s", err.text);
    }
    return added;
}
static void refuse(const char *text, enum reel_code code, const char *why) {
    struct reel_rows_added added;
    assert_false(reel_rows_append(rows, REEL_ROWS_JSON, bytes_text(text), 1, &added, &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, why)) {
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
    }
}

/* Closes the file and gives its messages, one line each: topic type encoding time publish sequence payload. */
static char *recorded(void) {
    assert_true(reel_recorder_close(recorder, &err));
    recorder = NULL;
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(path, NULL, &err);
    assert_non_null(r);
    assert_int_equal(reel_index_info(reel_recording_index(r))->n_findings_total, 0);
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection_all, &err);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct reel_message m;
    while (stream_next(s, &m, &err) == REEL_STEP_MESSAGE) {
        const struct reel_channel *c = s->channels[m.channel];
        struct reel_description d = {.publish_ns = m.time_ns};
        struct reel_bytes payload;
        assert_true(stream_describe(s, &m, &d, &err) && reel_stream_payload(s, &m, &payload, &err));
        fprintf(out, "%s %s %s %lld %lld %u %.*s\n", c->name, c->type, c->encoding, (long long)m.time_ns,
                (long long)d.publish_ns, d.sequence, (int)payload.size, (const char *)payload.data);
    }
    fclose(out);
    return text;
}

static void values_are_recorded_as_they_are_written(void **state) {
    (void)state;
    struct reel_rows_added added = append("{\"topic\":\"/a\",\"log_time\":\"2024-06-11T10:00:00.25Z\",\"data\":{ "
                                          "\"x\": 1.50, \"n\": 12345678901234567890}}\n"
                                          "\r\n"
                                          "{\"sequence\":7,\"data\":[1,\"\\u00e9]}\"],\"topic\":\"\\/b "
                                          "\\u00e9\",\"log_time\":1718100001000000000,\"publish_time\":1718100002.5}\n"
                                          "{\"topic\":\"/a\",\"data\":null,\"other\":{\"topic\":\"/c\"}}\n"
                                          "{\"$end\":{\"messages\":3}}");
    assert_int_equal(added.messages, 3);
    assert_int_equal(added.last_ns, 1700000000000000000);
    AUTO_MEM char *text = recorded();
    assert_string_equal(
        text, "/a  json 1700000000000000000 1700000000000000000 0 null\n"
              "/a  json 1718100000250000000 1718100000250000000 0 { \"x\": 1.50, \"n\": 12345678901234567890}\n"
              "/b é  json 1718100001000000000 1718100002500000000 7 [1,\"\\u00e9]}\"]\n");
}

static void bytes_and_channels(void **state) {
    (void)state;
    append("{\"$channel\":{\"topic\":\"/s\",\"type\":\"std_msgs/String\",\"encoding\":\"ros1\",\"schema\":\"string "
           "data\\n\",\"latched\":true,"
           "\"metadata\":{\"callerid\":\"/n\"}}}\n"
           "{\"topic\":\"/s\",\"log_time\":5,\"data\":{\"$base64\":\"AgAAAGhp\"}}\n"
           "{\"topic\":\"/raw\",\"log_time\":6,\"data\":{\"$base64\":\"aGk=\"}}\n"
           "{\"$channel\":{\"topic\":\"/"
           "j\",\"type\":\"J\",\"schema_encoding\":\"jsonschema\",\"schema\":{\"type\":\"object\"}}}\n"
           "{\"topic\":\"/j\",\"log_time\":7,\"data\":{}}\n");
    append("{\"$channel\":{\"topic\":\"/s\",\"type\":\"std_msgs/String\",\"encoding\":\"ros1\"}}"); /* again: nothing
                                                                                                       new */
    assert_int_equal(reel_recorder_channels(recorder), 3);
    assert_true(reel_recorder_close(recorder, &err));
    recorder = NULL;
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(path, NULL, &err);
    const struct reel_index *index = reel_recording_index(r);
    const struct reel_channel *s = reel_index_channel(index, 0), *j = reel_index_channel(index, 2);
    assert_string_equal(s->encoding, "ros1");
    assert_string_equal(s->type, "std_msgs/String");
    assert_true(s->latched);
    assert_true(bytes_is(reel_channel_schema(s)->data, "string data\n"));
    assert_true(bytes_is(reel_channel_schema(j)->data, "{\"type\":\"object\"}"));
    assert_string_equal(reel_channel_schema(j)->encoding, "jsonschema");
    assert_string_equal(reel_index_channel(index, 1)->encoding, "");
}

/* A NanoVer message of two types is found under both; a TIDE channel has several definitions, with their hashes. */
static void all_that_a_channel_is(void **state) {
    (void)state;
    append(
        "{\"$channel\":{\"topic\":\"frame+state\",\"type\":\"x/B\",\"encoding\":\"x\",\"topics\":[\"frame\",\"state\"],"
        "\"schema\":\"b\",\"schemas\":[{\"schema\":\"a\",\"schema_name\":\"x/A\",\"schema_encoding\":\"t\","
        "\"schema_hash\":\"0a\"},{\"schema\":{\"$base64\":\"Yg==\"},\"schema_name\":\"x/B\"}]}}\n"
        "{\"topic\":\"frame+state\",\"data\":{\"$base64\":\"\"},\"encoding\":\"x\"}");
    refuse("{\"$channel\":{\"topic\":\"/a\",\"topics\":\"/b\"}}", REEL_ARGUMENT, "topics must be a list");
    refuse("{\"$channel\":{\"topic\":\"/a\",\"schemas\":[7]}}", REEL_ARGUMENT, "schemas");
    assert_true(reel_recorder_close(recorder, &err));
    recorder = NULL;
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(path, NULL, &err);
    const struct reel_channel *c = reel_index_channel(reel_recording_index(r), 0);
    assert_int_equal(c->n_topics, 2);
    assert_string_equal(c->topics[1], "state");
    assert_int_equal(c->n_schemas, 2);
    assert_string_equal(c->schemas[0].hash, "0a");
    assert_true(bytes_is(c->schemas[1].data, "b"));
    assert_string_equal(reel_channel_schema(c)->name, "x/B");
}

static void a_batch_is_recorded_whole_or_not_at_all(void **state) {
    (void)state;
    append("{\"topic\":\"/a\",\"log_time\":1,\"data\":1}");
    append("{\"$channel\":{\"topic\":\"/s\",\"type\":\"T\",\"encoding\":\"ros1\"}}");
    uint64_t before = reel_recorder_bytes(recorder);
    const char *good = "{\"topic\":\"/new\",\"data\":{}}\n";
    static const struct {
        const char *row;
        enum reel_code code;
        const char *why;
    } bad[] = {
        {"{\"topic\":\"/a\"}", REEL_ARGUMENT, "row 2: data is missing"},
        {"{\"data\":1}", REEL_ARGUMENT, "row 2: topic is missing"},
        {"{\"topic\":7,\"data\":1}", REEL_ARGUMENT, "topic must be a text"},
        {"{\"topic\":\"/a\",\"data\":{\"x\":}}", REEL_ARGUMENT, "data: "},
        {"{\"topic\":\"/a\",\"data\":tru}", REEL_ARGUMENT, "data: "},
        {"{\"topic\":\"/a\",\"data\":1", REEL_ARGUMENT, "no JSON object"},
        {"{\"topic\":\"/a\",\"data\":1} x", REEL_ARGUMENT, "no JSON object"},
        {"nonsense", REEL_ARGUMENT, "no JSON object"},
        {"{\"topic\":\"/a\",\"log_time\":\"yesterday\",\"data\":1}", REEL_ARGUMENT, "log_time: "},
        {"{\"topic\":\"/a\",\"log_time\":\"+5s\",\"data\":1}", REEL_ARGUMENT, "since 1970"},
        {"{\"topic\":\"/a\",\"log_time\":\"1950-01-01\",\"data\":1}", REEL_ARGUMENT, "before 1970"},
        {"{\"topic\":\"/a\",\"log_time\":[],\"data\":1}", REEL_ARGUMENT, "log_time: "},
        {"{\"topic\":\"/a\",\"data\":{\"$base64\":\"x\"}}", REEL_ARGUMENT, "$base64"},
        {"{\"topic\":\"/s\",\"data\":{}}", REEL_ARGUMENT, "encoding \"ros1\""},
        {"{\"$channel\":{\"topic\":\"/s\",\"type\":\"U\",\"encoding\":\"ros1\"}}", REEL_CONFLICT, "type \"T\""},
        {"{\"$channel\":{\"topic\":\"/a\",\"encoding\":\"cdr\"}}", REEL_CONFLICT, "encoding \"json\""},
        {"{\"$channel\":{\"type\":\"U\"}}", REEL_ARGUMENT, "topic is missing"},
        {"{\"$channel\":5}", REEL_ARGUMENT, "$channel"},
        {"{\"topic\":\"/a\",\"data\":\"\\", REEL_ARGUMENT, "no JSON object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[300];
        snprintf(text, sizeof text, "%s%s", good, bad[i].row);
        refuse(text, bad[i].code, bad[i].why);
    }
    assert_int_equal(reel_recorder_bytes(recorder), before);
    assert_int_equal(reel_recorder_channels(recorder), 2);
    append("{\"$channel\":{\"topic\":\"/new\",\"encoding\":\"cdr\"}}"); /* what was refused has left nothing behind */
    AUTO_MEM char *text = recorded();
    assert_string_equal(text, "/a  json 1 1 0 1\n");
}

static void arrays_and_sequences(void **state) {
    (void)state;
    assert_int_equal(append(" [{\"topic\":\"/a\",\"data\":1} , {\"topic\":\"/a\",\"data\":\"]\"}]\n").messages, 2);
    assert_int_equal(append("\x1e{\"topic\":\"/a\",\"data\":1}\n\x1e{\"topic\":\"/a\",\"data\":2}\n").messages, 2);
    assert_int_equal(append("[]").messages + append("").messages + append("\n\n").messages, 0);
    refuse("[{\"topic\":\"/a\",\"data\":1}", REEL_ARGUMENT, "JSON array");
    refuse("[{\"topic\":\"/a\",\"data\":1},]", REEL_ARGUMENT, "JSON array");
}

static void maps_of_messagepack(void **state) {
    (void)state;
    static const uint8_t one[] = "\x83\xa5topic\xa2/m\xa8log_time\x09\xa4"
                                 "data\x81\xa1x\xc3"
                                 "\x83\xa5topic\xa2/b\xa8log_time\x0a\xa4"
                                 "data\xc4\x02hi";
    struct reel_rows_added added;
    assert_true(reel_rows_append(rows, REEL_ROWS_MSGPACK, bytes_of(one, sizeof one - 1), 1, &added, &err));
    assert_int_equal(added.messages, 2);
    for (size_t cut = 1; cut < sizeof one - 1; cut++) {
        size_t whole = reel_rows_whole(REEL_ROWS_MSGPACK, bytes_of(one, cut));
        assert_int_equal(whole, cut < 29 ? 0 : 29);
        assert_int_equal(reel_rows_append(rows, REEL_ROWS_MSGPACK, bytes_of(one, cut), 1, &added, &err), cut == whole);
    }
    assert_int_equal(reel_rows_whole(REEL_ROWS_JSON, bytes_text("{}\n{")), 3);
    AUTO_MEM char *text = recorded();
    assert_string_equal(text, "/m  msgpack 9 9 0 \x81\xa1x\xc3\n/m  msgpack 9 9 0 \x81\xa1x\xc3\n/b   10 10 0 hi\n");
}

/* Every beginning of a text, exactly as large as it is. */
static void nothing_is_read_past_the_end(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"topic\\\":\"/a\\\\\",\"data\":{\"x\":\"\\u00e9\\\\\"}}\n{\"$channel\":{\"topic\":\"/"
        "b\",\"metadata\":{\"a\\\\\":\"b\\\"\"}}}",
        "[{\"topic\":\"/a\\\"\",\"log_time\":\"2024-06-11\",\"data\":{\"$base64\":\"aGk=\"}} , "
        "{\"a\":\"\\\\\",\"b\":[1,true]}]",
        "\x83\xa5topic\xa2/m\xa8log_time\x09\xa4"
        "data\x81\xa1x\xc3\x82\xa5topic\xd9\x02/b\xa4"
        "data\xc4\x02hi"};
    const struct reel_format *format = reel_format_named("rows");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t size = 0; size <= strlen(texts[i]); size++) {
            AUTO_EXACT struct reel_bytes text = exact_copy(bytes_of(texts[i], size));
            AUTO(reel_source_free) struct reel_source *whole = reel_source_from_memory(bytes_text(texts[i]), "x", &err);
            struct reel_rows_added added;
            format->probe(text, whole, NULL);
            reel_rows_append(rows, REEL_ROWS_JSON, text, 1, &added, &err);
            reel_rows_append(rows, REEL_ROWS_MSGPACK, text, 1, &added, &err);
            assert_true(reel_rows_whole(REEL_ROWS_JSON, text) <= size);
            assert_true(reel_rows_whole(REEL_ROWS_MSGPACK, text) <= size);
        }
    }
}

static void what_was_recorded_can_be_appended(void **state) {
    (void)state;
    char other[600];
    append("{\"$channel\":{\"topic\":\"/s\",\"type\":\"T\",\"encoding\":\"ros1\",\"schema\":\"int32 a\"}}\n"
           "{\"topic\":\"/s\",\"log_time\":5,\"publish_time\":4,\"sequence\":3,\"data\":{\"$base64\":\"AQAAAA==\"}}\n");
    assert_true(reel_recorder_close(recorder, &err));
    reel_rows_free(rows);
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(rename(path, other), 0);
    set_up(NULL);
    AUTO(reel_recording_free) struct reel_recording *r = reel_recording_open(other, NULL, &err);
    struct reel_rows_added added;
    for (int i = 0; i < 2; i++) {
        assert_true(reel_rows_append_recording(rows, r, &added, &err));
        assert_int_equal(added.messages, 1);
    }
    AUTO_MEM char *text = recorded();
    assert_string_equal(text, "/s T ros1 5 4 3 \x01\n/s T ros1 5 4 3 \x01\n");
}

int main(void) {
    snprintf(path, sizeof path, "%s/rows.mcap", REEL_SCRATCH);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_recorded_as_they_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_and_channels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_that_a_channel_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_is_recorded_whole_or_not_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arrays_and_sequences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maps_of_messagepack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_read_past_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_recorded_can_be_appended, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
