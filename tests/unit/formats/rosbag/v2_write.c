/* Writing ROS bags 2.0: planned to the byte with every compression, laid out as ROS' recorders do, read back without a
 * finding, and any range of it the same alone; foreign messages in their wrapper. */
#define TOY_MORE_FORMATS &reel_format_rosbag_v2, &reel_format_rosbag_v1,
#define BAG_FORMAT &reel_format_rosbag_v2
#include "makers/tables.h"
#include "makers/toy_format.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/md5.h"
#include "makers/bag_scan.h"
#include "makers/rosbag2_0_maker.h"

#define BAG __attribute__((cleanup(make2_free))) struct make2
static void free_maker(struct maker *m) {
    free(m->data);
}
#define MAKER __attribute__((cleanup(free_maker))) struct maker
#define TOY __attribute__((cleanup(toy_free))) struct toy
#define RECORDING AUTO(reel_recording_free) struct reel_recording

static const char *const compressions[] = {"", "bz2", "lz4"};
enum { COMPRESSIONS = 3 };

/* The whole output; then random ranges of it, each compared. */
static struct maker render_as(struct reel_recording *r, const struct reel_writer *writer, const char *compression,
                              const struct reel_selection *selection, unsigned ranges) {
    struct reel_error err = {0};
    const struct reel_write_options options = {.compression = compression};
    AUTO(reel_stream_free) struct reel_stream *stream = toy_stream(r, selection);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(writer, &options, stream, NULL, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct maker out = {0};
    out.size = out.room = reel_plan_length(plan);
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, toy_stream(r, selection), &err);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *parts = reel_planned_output_new(plan, toy_stream(r, selection), &err);
    assert_true(whole && parts);
    if (!reel_planned_output_read(whole, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
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
static struct maker render(struct reel_recording *r, const char *compression, const struct reel_selection *selection,
                           unsigned ranges) {
    return render_as(r, &reel_writer_rosbag_v2, compression, selection, ranges);
}

static void a_recorders_file_comes_out_byte_for_byte(void **state) {
    (void)state;
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        BAG b;
        make2_begin(&b, i ? compressions[i] : "none");
        make2_connection(&b, 0, "/a", "/node", "1");
        make2_message(&b, 0, 1500000000, "one");
        make2_connection(&b, 1, "/a", "/other", NULL);
        make2_message(&b, 1, 1500000001, "two");
        make2_message_of(&b, 0, 1500000001, 500, "", 0);
        make2_close(&b);
        make2_end(&b);
        RECORDING *r = bag_scan(&b.out);
        MAKER out = render(r, compressions[i], &selection_all, 100);
        assert_int_equal(out.size, b.out.size);
        assert_memory_equal(out.data, b.out.data, b.out.size);
    }
}

static void many_chunks_and_a_huge_message(void **state) {
    (void)state;
    enum { MESSAGES = 60000, HUGE_SIZE = 9 << 20 };
    TOY toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    static const char *const topics[] = {"/often", "/rare", "/huge"};
    for (unsigned i = 0; i < 3; i++) {
        struct reel_schema schema = {
            .name = MAKE_TYPE, .encoding = "ros1msg", .hash = MAKE_MD5, .data = bytes_text(MAKE_DEF)};
        toy_channel(&toy,
                    &(struct reel_channel){
                        .name = topics[i], .type = MAKE_TYPE, .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
    }
    AUTO_MEM char *huge = calloc(1, HUGE_SIZE);
    for (size_t i = 0, random = 1; i < HUGE_SIZE; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        huge[i] = (char)(random >> 60);
    }
    for (int i = 0; i < MESSAGES; i++) {
        toy_message(&toy, 0, (1500000000 + i) * 1000000000ll, 0, huge + i, i % 3 ? 100 : 0);
        if (i % 25000 == 20000) {
            toy_message(&toy, 1, (1500000000 + i) * 1000000000ll + 1, 0, "rare", 4);
        }
        if (i == 30000) {
            toy_message(&toy, 2, (1500000000 + i) * 1000000000ll + 2, 0, huge, HUGE_SIZE);
        }
    }
    RECORDING *r = toy_open(&toy);
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        MAKER out = render(r, compressions[i], &selection_all, i == 1 ? 2 : 20);
        assert_true(i == 0 || out.size < toy.size * 3 / 4);
        RECORDING *again = bag_scan(&out);
        assert_int_equal(bag_info(again)->messages, bag_info(r)->messages);
        assert_int_equal(bag_info(again)->payload_bytes, bag_info(r)->payload_bytes);
        bag_assert_no_findings(again);
        bag_payloads(again);
    }
}

static void a_cut_has_its_own_connections(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "lz4");
    RECORDING *r = bag_scan(&b.out);
    for (unsigned i = 0; i < COMPRESSIONS; i++) {
        struct reel_selection selection = {
            .size = sizeof selection, .start_ns = 1500000003000000000, .end_ns = 1500000004000000000};
        MAKER out = render(r, compressions[i], &selection, 50);
        RECORDING *cut = bag_scan(&out);
        assert_string_equal(bag_payloads(cut), "m3|");
        assert_int_equal(bag_info(cut)->n_channels, 1);
        assert_true(bytes_is(bag_definition(cut, 0), MAKE_DEF));
        bag_assert_no_findings(cut);
        selection.start_ns = selection.end_ns;
        MAKER nothing = render(r, compressions[i], &selection, 10);
        assert_int_equal(nothing.size, 4117); /* index_pos and the end of the file */
        RECORDING *empty = bag_scan(&nothing);
        assert_int_equal(bag_info(empty)->messages, 0);
        bag_assert_no_findings(empty);
    }
}

/* What stands before the selection comes first, though its time is earlier or later: index data stay sorted. */
static void messages_put_in_front(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    RECORDING *r = bag_scan(&b.out);
    struct reel_selection selection = {
        .size = sizeof selection, .start_ns = 1500000006000000000, .end_ns = REEL_TIME_MAX, .last_per_topic = true};
    MAKER out = render(r, "bz2", &selection, 50);
    RECORDING *cut = bag_scan(&out);
    assert_string_equal(bag_payloads(cut), "m4|m5|m6|m7|m8|m9|");
    bag_assert_no_findings(cut);
}

/* ---- foreign messages ---- */

static void foreign_channels(struct toy *toy) {
    struct reel_schema schemas[] = {
        {.name = "my.Envelope", .encoding = "protobuf", .hash = "", .data = bytes_of("\0\1=\xff", 4)},
        {.name = "my.Pose", .encoding = "protobuf", .hash = "abc", .data = bytes_of("", 0)}};
    struct reel_pair pairs[] = {{"frame", "map"}, {"callerid", "/n"}, {"frame", "odom=1\n"}, {"", "empty"}};
    toy_start(toy, REEL_CLOCK_WALL);
    toy_channel(toy, &(struct reel_channel){.name = "/pose",
                                            .type = "my.Pose",
                                            .encoding = "protobuf",
                                            .schemas = schemas,
                                            .n_schemas = 2,
                                            .metadata = {.items = pairs, .count = 4},
                                            .latched = true});
    toy_channel(toy, &(struct reel_channel){.name = "/pose", .type = "", .encoding = "json"});
    toy_channel(toy, &(struct reel_channel){.name = "plain", .type = "x/Y", .encoding = ""});
    struct reel_schema ros = {.name = MAKE_TYPE, .encoding = "ros1msg", .hash = MAKE_MD5, .data = bytes_text(MAKE_DEF)};
    toy_channel(toy, &(struct reel_channel){
                         .name = "/pose", .type = MAKE_TYPE, .encoding = "ros1", .schemas = &ros, .n_schemas = 1});
    for (uint32_t i = 0; i < 12; i++) {
        char text[] = {(char)('a' + i), (char)('0' + i % 4), 0};
        toy_message(toy, i % 4, (1500000000 + i) * 1000000000ll, 0, text, i < 8 ? 2 : 0);
    }
}

static void assert_same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->type, b->type);
    assert_string_equal(a->encoding, b->encoding);
    assert_int_equal(a->latched, b->latched);
    assert_int_equal(a->n_topics, b->n_topics);
    assert_int_equal(a->n_schemas, b->n_schemas);
    for (uint32_t i = 0; i < a->n_schemas; i++) {
        assert_string_equal(a->schemas[i].name, b->schemas[i].name);
        assert_string_equal(a->schemas[i].encoding, b->schemas[i].encoding);
        assert_string_equal(a->schemas[i].hash, b->schemas[i].hash);
        assert_true(bytes_equal(a->schemas[i].data, b->schemas[i].data));
    }
    assert_int_equal(a->metadata.count, b->metadata.count);
    for (size_t i = 0; i < a->metadata.count; i++) {
        assert_string_equal(a->metadata.items[i].key, b->metadata.items[i].key);
        assert_string_equal(a->metadata.items[i].value, b->metadata.items[i].value);
    }
}

static struct reel_recording *scan_as(const struct maker *m, const struct reel_format *format) {
    struct reel_error err = {0};
    struct reel_source *source = reel_source_from_memory(bytes_of(m->data, m->size), "made.bag", &err);
    if (!reel_scan_run(&source, 1, format, BAG_PACK, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    struct reel_index *index = reel_index_open(BAG_PACK, &err);
    struct reel_recording *recording = reel_recording_from_index(index, &source, 1, NULL, &err);
    assert_non_null(recording);
    return recording;
}

static void foreign_messages_come_back_equal(void **state) {
    (void)state;
    static const struct {
        const struct reel_writer *writer;
        const struct reel_format *format;
        const char *compression;
    } ways[] = {{&reel_writer_rosbag_v2, &reel_format_rosbag_v2, ""},
                {&reel_writer_rosbag_v2, &reel_format_rosbag_v2, "bz2"},
                {&reel_writer_rosbag_v2_named, &reel_format_rosbag_v2, "lz4"},
                {&reel_writer_rosbag_v1, &reel_format_rosbag_v1, ""}};
    TOY toy = {0};
    foreign_channels(&toy);
    RECORDING *r = toy_open(&toy);
    char *before = strdup(bag_payloads(r));
    assert_string_equal(before, "a0|b1|c2|d3|e0|f1|g2|h3|||||");
    for (unsigned i = 0; i < 4; i++) {
        MAKER out = render_as(r, ways[i].writer, ways[i].compression, &selection_all, 30);
        assert_non_null(memmem(out.data, i == 1 ? 0 : out.size, "std_msgs/UInt8MultiArray", i == 1 ? 0 : 24));
        RECORDING *again = scan_as(&out, ways[i].format);
        assert_string_equal(bag_payloads(again), before);
        assert_int_equal(bag_info(again)->n_channels, 4);
        assert_int_equal(bag_info(again)->payload_bytes, bag_info(r)->payload_bytes);
        for (uint32_t c = 0; c < 4; c++) {
            assert_same_channel(bag_channel(again, c), bag_channel(r, c));
            assert_int_equal(bag_stats(again, c)->count, 3);
        }
        size_t findings;
        reel_index_findings(reel_recording_index(again), &findings);
        assert_int_equal(findings, i == 3); /* 1.2 remarks on the ROS channel among the wrapped ones of its topic */
        MAKER twice = render_as(again, ways[i].writer, ways[i].compression, &selection_all, 0);
        assert_int_equal(twice.size, out.size);
        assert_memory_equal(twice.data, out.data, out.size);
    }
    free(before);
}

static void changes_and_losses_are_reported(void **state) {
    (void)state;
    struct reel_channel c = {.name = "/t", .type = "T", .encoding = "cdr"};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t count;
    assert_true(reel_writer_rosbag_v2.accepts(&c, loss));
    const struct reel_loss_item *items = reel_loss_items(loss, &count);
    assert_int_equal(count, 1);
    assert_int_equal(items[0].kind, REEL_CHANGES);
    assert_non_null(strstr(items[0].text, "cdr"));
    c.encoding = "ros1";
    c.metadata = (struct reel_pairs){
        .items = (struct reel_pair[]){{"callerid", "/n"}, {"offered_qos", "1"}, {"a=b", "2"}}, .count = 3};
    assert_true(reel_writer_rosbag_v2.accepts(&c, loss));
    items = reel_loss_items(loss, &count);
    assert_int_equal(count, 4);
    assert_int_equal(items[3].kind, REEL_LOSES);
    assert_non_null(strstr(items[3].text, "a=b"));
    assert_true(reel_writer_rosbag_v2.accepts(&c, NULL));
    AUTO_MEM uint8_t *text = calloc(33, 1 << 20);
    struct reel_schema large = {
        .name = "T", .encoding = "ros1msg", .hash = "", .data = {.data = text, .size = 33 << 20}};
    c.schemas = &large;
    c.n_schemas = 1;
    assert_false(reel_writer_rosbag_v2.accepts(&c, loss));
}

#define RULE "================================================================================\n"
static void old_names_become_those_that_readers_know(void **state) {
    (void)state;
    static const char old_text[] =
        "Header header\nbyte level\n" RULE "MSG: roslib/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
    static const char later[] =
        "Header header\nbyte level\n" RULE "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
    static const char *const hashes[] = {"*", "00000000000000000000000000000000", "acffd30cd6b6de30f120938c17c593fb"};
    char computed[MD5_HEX];
    struct reel_error err = {0};
    assert_true(ros_md5("roslib/Log", bytes_text(old_text), computed, &err));
    for (unsigned i = 0; i < 3; i++) {
        struct reel_schema schema = {
            .name = "roslib/Log", .encoding = "ros1msg", .hash = hashes[i], .data = bytes_text(old_text)};
        TOY toy = {0};
        toy_start(&toy, REEL_CLOCK_WALL);
        toy_channel(
            &toy, &(struct reel_channel){
                      .name = "/rosout", .type = "roslib/Log", .encoding = "ros1", .schemas = &schema, .n_schemas = 1});
        toy_message(&toy, 0, 1500000000000000000, 0, "x", 1);
        RECORDING *r = toy_open(&toy);
        MAKER out = render_as(r, &reel_writer_rosbag_v2, "", &selection_all, 0);
        RECORDING *again = scan_as(&out, &reel_format_rosbag_v2);
        const struct reel_channel *c = bag_channel(again, 0);
        assert_string_equal(c->type, "rosgraph_msgs/Log");
        assert_true(bytes_is(c->schemas[0].data, later));
        assert_string_equal(c->schemas[0].hash, i < 2 ? computed : hashes[i]);
        MAKER first = render_as(r, &reel_writer_rosbag_v1, "", &selection_all, 0);
        RECORDING *as_old = scan_as(&first, &reel_format_rosbag_v1);
        assert_string_equal(bag_channel(as_old, 0)->type, "roslib/Log");
        assert_true(bytes_is(bag_channel(as_old, 0)->schemas[0].data, old_text));
    }
}

static void further_fields_of_a_connection_come_back(void **state) {
    (void)state;
    BAG b;
    make2_begin(&b, "none");
    struct maker inner = {0};
    make_field_text(&inner, "callerid", "/n");
    make_field_text(&inner, "latching", "0");
    make_field_text(&inner, "tcp_nodelay", "1");
    make_field_text(&inner, "md5sum", "*");
    make_field_text(&inner, "message_definition", "");
    make_field_text(&inner, "topic", "/inner");
    make_field_text(&inner, "type", MAKE_TYPE);
    make2_connection_of(&b, 0, "/outer", &inner);
    free(inner.data);
    make2_message(&b, 0, 1500000000, "one");
    make2_close(&b);
    make2_end(&b);
    RECORDING *r = bag_scan(&b.out);
    MAKER out = render(r, "", &selection_all, 10);
    RECORDING *again = bag_scan(&out);
    assert_same_channel(bag_channel(r, 0), &(struct reel_channel){.name = "/outer",
                                                                  .type = MAKE_TYPE,
                                                                  .encoding = "ros1",
                                                                  .n_topics = 1,
                                                                  .schemas = bag_channel(r, 0)->schemas,
                                                                  .n_schemas = 1,
                                                                  .metadata = bag_channel(again, 0)->metadata});
    assert_int_equal(bag_channel(again, 0)->metadata.count, 4);
}

static void compressions_of_others_and_times_after_2106_are_refused(void **state) {
    (void)state;
    BAG b;
    make2_ten(&b, "none");
    RECORDING *r = bag_scan(&b.out);
    struct reel_error err = {0};
    AUTO(reel_stream_free) struct reel_stream *stream = toy_stream(r, NULL);
    struct reel_write_options options = {.compression = "zstd"};
    assert_null(reel_plan_new(&reel_writer_rosbag_v2, &options, stream, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "bz2 or lz4"));
    TOY toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    toy_channel(&toy, &(struct reel_channel){.name = "/late", .type = "T", .encoding = "ros1"});
    toy_message(&toy, 0, 4294967296000000000, 0, "x", 1);
    RECORDING *late = toy_open(&toy);
    AUTO(reel_stream_free) struct reel_stream *of_late = toy_stream(late, NULL);
    options.compression = "lz4";
    assert_null(reel_plan_new(&reel_writer_rosbag_v2, &options, of_late, NULL, &err));
    assert_non_null(strstr(err.text, "/late"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorders_file_comes_out_byte_for_byte),
        cmocka_unit_test(many_chunks_and_a_huge_message),
        cmocka_unit_test(a_cut_has_its_own_connections),
        cmocka_unit_test(messages_put_in_front),
        cmocka_unit_test(foreign_messages_come_back_equal),
        cmocka_unit_test(changes_and_losses_are_reported),
        cmocka_unit_test(old_names_become_those_that_readers_know),
        cmocka_unit_test(further_fields_of_a_connection_come_back),
        cmocka_unit_test(compressions_of_others_and_times_after_2106_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
