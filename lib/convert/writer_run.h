/* One run of a writer over a stream: what plan.c and render.c share. */
#ifndef REEL_CONVERT_WRITER_RUN_H
#define REEL_CONVERT_WRITER_RUN_H

#include "base/arena.h"
#include "base/grow.h"
#include "convert/writer.h"

struct tail_part {
    uint64_t offset, size;
    const uint8_t *note;
    uint32_t note_size;
};

struct kept; /* convert/group_store.h */

struct reel_plan {
    _Atomic uint32_t references;
    const struct reel_writer *writer;
    struct reel_write_options options;
    struct arena arena; /* totals, notes, allocations of writers */
    void *totals;
    uint64_t head_size;
    struct reel_group *groups;
    struct reel_position *marks; /* position of each group's first message */
    size_t n_groups, cap_groups, cap_marks;
    struct tail_part *tail;
    size_t n_tail, cap_tail;
    uint64_t length, messages;
    uint64_t unfit, left_out; /* messages that do not fit their definition, and those that the writer leaves out */
    struct reel_write_counts counts;
    struct reel_initial_state *initial;
    struct kept *kept; /* bytes of packed groups; NULL: none */
};

struct run {
    struct reel_write w;    /* first: writers get &run->w */
    struct reel_plan *plan; /* NULL while streaming */
    struct reel_message pending;
    bool has_pending;
    uint64_t taken, quota;                /* messages of this group: so far, at most */
    struct reel_position first;           /* mark of this group's first message */
    uint8_t *scratch;                     /* payload pieces for hashing */
    struct grow note;                     /* planning and packing: note of the current group */
    bool packs;                           /* planning: the writer has called reel_write_pack() for this group */
    const struct reel_progress *progress; /* planning; may be NULL */
    uint64_t total;                       /* planning: messages of the recordings */
    uint64_t stream_group; /* the message group at which the stream is positioned; UINT64_MAX = unknown */
};

/* Copies the options with their texts into the arena: a plan outlives the caller's options. False: no memory. */
bool run_copy_options(struct reel_write_options *copy, const struct reel_write_options *options, uint32_t n_sources,
                      struct arena *arena);

bool run_open(struct run *run, const struct reel_writer *writer, const struct reel_write_options *options,
              struct reel_stream *stream, void *totals, bool planning, struct reel_error *err);
void run_close(struct run *run); /* does not free the stream */
void run_begin_group(struct run *run, uint64_t group, uint64_t quota);
/* Emits group `group` of a writer that packs it; its note is then in run->note. */
bool run_pack(struct run *run, uint64_t group, const struct reel_position *first, uint64_t count, struct reel_sink *out,
              struct reel_error *err);
/* Sets *more when another message follows; that message is kept as pending. */
bool run_has_more(struct run *run, bool *more, struct reel_error *err);
/* Puts a pending message back into the stream, so that stream and writer are at the same position. */
bool run_return_pending(struct run *run, struct reel_error *err);

#endif
