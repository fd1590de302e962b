/* The steps of planning, for one stream (plan.c) and for groups that are compressed on several threads
 * (plan_compressed.c): plan_new(), plan_head(), plan_next_group() and plan_append() for each group, plan_tail(). */
#ifndef REEL_CONVERT_PLAN_H
#define REEL_CONVERT_PLAN_H

#include "convert/writer_run.h"

struct planned_group { /* a group that is not yet in the plan */
    struct reel_position first;
    uint32_t count;
    bool packs;    /* its size and note are known when it has been packed */
    uint64_t size; /* until then, an upper bound */
};

/* A plan without groups. It does not keep the stream. */
struct reel_plan *plan_new(const struct reel_writer *writer, const struct reel_write_options *options,
                           const struct reel_stream *stream, struct reel_error *err);
/* Opens the run, which is to be closed even after a failure, and plans the head. */
bool plan_head(struct writer_run *run, struct reel_stream *stream, const struct reel_progress *progress,
               struct reel_sink *out, struct reel_error *err);
/* Decides which messages group `group` has. Its note is in run->note, unless it packs. */
bool plan_next_group(struct writer_run *run, uint64_t group, struct reel_sink *out, struct planned_group *planned,
                     struct reel_error *err);
/* Adds the group at the end of the plan. */
bool plan_append(struct reel_plan *plan, const struct planned_group *planned, struct reel_bytes note,
                 struct reel_error *err);
bool plan_tail(struct writer_run *run, struct reel_sink *out, struct reel_error *err);

#endif
