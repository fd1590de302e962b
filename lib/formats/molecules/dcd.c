/* DCD, the trajectory of CHARMM and NAMD: little-endian records of Fortran, each between its length; Angstrom; a fixed
 * time between frames. Source of the layout: write_dcdheader() and write_dcdstep() of VMD. */
#include "formats/molecules/cell.h"
#include "formats/molecules/trajectory.h"
#include "formats/nanover/current_form.h"

enum { CONTROL_BYTES = 84, TITLES = 3, TITLE_BYTES = 80, CHARMM_VERSION = 24, CELL_BYTES = 48 };
#define AKMA_PS 0.04888821 /* the unit of time */

static uint64_t frame_size(const struct trajectory *t) {
    return (t->has_box ? CELL_BYTES + 8 : 0) + 3 * (8 + UINT64_C(4) * t->particles);
}

static void put_f64(struct reel_sink *out, double v) {
    reel_sink_u64le(out, f64_bits(v));
}

static void put_cell(struct reel_sink *out, const struct trajectory_box *box) {
    struct molecule_cell cell = molecule_cell_of(box);
    reel_sink_u32le(out, CELL_BYTES);
    put_f64(out, cell.lengths[0]);
    put_f64(out, cell.angles[2]);
    put_f64(out, cell.lengths[1]);
    put_f64(out, cell.angles[1]);
    put_f64(out, cell.angles[0]);
    put_f64(out, cell.lengths[2]);
    reel_sink_u32le(out, CELL_BYTES);
}

static bool put_frame(const struct trajectory *t, uint64_t number, struct trajectory_run *run, struct reel_sink *out,
                      struct reel_error *err) {
    (void)err;
    if (t->has_box) {
        put_cell(out, &t->boxes[t->frames[number].box]);
    }
    for (size_t axis = 0; axis < 3; axis++) {
        reel_sink_u32le(out, 4 * t->particles);
        for (size_t at = 4 * axis; at < run->positions.size; at += 12) {
            reel_sink_u32le(out, f32_bits((float)((double)load_f32le(run->positions.data + at) * 10)));
        }
        reel_sink_u32le(out, 4 * t->particles);
    }
    return true;
}

/* The mean time between frames. */
static float delta_of(const struct trajectory *t) {
    double span = t->n > 1 ? (double)t->frames[t->n - 1].time_ps - (double)t->frames[0].time_ps : 0;
    return span > 0 ? (float)(span / (double)(t->n - 1) / AKMA_PS) : 1;
}

static void put_control(const struct trajectory *t, struct reel_sink *out) {
    reel_sink_u32le(out, CONTROL_BYTES);
    reel_sink_put(out, "CORD", 4);
    reel_sink_u32le(out, (uint32_t)t->n);
    reel_sink_u32le(out, 0); /* the step of the first frame */
    reel_sink_u32le(out, 1); /* steps between frames */
    reel_sink_u32le(out, (uint32_t)t->n);
    reel_sink_fill(out, 0, 20);
    reel_sink_u32le(out, f32_bits(delta_of(t)));
    reel_sink_u32le(out, t->has_box);
    reel_sink_fill(out, 0, 32);
    reel_sink_u32le(out, CHARMM_VERSION);
    reel_sink_u32le(out, CONTROL_BYTES);
}

static bool dcd_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    static const char title[] = "FRAMES OF A NANOVER RECORDING, WRITTEN BY REEL";
    const struct trajectory *t = w->totals;
    if (!trajectory_survey(w, &(struct trajectory_needs){0}, err)) {
        return false;
    }
    put_control(t, out);
    reel_sink_u32le(out, 4 + TITLES * TITLE_BYTES);
    reel_sink_u32le(out, TITLES);
    reel_sink_put(out, title, sizeof title - 1);
    reel_sink_fill(out, ' ', TITLES * TITLE_BYTES - (sizeof title - 1));
    reel_sink_u32le(out, 4 + TITLES * TITLE_BYTES);
    reel_sink_u32le(out, 4);
    reel_sink_u32le(out, t->particles);
    reel_sink_u32le(out, 4);
    return true;
}

static bool dcd_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return trajectory_put_frames(w, frame_size(w->totals), false, put_frame, out, err);
}

const struct reel_writer reel_writer_dcd = {
    .name = "dcd",
    .extension = ".dcd",
    .media_type = "application/octet-stream",
    TRAJECTORY_WRITER,
    .leaves_out = TRAJECTORY_LEAVES_OUT,
    .version = 1,
    .accepts_all = trajectory_accepts_all,
    .head = dcd_head,
    .messages = dcd_messages,
};
