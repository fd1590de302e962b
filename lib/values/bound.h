/* A question bound to the statistics of one recording: which channels it is about, and which of their blocks have to be
 * read. */
#ifndef REEL_VALUES_BOUND_H
#define REEL_VALUES_BOUND_H

#include "decode/condition.h"
#include "decode/fields.h"
#include "reel/values.h"
#include "values/statistics.h"

struct reel_question {
    struct conditions all;
    int64_t for_ns;
};

/* Whether the whole question holds at every message of a block and until the next one, at none of them, or the block
 * has to be read. */
enum decision { BLOCK_NO, BLOCK_YES, BLOCK_READ };
enum { FIELD_ABSENT = -1 /* no message has it */, FIELD_UNKNOWN = -2 /* it has no statistics */ };

struct lane { /* a channel that is asked about */
    struct channel_statistics *channel;
    uint32_t conditions;            /* bits: those that are about it */
    int32_t fields[CONDITIONS_MAX]; /* their fields: numbers in channel->fields, or FIELD_… */
    uint8_t *decisions;             /* by block */
    uint32_t block;                 /* the current one; UINT32_MAX: none yet */
    uint64_t before[3];             /* bound_decide(): what was counted when it began */
};

/* Where a block begins, or a condition's topic ends: behind all messages of that time. */
struct bound_event {
    struct pack_key at;
    uint32_t lane;   /* UINT32_MAX: it is an end … */
    uint32_t number; /* … of this condition; else the block */
};
struct bound {
    const struct reel_question *question;
    struct reel_statistics *statistics;
    char paths[CONDITIONS_MAX][FIELD_PATH_MAX]; /* of the conditions, in their topics */
    struct lane *lanes;
    struct bound_event *events; /* in the order of the recording */
    uint32_t n_lanes;
    size_t n_events;
    uint64_t blocks, reads;
};

/* *may_hold: by the channels as a whole it is not ruled out; else nothing more is to be done. */
bool bound_open(struct bound *b, const struct reel_question *q, struct reel_statistics *s, bool *may_hold,
                struct reel_error *err);
/* Reads the sections of its channels, and decides for each block. */
bool bound_decide(struct bound *b, struct reel_error *err);
void bound_done(struct bound *b);

/* The condition at a block of a lane. */
enum truth bound_truth(const struct bound *b, const struct lane *lane, uint32_t condition, uint32_t block);

#endif
