/* The questions of NanoVer's own tools, asked of any recording that holds NanoVer messages, whatever file they came in:
 * the whole frame or state of a moment, its frames, where simulations begin anew, how the state changes, energies. All
 * fail with REEL_UNSUPPORTED where there are no NanoVer messages. */
#ifndef REEL_FORMATS_NANOVER_QUESTION_H
#define REEL_FORMATS_NANOVER_QUESTION_H

#include "convert/split.h"
#include "convert/writer.h"
#include "stream/stream.h"
#include "tables/table.h"

enum reel_nanover_part { REEL_NANOVER_FRAME, REEL_NANOVER_STATE };

/* What all messages up to this time, and at it, add up to: {"frame":{key:value…}} since the last reset, or
 * {"state":{"updates":{key:value…},"removals":[]}} since the beginning; without keys where there was none yet. As
 * MessagePack, from malloc.
 */
bool reel_nanover_moment(struct reel_recording *recording, enum reel_nanover_part part, int64_t time_ns, uint8_t **data,
                         size_t *size, struct reel_error *err);
/* Such a message as JSON with a newline, packed arrays as numbers in rows; from malloc. REEL_LIMIT: more than
 * REEL_NANOVER_TEXT_MAX bytes of it. */
enum { REEL_NANOVER_TEXT_MAX = 64 << 20 };
bool reel_nanover_json(struct reel_bytes message, char **text, size_t *size, struct reel_error *err);

/* Runs are numbered as their resets are, from 1; run 0 is what stands before the first reset, if there are frames.
 * Selects one of them: from the aggregate at its reset, which is put in front, up to the next reset, times counted from
 * its reset. REEL_NOT_FOUND with how many there are. */
bool reel_nanover_run(struct reel_recording *recording, uint64_t run, struct reel_selection *selection,
                      struct reel_write_options *options, struct reel_error *err);

/* All runs that last any time, in their order: what reel_nanover_run() selects, as an array of *count parts from
 * malloc; one part without runs. By rule->key, runs begin where that key gets another value. REEL_ARGUMENT: the
 * selection has times; REEL_LIMIT: more than REEL_SPLIT_MAX. */
struct reel_split_part *reel_nanover_split(struct reel_recording *recording, const struct reel_selection *selection,
                                           const struct reel_write_options *options, const struct reel_split_rule *rule,
                                           uint32_t *count, struct reel_error *err);

enum reel_nanover_topic {
    REEL_NANOVER_RESETS,   /* run, time, time_ns, index (among all messages), messages, frames, duration_s,
                              simulation_counter,   simulation_name */
    REEL_NANOVER_CHANGES,  /* time, key, value, removed: of each state message first the updates, then the removals */
    REEL_NANOVER_ENERGIES, /* time_s, simulation_time_ps, …_kj_mol, temperature_k: of each frame that has one of these;
                              empty: unknown there */
    REEL_NANOVER_FRAMES, /* time, frame_index, reset, particles, simulation_time_ps, …_kj_mol, temperature_k, keys: of
                          * each frame what it itself says; keys: a list of all that it has */
    REEL_NANOVER_STATES, /* time, state: after each message that changes it, the whole state as {key: value…} */
};
struct reel_nanover_question {
    enum reel_nanover_topic topic;
    const char *const *keys;                /* changes, states: only keys that match one of these globs */
    uint32_t n_keys;                        /* 0 = all */
    const struct reel_selection *selection; /* all but resets: times and sampling of it; NULL = all */
};

/* A pass in progress: emits rows while it reads messages. Memory: one message, and the text of one value. */
struct reel_nanover;
/* All is copied; the context of `rows` outlives the pass. */
struct reel_nanover *reel_nanover_open(struct reel_recording *recording, const struct reel_nanover_question *question,
                                       const struct reel_table *rows, struct reel_error *err);
void reel_nanover_free(struct reel_nanover *pass);
REEL_DEFINE_AUTO(struct reel_nanover, reel_nanover_free);
/* Continues for a bounded number of messages and rows; *done: all rows are emitted. A sink that takes no more: false
 * with REEL_CANCELLED.
 */
bool reel_nanover_step(struct reel_nanover *pass, bool *done, struct reel_error *err);

#endif
