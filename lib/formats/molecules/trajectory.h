/* NanoVer's frames as files of molecular dynamics. A trajectory is the positions of one set of particles over time: the
 * frames of one run, from the first one with positions to the next reset. A frame without positions is none of its
 * frames, and one with another number of particles is left out. Which messages are frames is found when the output is
 * planned (trajectory_survey()), so every frame of TRR and DCD has its place before any is written. */
#ifndef REEL_FORMATS_MOLECULES_TRAJECTORY_H
#define REEL_FORMATS_MOLECULES_TRAJECTORY_H

#include "base/grow.h"
#include "convert/writer.h"

enum trajectory_key {
    TRAJECTORY_POSITIONS,
    TRAJECTORY_VELOCITIES,
    TRAJECTORY_FORCES,
    TRAJECTORY_SYSTEM_FORCES,
    TRAJECTORY_BOX,
    TRAJECTORY_TIME,
    TRAJECTORY_ELEMENTS, /* this and the following: the topology */
    TRAJECTORY_RESIDUES,
    TRAJECTORY_CHAINS,
    TRAJECTORY_BONDS,
    TRAJECTORY_NAMES, /* this and the following: texts */
    TRAJECTORY_RESIDUE_NAMES,
    TRAJECTORY_RESIDUE_IDS,
    TRAJECTORY_CHAIN_NAMES,
    TRAJECTORY_KEYS
};

struct trajectory_frame {
    uint32_t message; /* its number in the stream */
    uint32_t box;     /* in `boxes` */
    float time_ps;    /* system.simulation.time; where no frame has had one yet, the number of the frame */
};
struct trajectory_box {
    float rows[9]; /* nm */
};

struct trajectory_texts {
    struct reel_bytes *items;
    uint64_t n;
};

/* The totals of these writers. */
struct trajectory {
    uint32_t particles;
    bool has_box;                    /* one was known at the first frame: then each frame has one */
    bool has_velocities, has_forces; /* every frame has them */
    struct trajectory_frame *frames;
    uint64_t n, room, per_group;  /* group g of messages has the frames from g * per_group on */
    struct trajectory_box *boxes; /* the first is zero: there is none */
    uint64_t n_boxes, room_boxes;
    /* For pdb.c and gro.c: of each key of the topology the run's first value, wherever it comes; and the first frame.
     */
    struct reel_bytes packed[TRAJECTORY_KEYS];
    struct trajectory_texts texts[TRAJECTORY_KEYS];
    struct reel_bytes positions, velocities; /* of the first frame, packed */
};

/* The run of these writers: the values of one frame, packed, little-endian, nm, nm/ps and kJ/mol/nm. */
struct trajectory_run {
    struct grow positions, velocities, forces, box;
    struct grow integers, bits; /* xtc.c */
};

struct trajectory_needs {
    bool topology;   /* of the frames the first is enough */
    double limit_nm; /* no coordinate may be larger; 0: any float is fine */
};
/* To be called in head(). While rendering it does nothing. */
bool trajectory_survey(struct reel_write *w, const struct trajectory_needs *needs, struct reel_error *err);

/* messages(): the frames of a group, each of `frame_size` bytes; `packs`: of at most about so many. */
typedef bool trajectory_put(const struct trajectory *t, uint64_t number, struct trajectory_run *run,
                            struct reel_sink *out, struct reel_error *err);
bool trajectory_put_frames(struct reel_write *w, uint64_t frame_size, bool packs, trajectory_put *put,
                           struct reel_sink *out, struct reel_error *err);

bool trajectory_accepts(const struct reel_channel *channel, struct reel_loss *loss);
bool trajectory_accepts_all(const struct reel_stream *stream, struct reel_loss *loss);
void trajectory_close(struct reel_write *w);

#define TRAJECTORY_LEAVES_OUT                                                                                          \
    "that are frames of a later run (select it with run=), of another number of particles or of positions that the "   \
    "format cannot hold"

/* XDR: numbers are big-endian. */
static inline void trajectory_u32be(struct reel_sink *out, uint32_t v) {
    reel_sink_put(out, (const uint8_t[]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}, 4);
}
static inline void trajectory_f32be(struct reel_sink *out, float v) {
    trajectory_u32be(out, f32_bits(v));
}
static inline void trajectory_box_be(struct reel_sink *out, const struct trajectory_box *box) {
    for (unsigned i = 0; i < 9; i++) {
        trajectory_f32be(out, box->rows[i]);
    }
}
static inline void trajectory_floats_be(struct reel_sink *out, const struct grow *packed) {
    for (size_t i = 0; i + 4 <= packed->size; i += 4) {
        trajectory_u32be(out, load_u32le(packed->data + i));
    }
}

/* What all writers of molecules have in common. */
#define TRAJECTORY_WRITER                                                                                              \
    .needs = REEL_NEEDS_STATE_AT_CUT | REEL_KEEPS_TOPICS, .totals_size = sizeof(struct trajectory),                    \
    .run_size = sizeof(struct trajectory_run), .view = nanover_view, .accepts = trajectory_accepts,                    \
    .close = trajectory_close

#endif
