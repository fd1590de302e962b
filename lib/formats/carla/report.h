/* Shared by CARLA's reports. pass: the walk over the recording, packet by packet · text: CARLA's output formats ·
 * actors: the actor table · one file per query: info, events, collisions, blocked, actor_table, trajectory, moments,
 * state. */
#ifndef REEL_FORMATS_CARLA_REPORT_H
#define REEL_FORMATS_CARLA_REPORT_H

#include "base/arena.h"
#include "base/grow.h"
#include "base/hash_table.h"
#include "formats/carla/payload.h"
#include "formats/carla/question.h"
#include "stream/stream.h"

enum {
    CARLA_PACKET_MAX = 16 << 20, /* larger packets are skipped */
    CARLA_ACTORS_MAX = 1 << 20,  /* actors of one recording */
    CARLA_NAMES_MAX = 64 << 20,  /* bytes of their names */
    CARLA_ROWS_MAX = 1 << 20,    /* rows that must be sorted before they are written; pairs of one frame */
};

struct carla_packet {
    enum carla_kind kind;
    uint8_t id;
    struct carla_layout layout;
    uint32_t chunk;
    uint64_t offset; /* of the data, in the chunk */
    struct reel_bytes data;
    bool initial; /* of the state in front of the stream */
    int64_t time_ns;
    uint32_t total; /* number of records, when the packet is a list that can be walked */
};

/* A query: one const table per file. */
struct carla_question {
    /* True when packets of the kind are needed. */
    bool (*needs)(const struct reel_carla *pass, enum carla_kind kind);
    bool (*begin)(struct reel_carla *pass, struct reel_error *err);
    bool (*packet)(struct reel_carla *pass, const struct carla_packet *p, struct reel_error *err);
    /* After the last packet; called repeatedly until *more is false. */
    bool (*end)(struct reel_carla *pass, bool *more, struct reel_error *err);
    void (*free)(void *state);
    size_t state_size; /* zeroed */
};
extern const struct carla_question carla_info, carla_events, carla_collisions, carla_blocked, carla_roster,
    carla_trajectory, carla_moments, carla_state;

struct reel_carla {
    struct reel_carla_question question;
    const struct carla_question *how;
    void *state;
    struct reel_text_sink sink;
    struct reel_table table;
    bool rows; /* rows are requested instead of text */

    struct reel_stream *stream;
    struct carla_packet *channels; /* by channel of the stream: kind, id and layout of its packets */
    bool *needed;                  /* by kind */
    struct carla_layout added;     /* of the channel of event add */
    struct carla_header header;
    uint8_t *head;            /* which the header points into */
    struct carla_frame frame; /* the current frame */
    uint64_t frames;          /* frames so far */
    struct grow text;         /* output not yet passed on */
    bool begun, walked, done;
};

/* --- report.c --- */
static inline double carla_now(const struct reel_carla *pass) { /* seconds */
    return pass->frame.elapsed;
}
bool carla_columns(struct reel_carla *pass, const char *const *names, unsigned n, struct reel_error *err);
bool carla_row(struct reel_carla *pass, const struct reel_cell *cells, unsigned n, struct reel_error *err);
bool carla_rows_end(struct reel_carla *pass, struct reel_error *err);

/* --- report_text.c --- */
void carla_print(struct grow *text, const char *what);
void carla_print_number(struct grow *text, uint64_t value);
void carla_print_real(struct grow *text, double value); /* %g */
/* Pads to `width` columns, left- (negative) or right-aligned; printf's %*s for bytes. */
void carla_print_padded(struct grow *text, struct reel_bytes what, int width);
/* %.0f in `width` columns. */
void carla_print_rounded(struct grow *text, double value, int width);
/* Writes `form`, in which %… is replaced by the next field of the record or, with digits after the %, by the field at
 * that byte offset: u u32, i i32, f f32, g f64, b u8 as 0 or 1, c u8 as the character 0x30 + value, h " (hero) " if the
 * u8 is not 0, B True or False, t true or false, v a vec, w three floats, m three floats in metres as CARLA rounds
 * them, s a string, D a door, L vehicle lights. */
void carla_print_record(struct grow *text, const char *form, struct cursor *record, const struct carla_layout *layout);
void carla_print_start(struct reel_carla *pass); /* Version, Map, Date and an empty line */
void carla_print_end(struct reel_carla *pass, bool whole_seconds);

/* --- carla/actors.c --- */

/* An actor from an event add packet. */
struct carla_added {
    uint32_t id;
    uint8_t type;
    double location[3], rotation[3]; /* cm; roll, pitch, yaw in degrees */
    struct reel_bytes description;
    uint16_t n_attributes;
    struct cursor attributes;
};
/* The attributes as a JSON object in `json`, which is replaced; *role: the value of role_name. */
struct reel_cell carla_attributes_cell(struct grow *json, struct carla_added *added, struct reel_bytes *role);
bool carla_added_read(struct reel_bytes record, const struct carla_layout *layout, struct carla_added *out);
bool carla_attribute_read(struct cursor *attributes, struct reel_bytes *id, struct reel_bytes *value);
void carla_vec_read(const uint8_t *at, const struct carla_layout *layout, double out[3]);
/* Numbers of a vec as cells, in the precision of the file. */
static inline struct reel_cell carla_degrees(double value, const struct carla_layout *layout) {
    return layout->vec == CARLA_VEC_FLOAT ? reel_cell_real32((float)value) : reel_cell_real(value);
}
static inline struct reel_cell carla_metres(double cm, const struct carla_layout *layout) {
    return layout->vec == CARLA_VEC_FLOAT ? reel_cell_real32((float)cm / 100.0f) : reel_cell_real(cm / 100);
}

/* Map from actor ids to positions, counted from 1. */
uint32_t carla_ids_find(const struct hash_table *ids, uint32_t id); /* 0: not found */
bool carla_ids_put(struct hash_table *ids, uint32_t id, uint32_t index, struct reel_error *err);

/* The actor table, as CARLA's queries keep it. */
struct carla_actor_row {
    uint32_t id;
    bool known;
    uint8_t type;
    struct reel_bytes name; /* the description's */
    double last[3];         /* blocked: its location */
    double since, duration; /* … since when, and for how long */
};
struct carla_actor_table {
    struct hash_table ids;
    struct carla_actor_row *items; /* in the order of first use */
    size_t count, capacity;
    struct arena names;
    uint32_t last_added;
    bool any_added;
};
/* The actor of an id; an unknown id is added without a name. NULL on failure. The pointer is valid until the next call.
 */
struct carla_actor_row *carla_actor_row_of(struct carla_actor_table *actors, uint32_t id, struct reel_error *err);
/* Applies event add and del. For text a fault of CARLA is reproduced: any deletion removes the actor added last. For
 * rows no actor is removed, because other packets of the frame may still refer to it. */
bool carla_actor_table_update(struct carla_actor_table *actors, const struct carla_packet *p, bool rows,
                              struct reel_error *err);
void carla_actor_table_free(struct carla_actor_table *actors);

#endif
