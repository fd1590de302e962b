/* Shared by the parts of the NanoVer transform. foxglove_nanover_state: state of the simulation and its users ·
 * foxglove_nanover: output.
 */
#ifndef REEL_FORMATS_NANOVER_VIEW_H
#define REEL_FORMATS_NANOVER_VIEW_H

#include "base/bytes.h"
#include "formats/foxglove/view.h"
#include "formats/nanover/payload.h"

/* Contents of a message besides the state. */
enum nanover_energy {
    ENERGY_TIME,
    ENERGY_KINETIC,
    ENERGY_POTENTIAL,
    ENERGY_USER,
    ENERGY_TOTAL,
    ENERGY_WORK,
    ENERGY_TEMPERATURE,
    ENERGIES
};
struct nanover_news {
    bool reset, scene, visitors; /* a run begins; the drawn particles changed; the users changed */
    bool has[ENERGIES];
    double energies[ENERGIES];
    struct reel_bytes exception; /* in the message */
};

struct nanover_visitor {
    struct reel_bytes key, value; /* one allocation each; value packed */
};

struct nanover_room {
    /* packed as in a frame: u8, u8 × 4, u32 × 2, f32 × 3, f32 × 9 */
    struct grow elements, colors, bonds, positions, box;
    struct nanover_visitor *visitors; /* sorted by key */
    size_t n_visitors, cap_visitors;
    double origin[10]; /* the simulation in the users' room: position, rotation, scale */
};
void nanover_room_forget(struct nanover_room *room);
void nanover_room_free(struct nanover_room *room);
/* False: no memory. An invalid message changes nothing. */
bool nanover_room_take(struct nanover_room *room, struct reel_bytes message, struct nanover_news *news,
                       struct reel_error *err);

static inline size_t nanover_particles(const struct nanover_room *room) {
    return room->positions.size / 12;
}
static inline struct view_vec nanover_position(const struct nanover_room *room, size_t i) {
    const uint8_t *p = room->positions.data + 12 * i;
    return (struct view_vec){(double)load_f32le(p), (double)load_f32le(p + 4), (double)load_f32le(p + 8)};
}

/* Iterates over the heads and hands of one user, in the frame of the simulation. */
void nanover_visitor_poses(const struct nanover_room *room, const struct nanover_visitor *visitor,
                           void (*emit)(struct grow *g, struct view_vec at, struct view_quat turn), struct grow *g);

#endif
