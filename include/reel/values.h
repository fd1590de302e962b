/* The values in the messages of a recording: the fields of a topic, a numeric field over time, and when a condition on
 * fields held. Encodings that Reel decodes: see docs/formats.md; REEL_UNSUPPORTED names one that it does not.
 *
 * Columns and questions are immutable and may be used by any number of threads; statistics belong to one at a time. */
#ifndef REEL_VALUES_H
#define REEL_VALUES_H

#include "reel/open.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- fields */

/* A field that every message of a topic has. Valid during the call of a reel_field_visit. */
struct reel_field {
    const char *path; /* keys joined by '.', indexes of fixed-length arrays as numbers: "pose.covariance.35" */
    const char *type; /* "float64", "string", "time", "uint8[]"; the schema's own word where there is one */
    const char *unit; /* "m", "rad", "nm"; "": unknown or none */
    bool numeric;     /* one number (a bool counts): reel_column_new() reads it */
};
typedef bool (*reel_field_visit)(void *context, const struct reel_field *field); /* false ends it */

/* Calls visit() for the fields of a topic, in the order of the payload, each path once: those of its schemas, or, where
 * there is none, those that its first message has (numbers of lists are one field). REEL_NOT_FOUND: no such topic. */
bool reel_topic_fields(struct reel_recording *recording, const char *topic, reel_field_visit visit, void *context,
                       struct reel_error *err);

/* "/topic.path[2].x": the longest topic of the recording that the text begins with (a leading slash does not count),
 * and what follows its dot ("": the payload itself, where that is a number). *topic points into the recording, *path
 * into `text`. REEL_NOT_FOUND: no topic. */
bool reel_series_split(const struct reel_recording *recording, const char *text, const char **topic, const char **path,
                       struct reel_error *err);

/* ---- a numeric field over time: read once into a column, drawn from it at any number of points */

/* The values of a field in time order. Up to REEL_COLUMN_EXACT of them each for itself; of more, runs of so many that
 * as many runs cover all, each with its first, last, smallest and largest point, sum and count. Values that are not
 * numbers are left out, and NaN; a time or a duration is its seconds. Counted references. */
enum { REEL_COLUMN_EXACT = 1 << 18 };
struct reel_column;
/* Of the messages of `topic` with start_ns <= time < end_ns. `progress` may be NULL. REEL_NOT_FOUND: there is no such
 * topic, or no message of it has the field as a number (the texts say what there is; not where messages outside of the
 * interval may have it). REEL_ARGUMENT: the field is an object or a list; the text names its numbers. Free with
 * reel_column_free(). */
struct reel_column *reel_column_new(struct reel_recording *recording, const char *topic, const char *path,
                                    int64_t start_ns, int64_t end_ns, const struct reel_progress *progress,
                                    struct reel_error *err);
struct reel_column *reel_column_ref(struct reel_column *column);
void reel_column_free(struct reel_column *column); /* gives one reference back; NULL is fine */
REEL_DEFINE_AUTO(struct reel_column, reel_column_free);

struct reel_point {
    int64_t time_ns;
    double value;
};
enum reel_aggregate {
    REEL_MINMAX, /* of each bucket the smallest and the largest value, at their times: no peak is lost */
    /* mean and triangles are of the finite values of a bucket, where it has some */
    REEL_MEAN, /* of each bucket the mean, at the bucket's start */
    /* of each bucket the point that makes the largest triangle with its neighbours: the shape, for the eye */
    REEL_LTTB,
    REEL_LAST, /* of each bucket its last point */
};
/* At most max_points (at least 2) of [start_ns, end_ns), in time order, into out[max_points]; returns how many. All
 * there are when they are no more. Where the column has runs, a run belongs to the bucket that its first value is in.
 */
size_t reel_column_points(const struct reel_column *column, int64_t start_ns, int64_t end_ns, size_t max_points,
                          enum reel_aggregate how, struct reel_point *out);

/* How many messages of `topic` there are in [start_ns, end_ns), from the index alone. */
bool reel_series_count(struct reel_recording *recording, const char *topic, int64_t start_ns, int64_t end_ns,
                       uint64_t *count, struct reel_error *err);

/* ---- field statistics: of each block of messages the smallest and the largest value of each field. They answer most
 * questions; only the blocks that they cannot decide are read. */

/* Reads the recording once, in bounded memory, and returns the bytes of its statistics, to be stored in a file. Release
 * them with free(). */
bool reel_statistics_make(struct reel_recording *recording, const struct reel_progress *progress, uint8_t **data,
                          size_t *size, struct reel_error *err);

/* Takes `fd`, a file with these bytes, over, also on failure. REEL_CHANGED: of another version, or damaged: make them
 * again. Free with reel_statistics_free(). */
struct reel_statistics;
struct reel_statistics *reel_statistics_open(int fd, struct reel_error *err);
void reel_statistics_free(struct reel_statistics *statistics); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_statistics, reel_statistics_free);

/* ---- questions: when did a condition hold? */

/* "/battery.voltage<11 and (/odom.twist.linear.x>0.5 or /mode.name="auto run")"; of where[n] all must hold, for at
 * least `for_ns`. REEL_ARGUMENT: a text is not understood. Free with reel_question_free(). */
struct reel_question;
struct reel_question *reel_question_new(const char *const *where, uint32_t n, int64_t for_ns, struct reel_error *err);
void reel_question_free(struct reel_question *question); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_question, reel_question_free);

/* From the first message with which the whole condition holds to the next one with which it does not, or to the last
 * message of the topic. A condition on a topic holds from a message of it to the next, and not before its first nor
 * after its last message. */
struct reel_interval {
    int64_t start_ns, end_ns; /* of the recording's clock */
    uint64_t count;           /* messages of the topics in question, start_ns <= time < end_ns */
    bool has_values;
    double min, max; /* of the first field that the question names, in these messages */
};
struct reel_answer {
    struct reel_interval *intervals; /* the first n, in order */
    uint32_t n;
    uint64_t total;            /* how many there are … */
    struct reel_interval span; /* … from the first one's start to the last one's end, counts and extremes together … */
    int64_t held_ns;           /* … and how long they are together */
    bool complete;             /* else the question was answered up to until_ns only */
    int64_t until_ns;
    uint64_t blocks, blocks_read; /* of messages */
};
struct reel_question_options {
    size_t size;            /* sizeof(struct reel_question_options) */
    uint32_t intervals_max; /* how many to return; 0: stop at the first one */
    /* Opens the recording when blocks have to be read; the answer takes the reference over. */
    struct reel_recording *(*open)(void *context, struct reel_error *err);
    void *context;
    const struct reel_progress *progress; /* of an unknown total (0); when it cancels, the answer is not complete; may
                                             be NULL */
};
/* Empty where no topic of the recording is asked about. Free with reel_answer_free(). */
struct reel_answer *reel_question_answer(const struct reel_question *question, struct reel_statistics *statistics,
                                         const struct reel_question_options *options, struct reel_error *err);
void reel_answer_free(struct reel_answer *answer); /* NULL is fine */
REEL_DEFINE_AUTO(struct reel_answer, reel_answer_free);

#ifdef __cplusplus
}
#endif

#endif
