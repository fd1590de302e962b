/* NanoVer's messages, of today's form and the older one, decoded as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/c_locale.h"
#include "makers/legacy_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/nanover/legacy.h"
#include "makers/decode_sample.h"
#include "makers/real_samples.h"

static const struct reel_channel today = {.name = "frame", .type = "nanover/frame", .encoding = "nanover"};
static const struct reel_channel old_frame = {
    .name = "frame", .type = "GetFrameResponse", .encoding = NANOVER_LEGACY_ENCODING};
static const struct reel_channel old_state = {
    .name = "state", .type = "StateUpdate", .encoding = NANOVER_LEGACY_ENCODING};

static void assert_decodes(const char *message, const char *decoded) {
    msgpack_sbuffer bytes;
    msgpack_sbuffer_init(&bytes);
    picture(&bytes, message);
    assert_string_equal(decode_text(&today, bytes_of(bytes.data, bytes.size)), decoded);
    msgpack_sbuffer_destroy(&bytes);
}

static void packed_keys_are_rows_of_numbers(void **state) {
    (void)state;
    assert_decodes(
        "{'frame' {'frame.index' 3 'particle.positions' <000000000000803f000000400000803f000000bf0000c07f>}}",
        "{\"frame\":{\"frame.index\":3,\"particle.positions\":[[0,1,2],[1,-0.5,\"NaN\"]]}}");
    assert_decodes("{'frame' {'particle.elements' <0106> 'bond.pairs' <0000000001000000> 'bond.orders' <02> "
                   "'particle.residues' <ffffffff>}}",
                   "{\"frame\":{\"particle.elements\":[1,6],\"bond.pairs\":[[0,1]],\"bond.orders\":[2],\"particle."
                   "residues\":[4294967295]}}");
    assert_decodes(
        "{'frame' {'system.box.vectors' <0000803f000000000000000000000000000000400000000000000000000000000000803f>}}",
        "{\"frame\":{\"system.box.vectors\":[[1,0,0],[0,2,0],[0,0,1]]}}");
    assert_decodes(
        "{'frame' {'particle.colors' <0102030405060708> 'forces.user.index' <> 'forces.user.sparse' <>}}",
        "{\"frame\":{\"particle.colors\":[[1,2,3,4],[5,6,7,8]],\"forces.user.index\":[],\"forces.user.sparse\":[]}}");
}

static void packed_keys_that_are_not_packed(void **state) {
    (void)state;
    assert_decodes("{'frame' {'forces.user.sparse' [1.5 2.0 3.0 4.0] 'bond.orders' [1.0 2.0]}}",
                   "{\"frame\":{\"forces.user.sparse\":[[1.5,2,3],[4]],\"bond.orders\":[1,2]}}");
    assert_decodes("{'frame' {'bond.pairs' [[0 1] [1 2]] 'particle.positions' [] 'particle.elements' n}}",
                   "{\"frame\":{\"bond.pairs\":[[0,1],[1,2]],\"particle.positions\":[],\"particle.elements\":null}}");
    assert_decodes("{'frame' {'particle.positions' <000000>}}",
                   "{\"frame\":{\"particle.positions\":{\"$base64\":\"AAAA\"}}}"); /* no number of floats */
    assert_decodes("{'frame' {'particle.positions' <0000803f>}}", "{\"frame\":{\"particle.positions\":[[1]]}}");
    assert_decodes("{'frame' {'mine' <0000803f>}}", "{\"frame\":{\"mine\":{\"$base64\":\"AACAPw==\"}}}");
}

static void other_messages_are_plain(void **state) {
    (void)state;
    assert_decodes("{'state' {'updates' {'a.b' {'particle.elements' <01>} 'x' n} 'removals' ['y']}}",
                   "{\"state\":{\"updates\":{\"a.b\":{\"particle.elements\":{\"$base64\":\"AQ==\"}},\"x\":null},"
                   "\"removals\":[\"y\"]}}");
    assert_decodes("{'frame' [1] 'command' [{'request' 1}]}", "{\"frame\":[1],\"command\":[{\"request\":1}]}");
    assert_decodes("{}", "{}");
    assert_decodes("[1]", "[1]");
}

static void damage_is_reported_with_its_position(void **state) {
    (void)state;
    static const char cut[] = "\x81\xa5"
                              "frame\x81\xa1"
                              "a";
    assert_string_equal(decode_text(&today, bytes_of(cut, sizeof cut - 1)),
                        "error 2: byte 10 of 10: ends inside an object");
    assert_string_equal(decode_text(&today, bytes_of("\x80\x80", 2)), "error 2: byte 1 of 2: 1 bytes too many");
}

static void fields_have_units(void **state) {
    (void)state;
    const char *lines = decode_fields(&today);
    assert_non_null(strstr(lines, "frame.energy.kinetic float64 kJ/mol numeric\n"));
    assert_non_null(strstr(lines, "frame.particle.positions float32[][3] nm\n"));
    assert_non_null(strstr(lines, "frame.system.box.vectors.1.1 float32 nm numeric\n"));
    assert_null(strstr(lines, "state."));
    struct reel_channel both = today;
    both.type = "nanover/state+frame";
    lines = decode_fields(&both);
    assert_non_null(strstr(lines, "frame.system.simulation.time float64 ps numeric\n"));
    assert_non_null(strstr(lines, "state.removals string[]\n"));
    both.type = "nanover/framed+statement";
    assert_string_equal(decode_fields(&both), "");
    assert_string_equal(decode_fields(&old_state), "state.updates map\nstate.removals string[]\n");
    assert_non_null(strstr(decode_fields(&old_frame), "frame.server.timestamp float64 s numeric\n"));
}

/* ---- the older form */

static void an_old_frame_has_the_shape_of_today(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO message = {0};
    proto_entry_number(&data, "particle.count", 2.0);
    proto_entry_number(&data, "energy.kinetic", 1.5);
    proto_entry_number(&data, "frame.index", 9);
    proto_entry_floats(&data, "particle.positions", (const float[]){1, 2, 3, 4, 5, 6.5F}, 6);
    proto_entry_indices(&data, "bond.pairs", (const uint32_t[]){0, 300}, 2);
    proto_entry_indices(&data, "particle.elements", (const uint32_t[]){1, 6}, 2);
    proto_data(&message, 2, proto_bytes(&data));
    proto_number(&message, 1, 7);
    assert_string_equal(decode_text(&old_frame, proto_bytes(&message)),
                        "{\"frame\":{\"frame.index\":7,\"particle.count\":2,\"energy.kinetic\":1.5,\"particle."
                        "positions\":[[1,2,3],[4,5,6.5]],"
                        "\"bond.pairs\":[[0,300]],\"particle.elements\":[1,6]}}");
    assert_string_equal(decode_text(&old_frame, bytes_of("", 0)), "{\"frame\":{\"frame.index\":0}}");
}

static void old_arrays_packed_or_not(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO message = {0};
    PROTO list = {0};
    PROTO array = {0};
    PROTO names = {0};
    PROTO texts = {0};
    PROTO none = {0};
    for (int i = 0; i < 4; i++) {
        proto_float(&list, 1, 0.5F + (float)i);
    }
    proto_data(&array, 1, proto_bytes(&list));
    proto_entry(&data, 2, "particle.velocities", &array);
    proto_text(&texts, 1, "C");
    proto_text(&texts, 1, "");
    proto_data(&names, 3, proto_bytes(&texts));
    proto_entry(&data, 2, "particle.names", &names);
    proto_entry(&data, 2, "none", &none);
    proto_entry_floats(&data, "empty", NULL, 0);
    proto_data(&message, 2, proto_bytes(&data));
    assert_string_equal(
        decode_text(&old_frame, proto_bytes(&message)),
        "{\"frame\":{\"frame.index\":0,\"particle.velocities\":[[0.5,1.5,2.5],[3.5]],\"particle.names\":[\"C\",\"\"],"
        "\"none\":[],\"empty\":[]}}");
}

static void an_old_state_distinguishes_removals(void **state) {
    (void)state;
    PROTO changed = {0};
    PROTO message = {0};
    PROTO gone = {0};
    PROTO text = {0};
    PROTO inner = {0};
    PROTO list = {0};
    PROTO value = {0};
    proto_number(&gone, 1, 0);
    proto_entry(&changed, 1, "gone", &gone);
    proto_text(&text, 3, "hi");
    proto_entry(&inner, 1, "t", &text);
    proto_entry(&inner, 1, "n", &gone);
    proto_data(&list, 1, proto_bytes(&text));
    proto_data(&list, 1, bytes_of("\x20\x01", 2)); /* true */
    PROTO held = {0};
    proto_data(&held, 6, proto_bytes(&list));
    proto_entry(&inner, 1, "l", &held);
    proto_data(&value, 5, proto_bytes(&inner));
    proto_entry(&changed, 1, "map", &value);
    proto_data(&message, 1, proto_bytes(&changed));
    assert_string_equal(
        decode_text(&old_state, proto_bytes(&message)),
        "{\"state\":{\"updates\":{\"map\":{\"t\":\"hi\",\"n\":null,\"l\":[\"hi\",true]}},\"removals\":[\"gone\"]}}");
}

static void old_damage_is_reported(void **state) {
    (void)state;
    assert_string_equal(decode_text(&old_frame, bytes_of("\x12\x05\x0a", 3)),
                        "error 2: the 3 bytes at byte 0 of 3 are not a valid protobuf message: a field does not fit");
    assert_string_equal(decode_text(&old_state, bytes_of("\x0a\x02\x0a\x01", 4)),
                        "error 2: the 2 bytes at byte 2 of 4 are not a valid protobuf message: a field does not fit");
    PROTO value = {0};
    proto_double(&value, 2, 1);
    for (int i = 0; i < 130; i++) {
        PROTO list = {0};
        proto_data(&list, 1, proto_bytes(&value));
        value.g.size = 0;
        proto_data(&value, 6, proto_bytes(&list));
    }
    PROTO changed = {0};
    PROTO message = {0};
    proto_entry(&changed, 1, "deep", &value);
    proto_data(&message, 1, proto_bytes(&changed));
    assert_string_equal(decode_text(&old_state, proto_bytes(&message)),
                        "error 4: a value is nested more than 124 levels deep");
    struct reel_channel other = old_state;
    other.type = "x";
    assert_memory_equal(decode_text(&other, bytes_of("", 0)), "error 3", 7);
}

/* ---- real recordings */

/* Adds up the numbers of particle.positions, reported as rows. */
struct sums {
    unsigned messages, good;
    long double positions;
};
static void add_positions(void *context, const struct reel_channel *channel, const char *json) {
    C_LOCALE;
    struct sums *s = context;
    static const char key[] = "\"particle.positions\":[";
    const char *at = strstr(json, key);
    (void)channel;
    s->messages++;
    s->good += json[0] == '{';
    for (at = at ? at + sizeof key - 1 : "]"; *at != ']';) {
        char *end;
        for (at += *at == ',' ? 2 : 1; at[-1] != ']'; at = end + 1) { /* [x,y,z] */
            s->positions += (double)strtof(at, &end);                 /* the decimals are those of floats */
        }
    }
}
static void sum(const char *path, const struct reel_format *format, unsigned messages, double positions) {
    char whole[512];
    struct sums s = {0};
    snprintf(whole, sizeof whole, "%s/../../shared/samples/%s", REEL_TESTS, path);
    if (!decode_sample(whole, format, add_positions, &s)) {
        SAMPLES_SKIPPED(1);
    }
    assert_int_equal(s.messages, messages);
    assert_int_equal(s.good, messages);
    assert_true(fabs((double)s.positions - positions) <= 1e-6);
}
static void golden_recordings_decode(void **state) {
    (void)state;
    static const struct {
        const char *path;
        const struct reel_format *format;
        unsigned messages;
        double positions; /* their sum, by msgpack and an independent protobuf reader */
    } files[] = {
        {"nanover_legacy/usual_traj/input.traj", &reel_format_nanover_legacy, 4, 10},
        {"nanover_legacy/usual_state/input.state", &reel_format_nanover_legacy, 2, 0},
        {"nanover/official_layout/input.nanover.zip", &reel_format_nanover, 6, 9},
        {"nanover/frame_and_state/input.nanover.zip", &reel_format_nanover, 4, 6},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        struct sums s = {0};
        snprintf(path, sizeof path, REEL_TESTS "/golden/%s", files[i].path);
        assert_true(decode_sample(path, files[i].format, add_positions, &s));
        assert_int_equal(s.messages, files[i].messages);
        assert_int_equal(s.good, files[i].messages);
        assert_true(fabs((double)s.positions - files[i].positions) <= 1e-6);
    }
}

static void sums_of_real_recordings(void **state) { /* truth.json of the older form; the first is the same recording in
                                                       both */
    (void)state;
    sum("nanover_legacy/nanotube-example.traj", &reel_format_nanover_legacy, 930, 281091.0702069998);
    sum("nanover_legacy/sim-switching.traj", &reel_format_nanover_legacy, 454, 293788.49521832657);
    sum("nanover_legacy/nanotube-example.state", &reel_format_nanover_legacy, 685, 0);
    sum("nanover/core-nanotube-example.nanover.zip", &reel_format_nanover, 1615, 281091.0702069998);
}

/* Every message of the older form tells what its conversion to today's tells. */
static void same_as_converted(void **state) {
    (void)state;
    PROTO data = {0};
    PROTO message = {0};
    proto_entry_number(&data, "particle.count", 2.9);
    proto_entry_number(&data, "chain.count", 1e30);
    proto_entry_floats(&data, "bond.orders", (const float[]){1, 2}, 2);
    proto_entry_floats(&data, "residue.ids", (const float[]){1, 2.5F}, 2);
    proto_entry_floats(&data, "particle.forces", (const float[]){1, 2, 3, 4}, 4);
    proto_entry_indices(&data, "particle.residues", (const uint32_t[]){0, UINT32_MAX}, 2);
    proto_entry_indices(&data, "mine", (const uint32_t[]){7, 8, 9}, 3);
    proto_data(&message, 2, proto_bytes(&data));
    AUTO_STRUCT(legacy_converter_done) struct legacy_converter converter = {.n_pairs = 0};
    struct reel_bytes converted;
    struct reel_error err = {0};
    assert_true(legacy_convert(&converter, LEGACY_FRAME, proto_bytes(&message), &converted, &err));
    char first[1024];
    snprintf(first, sizeof first, "%s", decode_text(&old_frame, proto_bytes(&message)));
    assert_string_equal(decode_text(&today, converted), first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_keys_are_rows_of_numbers),
        cmocka_unit_test(packed_keys_that_are_not_packed),
        cmocka_unit_test(other_messages_are_plain),
        cmocka_unit_test(damage_is_reported_with_its_position),
        cmocka_unit_test(fields_have_units),
        cmocka_unit_test(an_old_frame_has_the_shape_of_today),
        cmocka_unit_test(old_arrays_packed_or_not),
        cmocka_unit_test(an_old_state_distinguishes_removals),
        cmocka_unit_test(old_damage_is_reported),
        cmocka_unit_test(same_as_converted),
        cmocka_unit_test(golden_recordings_decode),
        cmocka_unit_test(sums_of_real_recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
