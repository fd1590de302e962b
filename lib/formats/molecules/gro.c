/* GRO, the structure file of GROMACS: the names, positions and velocities of one frame, and its box. Fixed columns; nm.
 */
#include <math.h>

#include "formats/molecules/structure.h"
#include "formats/nanover/current_form.h"

enum { NUMBERS = 100000 };
#define LIMIT_NM 999.999 /* -999.999 has as many columns as there are */
#define LIMIT_NM_PS 99.9999

/* Those of the frame, if they fit their columns. */
static bool has_velocities(const struct trajectory *t) {
    bool fine = t->velocities.size == t->positions.size;
    for (size_t i = 0; fine && i < 3 * (size_t)t->particles; i++) {
        fine = fabs(structure_value(t->velocities, i)) <= LIMIT_NM_PS; /* not for NaN */
    }
    return fine;
}

static void put_atom(const struct trajectory *t, uint32_t i, bool moves, struct reel_sink *out) {
    struct molecule_atom atom = molecule_atom_of(t, i);
    structure_number(out, atom.residue_number % NUMBERS, 5);
    structure_text(out, atom.residue, 5);
    reel_sink_fill(out, ' ', atom.name.size < 5 ? 5 - atom.name.size : 0);
    structure_text(out, atom.name, atom.name.size < 5 ? (unsigned)atom.name.size : 5);
    structure_number(out, (i + 1) % NUMBERS, 5);
    for (unsigned k = 0; k < 3; k++) {
        structure_fixed(out, structure_value(t->positions, 3 * (size_t)i + k), 8, 3);
    }
    for (unsigned k = 0; k < 3 && moves; k++) {
        structure_fixed(out, structure_value(t->velocities, 3 * (size_t)i + k), 8, 4);
    }
    structure_put(out, "\n");
}

/* x of the first vector, y of the second, z of the third; then, unless all are zero, the six others. */
static void put_box(const struct trajectory *t, struct reel_sink *out) {
    static const uint8_t order[] = {0, 4, 8, 1, 2, 3, 5, 6, 7};
    const float *rows = t->boxes[t->frames[0].box].rows;
    bool skew = false;
    for (unsigned i = 3; i < 9; i++) {
        skew |= rows[order[i]] < 0 || rows[order[i]] > 0;
    }
    for (unsigned i = 0; i < (skew ? 9 : 3); i++) {
        structure_fixed(out, (double)rows[order[i]], 10, 5);
    }
    structure_put(out, "\n");
}

static bool gro_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    const struct trajectory *t = w->totals;
    if (!trajectory_survey(w, &(struct trajectory_needs){.topology = true, .limit_nm = LIMIT_NM}, err)) {
        return false;
    }
    structure_put(out, "A frame of a NanoVer recording, t= ");
    structure_fixed(out, (double)t->frames[0].time_ps, 0, 5);
    structure_put(out, "\n");
    structure_number(out, t->particles, 0);
    structure_put(out, "\n");
    const bool moves = has_velocities(t);
    for (uint32_t i = 0; i < t->particles; i++) {
        put_atom(t, i, moves, out);
    }
    put_box(t, out);
    return true;
}

const struct reel_writer reel_writer_gro = {
    .name = "gro",
    .extension = ".gro",
    .media_type = "chemical/x-gromacs",
    TRAJECTORY_WRITER,
    .version = 1,
    .accepts_all = structure_accepts_all,
    .head = gro_head,
    .messages = structure_messages,
};
