/* What the answers to NanoVer's questions share. pass: the walk over the messages · then a file per question: resets, changes, energies,
 * frames, and moment. */
#ifndef REEL_TOOLS_NANOVER_TOOLS_H
#define REEL_TOOLS_NANOVER_TOOLS_H

#include "encodings/nanover/nanover.h"
#include "reel/nanover.h"
#include "reel/time.h"
#include "wire/grow.h"
#include "wire/limits.h"

/* A question: one const table a file. */
struct nanover_question {
    const char *topic; /* of the messages that it looks at; NULL: all are counted */
    const char *const *columns;
    unsigned n_columns;
    /* One message of the stream; its payload is read when it is asked for. */
    bool (*message)(struct reel_nanover *pass, const struct reel_message *m, struct reel_error *err);
    /* Optional: goes on with what the last message left; *more: there is more of it. */
    bool (*rest)(struct reel_nanover *pass, bool *more, struct reel_error *err);
    /* Optional: after the last message. */
    bool (*end)(struct reel_nanover *pass, struct reel_error *err);
    void (*free)(void *state); /* what it holds, not itself */
    size_t state_size;         /* zeroed; 0: it remembers nothing */
};
extern const struct nanover_question nanover_resets, nanover_changes, nanover_energies, nanover_frames;

struct reel_nanover {
    const struct nanover_question *how;
    char **keys; /* globs of changes; none: all keys */
    uint32_t n_keys;
    void *state;
    struct reel_table table;
    struct reel_stream *stream;
    bool *frames, *states; /* by channel: its messages hold such */
    bool begun, more;
};

/* --- nanover_pass.c --- */
struct reel_stream *nanover_stream(struct reel_recording *recording, const struct reel_selection *selection, struct reel_error *err);
bool nanover_carries(const struct reel_channel *channel, const char *type);
bool nanover_row(struct reel_nanover *pass, const struct reel_cell *cells, struct reel_error *err); /* of all columns */
/* The message's time as the API writes it: RFC 3339, or seconds of a relative clock. */
struct reel_bytes nanover_time_text(const struct reel_nanover *pass, int64_t time_ns, char out[REEL_TIME_TEXT]);
/* Frame and state of the message; cursors into its payload, valid until the next call on the stream. A message that is none has neither. */
bool nanover_read_body(struct reel_nanover *pass, const struct reel_message *m, struct nanover_body *body, struct reel_error *err);
/* Fills values[i] for each of the keys that the frame has; the others are left as they are. The last of equal keys counts. */
void nanover_pick(struct cursor frame, const char *const *keys, unsigned n, struct msgpack_item *values, bool *found);

/* --- nanover_energies.c --- */
enum { NANOVER_ENERGIES = 7 };
#define NANOVER_ENERGY_COLUMNS                                                                                                             \
    "simulation_time_ps", "kinetic_kj_mol", "potential_kj_mol", "total_kj_mol", "user_kj_mol", "work_done_kj_mol", "temperature_k"
/* The frame's cells of these columns; false: it tells none but, perhaps, its simulation's time. */
bool nanover_energies_of(struct cursor frame, struct reel_cell cell[NANOVER_ENERGIES]);

#endif
