/* What the tests of the single modules leave open of the numbered rules of ROS bag 1.2. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

/* A message of /a with one field more. */
static void message_with(struct maker *m, uint32_t sec, const void *field, size_t size) {
    size_t record = make_record(m);
    make_number(m, size, 4);
    make_bytes(m, field, size);
    make_field_text(m, "md5", MAKE_MD5);
    make_field_number(m, "nsec", 0, 4);
    make_field_number(m, "op", 2, 1);
    make_field_number(m, "sec", sec, 4);
    make_field_text(m, "topic", "/a");
    make_field_text(m, "type", MAKE_TYPE);
    make_data(m, record, "x", 1);
}

static void rule_rosbag1_01_unprintable_names_are_reported_and_kept(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    message_with(&m, 1500000000, "\x01\x02=value", 8);
    message_with(&m, 1500000001, "=value", 6);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "x|x|");
    bag_assert_finding(r, REEL_NOTE, "2 unknown header fields, the first named (unprintable)");
}

/* No '=' anywhere: that is no field, so its record is no record; the next one is found again. */
static void rule_rosbag1_01_field_without_equals_costs_its_record_only(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    size_t from = m.size;
    message_with(&m, 1500000000, "no equals sign", 14);
    size_t lost = m.size - from;
    message_with(&m, 1500000001, "colour=red", 10);
    message_with(&m, 1500000002, "colour=red", 10);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "x|x|");
    assert_int_equal(bag_info(r)->lost_bytes, lost);
    bag_assert_finding(r, REEL_LOSS, "its header is not a list of fields with an op");
}

/* Two types on a topic: each channel has its own definition and its own messages, and both are found under the topic.
 */
static void rule_rosbag1_03_two_types_are_two_channels_of_one_topic(void **state) {
    (void)state;
    static const char md5[] = "fdb28210bfa9d7c91146260178d9a584";
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    make_message(&m, "/a", 1500000000, 0, "text");
    make_definition_of(&m, "/a", md5, "std_msgs/Float64", "float64 data\n");
    make_message_of(&m, "/a", md5, "std_msgs/Float64", NULL, 1500000001, 0, "12345678", 8);
    make_message(&m, "/a", 1500000002, 0, "");
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_true(bytes_is(bag_definition(r, 0), MAKE_DEF));
    assert_true(bytes_is(bag_definition(r, 1), "float64 data\n"));
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_int_equal(bag_stats(r, 1)->count, 1);
    const char *const topic = "/a";
    struct reel_selection selection = selection_all;
    selection.topics = &topic;
    selection.n_topics = 1;
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(&r, 1, &selection, &err);
    assert_non_null(s);
    assert_int_equal(s->n_channels, 2);
    struct reel_message message;
    unsigned n = 0;
    while (stream_next(s, &message, &err) == REEL_STEP_MESSAGE) {
        n++;
    }
    assert_int_equal(n, 3);
}

static void rule_rosbag1_03_zero_length_messages_count(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 10);
    struct make_entry places[3];
    for (uint32_t i = 0; i < 3; i++) {
        places[i] = (struct make_entry){1500000000 + i, i, m.size};
        if (i == 0) {
            make_definition(&m, "/empty");
        }
        make_message(&m, "/empty", 1500000000 + i, i, "");
    }
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/empty", 0, places, 3);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_stats(r, 0)->count, 3);
    assert_int_equal(bag_stats(r, 0)->bytes, 0);
    assert_int_equal(bag_stats(r, 0)->last_ns, 1500000002000000002);
    assert_string_equal(bag_payloads(r), "|||");
    bag_assert_no_findings(r);
}

/* Neither file header nor index: times, counts and channels are those of the bag that has both. */
static void rule_rosbag1_04_neither_header_nor_index_is_needed(void **state) {
    (void)state;
    for (int bare = 0; bare < 2; bare++) {
        MAKER m = {0};
        make_text(&m, MAKE_LINE);
        size_t index_pos = bare ? 0 : make_file_header(&m, 0, 10);
        make_definition(&m, "/a");
        struct make_entry place = {1500000000, 7, make_message(&m, "/a", 1500000000, 7, "x")};
        if (!bare) {
            make_patch(&m, index_pos, m.size, 8);
            make_index(&m, "/a", 0, &place, 1);
        }
        RECORDING *r = bag_scan(&m);
        assert_string_equal(bag_payloads(r), "x|");
        assert_int_equal(bag_info(r)->start_ns, 1500000000000000007);
        assert_int_equal(bag_stats(r, 0)->count, 1);
        assert_true(bytes_is(bag_definition(r, 0), MAKE_DEF));
        assert_int_equal(bag_findings(r, REEL_WARNING, ""), 0);
        assert_false(bag_info(r)->damaged);
    }
}

/* The position of the definition is that of the first message in the file, which need not be the earliest. */
static void rule_rosbag1_05_first_is_by_place_and_not_by_time(void **state) {
    (void)state;
    static const uint32_t seconds[] = {2, 0, 1};
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 10);
    struct make_entry places[3];
    for (uint32_t i = 0; i < 3; i++) {
        const char text[] = {(char)('0' + seconds[i]), 0};
        places[i] = (struct make_entry){1500000000 + seconds[i], 0, m.size};
        if (i == 0) {
            make_definition(&m, "/a");
        }
        make_message(&m, "/a", 1500000000 + seconds[i], 0, text);
    }
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/a", 0, places, 3);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "0|1|2|");
    bag_assert_no_findings(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_rosbag1_01_unprintable_names_are_reported_and_kept),
        cmocka_unit_test(rule_rosbag1_01_field_without_equals_costs_its_record_only),
        cmocka_unit_test(rule_rosbag1_03_two_types_are_two_channels_of_one_topic),
        cmocka_unit_test(rule_rosbag1_03_zero_length_messages_count),
        cmocka_unit_test(rule_rosbag1_04_neither_header_nor_index_is_needed),
        cmocka_unit_test(rule_rosbag1_05_first_is_by_place_and_not_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
