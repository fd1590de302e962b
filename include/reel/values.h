/* Questions about the values of a recording: when did a condition on fields of its messages hold? Field statistics
 * answer most of it: of each block of messages the smallest and the largest value of each field. Only the blocks that
 * they cannot decide are read. */
#ifndef REEL_VALUES_H
#define REEL_VALUES_H

#include "reel/open.h"

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

/* ---- fields */

/* A field that every message of a channel has, for columns and for lists of what can be plotted. */
struct reel_field {
    const char *path; /* keys joined by '.', indexes of fixed-length arrays as numbers: "pose.covariance.35" */
    const char *type; /* "float64", "string", "time", "uint8[]"; the schema's own word where there is one */
    const char *unit; /* "m", "rad", "nm"; "" = unknown or none */
    bool numeric;     /* one number (a bool counts): can be plotted */
};
/* Asked for each field, in the order of the payload; false ends it. */
typedef bool (*reel_field_visit)(void *context, const struct reel_field *field);

/* ---- one numeric field over time: read once into a column, drawn from it at any number of points */

struct reel_point {
    int64_t time_ns;
    double value;
};

enum reel_aggregate {
    REEL_MINMAX, /* of each bucket the smallest and the largest value, at their times: no peak is lost */
    REEL_MEAN,   /* of each bucket the mean, at the bucket's start */
    REEL_LTTB,   /* of each bucket the point that makes the largest triangle with its neighbours: the shape, for the eye
                  */
    REEL_LAST,   /* of each bucket its last point */
};

/* The values of a field in time order. Up to REEL_COLUMN_EXACT of them each for itself; of more, runs of so many that
 * as many runs cover all, each with its first, last, smallest and largest point, sum and count. Values that are not
 * numbers are left out. Immutable; counted references. */
enum { REEL_COLUMN_EXACT = 1 << 18 };
struct reel_column;
/* Messages of `topic` with start_ns <= time < end_ns. REEL_NOT_FOUND: there is no such topic, or no message of it has
 * the field as a number (the texts say what there is; not where messages outside of the interval may have it);
 * REEL_UNSUPPORTED: it is not decoded. */
struct reel_column *reel_column_new(struct reel_recording *recording, const char *topic, const char *path,
                                    int64_t start_ns, int64_t end_ns, const struct reel_progress *progress,
                                    struct reel_error *err);
struct reel_column *reel_column_ref(struct reel_column *column);
void reel_column_free(struct reel_column *column); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_column, reel_column_free);
/* At most max_points (at least 2) of [start_ns, end_ns), in time order, into `out` (room for max_points); returns how
 * many. All there are when they are no more. Where the column has runs, a run belongs to the bucket that its first
 * value is in. */
size_t reel_column_points(const struct reel_column *column, int64_t start_ns, int64_t end_ns, size_t max_points,
                          enum reel_aggregate how, struct reel_point *out);

/* How many messages of `topic` there are in the interval, from the index alone. */
bool reel_series_count(struct reel_recording *recording, const char *topic, int64_t start_ns, int64_t end_ns,
                       uint64_t *count, struct reel_error *err);

/* "/topic.path[2].x": the longest topic of the recording that the text begins with (a leading slash does not count),
 * and what follows its dot ("": the payload itself, where that is a number). REEL_NOT_FOUND: no topic. `topic` points
 * into the recording, `path` into `text`. */
bool reel_series_split(const struct reel_recording *recording, const char *text, const char **topic, const char **path,
                       struct reel_error *err);

/* The fields of a topic: those of its schemas, or, where there is none, those that its first message has (numbers of
 * lists are one field). Each path once. REEL_NOT_FOUND: no such topic; why it is not decoded, where it is not. */
bool reel_topic_fields(struct reel_recording *recording, const char *topic, reel_field_visit visit, void *context,
                       struct reel_error *err);

#ifdef __cplusplus
}
#endif

#endif
