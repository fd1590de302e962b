/* Energies per frame. Values that a frame lacks stay empty; only a missing total is computed as NanoVer does: kinetic
 * plus potential, without the energy of users. */
#include "formats/nanover/report.h"

enum { SIMULATION_TIME, KINETIC, POTENTIAL, TOTAL, USER, WORK, TEMPERATURE, KEYS = NANOVER_ENERGIES };
static const char *const keys[] = {
    [SIMULATION_TIME] = "system.simulation.time",
    [KINETIC] = "energy.kinetic",
    [POTENTIAL] = "energy.potential",
    [TOTAL] = "energy.total",
    [USER] = "energy.user.total",
    [WORK] = "forces.user.work_done",
    [TEMPERATURE] = "system.temperature",
};
static const char *const columns[] = {"time_s", NANOVER_ENERGY_COLUMNS};

bool nanover_energies_of(struct cursor frame, struct reel_cell cell[NANOVER_ENERGIES]) {
    struct msgpack_item values[KEYS];
    bool found[KEYS] = {false}, any = false;
    memset(cell, 0, KEYS * sizeof *cell);
    nanover_pick(frame, keys, KEYS, values, found);
    for (int k = 0; k < KEYS; k++) {
        if (found[k] && msgpack_is_number(&values[k])) {
            cell[k] = reel_cell_real(values[k].number);
            any |= k != SIMULATION_TIME;
        }
    }
    if (cell[TOTAL].kind == REEL_CELL_NULL && cell[KINETIC].kind != REEL_CELL_NULL &&
        cell[POTENTIAL].kind != REEL_CELL_NULL) {
        cell[TOTAL] = reel_cell_real(cell[KINETIC].real + cell[POTENTIAL].real);
    }
    return any;
}

static bool nanover_report_energies_message(struct reel_nanover *pass, const struct reel_message *m,
                                            struct reel_error *err) {
    struct nanover_body body;
    struct reel_cell cells[1 + NANOVER_ENERGIES];
    if (!pass->frames[m->channel]) {
        return true;
    }
    if (!nanover_read_body(pass, m, &body, err)) {
        return false;
    }
    cells[0] = reel_cell_real((double)m->time_ns / 1e9);
    return !body.has_frame || !nanover_energies_of(body.frame, cells + 1) || nanover_row(pass, cells, err);
}

const struct nanover_question nanover_energies = {.topic = "frame",
                                                  .columns = columns,
                                                  .n_columns = sizeof columns / sizeof *columns,
                                                  .message = nanover_report_energies_message};
