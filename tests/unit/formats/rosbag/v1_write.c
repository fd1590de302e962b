/* Writing ROS bag 1.2: what comes out is planned to the byte, reads back without a finding, and any range of it is the
 * same alone. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "makers/bag_scan.h"

static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static const struct reel_write_options options = {.compression = ""};

static struct reel_stream *open_stream(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_stream_open(&r, 1, selection, &err);
    assert_non_null(s);
    return s;
}

static struct reel_plan *plan_of(struct reel_recording *r, const struct reel_selection *selection,
                                 struct reel_error *err) {
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, selection);
    return reel_plan_new(&reel_writer_rosbag_v1, &options, s, NULL, err);
}

/* The whole output; then random ranges of it, each compared. */
static struct maker render(struct reel_recording *r, const struct reel_selection *selection, unsigned ranges) {
    struct reel_error err = {0};
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, selection, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct maker out = {0};
    out.size = out.room = reel_plan_length(plan);
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, open_stream(r, selection), &err);
    assert_non_null(whole);
    if (!reel_planned_output_read(whole, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *parts = reel_planned_output_new(plan, open_stream(r, selection), &err);
    assert_non_null(parts);
    uint64_t random = 7;
    for (unsigned i = 0; i < ranges; i++) {
        static uint8_t piece[5000];
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)((random >> 20) % out.size), size = (size_t)(random >> 50) % sizeof piece;
        size = size > out.size - at ? out.size - at : size;
        assert_true(reel_planned_output_read(parts, at, piece, size, &err));
        assert_memory_equal(piece, out.data + at, size);
    }
    return out;
}

static void a_recorders_file_comes_out_byte_for_byte(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    RECORDING *r = bag_scan(&m);
    MAKER out = render(r, &selection_all, 200);
    assert_int_equal(out.size, m.size);
    assert_memory_equal(out.data, m.data, m.size);
}

static void latched_topics_two_types_and_disorder(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_message(&m, "/z", 1500000003, 0, "z3");
    make_message(&m, "/z", 1500000001, 0, "z1");
    make_definition(&m, "/z");
    make_definition(&m, "/map");
    make_message_of(&m, "/map", MAKE_MD5, MAKE_TYPE, "/server", 1500000002, 0, "map", 3);
    make_message(&m, "/map", 1500000004, 0, "");
    make_definition_of(&m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", "float64 data\n");
    make_message_of(&m, "/map", "fdb28210bfa9d7c91146260178d9a584", "std_msgs/Float64", NULL, 1500000005, 0, "12345678",
                    8);
    RECORDING *r = bag_scan(&m);
    MAKER out = render(r, &selection_all, 100);
    RECORDING *again = bag_scan(&out);
    assert_string_equal(bag_payloads(again), bag_payloads(r));
    assert_string_equal(bag_payloads(again), "z1|map|z3||12345678|");
    assert_int_equal(bag_info(again)->n_channels, 4);
    assert_string_equal(bag_channel(again, 1)->name, "/map");
    assert_true(bag_channel(again, 1)->latched);
    assert_string_equal(bag_channel(again, 1)->metadata.items[0].value, "/server");
    assert_true(bytes_is(bag_definition(again, 3), "float64 data\n"));
    bag_assert_finding(again, REEL_WARNING, "second type"); /* and nothing about the index or definitions */
    assert_int_equal(bag_findings(again, REEL_WARNING, ""), 1);
    assert_int_equal(bag_findings(again, REEL_NOTE, ""), 0);
}

static void a_cut_has_its_own_definitions(void **state) {
    (void)state;
    size_t records[10];
    MAKER m = make_ten(records);
    RECORDING *r = bag_scan(&m);
    struct reel_selection selection = {
        .size = sizeof selection, .start_ns = 1000000003000000000, .end_ns = 1000000006000000000};
    MAKER out = render(r, &selection, 50);
    RECORDING *cut = bag_scan(&out);
    assert_string_equal(bag_payloads(cut), "m3|m4|m5|");
    assert_true(bytes_is(bag_definition(cut, 1), MAKE_DEF));
    bag_assert_no_findings(cut);
    selection.start_ns = selection.end_ns;
    MAKER nothing = render(r, &selection, 10);
    assert_int_equal(nothing.size, 4120); /* index_pos and the end of the file */
    RECORDING *empty = bag_scan(&nothing);
    assert_int_equal(bag_info(empty)->messages, 0);
    bag_assert_no_findings(empty);
}

/* More messages than one part of the index holds, on topics that some groups lack, and one message larger than a group.
 */
static void many_groups_and_parts(void **state) {
    (void)state;
    enum { MESSAGES = 300000 };
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_definition(&m, "/often");
    for (uint32_t i = 0; i < MESSAGES; i++) {
        make_message(&m, "/often", 1500000000 + i / 1000, i % 1000 * 1000000, i % 3 ? "payload" : "");
        if (i % 70000 == 60000) {
            make_message(&m, "rare", 1500000000 + i / 1000, i % 1000 * 1000000 + 1, "rare");
        }
        if (i == 150000) {
            AUTO_MEM char *huge = calloc(1, 9 << 20);
            make_message_of(&m, "/huge", MAKE_MD5, MAKE_TYPE, NULL, 1500000000 + i / 1000, 0, huge, 9 << 20);
        }
    }
    RECORDING *r = bag_scan(&m);
    MAKER out = render(r, &selection_all, 60);
    RECORDING *again = bag_scan(&out);
    assert_int_equal(bag_info(again)->messages, MESSAGES + 4 + 1);
    assert_int_equal(bag_info(again)->payload_bytes, bag_info(r)->payload_bytes);
    bag_assert_no_findings(again);
}

static void what_cannot_be_stored_is_reported(void **state) {
    (void)state;
    struct reel_channel c = {.name = "/t", .type = "T", .encoding = "cdr"};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t count;
    assert_true(reel_writer_rosbag_v1.accepts(&c, loss));
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    assert_int_equal(count, 1);
    assert_int_equal(items[0].kind, REEL_CHANGES);
    assert_non_null(strstr(items[0].text, "cdr"));
    c.encoding = "ros1";
    c.metadata = (struct reel_pairs){
        .items = (struct reel_pair[]){{"callerid", "/n"}, {"offered_qos", "1"}, {"a=b", "1"}}, .count = 3};
    assert_true(reel_writer_rosbag_v1.accepts(&c, loss));
    items = reel_loss_items(loss, &count);
    assert_int_equal(count, 4);
    assert_int_equal(items[3].kind, REEL_LOSES);
    assert_non_null(strstr(items[3].text, "a=b")); /* the other one is a field of the definition */
    assert_true(reel_writer_rosbag_v1.accepts(&c, NULL));
    c.encoding = "cdr"; /* its schema must fit a record header */
    c.schemas = &(struct reel_schema){
        .name = "T", .encoding = "x", .hash = "", .data = {.data = (const uint8_t *)"", .size = 1 << 20}};
    c.n_schemas = 1;
    assert_false(reel_writer_rosbag_v1.accepts(&c, loss));
    items = reel_loss_items(loss, &count);
    assert_int_equal(items[count - 1].kind, REEL_REFUSES);
}

/* Message i with fields of its own; the last one has a long one, larger than what the reader keeps of a header. */
static void make_with_fields(struct maker *m, uint32_t i) {
    size_t record = make_record(m);
    make_field_text(m, "md5", MAKE_MD5);
    make_field_number(m, "nsec", i, 4);
    make_field_number(m, "op", 2, 1);
    make_field_number(m, "sec", 1500000000 + i, 4);
    make_field_text(m, "topic", "/a");
    make_field_text(m, "type", MAKE_TYPE);
    if (i % 3 > 0) { /* every third one has none */
        make_field(m, "shape", "=\0\n\xff", 4);
        make_field_number(m, "seq", i, 4);
    }
    if (i == 9) {
        char *text = malloc(2000);
        memset(text, 'x', 2000);
        make_field(m, "long", text, 2000);
        free(text);
    }
    make_data(m, record, "data", 4);
}

/* Fields that mean nothing to ROS come out again: of the file header, of definitions, and of each message the bytes it
 * had. */
static void further_header_fields_are_written_back(void **state) {
    (void)state;
    MAKER m = {0}, messages = {0};
    make_text(&m, MAKE_LINE);
    size_t record = make_record(&m);
    make_field_number(&m, "index_pos", 0, 8);
    make_field_number(&m, "op", 3, 1);
    make_field_text(&m, "recorder", "own = 2");
    make_data(&m, record, "", 0);
    for (int i = 0; i < 2; i++) { /* a second definition, the same */
        record = make_record(&m);
        make_field_text(&m, "def", MAKE_DEF);
        make_field_text(&m, "md5", MAKE_MD5);
        make_field_number(&m, "op", 1, 1);
        make_field_text(&m, "topic", "/a");
        make_field_text(&m, "type", MAKE_TYPE);
        make_field_text(&m, "colour", "red");
        make_data(&m, record, "", 0);
    }
    for (uint32_t i = 0; i < 10; i++) {
        make_with_fields(&messages, i);
    }
    make_bytes(&m, messages.data, messages.size);
    RECORDING *r = bag_scan(&m);
    assert_int_equal(bag_channel(r, 0)->metadata.count, 1);
    assert_string_equal(bag_channel(r, 0)->metadata.items[0].key, "colour");
    MAKER out = render(r, &selection_all, 300);
    assert_non_null(memmem(out.data, out.size, messages.data, messages.size));
    assert_non_null(memmem(out.data, out.size, m.data + record, 100)); /* the definition */
    RECORDING *again = bag_scan(&out);
    assert_int_equal(bag_findings(again, REEL_WARNING, ""), 0); /* the index fits, too */
    const struct reel_pairs *pairs = reel_index_metadata(reel_recording_index(again));
    assert_int_equal(pairs->count, 1);
    assert_string_equal(pairs->items[0].value, "own = 2");
    MAKER once_more = render(again, &selection_all, 0);
    assert_int_equal(once_more.size, out.size);
    assert_memory_equal(once_more.data, out.data, out.size);
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
    struct reel_error err = {0};
    size_t count;
    assert_true(reel_writer_accepts(&reel_writer_rosbag_v1, s, loss, &err));
    reel_loss_items(loss, &count);
    assert_int_equal(count, 0);
}

static void times_after_2106_are_refused(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_message(&m, "/late", UINT32_MAX, 999999999, "fits");
    make_message(&m, "/late", UINT32_MAX, 1000000000, "does not");
    RECORDING *r = bag_scan(&m);
    struct reel_error err = {0};
    assert_null(plan_of(r, &selection_all, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "/late"));
    struct reel_selection before = selection_all;
    before.end_ns = 4294967296 * 1000000000;
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, &before, &err);
    assert_non_null(plan);
}

static void time_0_moves_to_1_ns(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, MAKE_LINE);
    make_message(&m, "/clock", 0, 0, "zero");
    make_message(&m, "/clock", 0, 5, "five");
    RECORDING *r = bag_scan(&m);
    MAKER out = render(r, &selection_all, 10);
    RECORDING *again = bag_scan(&out);
    assert_string_equal(bag_payloads(again), "zero|five|");
    assert_int_equal(bag_info(again)->start_ns, 1);
    assert_int_equal(bag_info(again)->end_ns, 5);
    bag_assert_no_findings(again);
}

static void text_logs_become_indexed_bags(void **state) {
    (void)state;
    MAKER m = {0};
    make_text(&m, "#ROSLOG V1.1\n");
    make_log_record(&m, "imu\n*\nstd_msgs/Imu\n", 4, 490000000, "first");
    make_log_record(&m, "imu\n*\nstd_msgs/Imu\n", 5, 0, "second");
    RECORDING *r = bag_scan(&m);
    MAKER out = render(r, &selection_all, 10);
    RECORDING *again = bag_scan(&out);
    assert_string_equal(bag_payloads(again), "first|second|");
    assert_string_equal(bag_channel(again, 0)->schemas[0].hash, "00000000000000000000000000000000"); /* as librosbag
                                                                                                        wants it */
    assert_string_equal(bag_channel(again, 0)->type, "std_msgs/Imu");
    bag_assert_no_findings(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorders_file_comes_out_byte_for_byte),
        cmocka_unit_test(latched_topics_two_types_and_disorder),
        cmocka_unit_test(a_cut_has_its_own_definitions),
        cmocka_unit_test(many_groups_and_parts),
        cmocka_unit_test(what_cannot_be_stored_is_reported),
        cmocka_unit_test(further_header_fields_are_written_back),
        cmocka_unit_test(times_after_2106_are_refused),
        cmocka_unit_test(time_0_moves_to_1_ns),
        cmocka_unit_test(text_logs_become_indexed_bags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
