/* Writing CARLA logs: a whole recording byte for byte, cuts that replay, parts with frames that add up; any range of
 * each is the same alone. */
#include "makers/carla_scan.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/carla/layout.h"

static struct reel_write_options options_of(const struct reel_selection *q) {
    return (struct reel_write_options){
        .compression = "", .is_cut = q->start_ns != REEL_TIME_MIN, .start_ns = q->start_ns};
}

/* The whole output; then random ranges of it, each compared. */
static struct maker render(struct reel_recording *r, const struct reel_selection *q, unsigned ranges) {
    struct reel_error err = {0};
    const struct reel_write_options options = options_of(q);
    AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, q);
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(&reel_writer_carla, &options, s, NULL, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    struct maker out = {.size = reel_plan_length(plan)};
    out.data = malloc(out.size);
    AUTO(reel_planned_output_free)
    struct reel_planned_output *whole = reel_planned_output_new(plan, open_stream(r, q), &err);
    if (!whole || !reel_planned_output_read(whole, 0, out.data, out.size, &err)) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *parts = reel_planned_output_new(plan, open_stream(r, q), &err);
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

static struct reel_selection cut(const struct reel_recording *r, double start, double end) {
    int64_t t0 = info_of(r)->start_ns;
    return (struct reel_selection){.size = sizeof(struct reel_selection),
                                   .start_ns = t0 + (int64_t)(start * 1e9),
                                   .end_ns = end > 0 ? t0 + (int64_t)(end * 1e9) : REEL_TIME_MAX,
                                   .state_at_cut = true};
}

static void assert_same(const struct maker *a, const struct maker *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, b->size);
}

static struct make_list open_list(struct maker *m, uint8_t id) {
    struct make_list l = {.m = m, .packet = make_packet(m, id)};
    make_number(m, 0, 2);
    return l;
}

static void whole_recordings_come_out_byte_for_byte(void **state) {
    (void)state;
    for (unsigned i = 0; i < MAKE_STYLES; i++) {
        MAKER m = make_world(&make_styles[i], 6);
        RECORDING *r = carla_read(&m);
        MAKER out = render(r, &selection_all, 50);
        assert_same(&out, &m);
    }
}

/* Whatever breaks a rule but is kept comes back too: out of order, outside, doubled, misfitting. */
static void broken_recordings_come_out_byte_for_byte(void **state) {
    (void)state;
    MAKER m = {0};
    make_header(&m, 7, 0, "Cust\xffom/Map");
    make_raw(&m, 150, "before");
    make_start(&m, 9, 0.5, 77);
    make_none(&m, 16);
    make_none(&m, 2);
    make_start(&m, 3, 1, 2);
    make_end(&m);
    make_end(&m);
    make_raw(&m, 1, "an end with bytes");
    make_raw(&m, 0, "short start");
    make_raw(&m, 6, "\1");
    make_start(&m, 1, 0, 0);
    make_none(&m, 60);
    make_end(&m);
    RECORDING *r = carla_read(&m);
    MAKER out = render(r, &selection_all, 50);
    assert_same(&out, &m);
}

static void a_cut_begins_at_nothing_and_replays(void **state) {
    (void)state;
    struct make_style opaque = make_styles[7];
    opaque.wheel = 48;
    for (unsigned i = 0; i <= MAKE_STYLES; i++) {
        const struct make_style *s = i < MAKE_STYLES ? &make_styles[i] : &opaque;
        MAKER m = make_world(s, 12);
        RECORDING *r = carla_read(&m);
        struct reel_selection q = cut(r, 1.1, 0);
        MAKER out = render(r, &q, 50);
        RECORDING *c = carla_read(&out);
        assert_findings(c, 0);
        assert_int_equal(info_of(c)->start_ns, (MAKE_DATE + 1) * 1000000000);
        assert_int_equal(info_of(c)->end_ns - info_of(c)->start_ns, 250000000);
        assert_int_equal(count_of(c, "/frame"), 3);
        assert_string_equal(metadata_of(c, "map"), MAKE_MAP);
        assert_string_equal(metadata_of(c, "version"), metadata_of(r, "version"));
        assert_string_equal(metadata_of(c, "written by (detected from packets)"),
                            metadata_of(r, "written by (detected from packets)"));
        /* the state's packets stand where the version has them: the first frame of the cut has all that frame 1 of the
         * source has; opaque physics of UE5 are carried over packet by packet */
        char first[64];
        size_t at = strcspn(s->order, "P");
        snprintf(first, sizeof first, "0%.*s%s%s1", (int)at, s->order, s == &opaque ? "P" : "", s->order + at);
        assert_memory_equal(packets_of(c), first, strlen(first));
    }
}

static void frames_of_a_cut_are_those_of_the_source(void **state) {
    (void)state;
    const struct make_style *s = &make_styles[6];
    MAKER m = make_world(s, 6);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = cut(r, 0.25, 0.5); /* frames 3 and 4 */
    MAKER out = render(r, &q, 20);
    MAKER tail = {0}; /* the second frame: that of the source, with another start */
    make_start(&tail, 2, -1, 0.125);
    make_body(&tail, s, 4);
    make_end(&tail);
    assert_true(out.size > tail.size);
    assert_memory_equal(out.data + out.size - tail.size, tail.data, tail.size);
}

/* The records of one packet of the cut's first frame, by key. */
static void keyed_state_is_joined_and_the_frame_has_the_last_word(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[6], 6);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = cut(r, 0.25, 0); /* frame 3 changes scene light -1, physics and opens door 5 */
    MAKER out = render(r, &q, 20);
    RECORDING *c = carla_read(&out);
    struct reel_message message;
    struct reel_bytes lights = payload_of(c, "/scene_light", 0, &message);
    assert_int_equal(lights.size, 2 + 2 * 26);
    assert_int_equal(load_u32le(lights.data + 2), 6); /* from the state; then the frame's own */
    assert_int_equal((int32_t)load_u32le(lights.data + 28), -1);
    float intensity;
    memcpy(&intensity, lights.data + 32, 4);
    assert_true(intensity == 3);
    struct reel_bytes doors = payload_of(c, "/vehicle/door", 0, &message);
    assert_int_equal(doors.size, 2 + 2 * 6);
    assert_int_equal(doors.data[6], 0);
    assert_int_equal(doors.data[12], 5);
    struct reel_bytes physics = payload_of(c, "/physics_control", 0, &message);
    assert_int_equal(load_u16le(physics.data), 1);
    float mass;
    memcpy(&mass, physics.data + 2 + 4 + 20 + 1 + 8, 4);
    assert_true(mass == 3000);
    assert_int_equal(load_u16le(payload_of(c, "/bounding_box", 0, &message).data), 2);
    assert_int_equal(load_u16le(payload_of(c, "/weather", 0, &message).data), 1);
    assert_int_equal(load_u16le(payload_of(c, "/position", 0, &message).data), 3); /* the frame's own, not joined */
    assert_int_equal(count_of(c, "/position"), 4);
}

static void a_cut_cut_again_is_the_cut_of_both(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[5], 20);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = cut(r, 1.0, 0); /* whole seconds, so that no time is lost */
    MAKER once = render(r, &q, 5);
    RECORDING *c = carla_read(&once);
    struct reel_selection again = cut(c, 1.0, 0), both = cut(r, 2.0, 0);
    MAKER twice = render(c, &again, 5), direct = render(r, &both, 5);
    assert_same(&twice, &direct);
}

static void an_invalid_date_is_kept(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[1], 12);
    make_patch(&m, CARLA_DATE_AT, 12, 8);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = cut(r, 1.1, 0);
    MAKER out = render(r, &q, 5);
    assert_int_equal(load_u64le(out.data + CARLA_DATE_AT), 12);
}

static void a_part_ends_with_minus_1_and_keeps_its_numbers(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[4], 8);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = selection_all;
    q.end_ns = info_of(r)->start_ns + 250000001; /* frames 1 to 3 */
    MAKER out = render(r, &q, 20);
    MAKER expected = make_world(&make_styles[4], 3);
    assert_same(&out, &expected);
}

static void chosen_topics_keep_their_frames(void **state) {
    (void)state;
    static const char *const topics[] = {"/position", "/packet_*"};
    MAKER m = make_world(&make_styles[4], 4);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = selection_all;
    q.topics = topics;
    q.n_topics = 2;
    MAKER out = render(r, &q, 20);
    RECORDING *c = carla_read(&out);
    assert_string_equal(packets_of(c), "0G10G10G10G1");
    assert_int_equal(findings(c, REEL_WARNING, "traffic light"), 4);
    assert_findings(c, 4);
    q.start_ns = info_of(r)->start_ns + 1;
    q.state_at_cut = true;
    MAKER later = render(r, &q, 20);
    RECORDING *d = carla_read(&later);
    assert_string_equal(packets_of(d), "0G10G10G1"); /* no actors: they were not chosen */
}

/* Frames left out: the ones before them last until the ones after. */
static void sampled_frames_add_up(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[1], 9);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = selection_all;
    q.every_ns = 250000000;
    MAKER out = render(r, &q, 20);
    RECORDING *c = carla_read(&out);
    assert_findings(c, 0);
    assert_int_equal(count_of(c, "/frame"), 5);
    assert_int_equal(info_of(c)->end_ns - info_of(c)->start_ns, 1000000000);
    struct reel_message message;
    double duration;
    memcpy(&duration, payload_of(c, "/frame", 1, &message).data + 8, 8);
    assert_true(duration == 0.25);
    memcpy(&duration, payload_of(c, "/frame", 4, &message).data + 8, 8);
    assert_true(duration == -1);
}

/* What a cut of a broken file needs to be a valid one: numbers, ends, durations. */
static void a_cut_of_a_broken_file_is_sound(void **state) {
    (void)state;
    const struct make_style *s = &make_styles[3];
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    make_frame(&m, s, 1, false);
    make_start(&m, 2, 0.125, 0.125); /* no end */
    make_body(&m, s, 2);
    make_start(&m, 7, 0.125, 0.375); /* a gap of time and numbers; a packet after the end */
    make_body(&m, s, 3);
    make_end(&m);
    make_raw(&m, 120, "late");
    make_start(&m, 8, 0.125, -5); /* no time at all */
    make_body(&m, s, 4);
    make_end(&m);
    make_start(&m, 9, -1, 0.75);
    make_body(&m, s, 5); /* cut: no end */
    RECORDING *r = carla_read(&m);
    struct reel_selection q = cut(r, 0.1, 0);
    MAKER out = render(r, &q, 20);
    RECORDING *c = carla_read(&out);
    assert_findings(c, 0);
    assert_int_equal(count_of(c, "/frame"), 4);
    assert_int_equal(count_of(c, "/frame_end"), 4);
    assert_int_equal(count_of(c, "/packet_120"), 1);
}

/* Many groups, a frame larger than a group, and numbers that go on across them. */
static void many_groups(void **state) {
    (void)state;
    enum { FRAMES = 40000, LARGE = 12 << 20 };
    MAKER m = {0};
    make_header(&m, 1, MAKE_DATE, MAKE_MAP);
    for (unsigned f = 1; f <= FRAMES; f++) {
        make_start(&m, f, f == FRAMES ? -1 : 0.125, make_elapsed(f));
        struct make_list l = open_list(&m, 6);
        make_moved(&m, &make_styles[0], 24, (float)f);
        make_total(&l);
        make_close(&m, l.packet);
        make_none(&m, 7);
        if (f == 20000) {
            size_t p = make_packet(&m, 160);
            for (unsigned i = 0; i < LARGE / 8; i++) {
                make_number(&m, i * UINT64_C(0x9e3779b97f4a7c15), 8);
            }
            make_close(&m, p);
        }
        make_end(&m);
    }
    RECORDING *r = carla_read(&m);
    MAKER same = render(r, &selection_all, 20);
    assert_same(&same, &m);
    struct reel_selection q = cut(r, 125, 0);
    MAKER out = render(r, &q, 40);
    RECORDING *c = carla_read(&out);
    assert_findings(c, 0);
    assert_int_equal(count_of(c, "/frame"), FRAMES - 1000);
    struct reel_message message;
    struct reel_bytes last = payload_of(c, "/frame", FRAMES - 1001, &message);
    assert_int_equal(load_u64le(last.data), FRAMES - 1000);
}

static void nothing_selected_is_a_header(void **state) {
    (void)state;
    MAKER m = make_world(&make_styles[1], 3);
    RECORDING *r = carla_read(&m);
    struct reel_selection q = {.size = sizeof q, .start_ns = 0, .end_ns = 1, .state_at_cut = true};
    MAKER out = render(r, &q, 0);
    assert_int_equal(out.size, CARLA_HEADER_MIN + strlen(MAKE_MAP));
}

static void only_one_carla_recording_is_accepted(void **state) {
    (void)state;
    struct reel_error err = {0};
    const struct reel_channel other = {.name = "/scan", .type = "sensor_msgs/LaserScan", .encoding = "ros1"};
    AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
    size_t n;
    assert_false(reel_writer_carla.accepts(&other, loss));
    assert_int_equal(reel_loss_items(loss, &n)[0].kind, REEL_REFUSES);
    assert_non_null(strstr(reel_loss_items(loss, &n)[0].text, "can only hold CARLA packets, not ros1"));
    MAKER m = make_world(&make_styles[1], 3);
    RECORDING *r = carla_read(&m);
    struct reel_recording *both[] = {r, r};
    AUTO(reel_stream_free) struct reel_stream *s = reel_stream_open(both, 2, &selection_all, &err);
    assert_false(reel_writer_accepts(&reel_writer_carla, s, NULL, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "cannot be joined"));
    struct reel_selection q = cut(r, 0.2, 0);
    AUTO(reel_stream_free) struct reel_stream *one = open_stream(r, &q);
    AUTO(reel_loss_free) struct reel_loss *changes = reel_loss_new();
    assert_true(reel_writer_accepts(&reel_writer_carla, one, changes, &err));
    reel_loss_items(changes, &n);
    assert_int_equal(n, 2);
    assert_int_equal(reel_loss_items(changes, &n)[1].kind, REEL_CHANGES);
    assert_non_null(strstr(reel_loss_items(changes, &n)[1].text, "whole seconds"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_recordings_come_out_byte_for_byte),
        cmocka_unit_test(broken_recordings_come_out_byte_for_byte),
        cmocka_unit_test(a_cut_begins_at_nothing_and_replays),
        cmocka_unit_test(frames_of_a_cut_are_those_of_the_source),
        cmocka_unit_test(keyed_state_is_joined_and_the_frame_has_the_last_word),
        cmocka_unit_test(a_cut_cut_again_is_the_cut_of_both),
        cmocka_unit_test(an_invalid_date_is_kept),
        cmocka_unit_test(a_part_ends_with_minus_1_and_keeps_its_numbers),
        cmocka_unit_test(chosen_topics_keep_their_frames),
        cmocka_unit_test(sampled_frames_add_up),
        cmocka_unit_test(a_cut_of_a_broken_file_is_sound),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(nothing_selected_is_a_header),
        cmocka_unit_test(only_one_carla_recording_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
