/* NanoVer's frames written as trajectories and structures: bytes of each format, which frames there are, and ranges. */
#include "base/c_locale.h"
#include "makers/nanover_maker.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "convert/writer.h"
#include "formats/molecules/trajectory.h"

extern const struct reel_writer reel_writer_trr, reel_writer_dcd, reel_writer_xtc, reel_writer_pdb, reel_writer_gro;

struct output {
    uint8_t *data;
    size_t size;
};
static void output_free(struct output *o) {
    free(o->data);
}
#define OUTPUT __attribute__((cleanup(output_free))) struct output

static struct reel_plan *plan_of(struct reel_recording *r, const struct reel_writer *writer, struct reel_error *err) {
    const struct reel_write_options options = {.compression = ""};
    AUTO(reel_stream_free) struct reel_stream *stream = open_stream(r, &selection_all);
    return reel_plan_new(writer, &options, stream, NULL, err);
}

/* The whole output, and then again in odd pieces that must be the same. */
static struct output written(struct reel_recording *r, const struct reel_writer *writer) {
    struct reel_error err = {0};
    AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, writer, &err);
    if (!plan) {
        fail_msg("%s", err.text);
    }
    AUTO(reel_planned_output_free)
    struct reel_planned_output *render = reel_planned_output_new(plan, open_stream(r, &selection_all), &err);
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

static uint32_t u32be(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static float f32be(const uint8_t *p) {
    return f32_of(u32be(p));
}

static void add_frame(struct maker *m, unsigned index, const char *more) {
    char message[2048], entry[100];
    snprintf(message, sizeof message, "{'frame' {'frame.index' %u %s}}", index, more);
    snprintf(entry, sizeof entry, "{'types' ['frame'] 'frame.index' %u 'timestamp' %u}", index, m->count * 1000);
    maker_add(m, message, entry);
}

/* Two particles in a skew box: positions as a list, a frame without any, one of three particles, then another run. */
static void make_runs(struct maker *m) {
    add_frame(m, 0, "'system.simulation.counter' 1");
    add_frame(m, 0,
              "'particle.positions' [1.0 -2.0 0.25 0.1234567 0.0 3.0] 'system.simulation.time' 2.5 "
              "'system.box.vectors' [3.0 0.0 0.0 1.5 4.0 0.0 0.0 0.0 5.0]");
    maker_add(m, "{'state' {'updates' {'scene' [1 2]} 'removals' []}}", "{'types' ['state'] 'timestamp' 2000}");
    add_frame(m, 1, "'energy.kinetic' 1.5 'particle.names' ['CA' 'a\nlong name'] 'particle.elements' <061e>");
    add_frame(m, 2, "'particle.positions' [1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0]");
    add_frame(m, 3,
              "'particle.positions' [2.0 -2.0 0.25 0.5 0.0 3.0] 'particle.residues' [0 1] 'residue.ids' [12.0 'B']");
    add_frame(m, 0, "'particle.positions' [9.0 9.0 9.0 9.0 9.0 9.0]");
    add_frame(m, 1, "'particle.positions' [9.0 9.0 9.0 9.0 9.0 9.0]");
}

static void trr_has_frames_of_one_size(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_runs(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT o = written(r, &reel_writer_trr);
    static const uint32_t head[] = {0, 0, 36, 0, 0, 0, 0, 24, 0, 0, 2};
    assert_int_equal(o.size, 2 * (84 + 36 + 24));
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *frame = o.data + i * (84 + 36 + 24);
        assert_int_equal(u32be(frame), 1993);
        assert_memory_equal(frame + 4, "\0\0\0\x0d\0\0\0\x0cGMX_trn_file", 20);
        for (size_t k = 0; k < 11; k++) {
            assert_int_equal(u32be(frame + 24 + 4 * k), head[k]);
        }
        assert_int_equal(u32be(frame + 68), i);
        assert_true(f32be(frame + 76) >= 2.5F && f32be(frame + 76) <= 2.5F); /* the time stays until there is another */
        assert_true(f32be(frame + 84 + 12) >= 1.5F);
        assert_int_equal(u32be(frame + 120), f32_bits(i == 0 ? 1 : 2));
        assert_int_equal(u32be(frame + 132), f32_bits(i == 0 ? 0.1234567F : 0.5F));
    }
}

static void velocities_are_there_if_every_frame_has_them(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++) {
        MAKER m = {.count = 0};
        add_frame(&m, 0, "'particle.positions' " ORIGIN " 'particle.velocities' " ASIDE " 'particle.forces' " ASIDE);
        add_frame(&m, 1,
                  all ? "'particle.positions' " ASIDE " 'particle.velocities' " ORIGIN " 'particle.forces' " ASIDE
                      : "'particle.positions' " ASIDE " 'particle.forces.system' " ASIDE);
        RECORDING *r = nanover_read(maker_finish(&m));
        OUTPUT o = written(r, &reel_writer_trr);
        assert_int_equal(o.size, 2 * (84 + 12 + 12 + 12 * (size_t)all)); /* of the forces either key is taken */
        assert_int_equal(u32be(o.data + 24 + 8), 0);                     /* no box */
        assert_int_equal(u32be(o.data + 24 + 32), 12 * all);
    }
}

static void dcd_is_in_angstrom(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_runs(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT o = written(r, &reel_writer_dcd);
    assert_int_equal(o.size, 92 + 252 + 12 + 2 * (56 + 3 * 16));
    assert_memory_equal(o.data + 4, "CORD", 4);
    assert_int_equal(load_u32le(o.data + 8), 2);
    assert_int_equal(load_u32le(o.data + 48), 1); /* has cells */
    const uint8_t *frame = o.data + 356 + 56 + 3 * 16;
    const double cell[] = {30, load_f64le(frame + 12), 42.720018726587654, 90, 90, 50};
    for (size_t i = 0; i < 6; i++) {
        assert_float_equal(load_f64le(frame + 4 + 8 * i), cell[i], 1e-9);
    }
    assert_float_equal(cell[1], 69.443955, 1e-6); /* gamma */
    assert_int_equal(load_u32le(frame + 56), 8);
    assert_int_equal(load_u32le(frame + 60), f32_bits(20));
    assert_int_equal(load_u32le(frame + 64), f32_bits(5));
    assert_int_equal(load_u32le(frame + 76), f32_bits(-20));
}

static void structures_have_the_topology_of_the_run(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_runs(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    OUTPUT pdb = written(r, &reel_writer_pdb);
    static const char lines[] = "CRYST1   30.000   42.720   50.000  90.00  90.00  69.44 P 1           1\n"
                                "ATOM      1  CA  UNK A  12      10.000 -20.000   2.500  1.00  0.00           C\n"
                                "ATOM      2 a_lo UNK A   2       1.235   0.000  30.000  1.00  0.00          Zn\n"
                                "TER\n"
                                "END\n";
    assert_int_equal(pdb.size, sizeof lines - 1);
    assert_memory_equal(pdb.data, lines, sizeof lines - 1);
    OUTPUT gro = written(r, &reel_writer_gro);
    static const char text[] = "A frame of a NanoVer recording, t= 2.50000\n"
                               "2\n"
                               "   12UNK     CA    1   1.000  -2.000   0.250\n"
                               "    2UNK  a_lon    2   0.123   0.000   3.000\n"
                               "   3.00000   4.00000   5.00000   0.00000   0.00000   1.50000   0.00000   0.00000   "
                               "0.00000\n";
    assert_int_equal(gro.size, sizeof text - 1);
    assert_memory_equal(gro.data, text, sizeof text - 1);
}

/* Columns would run into each other. */
static void velocities_that_do_not_fit_are_not_written(void **state) {
    (void)state;
    static const char *const velocities[] = {"[1.5 -99.5 0.0]", "[100.5 0.0 0.0]", "<0000c07f0000c07f0000c07f>"};
    for (size_t i = 0; i < 3; i++) {
        MAKER m = {.count = 0};
        char frame[200];
        snprintf(frame, sizeof frame, "'particle.positions' " ASIDE " 'particle.velocities' %s", velocities[i]);
        add_frame(&m, 0, frame);
        RECORDING *r = nanover_read(maker_finish(&m));
        OUTPUT o = written(r, &reel_writer_gro);
        o.data[o.size] = '\0';
        assert_int_equal(strstr((char *)o.data, "   1.000   1.000   1.000  1.5000-99.5000  0.0000\n") != NULL, i == 0);
        assert_int_equal(strstr((char *)o.data, "   1.000   1.000   1.000\n") != NULL, i > 0);
    }
}

static void frames_that_are_left_out_are_counted(void **state) {
    (void)state;
    MAKER m = {.count = 0};
    make_runs(&m);
    RECORDING *r = nanover_read(maker_finish(&m));
    struct reel_error err = {0};
    static const struct reel_writer *const writers[] = {&reel_writer_trr, &reel_writer_dcd, &reel_writer_xtc};
    for (size_t i = 0; i < 3; i++) {
        AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, writers[i], &err);
        AUTO(reel_loss_free) struct reel_loss *loss = reel_loss_new();
        size_t n;
        assert_true(plan && loss);
        reel_plan_report(plan, loss);
        const struct reel_loss_item *items = reel_loss_items(loss, &n);
        assert_int_equal(n, 1);
        assert_non_null(strstr(items[0].text, "3 messages that are frames of a later run"));
    }
}

static void positions_must_fit(void **state) {
    (void)state;
    static const struct {
        const struct reel_writer *writer;
        const char *most, *more;
    } cases[] = {{&reel_writer_pdb, "99.9", "100.5"},
                 {&reel_writer_gro, "999.9", "1000.5"},
                 {&reel_writer_xtc, "999999.0", "1000001.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int over = 0; over < 2; over++) {
            MAKER m = {.count = 0};
            struct reel_error err = {0};
            char frame[200];
            snprintf(frame, sizeof frame, "'particle.positions' [0.0 -%s 0.0]", over ? cases[i].more : cases[i].most);
            add_frame(&m, 0, frame);
            RECORDING *r = nanover_read(maker_finish(&m));
            AUTO(reel_plan_free) struct reel_plan *plan = plan_of(r, cases[i].writer, &err);
            assert_int_equal(plan == NULL, over);
            assert_int_equal(err.code, over ? REEL_UNSUPPORTED : REEL_OK);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trr_has_frames_of_one_size),
        cmocka_unit_test(velocities_are_there_if_every_frame_has_them),
        cmocka_unit_test(dcd_is_in_angstrom),
        cmocka_unit_test(structures_have_the_topology_of_the_run),
        cmocka_unit_test(velocities_that_do_not_fit_are_not_written),
        cmocka_unit_test(frames_that_are_left_out_are_counted),
        cmocka_unit_test(positions_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
