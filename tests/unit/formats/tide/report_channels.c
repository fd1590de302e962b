/* The channels of made TIDE logs as rows. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/tide/report.h"
#include "makers/tide_scan.h"

static bool put(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}
static const char *rows_of(struct reel_recording *r, enum reel_table_form form) {
    static struct grow out;
    struct reel_error err = {0};
    out.size = 0;
    const struct reel_text_sink sink = {.put = put, .context = &out};
    AUTO(reel_table_text_free) struct reel_table_text *rows = reel_table_text_new(form, &sink, &err);
    assert_true(reel_tide_channels(reel_recording_index(r), reel_table_of_text(rows), &err));
    grow_put(&out, "", 1);
    return (const char *)out.data;
}

static void of_the_old_layout(void **state) {
    (void)state;
    LOG l = {0};
    log_tide(&l, 0, 0);
    log_channel_of(&l, 7, "/a", "TEXT", "camera, left", "port=1", "");
    log_chunk(&l, 0, 3, LOG_T0, LOG_T0 + 2 * (uint64_t)LOG_S);
    for (unsigned i = 0; i < 3; i++) {
        log_entry(&l, 7, LOG_T0 + i * (uint64_t)LOG_S, "m");
    }
    log_chunk_end(&l, LOG_PLAIN);
    struct reel_error err = {0};
    RECORDING *r = log_try(bytes_of(l.data, l.size), &reel_format_tide, &err);
    assert_non_null(r);
    assert_string_equal(rows_of(r, REEL_TABLE_CSV),
                        "id,name,scope,type,wire_schema,encoding,source,source_config,messages,payload_bytes,start,end,"
                        "rate_hz,types\r\n"
                        "7,/a,/a,TEXT,,bytes,\"camera, "
                        "left\",port=1,3,3,2014-05-13T16:53:20.000000000Z,2014-05-13T16:53:22.000000000Z,1,[]\r\n");
}

static void types_of_the_new_layout(void **state) {
    (void)state;
    LOG l = {0};
    const char *const hashes[] = {"\x01\x02", NULL};
    log_tide(&l, 2, 0);
    log_type(&l, "\x01\x02", "proto", ".lab.Pose", "1.2", "message Pose {}", "http://lab/Pose.proto", "\x03");
    log_type(&l, "\x03", "proto", ".lab.Point", "", "message Point {}", NULL, NULL);
    log_channel_new(&l, 1, "/pose", "", "", hashes);
    struct reel_error err = {0};
    RECORDING *r = log_try(bytes_of(l.data, l.size), &reel_format_tide, &err);
    assert_non_null(r);
    assert_string_equal(
        rows_of(r, REEL_TABLE_NDJSON),
        "{\"id\":1,\"name\":\"/pose\",\"scope\":\"/"
        "pose\",\"type\":\".lab.Pose\",\"wire_schema\":null,\"encoding\":\"protobuf\",\"source\":null,"
        "\"source_config\":null,\"messages\":0,\"payload_bytes\":0,\"start\":null,\"end\":null,\"rate_hz\":null,"
        "\"types\":["
        "{\"name\":\".lab.Pose\",\"syntax\":\"proto\",\"version\":\"1.2\",\"hash\":\"0102\",\"sources\":[\"http://lab/"
        "Pose.proto\"],\"needs\":[\"03\"]},"
        "{\"name\":\".lab.Point\",\"syntax\":\"proto\",\"version\":null,\"hash\":\"03\",\"sources\":[],\"needs\":[]}]}"
        "\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_the_old_layout), cmocka_unit_test(types_of_the_new_layout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
