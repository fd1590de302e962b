/* Messages that were compressed one by one, in chunks of each compression and outside of chunks. */
#include "makers/mcap_scan.h"

#include "reel/stream.h"

enum { MESSAGES = 9000 }; /* more than the chunks that an index refers to at once */

static const char cdr[] = "\0\1\0\0\x05\0\0\0hello";

static void put_packed(struct maker *m, unsigned number, bool damaged) {
    char frame[128];
    size_t size = ZSTD_compress(frame, sizeof frame, cdr, sizeof cdr - 1, 1);
    assert_false(ZSTD_isError(size));
    size_t record = mcap_begin(m, 5);
    make_number(m, 1, 2);
    make_number(m, number, 4);
    make_number(m, 1000 + number, 8);
    make_number(m, 2000 + number, 8);
    make_bytes(m, frame, damaged ? size - 3 : size);
    mcap_end(m, record);
}

static void put_definitions(struct maker *m, const char *encoding) {
    mcap_header(m, "ros2", "");
    mcap_schema(m, 1, "std_msgs/msg/String", "ros2msg", "string data");
    mcap_channel(m, 1, 1, "/chatter", encoding, NULL);
}

/* All are the CDR, with their own publish times and sequence numbers. */
static void check(struct reel_recording *r, unsigned count, const char *payload, size_t size) {
    struct reel_error err = {0};
    const struct reel_message *m;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&r, 1, NULL, &err);
    assert_non_null(stream);
    for (unsigned i = 0; i < count; i++) {
        struct reel_bytes data;
        assert_int_equal(reel_stream_next(stream, &m, &err), REEL_STEP_MESSAGE);
        assert_true(reel_stream_payload(stream, m, &data, &err));
        assert_int_equal(data.size, size);
        assert_memory_equal(data.data, payload, data.size);
        const struct reel_description *d = reel_stream_describe(stream, m, &err);
        assert_non_null(d);
        assert_int_equal(d->publish_ns - m->time_ns, 1000);
        assert_int_equal(d->sequence, m->time_ns - 1000);
    }
    assert_int_equal(reel_stream_next(stream, &m, &err), REEL_STEP_END);
}

static void messages_are_unpacked(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct maker m = {0}, records = {0};
        put_definitions(&m, "cdr");
        for (unsigned k = 0; k < MESSAGES; k++) {
            put_packed(i < 3 ? &records : &m, k, false);
        }
        if (i < 3) {
            mcap_chunk(&m, &records, 1000, 1000 + MESSAGES - 1, compressions[i]);
        }
        free(records.data);
        struct reel_recording *r = scanned(&m);
        check(r, MESSAGES, cdr, sizeof cdr - 1);
        done(r, &m);
    }
}

static void one_that_does_not_unpack_is_a_finding(void **state) {
    (void)state;
    struct maker m = {0};
    put_definitions(&m, "cdr");
    put_packed(&m, 0, false);
    put_packed(&m, 1, true);
    struct reel_recording *r = scanned(&m);
    bag_assert_finding(r, REEL_LOSS, "it is compressed and does not unpack");
    check(r, 1, cdr, sizeof cdr - 1);
    done(r, &m);
}

static void other_encodings_stay(void **state) {
    (void)state;
    struct maker m = {0};
    char frame[128];
    size_t size = ZSTD_compress(frame, sizeof frame, cdr, sizeof cdr - 1, 1);
    put_definitions(&m, "x-own");
    put_packed(&m, 0, false);
    struct reel_recording *r = scanned(&m);
    check(r, 1, frame, size);
    done(r, &m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_unpacked),
        cmocka_unit_test(one_that_does_not_unpack_is_a_finding),
        cmocka_unit_test(other_encodings_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
