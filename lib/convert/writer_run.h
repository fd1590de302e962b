/* One run of a writer over a stream, and the plan that such a run makes or follows. */
#ifndef REEL_CONVERT_WRITER_RUN_H
#define REEL_CONVERT_WRITER_RUN_H

#include "base/arena.h"
#include "base/grow.h"
#include "convert/taken_messages.h"
#include "convert/writer.h"

struct tail_part {
    uint64_t offset, size; /* in the output */
    const uint8_t *note;
    uint32_t note_size;
};

struct group_store; /* convert/group_store.h */

struct reel_plan {
    _Atomic uint32_t references;
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct arena arena; /* texts of the options, totals, notes, reel_write_keep() */
    void *totals;       /* of the writer */
    uint64_t head_size;
    struct reel_group *groups;
    struct reel_position *positions; /* of each group's first message */
    size_t n_groups, cap_groups, cap_positions;
    struct tail_part *tail;
    size_t n_tail, cap_tail;
    uint64_t length, messages;
    uint64_t unfit, left_out; /* messages that do not fit their definition, and those that the writer leaves out */
    struct reel_write_counts counts;
    struct reel_initial_state *initial; /* messages before the selection; NULL: none */
    struct group_store *store;          /* bytes of packed groups; NULL: none */
};

struct writer_run {
    struct reel_write w;    /* first: writers get &run->w */
    struct reel_plan *plan; /* NULL: rows */
    struct reel_message pending;
    bool has_pending;
    uint64_t taken, quota;                /* messages of the current group: so far, at most */
    struct taken_messages *keeps;         /* while planning: gets all messages that are taken; NULL: nothing does */
    struct reel_position first;           /* position of its first message */
    uint8_t *scratch;                     /* pieces of payloads that are hashed or needed in part */
    struct grow note;                     /* of the current group, while it is planned or packed */
    bool packs;                           /* the writer has called reel_write_pack() for the group being planned */
    const struct reel_progress *progress; /* of planning; may be NULL */
    uint64_t total;                       /* messages of the recordings, for `progress` */
    uint64_t stream_group; /* the group whose first message the stream gives next; UINT64_MAX: not known */
};

/* Copies the options, with their texts, into the arena. False: no memory. */
bool writer_run_copy_options(struct reel_write_options *copy, const struct reel_write_options *options,
                             uint32_t n_sources, struct arena *arena);

bool writer_compresses(const struct reel_write_options *options);

/* The stream is at its start. After a failure, too, the run is to be closed. Everything that is passed must outlive the
 * run. */
bool writer_run_open(struct writer_run *run, const struct reel_writer *writer, const struct reel_write_options *options,
                     struct reel_stream *stream, void *totals, bool planning, struct reel_error *err);
void writer_run_close(struct writer_run *run); /* does not free the stream */

/* Starts a group of at most `quota` messages; the writer's messages() is to be called next. */
void writer_run_begin_group(struct writer_run *run, uint64_t group, uint64_t quota);
/* Emits the group of `count` messages from `first` on, wherever the stream is. Fails unless the writer takes exactly
 * so many. */
bool writer_run_emit_group(struct writer_run *run, uint64_t group, const struct reel_position *first, uint64_t count,
                           struct reel_sink *out, struct reel_error *err);
/* The same for a group that the writer packs (reel_write_pack()). Its note is then in run->note. */
bool writer_run_pack_group(struct writer_run *run, uint64_t group, const struct reel_position *first, uint64_t count,
                           struct reel_sink *out, struct reel_error *err);

/* Sets *more when another message follows; it becomes the pending message. */
bool writer_run_has_more(struct writer_run *run, bool *more, struct reel_error *err);
/* Returns a pending message to the stream, so that stream and writer are at the same position. */
bool writer_run_return_pending(struct writer_run *run, struct reel_error *err);

#endif
