/* The numbered rules of NanoVer, where they span reading, selecting and writing; those of one module stand in its own
 * test. */
#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"

#define BOTH "{'frame' {'frame.index' 1 'particle.positions' " ASIDE "} 'state' {'updates' {'user' 'y'} 'removals' []}}"

static unsigned count_selected(struct reel_recording *r, const char *topic) {
    struct reel_selection selection = selection_all;
    selection.topics = &topic;
    selection.n_topics = 1;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    struct reel_message message;
    unsigned n = 0;
    while (next_payload(s, &message).data) {
        n++;
    }
    return n;
}

static void make_both(struct maker *m) {
    maker_add(m, "{'frame' {'frame.index' 0 'particle.count' 1 'particle.positions' " ORIGIN "}}",
              "{'types' ['frame'] 'frame.index' 0 'timestamp' 1}");
    maker_add(m, BOTH, "{'types' ['frame' 'state'] 'frame.index' 1 'timestamp' 2}");
    maker_add(m, "{'state' {'updates' {} 'removals' ['user']}}", "{'types' ['state'] 'timestamp' 3}");
}

static void rule_nanover_03_two_types_are_found_twice_and_counted_once(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_both(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    assert_int_equal(info_of(r)->messages, 3);
    assert_int_equal(count_selected(r, "frame"), 2);
    assert_int_equal(count_selected(r, "state"), 2);
    assert_int_equal(count_selected(r, "*"), 3);
    const char *const topics[] = {"frame", "state"};
    struct reel_selection selection = selection_all;
    selection.topics = topics;
    selection.n_topics = 2;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection);
    struct reel_message message;
    assert_non_null(next_payload(s, &message).data);
    assert_picture(next_payload(s, &message), BOTH);
    assert_non_null(next_payload(s, &message).data);
    assert_null(next_payload(s, &message).data);
}

/* The recording again, from what the writer makes of a selection by one of the two types. */
static void rule_nanover_03_two_types_are_written_as_one_message(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_both(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    const char *const topic = "state";
    struct reel_selection selection = selection_all;
    selection.topics = &topic;
    selection.n_topics = 1;
    struct reel_error err = {0};
    const struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *stream = open_stream(r, &selection);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_nanover, &options, stream, NULL, &err);
    assert_non_null(plan);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render = reel_planned_output_new(plan, open_stream(r, &selection), &err);
    assert_non_null(render);
    size_t size = (size_t)reel_plan_length(plan);
    AUTO_MEM uint8_t *file = malloc(size);
    assert_true(file && reel_planned_output_read(render, 0, file, size, &err));
    RECORDING *again = nanover_read(bytes_of(file, size));
    assert_int_equal(info_of(again)->messages, 2);
    assert_int_equal(count_selected(again, "frame"), 1);
    assert_int_equal(count_selected(again, "state"), 2);
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(again, &selection_all);
    struct reel_message message;
    assert_picture(next_payload(s, &message), BOTH);
    assert_picture(next_payload(s, &message), "{'state' {'updates' {} 'removals' ['user']}}");
}

/* Whatever form its numbers and lengths have, whatever comes before and after it: the payload is the bytes that the
 * entry names. */
static void rule_nanover_04_payload_is_exactly_those_bytes(void **state) {
    (void)state;
    static const uint8_t object[] = {0xdf, 0,    0, 0, 1, 0xdb, 0, 0, 0, 1, 'x',  0xdd, 0,    0, 0,
                                     2,    0xd3, 0, 0, 0, 0,    0, 0, 0, 7, 0xca, 0x7f, 0xc0, 0, 0};
    for (int deflated = 0; deflated < 2; deflated++) {
        MAKER m = {.count = 0};
        put_raw(&m.messages, "\x80\xc1junk", 6);
        put_raw(&m.messages, object, sizeof object);
        put_raw(&m.messages, "\x80\x80", 2);
        maker_entry(&m, 6, sizeof object, "{'types' ['x'] 'timestamp' 1}");
        maker_entry(&m, 6 + sizeof object, 1, "{'types' [] 'timestamp' 2}");
        maker_zip(&m,
                  (struct member[]){{"messages.msgpack", maker_messages(&m), deflated},
                                    {"index.msgpack", maker_index(&m), false}},
                  2);
        RECORDING *r = nanover_read(maker_file(&m));
        AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
        struct reel_message message;
        assert_true(bytes_equal(next_payload(s, &message), bytes_of(object, sizeof object)));
        assert_int_equal(message.size, sizeof object);
        assert_true(bytes_is(next_payload(s, &message), "\x80"));
        assert_null(next_payload(s, &message).data);
        assert_false(info_of(r)->damaged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_nanover_03_two_types_are_found_twice_and_counted_once),
        cmocka_unit_test(rule_nanover_03_two_types_are_written_as_one_message),
        cmocka_unit_test(rule_nanover_04_payload_is_exactly_those_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
