/* What `reel cat` prints besides rows: messages for people, one of their parts, or figures about them, after the output
 * styles of RSBag's `bag cat`. */
#ifndef SERVER_CLI_CAT_STYLES_H
#define SERVER_CLI_CAT_STYLES_H

#include "base/output_file.h"
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
bool cat_in_style(struct reel_stream *stream, const struct cat_options *options, struct output_file *out,
                  struct reel_error *err);

#endif
