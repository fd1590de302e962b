/* TRR, GROMACS's trajectory of full precision: XDR, all frames of one size. Source of the layout: do_trnheader() and
 * do_htrn() of MDAnalysis's copy of xdrfile. */
#include "formats/molecules/trajectory.h"
#include "formats/nanover/current_form.h"

enum { TRR_MAGIC = 1993, HEAD_BYTES = 84, BOX_BYTES = 36 };

static uint64_t frame_size(const struct trajectory *t) {
    return HEAD_BYTES + (t->has_box ? BOX_BYTES : 0) +
           UINT64_C(12) * t->particles * (1U + t->has_velocities + t->has_forces);
}

static bool put_frame(const struct trajectory *t, uint64_t number, struct trajectory_run *run, struct reel_sink *out,
                      struct reel_error *err) {
    static const char version[] = "GMX_trn_file";
    const struct trajectory_frame *frame = &t->frames[number];
    const uint32_t n = t->particles;
    const uint32_t sizes[] = {0,
                              0,
                              t->has_box ? BOX_BYTES : 0,
                              0,
                              0,
                              0,
                              0,
                              12 * n,
                              t->has_velocities ? 12 * n : 0,
                              t->has_forces ? 12 * n : 0,
                              n,
                              (uint32_t)number,
                              0}; /* ir, e, box, vir, pres, top, sym, x, v, f; natoms, step, nre */
    (void)err;
    trajectory_u32be(out, TRR_MAGIC);
    trajectory_u32be(out, sizeof version); /* with the NUL that is not there */
    trajectory_u32be(out, sizeof version - 1);
    reel_sink_put(out, version, sizeof version - 1);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        trajectory_u32be(out, sizes[i]);
    }
    trajectory_f32be(out, frame->time_ps);
    trajectory_f32be(out, 0); /* lambda */
    if (t->has_box) {
        trajectory_box_be(out, &t->boxes[frame->box]);
    }
    trajectory_floats_be(out, &run->positions);
    if (t->has_velocities) {
        trajectory_floats_be(out, &run->velocities);
    }
    if (t->has_forces) {
        trajectory_floats_be(out, &run->forces);
    }
    return true;
}

static bool trr_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)out;
    return trajectory_survey(w, &(struct trajectory_needs){0}, err);
}

static bool trr_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    return trajectory_put_frames(w, frame_size(w->totals), false, put_frame, out, err);
}

const struct reel_writer reel_writer_trr = {
    .name = "trr",
    .extension = ".trr",
    .media_type = "application/octet-stream",
    TRAJECTORY_WRITER,
    .leaves_out = TRAJECTORY_LEAVES_OUT,
    .version = 1,
    .accepts_all = trajectory_accepts_all,
    .head = trr_head,
    .messages = trr_messages,
};
