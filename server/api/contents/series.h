/* Numeric fields over time: read in series.c, written as text in series_text.c, drawn in plot.c. */
#ifndef SERVER_API_CONTENTS_SERIES_H
#define SERVER_API_CONTENTS_SERIES_H

#include "api/recording.h"
#include "api/rows.h"
#include "reel/values.h"
#include "syntax/json_out.h"

struct series {
    char recording[RECORDING_ID_TEXT], *name; /* id and name of the recording */
    const char *field;                        /* as in the request */
    enum reel_clock clock;
    int64_t zero_ns; /* of time_format=relative */
    struct reel_point *points;
    size_t count;
    bool is_float32; /* of such values */
};
/* A value as the shortest number that reads back. A mean is seldom a float32 and then has the digits of a double. */
bool series_value_is_float32(const struct series *s, double value);
void series_number(const struct series *s, double value, char out[REEL_NUMBER_TEXT]);
void series_free(struct series *all, size_t n); /* NULL is fine */

struct series_request { /* for one recording, as relative times depend on it */
    int64_t start_ns, end_ns, zero_ns;
    uint64_t max_points;
    enum reel_aggregate how;
    int64_t wait_until_ns; /* how long to wait for columns */
};
bool series_how(const char *name, enum reel_aggregate *how); /* "minmax" …; false: unknown */
/* start/from, end/to, max_points and agg; false: replied (400). */
bool series_query(struct http_request *r, const struct reel_index *index, struct series_request *out);

/* Why a series is not available. */
struct series_error {
    struct reel_error error;
    char job[33]; /* set: this job is still reading the values */
};
bool series_read(struct http_request *r, const struct api_recording *a, const struct series_request *q,
                 const char *field, struct series *out, struct series_error *trouble);
void series_refuse(struct http_request *r, const struct series_error *trouble); /* replies */

/* Replies with `n` series; with `across` each names its recording. */
void series_reply(struct http_request *r, const struct series *all, size_t n, bool across,
                  const struct rows_form *form);

#endif
