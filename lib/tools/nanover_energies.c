/* Energies frame by frame. Rule: what a frame does not tell stays empty; only a total that nobody recorded is made, as NanoVer made it: kinetic and potential,
 * without what users put in. */
#include "tools/nanover_tools.h"

enum { SIMULATION_TIME, KINETIC, POTENTIAL, USER, WORK, TEMPERATURE, TOTAL, KEYS };
static const char *const keys[] = {
    [SIMULATION_TIME] = "system.simulation.time", [KINETIC] = "energy.kinetic",          [POTENTIAL] = "energy.potential",
    [USER] = "energy.user.total",                 [WORK] = "forces.user.work_done", [TEMPERATURE] = "system.temperature",
    [TOTAL] = "energy.total",
};
static const char *const columns[] = {"time_s",       "simulation_time_ps", "kinetic_kj_mol",   "potential_kj_mol",
                                      "total_kj_mol", "user_kj_mol",        "work_done_kj_mol", "temperature_k"};

static bool message(struct reel_nanover *pass, const struct reel_message *m, struct reel_error *err) {
    struct nanover_body body;
    struct pack_item values[KEYS];
    bool found[KEYS] = {false}, any = false;
    struct reel_cell cell[KEYS] = {0};
    if (!pass->frames[m->channel]) {
        return true;
    }
    if (!nanover_read_body(pass, m, &body, err)) {
        return false;
    }
    if (!body.has_frame) {
        return true;
    }
    nanover_pick(body.frame, keys, KEYS, values, found);
    for (int k = 0; k < KEYS; k++) {
        if (found[k] && pack_is_number(&values[k])) {
            cell[k] = reel_cell_real(values[k].number);
            any |= k != SIMULATION_TIME;
        }
    }
    if (cell[TOTAL].kind == REEL_CELL_NULL && cell[KINETIC].kind != REEL_CELL_NULL && cell[POTENTIAL].kind != REEL_CELL_NULL) {
        cell[TOTAL] = reel_cell_real(cell[KINETIC].real + cell[POTENTIAL].real);
    }
    const struct reel_cell cells[] = {reel_cell_real((double)m->time_ns / 1e9), cell[SIMULATION_TIME], cell[KINETIC],
                                      cell[POTENTIAL], cell[TOTAL], cell[USER], cell[WORK], cell[TEMPERATURE]};
    return !any || nanover_row(pass, cells, err);
}

const struct nanover_question nanover_energies = {
    .topic = "frame", .columns = columns, .n_columns = sizeof columns / sizeof *columns, .message = message};
