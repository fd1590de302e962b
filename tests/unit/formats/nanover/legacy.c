/* NanoVer's older form: which file is which, the pair, damage, and what each message becomes. */
#include "base/c_locale.h"
#include "makers/legacy_maker.h"

#include <math.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/legacy.h"

/* --- conversion --- */

static void assert_converts(enum legacy_kind kind, const struct proto *message, const char *wanted) {
    struct reel_error err = {0};
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter c = {.n_pairs = 0};
    struct reel_bytes out;
    if (!legacy_convert(&c, kind, proto_bytes(message), &out, &err)) {
        fail_msg("%s", err.text);
    }
    assert_picture(out, wanted);
    struct nanover_message m;
    const char *why;
    struct cursor at = cursor_of(out);
    assert_int_equal(nanover_message_read(&at, &m, NULL, &why), MSGPACK_OK);
    assert_true(cursor_done(&at));
}

static void assert_converts_bare(struct reel_bytes message, const char *key) {
    struct reel_error err = {0};
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter c = {.n_pairs = 0};
    struct reel_bytes out;
    assert_true(legacy_convert(&c, LEGACY_BARE, message, &out, &err));
    assert_non_null(memmem(out.data, out.size, key, strlen(key)));
    assert_null(memmem(out.data, out.size, "frame.index", 11));
}

static void assert_refuses(enum legacy_kind kind, struct reel_bytes message, const char *why) {
    struct reel_error err = {0};
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter c = {.n_pairs = 0};
    struct reel_bytes out;
    assert_false(legacy_convert(&c, kind, message, &out, &err));
    assert_int_equal(err.code, REEL_DAMAGED);
    if (!strstr(err.text, why)) {
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
    }
}

static void frames_become_frames(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO frame = {0};
    proto_entry_number(&data, "particle.count", 2);
    proto_entry_number(&data, "system.simulation.counter", 3);
    proto_entry_floats(&data, "particle.positions", (const float[]){1, 0}, 2);
    proto_entry_indices(&data, "particle.elements", (const uint32_t[]){6, 1}, 2);
    proto_entry_indices(&data, "bond.pairs", (const uint32_t[]){0, 300}, 2);
    proto_entry_floats(&data, "bond.orders", (const float[]){1, 2.5F}, 2);
    proto_entry_floats(&data, "custom", (const float[]){0.5F}, 1);
    proto_entry_indices(&data, "custom.indices", (const uint32_t[]){7, 70000}, 2);
    proto_number(&frame, 1, 4);
    proto_data(&frame, 2, proto_bytes(&data));
    assert_converts(LEGACY_FRAME, &frame,
                    "{'frame' {'frame.index' 4 'particle.count' 2 'system.simulation.counter' 3.0 'particle.positions' "
                    "<0000803f00000000> "
                    "'particle.elements' <0601> 'bond.pairs' <000000002c010000> 'bond.orders' <0102> 'custom' [0.5] "
                    "'custom.indices' [7 70000]}}");
}

static void an_absent_index_is_a_reset(void **state) {
    (void)state;
    PROTO empty = {0};
    assert_converts(LEGACY_FRAME, &empty, "{'frame' {'frame.index' 0}}");
    assert_converts(LEGACY_STATE, &empty, "{'state' {'updates' {} 'removals' []}}");
    PROTO data = {0};
    PROTO frame = {0};
    proto_entry_number(&data, "frame.index", 9); /* the message's own counts */
    proto_number(&frame, 1, 5);
    proto_data(&frame, 2, proto_bytes(&data));
    assert_converts(LEGACY_FRAME, &frame, "{'frame' {'frame.index' 5}}");
}

static void arrays_in_all_forms(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO frame = {0};
    PROTO list = {0};
    PROTO array = {0};
    PROTO names = {0};
    PROTO named = {0};
    PROTO none = {0};
    proto_float(&list, 1, 1); /* one by one, then a run */
    proto_data(&list, 1, bytes_of("\0\0\x80\x3f", 4));
    proto_data(&array, 1, proto_bytes(&list));
    proto_entry(&data, 2, "particle.velocities", &array);
    proto_text(&names, 1, "CA");
    proto_text(&names, 1, "");
    proto_data(&named, 3, proto_bytes(&names));
    proto_entry(&data, 2, "particle.names", &named);
    proto_entry(&data, 2, "none.of.them", &none);
    proto_entry_indices(&data, "particle.colors", (const uint32_t[]){255, 256}, 2); /* 256 has no place in a byte */
    proto_entry_floats(&data, "particle.residues", (const float[]){-1}, 1);
    proto_entry_indices(&data, "system.box.vectors", (const uint32_t[]){2}, 1);
    proto_entry_indices(&data, "forces.user.index", NULL, 0);
    proto_data(&frame, 2, proto_bytes(&data));
    assert_converts(LEGACY_FRAME, &frame,
                    "{'frame' {'frame.index' 0 'particle.velocities' <0000803f0000803f> 'particle.names' ['CA' ''] "
                    "'none.of.them' [] 'particle.colors' "
                    "[255 256] 'particle.residues' [-1.0] 'system.box.vectors' <00000040> 'forces.user.index' <>}}");
}

static void states_become_updates_and_removals(void **state) {
    (void)state;
    PROTO text = {0};
    PROTO yes = {0};
    PROTO null = {0};
    PROTO unset = {0};
    PROTO list = {0};
    PROTO list_value = {0};
    PROTO inner = {0};
    PROTO inner_value = {0};
    PROTO changed = {0};
    PROTO message = {0};
    proto_text(&text, 3, "hello");
    proto_number(&yes, 4, 1);
    proto_number(&null, 1, 0);
    proto_data(&list, 1, proto_bytes(&text));
    proto_data(&list, 1, proto_bytes(&null));
    proto_data(&list_value, 6, proto_bytes(&list));
    proto_entry(&inner, 1, "yes", &yes);
    proto_entry(&inner, 1, "gone", &null); /* inside of a value a null is a value */
    proto_data(&inner_value, 5, proto_bytes(&inner));
    proto_entry(&changed, 1, "away", &null);
    proto_entry(&changed, 1, "list", &list_value);
    proto_entry(&changed, 1, "map", &inner_value);
    proto_entry(&changed, 1, "unset", &unset);
    proto_entry_number(&changed, "seven", 7);
    proto_data(&message, 1, proto_bytes(&changed));
    struct reel_error err = {0};
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter c = {.n_pairs = 0};
    struct reel_bytes out;
    assert_true(legacy_convert(&c, LEGACY_STATE, proto_bytes(&message), &out, &err));
    msgpack_unpacked parsed;
    msgpack_unpacked_init(&parsed); /* a picture has no bool */
    assert_int_equal(msgpack_unpack_next(&parsed, (const char *)out.data, out.size, NULL), MSGPACK_UNPACK_SUCCESS);
    char shown[512];
    C_LOCALE;
    assert_true(msgpack_object_print_buffer(shown, sizeof shown, parsed.data) > 0);
    assert_string_equal(shown, "{\"state\"=>{\"updates\"=>{\"list\"=>[\"hello\", nil], \"map\"=>{\"yes\"=>true, "
                               "\"gone\"=>nil}, \"seven\"=>7.000000}, "
                               "\"removals\"=>[\"away\", \"unset\"]}}");
    msgpack_unpacked_destroy(&parsed);
}

static void of_equal_keys_the_last_counts(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO more = {0};
    PROTO frame = {0};
    proto_entry_number(&data, "a", 1);
    proto_entry_number(&data, "b", 2);
    proto_entry_number(&data, "a", 3);
    proto_entry_number(&more, "c", 4);
    proto_data(&frame, 2, proto_bytes(&data)); /* a frame in two pieces is one */
    proto_data(&frame, 2, proto_bytes(&more));
    proto_number(&frame, 1, 8);
    proto_number(&frame, 99, 1);
    assert_converts(LEGACY_FRAME, &frame, "{'frame' {'frame.index' 8 'b' 2.0 'a' 3.0 'c' 4.0}}");
}

static void damage_is_refused(void **state) {
    (void)state;
    assert_refuses(LEGACY_FRAME,
                   bytes_of("\x12\x05"
                            "ab",
                            4),
                   "does not fit");
    assert_refuses(LEGACY_FRAME, bytes_of("\x0b", 1), "does not fit"); /* a group */
    assert_refuses(LEGACY_FRAME, bytes_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12), "does not fit");
    assert_refuses(LEGACY_STATE, bytes_of("\x0a\x02\x0a\x09", 4), "does not fit");
    assert_refuses(LEGACY_STATE, bytes_of("\x00\x01", 2), "does not fit");
    struct proto deep[140] = {{{0}}};
    proto_number(&deep[0], 1, 0);
    for (int i = 1; i < 140; i++) {
        PROTO list = {0};
        proto_data(&list, 1, proto_bytes(&deep[i - 1]));
        proto_data(&deep[i], 6, proto_bytes(&list));
    }
    for (int levels = 120; levels < 140; levels++) { /* what is taken must also be readable */
        PROTO changed = {0};
        PROTO message = {0};
        struct reel_error err = {0};
        AUTO_STRUCT(legacy_converter_done) struct legacy_converter c = {.n_pairs = 0};
        struct reel_bytes out;
        proto_entry(&changed, 1, "deep", &deep[levels]);
        proto_data(&message, 1, proto_bytes(&changed));
        if (!legacy_convert(&c, LEGACY_STATE, proto_bytes(&message), &out, &err)) {
            assert_true(levels > 120);
            assert_non_null(strstr(err.text, "nested"));
            continue;
        }
        struct nanover_message m;
        const char *why;
        struct cursor at = cursor_of(out);
        assert_true(levels < 139 && nanover_message_read(&at, &m, NULL, &why) == MSGPACK_OK);
    }
    for (int i = 0; i < 140; i++) {
        proto_free(&deep[i]);
    }
}

/* --- scanning --- */

static void a_file_is_what_its_messages_say(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    LEGACY empty = {0};
    legacy_record(&traj, 1, bytes_of("", 0)); /* says nothing */
    legacy_frame(&traj, 2, 0, "energy", 1);
    legacy_state(&states, 3, "a", 1);
    legacy_start(&empty, 2);
    const struct {
        struct named_bytes file;
        const char *topic;
        unsigned messages;
        bool noted;
    } cases[] = {
        {{"x.traj", legacy_bytes(&traj)}, "frame", 2, false},  {{"x.state", legacy_bytes(&states)}, "state", 1, false},
        {{"upload", legacy_bytes(&traj)}, "frame", 2, false},  {{"upload", legacy_bytes(&states)}, "state", 1, false},
        {{"x.state", legacy_bytes(&traj)}, "frame", 2, true},  {{"x.traj", legacy_bytes(&states)}, "state", 1, true},
        {{"x.traj", legacy_bytes(&empty)}, "frame", 0, false}, {{"x.state", legacy_bytes(&empty)}, "state", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RECORDING *r = legacy_read(&cases[i].file, 1);
        const struct reel_channel *c = reel_index_channel(reel_recording_index(r), 0);
        assert_int_equal(info_of(r)->n_channels, 1);
        assert_string_equal(c->name, cases[i].topic);
        assert_string_equal(c->encoding, "nanover-protobuf");
        assert_int_equal(info_of(r)->messages, cases[i].messages);
        assert_int_equal(info_of(r)->clock, REEL_CLOCK_RELATIVE);
        if (cases[i].noted) {
            assert_finding(r, REEL_NOTE, "whatever its name says");
        } else {
            assert_no_findings(r);
        }
    }
}

static void rule_nanover_05_a_pair_is_one_recording(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    legacy_frame(&traj, 1000, 0, "energy", 1);
    legacy_frame(&traj, 2000, 1, "energy", 2);
    legacy_state(&states, 500, "a", 1);
    legacy_state(&states, 2000, "a", NAN);
    for (unsigned turned = 0; turned < 2; turned++) { /* at one time the frame comes first, whichever file does */
        const struct named_bytes parts[] = {{turned ? "x.state" : "x.traj", legacy_bytes(turned ? &states : &traj)},
                                            {turned ? "x.traj" : "x.state", legacy_bytes(turned ? &traj : &states)}};
        RECORDING *r = legacy_read(parts, 2);
        assert_no_findings(r);
        assert_int_equal(info_of(r)->n_channels, 2);
        AUTO(reel_stream_free) struct reel_stream *s = open_stream(r, &selection_all);
        struct reel_message m;
        static const char *const topics[] = {"state", "frame", "frame", "state"};
        static const int64_t times[] = {500000, 1000000, 2000000, 2000000};
        for (unsigned i = 0; i < 4; i++) {
            assert_non_null(next_payload(s, &m).data);
            assert_string_equal(s->channels[m.channel]->name, topics[i]);
            assert_int_equal(m.time_ns, times[i]);
        }
        assert_null(next_payload(s, &m).data);
    }
    struct reel_error err = {0};
    const struct named_bytes twice[] = {{"x.traj", legacy_bytes(&traj)}, {"y.traj", legacy_bytes(&traj)}};
    assert_null(legacy_try(twice, 2, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
}

/* Each alone is a recording with its own topic, named as in a pair: without a prefix. */
static void rule_nanover_05_each_alone(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    legacy_frame(&traj, 1000, 0, "energy", 1);
    legacy_state(&states, 500, "a", 1);
    for (unsigned k = 0; k < 2; k++) {
        const struct named_bytes part = {k ? "run.state" : "run.traj", legacy_bytes(k ? &states : &traj)};
        RECORDING *r = legacy_read(&part, 1);
        assert_no_findings(r);
        assert_int_equal(info_of(r)->n_channels, 1);
        assert_int_equal(info_of(r)->messages, 1);
        assert_string_equal(reel_index_channel(reel_recording_index(r), 0)->name, k ? "state" : "frame");
        assert_int_equal(info_of(r)->start_ns, k ? 500000 : 1000000);
    }
}

static bool joins(const char *a_name, struct reel_bytes a, const char *b_name, struct reel_bytes b) {
    struct reel_error err = {0};
    AUTO(reel_source_free) struct reel_source *x = reel_source_from_memory(a, a_name, &err);
    AUTO(reel_source_free) struct reel_source *y = reel_source_from_memory(b, b_name, &err);
    return reel_format_nanover_legacy.joins(x, y);
}

static void pairs_are_reported_by_stem_and_kind(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    legacy_frame(&traj, 1, 0, "energy", 1);
    legacy_state(&states, 1, "a", 1);
    struct reel_bytes t = legacy_bytes(&traj), s = legacy_bytes(&states);
    assert_true(joins("run.traj", t, "run.state", s));
    assert_true(joins("run.state", s, "run.traj", t));
    assert_false(joins("run.traj", t, "other.state", s));
    assert_false(joins("run.traj", t, "run.state", t));
    assert_false(joins("run.traj", t, "run.bag", bytes_text("#ROSRECORD V1.2\n")));
}

static void version_1_is_read_and_others_are_refused_by_name(void **state) {
    (void)state;
    struct reel_error err = {0};
    LEGACY third = {0};
    legacy_start(&third, 3);
    assert_null(legacy_try(&(struct named_bytes){"x.traj", legacy_bytes(&third)}, 1, &err));
    assert_int_equal(err.code, REEL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "version 3"));

    LEGACY second = {0};
    legacy_frame(&second, 1000, 0, "energy", 1);
    const size_t head = 16 + 24 + 2; /* header, record head, tag and length of `frame`: a bare FrameData remains */
    struct reel_bytes bare = bytes_of(second.g.data + head, second.g.size - head);
    LEGACY first = {0};
    grow_u64(&first.g, 1000);
    grow_u64(&first.g, 0);
    grow_u64(&first.g, bare.size);
    grow_put(&first.g, bare.data, bare.size);
    AUTO(reel_source_free) struct reel_source *named = reel_source_from_memory(legacy_bytes(&first), "x.traj", &err);
    AUTO(reel_source_free) struct reel_source *unnamed = reel_source_from_memory(legacy_bytes(&first), "x", &err);
    AUTO(reel_source_free)
    struct reel_source *ase = reel_source_from_memory(bytes_text("- of UlmASE-Trajectory          "), "x.traj", &err);
    assert_ptr_equal(reel_format_probe(named, &err), &reel_format_nanover_legacy);
    assert_null(reel_format_probe(unnamed, &err));
    assert_null(reel_format_probe(ase, &err)); /* another program's .traj */
    AUTO(reel_recording_free)
    struct reel_recording *r = legacy_try(&(struct named_bytes){"x.traj", legacy_bytes(&first)}, 1, &err);
    assert_non_null(r);
    assert_string_equal(reel_index_info(reel_recording_index(r))->container, "version 1");
    assert_string_equal(reel_index_channel(reel_recording_index(r), 0)->type, "FrameData");
    assert_converts_bare(bare, "energy");
}

/* --- damage --- */

static void ten_frames(struct legacy_file *f, size_t offsets[11]) {
    legacy_start(f, 2);
    for (unsigned i = 0; i < 10; i++) {
        offsets[i] = f->g.size;
        legacy_frame(f, 1000 + i * 33333, i, "energy", i);
    }
    offsets[10] = f->g.size;
}

static void a_truncated_tail_is_dropped_and_reported(void **state) {
    (void)state;
    LEGACY whole = {0};
    size_t at[11];
    ten_frames(&whole, at);
    for (size_t end = at[8]; end < at[10]; end++) {
        RECORDING *r = legacy_read(&(struct named_bytes){"x.traj", bytes_of(whole.g.data, end)}, 1);
        unsigned kept = end >= at[9] ? 9 : 8;
        assert_int_equal(info_of(r)->messages, kept);
        assert_int_equal(info_of(r)->lost_bytes, end - at[kept]);
        if (end > at[kept]) {
            assert_finding(r, REEL_LOSS, "cut, ");
        } else {
            assert_no_findings(r);
        }
    }
}

static void what_follows_damage_is_found(void **state) {
    (void)state;
    LEGACY whole = {0};
    size_t at[11];
    ten_frames(&whole, at);
    size_t size = at[10];
    AUTO_MEM uint8_t *copy = malloc(size);
    assert_non_null(copy);
    static const size_t places[] = {8, 15, 16, 20, 23}; /* upper timestamp, size */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memcpy(copy, whole.g.data, size);
        copy[at[4] + places[i]] ^= 0x81;
        RECORDING *r = legacy_read(&(struct named_bytes){"x.traj", bytes_of(copy, size)}, 1);
        assert_int_equal(info_of(r)->messages, 9);
        assert_true(info_of(r)->damaged);
        assert_int_equal(info_of(r)->lost_bytes, at[5] - at[4]);
    }
    memcpy(copy, whole.g.data, size);
    memset(copy + at[4] + 24, 0xFF, 8); /* the message */
    RECORDING *r = legacy_read(&(struct named_bytes){"x.traj", bytes_of(copy, size)}, 1);
    assert_int_equal(info_of(r)->messages, 9);
    assert_finding(r, REEL_LOSS, "does not fit");
    assert_int_equal(info_of(r)->lost_bytes, at[5] - at[4]);
}

static void time_that_goes_back_is_reported(void **state) {
    (void)state;
    LEGACY traj = {0};
    legacy_frame(&traj, 3000, 0, "energy", 1);
    legacy_frame(&traj, 1000, 1, "energy", 2);
    RECORDING *r = legacy_read(&(struct named_bytes){"x.traj", legacy_bytes(&traj)}, 1);
    assert_finding(r, REEL_WARNING, "earlier");
    assert_int_equal(info_of(r)->messages, 2);
    assert_int_equal(info_of(r)->start_ns, 1000000);
}

/* --- the view --- */

static struct reel_stream *viewed(struct reel_recording *r, const struct reel_selection *q) {
    struct reel_error err = {0};
    struct reel_stream *s = reel_writer_stream(&reel_writer_nanover, &r, 1, q, &err);
    if (!s) {
        fail_msg("%s", err.text);
    }
    return s;
}

static void the_view_yields_current_messages(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    legacy_frame(&traj, 1000, 0, "energy", 1);
    legacy_frame(&traj, 3000, 1, "energy", 2);
    legacy_state(&states, 2000, "a", 7);
    legacy_state(&states, 4000, "a", NAN);
    const struct named_bytes parts[] = {{"x.traj", legacy_bytes(&traj)}, {"x.state", legacy_bytes(&states)}};
    RECORDING *r = legacy_read(parts, 2);
    AUTO(reel_stream_free) struct reel_stream *s = viewed(r, &selection_all);
    static const char *const wanted[] = {
        "{'frame' {'frame.index' 0 'energy' 1.0 'particle.positions' <0000803f0000004000000000>}}",
        "{'state' {'updates' {'a' 7.0} 'removals' []}}",
        "{'frame' {'frame.index' 1 'energy' 2.0 'particle.positions' <0000803f000000400000803f>}}",
        "{'state' {'updates' {} 'removals' ['a']}}"};
    struct reel_message m[4];
    struct reel_bytes payload;
    struct reel_error err = {0};
    for (unsigned i = 0; i < 4; i++) {
        assert_picture(next_payload(s, &m[i]), wanted[i]);
        assert_string_equal(s->channels[m[i].channel]->encoding, "nanover");
        assert_string_equal(s->channels[m[i].channel]->type, i % 2 ? "nanover/state" : "nanover/frame");
    }
    for (unsigned i = 4; i-- > 0;) { /* earlier ones too, whole, in pieces, and after a seek */
        uint8_t piece[16];
        assert_true(reel_stream_payload(s, &m[i], &payload, &err) && payload.size == m[i].size);
        assert_picture(payload, wanted[i]);
        assert_true(reel_stream_copy(s, &m[i], 3, piece, sizeof piece, &err));
        assert_true(reel_stream_payload(s, &m[i], &payload, &err));
        assert_memory_equal(piece, payload.data + 3, sizeof piece);
        struct reel_position mark = reel_position_of(&m[i]);
        struct reel_message again;
        assert_true(stream_seek(s, &mark, &err));
        assert_picture(next_payload(s, &again), wanted[i]);
    }
    AUTO(reel_stream_free)
    struct reel_stream *plain = open_stream(r, &selection_all); /* others get what the file holds */
    assert_string_equal(plain->channels[0]->encoding, "nanover-protobuf");
}

static void a_cut_begins_with_its_state(void **state) {
    (void)state;
    LEGACY traj = {0};
    LEGACY states = {0};
    legacy_frame(&traj, 500, 0, "old", 5);
    legacy_frame(&traj, 1000, 0, "energy", 1);
    legacy_frame(&traj, 3000, 1, "energy", 2);
    legacy_frame(&traj, 6000, 2, "energy", 3);
    legacy_state(&states, 2000, "a", 7);
    legacy_state(&states, 2500, "b", 8);
    legacy_state(&states, 4000, "a", NAN);
    const struct named_bytes parts[] = {{"x.traj", legacy_bytes(&traj)}, {"x.state", legacy_bytes(&states)}};
    RECORDING *r = legacy_read(parts, 2);
    struct reel_selection q = selection_all;
    q.start_ns = 5000000;
    q.state_at_cut = true;
    AUTO(reel_stream_free) struct reel_stream *s = viewed(r, &q);
    struct reel_message m;
    assert_picture(next_payload(s, &m),
                   "{'frame' {'frame.index' 0 'energy' 2.0 'particle.positions' <0000803f000000400000803f>} 'state' "
                   "{'updates' {'b' 8.0} 'removals' []}}");
    assert_true(m.before_start);
    assert_picture(next_payload(s, &m),
                   "{'frame' {'frame.index' 2 'energy' 3.0 'particle.positions' <0000803f0000004000000040>}}");
    assert_null(next_payload(s, &m).data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_become_frames),
        cmocka_unit_test(an_absent_index_is_a_reset),
        cmocka_unit_test(arrays_in_all_forms),
        cmocka_unit_test(states_become_updates_and_removals),
        cmocka_unit_test(of_equal_keys_the_last_counts),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(a_file_is_what_its_messages_say),
        cmocka_unit_test(rule_nanover_05_a_pair_is_one_recording),
        cmocka_unit_test(rule_nanover_05_each_alone),
        cmocka_unit_test(pairs_are_reported_by_stem_and_kind),
        cmocka_unit_test(version_1_is_read_and_others_are_refused_by_name),
        cmocka_unit_test(a_truncated_tail_is_dropped_and_reported),
        cmocka_unit_test(what_follows_damage_is_found),
        cmocka_unit_test(time_that_goes_back_is_reported),
        cmocka_unit_test(the_view_yields_current_messages),
        cmocka_unit_test(a_cut_begins_with_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
