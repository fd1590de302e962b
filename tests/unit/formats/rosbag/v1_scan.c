/* ROS bags 0 to 1.2: what is recognised, what becomes of headers, definitions and channels; the numbered rules of the
 * format. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "makers/bag_scan.h"

#define TYPED(topic) topic "\n" MAKE_MD5 "\n" MAKE_TYPE "\n"

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static int probe(const char *text) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(bytes_text(text), "probed", &err);
    assert_non_null(source);
    int bits = reel_format_rosbag_v1.probe(bytes_text(text), source, NULL);
    reel_source_free(source);
    return bits;
}

static void probe_recognises_every_generation(void **state) {
    (void)state;
    assert_int_equal(probe(MAKE_LINE), 128);
    assert_int_equal(probe("#ROSRECORD V1.1\n"), 128);
    assert_int_equal(probe("#ROSLOG V1.1\n"), 104);
    assert_int_equal(probe("#ROSLOG V1.0\n"), 104);
    assert_true(probe("#ROSBAG V1.3\n") > 0);
    assert_int_equal(probe("#ROSBAG V2.0\n"), 0);
    assert_int_equal(probe(""), 0);
    assert_int_equal(probe("#ROSRECORD"), 0);
    assert_int_equal(probe("any\nthree\nlines of text\n"), 0);
    assert_in_range(probe(TYPED("/t")), 1, 16);
}

static void version_1_3_is_refused_by_name(void **state) {
    (void)state;
    struct reel_error err = {0};
    assert_null(bag_try(bytes_text("#ROSBAG V1.3\n....................."), &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "#ROSBAG V1.3"));
    assert_null(bag_try(bytes_text("no bag at all"), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

static void indexed_bag_reads_without_a_finding(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_info(r)->container, "#ROSRECORD V1.2");
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_WALL);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_int_equal(bag_info(r)->start_ns, 1000000000000000000);
    assert_int_equal(bag_info(r)->end_ns, 1000000009000000009);
    assert_string_equal(bag_channel(r, 0)->name, "/a");
    assert_string_equal(bag_channel(r, 0)->type, MAKE_TYPE);
    assert_string_equal(bag_channel(r, 0)->encoding, "ros1");
    assert_string_equal(bag_channel(r, 0)->schemas[0].hash, MAKE_MD5);
    assert_string_equal(bag_channel(r, 0)->schemas[0].encoding, "ros1msg");
    assert_true(bytes_is(bag_definition(r, 0), MAKE_DEF));
    assert_true(bytes_is(bag_definition(r, 1), MAKE_DEF));
    assert_int_equal(bag_stats(r, 1)->count, 5);
    assert_string_equal(bag_payloads(r), "m0|m1|m2|m3|m4|m5|m6|m7|m8|m9|");
    bag_assert_no_findings(r);
}

static void rule_rosbag1_01_fields_in_any_order_with_any_bytes(void **state) {
    (void)state;
    static const char caller[] = "/n=1\0\nx";
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    for (uint32_t i = 0; i < 2; i++) {
        size_t record = make_record(&m);
        make_field_text(&m, "type", MAKE_TYPE);
        make_field_number(&m, "sec", 0x3d3d3d3d, 4); /* "====" */
        if (i == 1) {
            make_field(&m, "callerid", caller, sizeof caller - 1);
        }
        make_field_text(&m, "topic", "/a=b");
        make_field_number(&m, "op", 2, 1);
        make_field_number(&m, "nsec", 0x0a003d0a, 4);
        make_field_text(&m, "md5", MAKE_MD5);
        make_data(&m, record, "p", 1);
    }
    size_t record = make_record(&m);
    make_field_text(&m, "topic", "/a=b");
    make_field_number(&m, "op", 1, 1);
    make_field(&m, "def", "# a = b\0\n", 9);
    make_field_text(&m, "type", MAKE_TYPE);
    make_field_text(&m, "md5", MAKE_MD5);
    make_data(&m, record, "", 0);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->messages, 2);
    assert_int_equal(bag_info(r)->n_channels, 2);
    assert_string_equal(bag_channel(r, 0)->name, "/a=b");
    assert_int_equal(bag_info(r)->start_ns, 0x3d3d3d3d * 1000000000ll + 0x0a003d0a);
    assert_int_equal(bag_channel(r, 1)->metadata.count, 1);
    assert_string_equal(bag_channel(r, 1)->metadata.items[0].key, "callerid");
    assert_string_equal(bag_channel(r, 1)->metadata.items[0].value, "/n=1\\x00\nx");
    assert_true(bytes_equal(bag_definition(r, 1), bytes_of("# a = b\0\n", 9)));
    bag_assert_finding(r, REEL_WARNING, "/a=b follows its first message");
}

static void rule_rosbag1_02_unknown_ops_and_fields_are_counted(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    for (unsigned i = 0; i < 3; i++) {
        size_t record = make_record(&m);
        make_field_number(&m, "op", 0x77, 1);
        make_field_text(&m, "colour", "red");
        make_data(&m, record, "skip me", 7);
        record = make_record(&m);
        make_field_number(&m, "op", 2, 1);
        make_field_text(&m, "topic", "/a");
        make_field_text(&m, "md5", MAKE_MD5);
        make_field_text(&m, "type", MAKE_TYPE);
        make_field_text(&m, "shape", "round");
        make_field_number(&m, "sec", 1500000000 + i, 4);
        make_field_number(&m, "nsec", 0, 4);
        make_data(&m, record, "x", 1);
    }
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "x|x|x|");
    bag_assert_finding(r, REEL_NOTE, "3 records of an unknown kind are skipped, the first with op 119");
    bag_assert_finding(r, REEL_NOTE, "6 unknown header fields, the first named colour");
    assert_false(bag_info(r)->damaged);
}

static void rule_rosbag1_03_definitions_none_late_second_and_two_types(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_message_of(&m, "/none", "0123456789abcdef0123456789abcdef", "a/Lost", NULL, 1500000000, 0, "", 0);
    make_message(&m, "/late", 1500000001, 0, "");
    make_definition(&m, "/late");
    make_definition_of(&m, "/late", MAKE_MD5, MAKE_TYPE, "something else");
    make_definition(&m, "/late");
    make_message_of(&m, "/late", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", NULL, 1500000002, 0,
                    "12345678", 8);
    make_message(&m, "/other", 1500000003, 0, "o");
    make_definition(&m, "/silent");
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->n_channels, 5);
    assert_int_equal(bag_definition(r, 0).size, 0);
    assert_true(bytes_is(bag_definition(r, 1), MAKE_DEF));
    assert_string_equal(bag_channel(r, 2)->name, "/late");
    assert_string_equal(bag_channel(r, 2)->type, "std_msgs/Float64");
    assert_true(bytes_is(bag_definition(r, 3), MAKE_DEF)); /* of another topic with that type */
    assert_string_equal(bag_channel(r, 4)->name, "/silent");
    assert_int_equal(bag_stats(r, 4)->count, 0);
    assert_string_equal(bag_payloads(r), "||12345678|o|"); /* two of zero length count */
    bag_assert_finding(r, REEL_WARNING, "/none has no definition of its type a/Lost");
    bag_assert_finding(r, REEL_WARNING, "/late follows its first message");
    bag_assert_finding(r, REEL_WARNING, "/late is defined again, differently");
    assert_int_equal(bag_findings(r, REEL_NOTE, "/late is defined again"), 1);
    bag_assert_finding(r, REEL_WARNING, "/late has a second type");
    bag_assert_finding(r, REEL_NOTE, "/other has no definition of its own");
}

static void latching_and_callerid_make_channels(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/map");
    make_message_of(&m, "/map", MAKE_MD5, MAKE_TYPE, "/server", 1500000000, 0, "a", 1);
    make_message_of(&m, "/map", MAKE_MD5, MAKE_TYPE, "/other", 1500000001, 0, "b", 1);
    make_message(&m, "/map", 1500000002, 0, "c");
    make_message_of(&m, "/map", MAKE_MD5, MAKE_TYPE, "/server", 1500000003, 0, "d", 1);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->n_channels, 3);
    assert_true(bag_channel(r, 0)->latched);
    assert_int_equal(bag_stats(r, 0)->count, 2);
    assert_string_equal(bag_channel(r, 0)->metadata.items[0].value, "/server");
    assert_string_equal(bag_channel(r, 0)->metadata.items[1].key, "latching");
    assert_string_equal(bag_channel(r, 0)->metadata.items[1].value, "1");
    assert_false(bag_channel(r, 2)->latched);
    assert_int_equal(bag_channel(r, 2)->metadata.count, 0);
    assert_true(bytes_is(bag_definition(r, 2), MAKE_DEF));
    bag_assert_no_findings(r);
}

static void rule_rosbag1_04_header_is_optional_and_of_any_length(void **state) {
    (void)state;
    static const size_t paddings[] = {0, 1, 4062, 4066, 70000};
    for (size_t i = 0; i < sizeof paddings / sizeof *paddings; i++) {
        MAKER m = {0};
        make_text(&m, MAKE_LINE);
        size_t record = make_record(&m);
        make_field_text(&m, "recorder", "lab 7");
        make_field_number(&m, "index_pos", 0, 8);
        make_field_number(&m, "op", 3, 1);
        AUTO_MEM char *padding = calloc(1, paddings[i] + 1);
        make_data(&m, record, padding, paddings[i]);
        make_definition(&m, "/a");
        make_message(&m, "/a", 1500000000, 0, "x");
        RECORDING *r = bag_scan(&m);
        const struct reel_pairs *metadata = reel_index_metadata(reel_recording_index(r));
        assert_int_equal(metadata->count, 1);
        assert_string_equal(metadata->items[0].key, "recorder");
        assert_string_equal(metadata->items[0].value, "lab 7");
        assert_string_equal(bag_payloads(r), "x|");
        bag_assert_finding(r, REEL_NOTE, "was not closed");
    }
}

static void rule_rosbag1_04_index_of_another_version_is_not_used(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    size_t index_pos = make_file_header(&m, 0, 10);
    make_definition(&m, "/a");
    make_message(&m, "/a", 1500000000, 0, "x");
    make_patch(&m, index_pos, m.size, 8);
    make_index(&m, "/a", 1, &(struct make_entry){7, 7, 7}, 1);
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "x|");
    bag_assert_finding(r, REEL_WARNING, "index of topic /a is of version 1: not used");
}

static void rule_rosbag1_05_first_position_may_be_the_definition(void **state) {
    (void)state;
    for (int at_definition = 0; at_definition < 2; at_definition++) {
        MAKER m = {0};
        make_text(&m, MAKE_LINE);
        size_t index_pos = make_file_header(&m, 0, 10);
        size_t definition = make_definition(&m, "/a");
        size_t message = make_message(&m, "/a", 1500000000, 5, "x");
        make_patch(&m, index_pos, m.size, 8);
        make_index(&m, "/a", 0, &(struct make_entry){1500000000, 5, at_definition ? definition : message}, 1);
        RECORDING *r = bag_scan(&m);
        assert_string_equal(bag_payloads(r), "x|");
        bag_assert_no_findings(r);
    }
}

static void nanoseconds_are_carried_and_disorder_is_sorted(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "scan");
    make_message(&m, "scan", 1500000003, 0, "3");
    make_message(&m, "scan", 1500000000, 4000000001u, "4");
    make_message(&m, "scan", 1500000001, 0, "1");
    make_message(&m, "scan", 4294967295u, 4294967295u, "9");
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_payloads(r), "1|3|4|9|");
    assert_int_equal(bag_stats(r, 0)->last_ns, 4294967295 * 1000000000 + 4294967295);
    assert_string_equal(bag_channel(r, 0)->name, "scan");
    bag_assert_finding(r, REEL_NOTE, "2 stamps have 10^9 or more nanoseconds");
}

static void stamps_near_zero_are_relative(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/a");
    make_message(&m, "/a", 0, 0, "zero");
    make_message(&m, "/a", 0, 1, "one");
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
    assert_true(strlen(bag_info(r)->clock_note) > 0);
    assert_int_equal(bag_info(r)->start_ns, 0);
    assert_int_equal(bag_info(r)->messages, 2);
}

static void log_1_1_under_both_names_in_both_orders(void **state) {
    (void)state;
    static const char *const lines[] = {"#ROSLOG V1.1\n", "#ROSRECORD V1.1\n"};
    for (size_t i = 0; i < 2; i++) {
        MAKER m = {0};
        make_text(&m, lines[i]);
        make_log_record(&m, TYPED("imu"), 4, 490000000, "first");
        make_log_record(&m, "odom\n*\nstd_msgs/RobotBase2DOdom\n", 4, 500000000, "");
        make_log_record(&m, "swapped\n" MAKE_TYPE "\n" MAKE_MD5 "\n", 5, 0, "third");
        make_log_record(&m, "any\n*\n*\n", 6, 0, "\n\n\n");
        make_log_record(&m, TYPED("imu"), 7, 0, "last");
        RECORDING *r = bag_scan(&m);
        assert_int_equal(bag_info(r)->n_channels, 4);
        assert_int_equal(bag_info(r)->clock, REEL_CLOCK_RELATIVE);
        assert_string_equal(bag_channel(r, 1)->schemas[0].hash, "*");
        assert_string_equal(bag_channel(r, 1)->type, "std_msgs/RobotBase2DOdom");
        assert_string_equal(bag_channel(r, 2)->schemas[0].hash, MAKE_MD5);
        assert_string_equal(bag_channel(r, 2)->type, MAKE_TYPE);
        assert_string_equal(bag_channel(r, 3)->type, "*");
        assert_string_equal(bag_payloads(r), "first||third|\n\n\n|last|");
        assert_false(bag_info(r)->damaged);
    }
}

static void log_1_1_with_absolute_stamps(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, "#ROSRECORD V1.1\n");
    make_log_record(&m, TYPED("imu"), 1230660784, 350393000, "x");
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_info(r)->clock, REEL_CLOCK_WALL);
    assert_int_equal(bag_info(r)->start_ns, 1230660784350393000);
}

static void log_1_0_takes_types_from_its_head(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, "#ROSLOG V1.0\n0002\n" TYPED("a") "b\nstd_msgs/Other\n" MAKE_MD5 "\n");
    make_log_record(&m, "b\n", 1, 0, "b1");
    make_log_record(&m, "a\n", 2, 0, "a1");
    make_log_record(&m, "c\n", 3, 0, "c1");
    make_log_record(&m, "b\n", 4, 0, "b2");
    make_text(&m, "a\nabc"); /* and no more */
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_info(r)->container, "#ROSLOG V1.0");
    assert_int_equal(bag_info(r)->n_channels, 3);
    assert_string_equal(bag_channel(r, 1)->type, "std_msgs/Other");
    assert_string_equal(bag_channel(r, 1)->schemas[0].hash, MAKE_MD5);
    assert_int_equal(bag_stats(r, 1)->count, 2);
    assert_string_equal(bag_channel(r, 2)->type, "*");
    assert_string_equal(bag_payloads(r), "b1|a1|c1|b2|");
    assert_int_equal(bag_info(r)->lost_bytes, 5);
    bag_assert_finding(r, REEL_LOSS, "its stamp and length are cut");
}

static void version_0_is_read_when_plausible(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, TYPED("/chatter"));
    make_log_record(&m, "", 1, 0, "one");
    make_log_record(&m, "", 2, 0, "two");
    RECORDING *r = bag_scan(&m);
    assert_string_equal(bag_info(r)->container, "ROS log, version 0");
    assert_string_equal(bag_payloads(r), "one|two|");
    make_patch(&m, strlen(TYPED("/chatter")) + 8, 1 << 30, 4); /* a first length beyond the file */
    struct reel_error err = {0};
    assert_null(bag_try(bytes_of(m.data, m.size), &err));
    assert_int_equal(err.code, REEL_NOT_MINE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_recognises_every_generation),
        cmocka_unit_test(version_1_3_is_refused_by_name),
        cmocka_unit_test(indexed_bag_reads_without_a_finding),
        cmocka_unit_test(rule_rosbag1_01_fields_in_any_order_with_any_bytes),
        cmocka_unit_test(rule_rosbag1_02_unknown_ops_and_fields_are_counted),
        cmocka_unit_test(rule_rosbag1_03_definitions_none_late_second_and_two_types),
        cmocka_unit_test(latching_and_callerid_make_channels),
        cmocka_unit_test(rule_rosbag1_04_header_is_optional_and_of_any_length),
        cmocka_unit_test(rule_rosbag1_04_index_of_another_version_is_not_used),
        cmocka_unit_test(rule_rosbag1_05_first_position_may_be_the_definition),
        cmocka_unit_test(nanoseconds_are_carried_and_disorder_is_sorted),
        cmocka_unit_test(stamps_near_zero_are_relative),
        cmocka_unit_test(log_1_1_under_both_names_in_both_orders),
        cmocka_unit_test(log_1_1_with_absolute_stamps),
        cmocka_unit_test(log_1_0_takes_types_from_its_head),
        cmocka_unit_test(version_0_is_read_when_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
