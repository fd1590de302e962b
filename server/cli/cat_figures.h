/* What `reel cat` prints besides rows, and the figures among that: statistics, monitor and timeline. */
#ifndef SERVER_CLI_CAT_FIGURES_H
#define SERVER_CLI_CAT_FIGURES_H

#include "base/grow.h"
#include "reel/time.h"
#include "stream/stream.h"

enum cat_style {
    CAT_PAYLOAD,    /* the value of each message, a line each */
    CAT_METADATA,   /* all but the payload, as JSON */
    CAT_DETAILED,   /* several lines */
    CAT_COMPACT,    /* one line, the payload cut */
    CAT_STATISTICS, /* CSV: rate, throughput and sizes in each interval */
    CAT_MONITOR,    /* the same for each topic */
    CAT_TIMELINE,   /* a bar for each topic: where its messages are */
    CAT_FILES,      /* each payload a file */
};
struct cat_options {
    enum cat_style style;
    uint64_t limit;           /* messages; 0: all */
    int64_t first_index;      /* of the first message */
    int64_t interval_ns;      /* of statistics and monitor */
    int64_t start_ns, end_ns; /* of the timeline */
    const char *folder;       /* of files: made if there is none */
    enum reel_clock clock;
};

struct cat_figures;
struct cat_figures *cat_figures_new(const struct reel_stream *stream, const struct cat_options *options); /* NULL: no
                                                                                                             memory */
void cat_figures_free(struct cat_figures *figures); /* NULL is fine */
REEL_DEFINE_AUTO(struct cat_figures, cat_figures_free);
/* Counts a message; writes the intervals that are over. False: no memory. */
bool cat_figures_add(struct cat_figures *figures, const struct reel_message *m, struct grow *to);
/* Writes the rest. */
bool cat_figures_end(struct cat_figures *figures, struct grow *to);

/* As the recording's clock has it. */
const char *cat_time(int64_t ns, enum reel_clock clock, char out[REEL_TIME_TEXT]);

#endif
