/* What the parts of the NanoVer transform share. nanover_state: what is known of the simulation and its visitors · foxglove_nanover: what
 * is shown. */
#ifndef REEL_VIEWS_FOXGLOVE_NANOVER_H
#define REEL_VIEWS_FOXGLOVE_NANOVER_H

#include "encodings/nanover/nanover.h"
#include "views/foxglove.h"
#include "wire/bytes.h"

/* What a message says beside the state. */
enum nanover_energy { ENERGY_TIME, ENERGY_KINETIC, ENERGY_POTENTIAL, ENERGY_USER, ENERGY_TOTAL, ENERGY_WORK, ENERGY_TEMPERATURE, ENERGIES };
struct nanover_news {
    bool reset, scene, visitors; /* the run begins; what is drawn, who is there has changed */
    bool has[ENERGIES];
    double energies[ENERGIES];
    struct reel_bytes exception; /* in the message */
};

struct nanover_visitor {
    struct reel_bytes key, value; /* one allocation each; value packed */
};

struct nanover_room {
    struct grow elements, colors, bonds, positions, box; /* packed as in a frame: u8, u8 × 4, u32 × 2, f32 × 3, f32 × 9 */
    struct nanover_visitor *visitors;                    /* sorted by key */
    size_t n_visitors, cap_visitors;
    double origin[10]; /* of the simulation in the visitors' room: place, turn, scale */
};
void nanover_room_forget(struct nanover_room *room);
void nanover_room_free(struct nanover_room *room);
/* False: no memory. A message that is none says nothing. */
bool nanover_room_take(struct nanover_room *room, struct reel_bytes message, struct nanover_news *news, struct reel_error *err);

static inline size_t nanover_particles(const struct nanover_room *room) {
    return room->positions.size / 12;
}
static inline struct view_vec nanover_position(const struct nanover_room *room, size_t i) {
    const uint8_t *p = room->positions.data + 12 * i;
    return (struct view_vec){(double)load_f32le(p), (double)load_f32le(p + 4), (double)load_f32le(p + 8)};
}

/* The heads and hands of one visitor, as the simulation sees them: told one after the other. */
void nanover_visitor_poses(const struct nanover_room *room, const struct nanover_visitor *visitor,
                           void (*tell)(struct grow *g, struct view_vec at, struct view_quat turn), struct grow *g);

#endif
