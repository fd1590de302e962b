/* Parts of an output rendered ahead of its reader, on the threads that its conversion shares, and taken in order.
 * Memory is bounded: there are a few more pieces than threads, each with the bytes of one task. After a piece that
 * failed none is begun: they fail, too. */
#ifndef REEL_CONVERT_PIPELINE_H
#define REEL_CONVERT_PIPELINE_H

#include "base/grow.h"
#include "base/threads.h"
#include "convert/conversion.h"
#include "convert/plan.h"

enum {
    AHEAD_PIECE = 4 << 20, /* intended size of a piece, less for many threads … */
    AHEAD_PIECE_MIN = 1 << 20,
    AHEAD_ALL = 64 << 20,      /* … so that all pieces have about so many bytes */
    AHEAD_GROUPS = 16,         /* packed groups in a piece, at most */
    AHEAD_ROWS = 2 << 20,      /* payload bytes of a piece of rows … */
    AHEAD_ROWS_MAX = 32768,    /* … of at most so many messages */
    AHEAD_TEXT_MAX = 16 << 20, /* the rows of a piece; one with more is rendered by the reader, in windows */
};

struct ahead;

struct ahead_piece {
    struct thread_task task;
    struct ahead *ahead;
    bool done, good; /* under the mutex of `ahead` until it is taken */
    bool ready;      /* set by next(): it needs no work */
    struct reel_error err;
    uint64_t number;
    uint8_t *data; /* result */
    size_t size, capacity;
    /* Of a planned output: */
    uint64_t offset;
    /* Of rows: */
    struct reel_position first;
    uint64_t before, count;
    bool too_large;
    /* Of an output that is being planned: */
    uint64_t group; /* number of the first one */
    uint32_t n_groups;
    struct planned groups[AHEAD_GROUPS];
    struct {
        size_t at, size; /* in `notes` */
    } note[AHEAD_GROUPS];
    struct grow notes;
};

struct ahead_ops {
    /* On the reader's thread: what the next piece is. False: there is none, or err is set. */
    bool (*next)(void *context, struct ahead_piece *piece, struct reel_error *err);
    /* On any thread, with a render of its own: fills data, size. */
    bool (*work)(void *context, struct reel_render *render, struct ahead_piece *piece, struct reel_error *err);
};

/* `plan` and `initial` may be NULL. With `shared` false the work is done by the reader, one piece at a time. All
 * pointers must outlive it. */
struct ahead *ahead_new(struct reel_conversion *conversion, struct reel_plan *plan, struct reel_initial_state *initial,
                        bool shared, const struct ahead_ops *ops, void *context, struct reel_error *err);
void ahead_free(struct ahead *ahead); /* waits for what is being rendered; NULL is fine */
REEL_DEFINE_AUTO(struct ahead, ahead_free);

size_t ahead_bytes(const struct ahead *ahead); /* intended size of a piece */

/* Waits for the oldest piece, which stays valid until ahead_return(). NULL: the end, or err is set. */
struct ahead_piece *ahead_take(struct ahead *ahead, struct reel_error *err);
void ahead_return(struct ahead *ahead);

/* Makes piece->data hold `size` bytes; what it held is lost. */
bool ahead_room(struct ahead_piece *piece, size_t size, struct reel_error *err);
/* The same; what it held stays. */
bool ahead_grow(struct ahead_piece *piece, uint64_t size, struct reel_error *err);

#endif
