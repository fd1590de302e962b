/* Numbers of fields over time, as requests ask for them: read in series.c, told in series_text.c, drawn in plot.c. */
#ifndef SERVER_API_SERIES_H
#define SERVER_API_SERIES_H

#include "api/common.h"
#include "reel/series.h"

struct series {
    char recording[RECORDING_ID_TEXT], *name; /* which has the field, and its name */
    const char *field;                        /* as it was asked for */
    enum reel_clock clock;
    int64_t zero_ns; /* of time_format=relative */
    struct reel_point *points;
    size_t count;
};
void series_free(struct series *all, size_t n); /* NULL is fine */

struct series_question { /* of one recording: relative times are its own */
    int64_t start_ns, end_ns, zero_ns;
    uint64_t max_points;
    enum reel_aggregate how;
    int64_t wait_until_ns; /* for columns that are being made */
};
bool series_how(const char *name, enum reel_aggregate *how); /* "minmax" …; false: no such way */
/* start/from, end/to, max_points and agg; false: replied (400). */
bool series_ask(struct http_request *r, const struct reel_index *index, struct series_question *out);

/* Why a series could not be read. */
struct series_trouble {
    struct reel_error error;
    char job[33]; /* set: its values are still being read, by this job */
};
bool series_read(struct http_request *r, const struct api_recording *a, const struct series_question *q, const char *field,
                 struct series *out, struct series_trouble *trouble);
void series_refuse(struct http_request *r, const struct series_trouble *trouble); /* replies */

/* The media type the client wants; NULL: replied (406). */
const char *series_media(struct http_request *r);
/* Replies with `n` series of one recording, or, `across`, each with the recording it is of. */
void series_reply(struct http_request *r, const struct series *all, size_t n, bool across, const char *media);

#endif
