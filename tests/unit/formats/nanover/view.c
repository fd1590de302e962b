/* NanoVer's frames as spheres, bonds and boxes for viewers, its visitors as poses, its energies as numbers. */
#include "makers/nanover_maker.h"
#include "makers/view_check.h"

#define ONE "0000803f"
#define TWO "00000040"
#define NIL "00000000"
#define RUN(i, pos) "{'frame' {'frame.index' " #i " 'particle.positions' <" pos ">}}"
#define ENTRY(i, t) "{'types' ['frame'] 'frame.index' " #i " 'timestamp' " #t "}"

/* Water without an atom: a carbon at the origin bound to a hydrogen at (1, 1, 2) that moves; a run later anew. */
static void make_run(struct maker *m) {
    maker_add(m,
              "{'frame' {'frame.index' 0 'particle.count' 2 'particle.positions' <" NIL NIL NIL ONE ONE TWO
              "> 'particle.elements' <0601>"
              " 'bond.pairs' <0000000001000000> 'system.box.vectors' [1.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 2.0] "
              "'energy.potential' -3.5}}",
              ENTRY(0, 10));
    maker_add(m,
              "{'state' {'updates' {'scene' [1.0 0.0 0.0 0.0 0.0 0.0 1.0 2.0 2.0 2.0] 'avatar.b' {'components' "
              "[{'name' 'headset'"
              " 'position' [3.0 4.0 6.0] 'rotation' [0.0 0.0 0.0 1.0]}]} 'avatar.a' {'components' []}} 'removals' []}}",
              "{'types' ['state'] 'timestamp' 20}");
    maker_add(m, RUN(1, NIL NIL NIL ONE ONE ONE), ENTRY(1, 30));
    maker_add(m, "{'state' {'updates' {'user' 'x'} 'removals' ['avatar.a']}}", "{'types' ['state'] 'timestamp' 40}");
    maker_add(m, "{'frame' {'frame.index' 2 'system.temperature' 300 'system.simulation.exception' 'it burst'}}",
              ENTRY(2, 50));
    maker_add(m,
              "{'frame' {'frame.index' 0 'particle.positions' <" ONE ONE ONE "> 'particle.colors' <ff800000>}"
              " 'state' {'updates' {} 'removals' ['avatar.b' 'scene']}}",
              "{'types' ['frame' 'state'] 'frame.index' 0 'timestamp' 60}");
    maker_add(m, RUN(1, TWO TWO TWO), ENTRY(1, 70));
}

static void frames_are_spheres_bonds_and_a_box(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_run(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/scene"), 4); /* not with what moves nothing */
    assert_view_has(&l, "/view/scene", 0, "\"frame_id\":\"simulation\",\"id\":\"particles\"");
    assert_view_has(&l, "/view/scene", 0,
                    "{\"pose\":{\"position\":{\"x\":1,\"y\":1,\"z\":2},\"orientation\":{\"x\":0,\"y\":0,\"z\":0,\"w\":"
                    "1}},\"size\":{\"x\":0.074,");
    assert_view_has(&l, "/view/scene", 0, "\"points\":[{\"x\":0,\"y\":0,\"z\":0},{\"x\":1,\"y\":1,\"z\":2}]");
    assert_view_has(&l, "/view/scene", 0, "\"id\":\"box\"");
    assert_view_has(&l, "/view/scene", 0, "{\"x\":1,\"y\":2,\"z\":0},{\"x\":1,\"y\":2,\"z\":2}"); /* its last edge */
    assert_view_has(&l, "/view/scene", 1,
                    "\"points\":[{\"x\":0,\"y\":0,\"z\":0},{\"x\":1,\"y\":1,\"z\":1}]"); /* bonds that this frame does
                                                                                            not hold */
    assert_null(strstr(view_text(&l, "/view/scene", 2), "box"));                         /* a run anew */
    assert_view_has(&l, "/view/scene", 2, "\"color\":{\"r\":1,\"g\":0.5019608,\"b\":0,\"a\":1}");
    assert_view_has(&l, "/view/scene", 2, "\"points\":[],");
}

static void visitors_are_seen_from_the_simulation(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_run(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/avatars"), 4);
    assert_view_has(&l, "/view/avatars", 0, "\"poses\":[]}"); /* the first message lists no user */
    assert_view_has(&l, "/view/avatars", 1,
                    "\"frame_id\":\"simulation\",\"poses\":[{\"position\":{\"x\":1,\"y\":2,\"z\":3}");
    assert_view_has(&l, "/view/avatars", 3, "\"poses\":[]}");
}

static void numbers_and_words(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_run(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/energies"), 2);
    assert_string_equal(view_text(&l, "/view/energies", 0), "{\"potential\":-3.5}");
    assert_string_equal(view_text(&l, "/view/energies", 1), "{\"temperature\":300}");
    assert_int_equal(view_count(&l, "/view/log"), 3);
    assert_view_has(&l, "/view/log", 1, "\"level\":4,\"message\":\"it burst\"");
}

static void sought_is_the_same(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_run(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    view_check(r, &q);
    q.start_ns = 50000;
    view_check(r, &q);
    VIEW_LIST cut = view_list_of(r, &q);
    assert_view_has(&cut, "/view/scene", 0,
                    "\"points\":[{\"x\":0,\"y\":0,\"z\":0},{\"x\":1,\"y\":1,\"z\":1}]"); /* with
                                                                                            what
                                                                                            stands
                                                                                            before
                                                                                            the
                                                                                            cut
                                                                                          */
    assert_view_has(&cut, "/view/avatars", 0, "{\"x\":1,\"y\":2,\"z\":3}");
}

/* What is no packed value of its key, or points past its end. */
static void odd_values_are_passed_over(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    maker_add(&m,
              "{'frame' {'frame.index' 0 'particle.positions' [0.0 'x'] 'particle.elements' 'C' 'bond.pairs' "
              "<00000000ffffffff> "
              "'system.box.vectors' 7"
              " 'energy.kinetic' 'warm'}}",
              ENTRY(0, 10));
    maker_add(&m, "{'frame' {'frame.index' 1 'particle.positions' [1 1 2 0] 'bond.pairs' [0 0 0 9]}}", ENTRY(1, 20));
    maker_add(&m,
              "{'state' {'updates' {'scene' 'x' 'avatar.a' 7 'avatar.b' {'components' [7 {'position' [1]} {'position' "
              "[1 1 1] 'rotation' "
              "'x'}]}}}}",
              "{'types' ['state'] 'timestamp' 30}");
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/energies"), 0);
    assert_view_has(&l, "/view/scene", 0, "\"entities\":[]");
    assert_view_has(&l, "/view/scene", 1, "\"points\":[{\"x\":1,\"y\":1,\"z\":2},{\"x\":1,\"y\":1,\"z\":2}]");
    assert_view_has(
        &l, "/view/avatars", 1,
        "\"poses\":[{\"position\":{\"x\":1,\"y\":1,\"z\":1},\"orientation\":{\"x\":0,\"y\":0,\"z\":0,\"w\":1}}]");
    view_check(r, &q);
}

static void many_particles_are_points(void **state) {
    (void)state;
    enum { N = 2001 };
    MAKER m = {.count = 0};
    msgpack_packer pk;
    uint8_t *positions = calloc(N, 12);
    msgpack_packer_init(&pk, &m.messages, msgpack_sbuffer_write);
    msgpack_pack_map(&pk, 1);
    msgpack_pack_str_with_body(&pk, "frame", 5);
    msgpack_pack_map(&pk, 1);
    msgpack_pack_str_with_body(&pk, "particle.positions", 18);
    msgpack_pack_bin_with_body(&pk, positions, N * 12);
    free(positions);
    maker_entry(&m, 0, m.messages.size, "{'types' ['frame'] 'timestamp' 1}");
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_selection q = view_all();
    VIEW_LIST l = view_list_of(r, &q);
    assert_int_equal(view_count(&l, "/view/points"), 1);
    assert_view_has(&l, "/view/points", 0, "\"point_stride\":16,");
    assert_null(strstr(view_text(&l, "/view/scene", 0), "\"spheres\":[{"));
    const char *data = strstr(view_text(&l, "/view/points", 0), "\"data\":\"");
    assert_int_equal(strlen(data), strlen("\"data\":\"\"}") + (N * 16 + 2) / 3 * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_spheres_bonds_and_a_box),
        cmocka_unit_test(visitors_are_seen_from_the_simulation),
        cmocka_unit_test(numbers_and_words),
        cmocka_unit_test(sought_is_the_same),
        cmocka_unit_test(odd_values_are_passed_over),
        cmocka_unit_test(many_particles_are_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
