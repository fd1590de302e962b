/* Questions about the values of a recording: when did a condition on fields of its messages hold? Field statistics
 * answer most of it: of each block of messages the smallest and the largest value of each field. Only the blocks that
 * they cannot decide are read. */
#ifndef REEL_VALUES_H
#define REEL_VALUES_H

#include "reel/bytes.h"
#include "reel/reader.h"
#include "reel/scan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- field statistics */

/* Reads the recording once, in bounded memory, and returns the bytes of its statistics, from malloc. */
bool reel_statistics_make(struct reel_recording *recording, const struct reel_progress *progress, uint8_t **data,
                          size_t *size, struct reel_error *err);

struct reel_statistics;
/* Takes `fd` over, also on failure. REEL_CHANGED: of another version of the statistics or the decoders, or damaged:
 * make them again. */
struct reel_statistics *reel_statistics_open(int fd, struct reel_error *err);
void reel_statistics_free(struct reel_statistics *statistics); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_statistics, reel_statistics_free);

/* ---- questions */

struct reel_question;
/* "/battery.voltage<11 and (/odom.twist.linear.x>0.5 or /mode.name="auto run")"; of several texts all must hold.
 * `for_ns`: at least so long. REEL_ARGUMENT. */
struct reel_question *reel_question_new(const char *const *where, uint32_t n, int64_t for_ns, struct reel_error *err);
void reel_question_free(struct reel_question *question); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_question, reel_question_free);

/* From the first message with which the whole condition holds to the next one with which it does not, or to the last
 * message of the topic. A condition on a topic holds from a message of it to the next, and not before its first nor
 * after its last message. */
struct reel_interval {
    int64_t start_ns, end_ns; /* of the recording's clock */
    uint64_t count;           /* messages of the topics asked about, from start on and before end */
    bool has_values;
    double min, max; /* of the first field that the question names, in these messages */
};
struct reel_answer {
    struct reel_interval *intervals; /* the first ones, in order */
    uint32_t n;
    uint64_t total; /* of all of them: how many … */
    struct reel_interval
        span;        /* … and from the first one's start to the last one's end, counts and extremes together */
    int64_t held_ns; /* … and how long they are together */
    bool complete;   /* else the question was answered up to until_ns only */
    int64_t until_ns;
    uint64_t blocks, blocks_read;
};
void reel_answer_done(struct reel_answer *answer);

struct reel_ask {
    uint32_t intervals_max; /* how many to keep; 0: stop at the first one */
    /* Opens the recording, where blocks have to be read; the reference is taken over. */
    struct reel_recording *(*open)(void *context, struct reel_error *err);
    void *context;
    const struct reel_progress *progress; /* false: the answer is not complete; may be NULL */
};
/* The answer is empty where no topic of the recording is asked about. */
bool reel_question_answer(const struct reel_question *question, struct reel_statistics *statistics,
                          const struct reel_ask *ask, struct reel_answer *out, struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
