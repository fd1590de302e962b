/* The steps of planning, for one stream (plan.c) and for packing on several threads (packing.c). */
#ifndef REEL_CONVERT_PLAN_H
#define REEL_CONVERT_PLAN_H

#include "convert/writer_run.h"

struct planned { /* a group before it has its place */
    struct reel_position first;
    uint32_t count;
    bool packs;    /* its size and note are known when it has been packed */
    uint64_t size; /* until then, as many bytes as it can have */
};

/* A plan without groups, and without the stream. */
struct reel_plan *plan_new(const struct reel_writer *writer, const struct reel_write_options *options,
                           const struct reel_stream *stream, struct reel_error *err);
/* Opens the run (run_close() even if it fails) and plans the head. */
bool plan_head(struct run *run, struct reel_stream *stream, const struct reel_progress *progress, struct reel_sink *out,
               struct reel_error *err);
/* Decides the messages of group `group`; the note of one that does not pack is in run->note. */
bool plan_lay(struct run *run, uint64_t group, struct reel_sink *out, struct planned *p, struct reel_error *err);
/* Appends the group to the plan. */
bool plan_place(struct reel_plan *plan, const struct planned *p, struct reel_bytes note, struct reel_error *err);
bool plan_tail(struct run *run, struct reel_sink *out, struct reel_error *err);

#endif
