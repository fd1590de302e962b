/* Shared by NanoVer's reports. pass: the walk over the messages · one file per query: resets, changes, energies,
 * frames, and moment. */
#ifndef REEL_FORMATS_NANOVER_REPORT_H
#define REEL_FORMATS_NANOVER_REPORT_H

#include "base/grow.h"
#include "base/limits.h"
#include "formats/nanover/payload.h"
#include "formats/nanover/question.h"
#include "reel/time.h"

/* A query: one const table per file. */
struct nanover_question {
    const char *topic; /* the messages that it reads; NULL: all are counted */
    const char *const *columns;
    unsigned n_columns;
    /* Processes one message of the stream; its payload is read on demand. */
    bool (*message)(struct reel_nanover *pass, const struct reel_message *m, struct reel_error *err);
    /* Optional: continues with the rest of the last message; *more: there is more. */
    bool (*rest)(struct reel_nanover *pass, bool *more, struct reel_error *err);
    /* Optional: after the last message. */
    bool (*end)(struct reel_nanover *pass, struct reel_error *err);
    void (*free)(void *state); /* frees the contents, not the state itself */
    size_t state_size;         /* zeroed; 0: no state */
};
extern const struct nanover_question nanover_resets, nanover_changes, nanover_energies, nanover_frames, nanover_states;

struct reel_nanover {
    const struct nanover_question *how;
    char **keys; /* globs for changes; none: all keys */
    uint32_t n_keys;
    void *state;
    struct reel_table table;
    struct reel_stream *stream;
    bool *frames, *states; /* by channel: whether its messages are of that type */
    bool begun, more;
};

/* --- report.c --- */
struct reel_stream *nanover_stream(struct reel_recording *recording, const struct reel_selection *selection,
                                   struct reel_error *err);
bool nanover_carries(const struct reel_channel *channel, const char *type);
bool nanover_row(struct reel_nanover *pass, const struct reel_cell *cells, struct reel_error *err); /* of all columns */
/* The message's time as the API writes it: RFC 3339, or seconds of a relative clock. */
struct reel_bytes nanover_time_text(const struct reel_nanover *pass, int64_t time_ns, char out[REEL_TIME_TEXT]);
/* Frame and state of the message; cursors into its payload, valid until the next call on the stream. A message that is
 * none has neither. */
bool nanover_read_body(struct reel_nanover *pass, const struct reel_message *m, struct nanover_body *body,
                       struct reel_error *err);
/* Fills values[i] for each of the keys that the frame has and leaves the others unchanged. The last of equal keys is
 * used. */
void nanover_pick(struct cursor frame, const char *const *keys, unsigned n, struct msgpack_item *values, bool *found);

/* --- report_changes.c --- */
bool nanover_asks(const struct reel_nanover *pass, struct reel_bytes key); /* the globs of the question match the key */
/* The value as JSON, in place of what is in `text`; what cannot be decoded, as bytes. */
void nanover_value_json(struct grow *text, struct reel_bytes packed);

/* --- split_key.c --- */
struct nanover_key_watch { /* zeroed but for the key; the caller frees value.data */
    const char *key;
    bool has_value, has_frames; /* so far */
    struct grow value;          /* the latest: its bytes */
};
/* Whether the message, the next one of the stream, gives the key another value than it had. A first value is a change
 * only after a frame. */
bool nanover_key_changes(struct nanover_key_watch *w, struct reel_stream *stream, const struct reel_message *m,
                         bool *changes, struct reel_error *err);

/* --- report_energies.c --- */
enum { NANOVER_ENERGIES = 7 };
#define NANOVER_ENERGY_COLUMNS                                                                                         \
    "simulation_time_ps", "kinetic_kj_mol", "potential_kj_mol", "total_kj_mol", "user_kj_mol", "work_done_kj_mol",     \
        "temperature_k"
/* The frame's cells of these columns; false: it has no values except perhaps the simulation time. */
bool nanover_energies_of(struct cursor frame, struct reel_cell cell[NANOVER_ENERGIES]);

#endif
