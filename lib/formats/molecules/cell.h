/* A box as the lengths of its vectors and the angles between them. */
#ifndef REEL_FORMATS_MOLECULES_CELL_H
#define REEL_FORMATS_MOLECULES_CELL_H

#include <math.h>

#include "formats/molecules/trajectory.h"

struct molecule_cell {
    double lengths[3]; /* Angstrom */
    double angles[3];  /* degrees: alpha between b and c, beta between a and c, gamma between a and b; 90 where a vector
                          is zero */
};

static inline double molecule_dot(const struct trajectory_box *box, unsigned a, unsigned b) {
    const float *u = box->rows + 3 * (size_t)a, *v = box->rows + 3 * (size_t)b;
    return (double)u[0] * (double)v[0] + (double)u[1] * (double)v[1] + (double)u[2] * (double)v[2];
}

static inline struct molecule_cell molecule_cell_of(const struct trajectory_box *box) {
    struct molecule_cell cell;
    for (unsigned i = 0; i < 3; i++) {
        unsigned a = (i + 1) % 3, b = (i + 2) % 3;
        double across = sqrt(molecule_dot(box, a, a) * molecule_dot(box, b, b));
        double cosine = across > 0 ? molecule_dot(box, a, b) / across : 0;
        cosine = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
        cell.lengths[i] = 10 * sqrt(molecule_dot(box, i, i));
        /* Rounded, because acos() has other last digits elsewhere. */
        cell.angles[i] = round(acos(cosine) * (180 / 3.14159265358979323846) * 1e6) / 1e6;
    }
    return cell;
}

#endif
