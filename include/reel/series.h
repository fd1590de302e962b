/* One numeric field of a topic over time: read once into a column, drawn from it at any number of points. */
#ifndef REEL_SERIES_H
#define REEL_SERIES_H

#include "reel/encoding.h"
#include "reel/iterate.h"
#include "reel/scan.h"

#ifdef __cplusplus
extern "C" {
#endif

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
uint64_t reel_column_memory(const struct reel_column *column);
/* All values were float32: those that are drawn unchanged read best as reel_number_text32() writes them. */
bool reel_column_is_float32(const struct reel_column *column);
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
