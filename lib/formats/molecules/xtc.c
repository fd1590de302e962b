/* XTC, GROMACS's compressed trajectory: XDR; positions to a thousandth of a nanometre, as integers of as few bits as
 * they need (xtc_bits.h). */
#include <limits.h>
#include <math.h>

#include "formats/molecules/trajectory.h"
#include "formats/molecules/xtc_bits.h"
#include "formats/nanover/current_form.h"

enum { XTC_MAGIC = 1995, HEAD_BYTES = 56, PLAIN_ATOMS = 9 /* so many or fewer are not compressed */ };
#define PRECISION 1000.0
#define LIMIT_NM 1000000.0 /* two coordinates may be so far apart that their difference is still an integer */

static int32_t integer_of(float nm) {
    double scaled = (double)nm * PRECISION;
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static bool put_compressed(const struct trajectory *t, struct trajectory_run *run, struct reel_sink *out,
                           struct reel_error *err) {
    const size_t n = (size_t)t->particles * 3;
    run->integers.size = run->bits.size = 0;
    int32_t *integers = (int32_t *)(void *)grow_take(&run->integers, n * sizeof *integers);
    struct xtc_range range;
    if (!integers) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        integers[i] = integer_of(load_f32le(run->positions.data + 4 * i));
    }
    unsigned small = xtc_pack(integers, t->particles, &range, &run->bits);
    if (run->bits.failed) {
        return reel_fail_memory(err);
    }
    trajectory_f32be(out, (float)PRECISION);
    for (unsigned i = 0; i < 3; i++) {
        trajectory_u32be(out, (uint32_t)range.least[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        trajectory_u32be(out, (uint32_t)range.most[i]);
    }
    trajectory_u32be(out, small);
    trajectory_u32be(out, (uint32_t)run->bits.size);
    reel_sink_put(out, run->bits.data, run->bits.size);
    reel_sink_fill(out, 0, -run->bits.size & 3);
    return true;
}

static bool put_frame(const struct trajectory *t, uint64_t number, struct trajectory_run *run, struct reel_sink *out,
                      struct reel_error *err) {
    const struct trajectory_frame *frame = &t->frames[number];
    trajectory_u32be(out, XTC_MAGIC);
    trajectory_u32be(out, t->particles);
    trajectory_u32be(out, (uint32_t)number);
    trajectory_f32be(out, frame->time_ps);
    trajectory_box_be(out, &t->boxes[frame->box]);
    trajectory_u32be(out, t->particles);
    if (t->particles > PLAIN_ATOMS) {
        return put_compressed(t, run, out, err);
    }
    trajectory_floats_be(out, &run->positions);
    return true;
}

static bool xtc_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)out;
    return trajectory_survey(w, &(struct trajectory_needs){.limit_nm = LIMIT_NM}, err);
}

static bool xtc_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct trajectory *t = w->totals;
    return trajectory_put_frames(w, HEAD_BYTES + UINT64_C(12) * t->particles, t->particles > PLAIN_ATOMS, put_frame,
                                 out, err);
}

/* Frames have a length only once they are compressed. */
static bool is_costly(const struct reel_stream *stream) {
    return stream->n_channels > 0;
}

const struct reel_writer reel_writer_xtc = {
    .name = "xtc",
    .extension = ".xtc",
    .media_type = "application/octet-stream",
    TRAJECTORY_WRITER,
    .leaves_out = TRAJECTORY_LEAVES_OUT,
    .version = 1,
    .accepts_all = trajectory_accepts_all,
    .is_costly = is_costly,
    .head = xtc_head,
    .messages = xtc_messages,
};
