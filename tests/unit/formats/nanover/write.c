/* NanoVer recordings written: the official layout, byte by byte, cuts, what is carried over, and ranges. */
#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/container.h"

struct output {
    uint8_t *data;
    size_t size;
};
static void output_free(struct output *o) {
    free(o->data);
}
#define OUTPUT __attribute__((cleanup(output_free))) struct output

/* The whole output, and then again in odd pieces that must be the same. */
static struct output write_out(struct reel_recording *r, const struct reel_selection *selection) {
    struct reel_error err = {0};
    const struct reel_write_options options = {
        .compression = "", .is_cut = selection->start_ns != REEL_TIME_MIN, .start_ns = selection->start_ns};
    AUTO(reel_stream_free) struct reel_stream *stream = open_stream(r, selection);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_nanover, &options, stream, NULL, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render = reel_planned_output_new(plan, open_stream(r, selection), &err);
    assert_non_null(render);
    struct output out = {.size = (size_t)reel_plan_length(plan)};
    out.data = malloc(out.size + 1);
    AUTO_MEM uint8_t *piece = malloc(out.size + 1);
    assert_true(out.data && piece);
    assert_true(reel_planned_output_read(render, 0, out.data, out.size, &err));
    for (size_t at = out.size, n = 1; at > 0; n = n * 2 + 1) {
        n = n < at ? n : at;
        at -= n;
        assert_true(reel_planned_output_read(render, at, piece, n, &err));
        assert_memory_equal(piece, out.data + at, n);
    }
    return out;
}

/* What one member holds, by the archive's own numbers. */
static struct reel_bytes member_of(struct reel_bytes file, const char *name) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *source = reel_source_from_memory(file, "x", &err);
    AUTO_STRUCT(nanover_archive_close) struct nanover_archive a;
    assert_true(nanover_archive_open(&a, source, &err));
    assert_null(a.lost);
    for (size_t i = 0; i < a.zip.count; i++) {
        if (bytes_is(a.zip.members[i].name, name)) {
            const struct zip_member *m = &a.zip.members[i];
            assert_int_equal(m->codec, REEL_CODEC_NONE);
            assert_int_equal(m->crc, crc32(0, file.data + m->offset, (uInt)m->raw));
            return bytes_of(file.data + m->offset, m->raw);
        }
    }
    fail_msg("no member %s", name);
    return bytes_of(NULL, 0);
}

static void empty_recording_is_the_official_253_bytes(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT o = write_out(r, &selection_all);
    assert_int_equal(o.size, 253);
    static const uint8_t local[] = {'P', 'K', 3, 4,    45,   0,    0,    0,    0,    0,    0,    0,  0x21, 0,  0,
                                    0,   0,   0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 16, 0,    20, 0};
    assert_memory_equal(o.data, local, sizeof local);
    assert_memory_equal(o.data + 46, "\x01\x00\x10\x00", 4);
    assert_int_equal(load_u64le(o.data + 50), 0);
    assert_int_equal(o.data[66 + 43], 0x90);
    const uint8_t *central = o.data + 110, *second = central + 46 + 16;
    assert_memory_equal(central, "PK\x01\x02\x2d\x03\x2d\x00", 8);
    assert_int_equal(load_u32le(central + 38), 0x01800000);
    assert_int_equal(load_u16le(central + 30), 0); /* no extra field here */
    assert_memory_equal(second, "PK\x01\x02\x14\x03\x14\x00", 8);
    assert_int_equal(load_u32le(second + 42), 66);
}

static void written_again_it_is_the_same_recording(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    maker_add(&m, "{}", "{'types' [] 'timestamp' 6000}");
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT o = write_out(r, &selection_all);
    struct reel_bytes messages = member_of(bytes_of(o.data, o.size), "messages.msgpack"),
                      index = member_of(bytes_of(o.data, o.size), "index.msgpack");
    assert_ptr_equal(messages.data, o.data + 66);
    assert_true(bytes_equal(messages, maker_messages(&m)));
    assert_true(bytes_equal(index, bytes_of(m.index.data, m.index.size)));
    RECORDING *again = nanover_read(bytes_of(o.data, o.size));
    assert_no_findings(again);
}

static void rule_nanover_02_other_metadata_is_kept(void **state) {
    (void)state;
    for (int deflated = 0; deflated < 2; deflated++) {
        MAKER m = {.count = 0};
        maker_add(&m, "{'frame' {'frame.index' 0}}",
                  "{'types' ['frame'] 'frame.index' 0 'timestamp' 1 'recovered' 1 'note' {'by' ['a' 'b']}}");
        maker_add(&m, "{'frame' {'frame.index' 1}}", "{'types' ['frame'] 'frame.index' 1 'timestamp' 2}");
        struct reel_bytes index = maker_index(&m);
        maker_zip(
            &m,
            (struct member[]){{"messages.msgpack", maker_messages(&m), deflated}, {"index.msgpack", index, deflated}},
            2);
        RECORDING *r = nanover_read(maker_file(&m));
        OUTPUT o = write_out(r, &selection_all);
        assert_true(bytes_equal(member_of(bytes_of(o.data, o.size), "index.msgpack"), index));
    }
}

static void rule_nanover_01_other_members_are_written_again(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    size_t big = (4 << 20) + 17;
    AUTO_MEM uint8_t *blob = calloc(1, big);
    blob[big - 1] = 9;
    maker_default(&m);
    maker_zip(&m,
              (struct member[]){{"messages.msgpack", maker_messages(&m), false},
                                {"index.msgpack", maker_index(&m), false},
                                {"notes \xc3\xbc.txt", bytes_text("hello hello hello hello"), true},
                                {"blob", bytes_of(blob, big), false},
                                {"empty", bytes_text(""), false}},
              5);
    RECORDING *r = nanover_read(maker_file(&m));
    OUTPUT o = write_out(r, &selection_all);
    assert_true(bytes_is(member_of(bytes_of(o.data, o.size), "notes \xc3\xbc.txt"), "hello hello hello hello"));
    assert_true(bytes_equal(member_of(bytes_of(o.data, o.size), "blob"), bytes_of(blob, big)));
    assert_int_equal(member_of(bytes_of(o.data, o.size), "empty").size, 0);
}

static void cut_begins_with_its_state_at_time_zero(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_default(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection selection = selection_all;
    selection.start_ns = 3500000;
    selection.end_ns = 5000000;
    selection.state_at_cut = true;
    OUTPUT o = write_out(r, &selection);
    RECORDING *cut = nanover_read(bytes_of(o.data, o.size));
    assert_no_findings(cut);
    assert_int_equal(info_of(cut)->messages, 2);
    struct reel_bytes messages = member_of(bytes_of(o.data, o.size), "messages.msgpack");
    size_t last = 0;
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(cut, &selection_all);
    struct reel_message message;
    assert_picture(next_payload(s, &message), "{'frame' {'frame.index' 0 'particle.positions' " ASIDE
                                              " 'particle.count' 1 'system.simulation.name' 'one'}"
                                              " 'state' {'updates' {'user' 'x' 'scene' [1 2]} 'removals' []}}");
    assert_int_equal(message.time_ns, 0);
    last = message.size;
    assert_non_null(next_payload(s, &message).data);
    assert_int_equal(message.time_ns, 500000);
    assert_int_equal(messages.size, last + message.size);
}

static void many_messages_make_many_groups(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    for (int i = 0; i < 20000; i++) {
        char metadata[64];
        snprintf(metadata, sizeof metadata, "{'types' ['x'] 'timestamp' %d}", i);
        maker_add(&m, "{'x' 1}", metadata);
    }
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT o = write_out(r, &selection_all);
    assert_true(bytes_equal(member_of(bytes_of(o.data, o.size), "messages.msgpack"), maker_messages(&m)));
    assert_true(
        bytes_equal(member_of(bytes_of(o.data, o.size), "index.msgpack"), bytes_of(m.index.data, m.index.size)));
}

static void other_encodings_are_refused(void **state) {
    (void)state;
    const struct reel_channel ros = {.name = "/scan", .encoding = "ros1"},
                              nanover = {.name = "frame", .encoding = "nanover"};
    struct reel_loss *loss = reel_loss_new();
    assert_false(reel_writer_nanover.accepts(&ros, loss));
    size_t count;
    assert_int_equal(reel_loss_items(loss, &count)[0].kind, REEL_REFUSES);
    assert_true(reel_writer_nanover.accepts(&nanover, loss));
    reel_loss_free(loss);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_recording_is_the_official_253_bytes),
        cmocka_unit_test(written_again_it_is_the_same_recording),
        cmocka_unit_test(rule_nanover_01_other_members_are_written_again),
        cmocka_unit_test(rule_nanover_02_other_metadata_is_kept),
        cmocka_unit_test(cut_begins_with_its_state_at_time_zero),
        cmocka_unit_test(many_messages_make_many_groups),
        cmocka_unit_test(other_encodings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
