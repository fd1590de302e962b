/* The figures that `rosbag info` prints: computed by report_info.c, written by report_text.c. */
#ifndef REEL_FORMATS_ROSBAG_REPORT_INFO_H
#define REEL_FORMATS_ROSBAG_REPORT_INFO_H

#include "base/grow.h"
#include "formats/rosbag/info.h"

enum { BAG_CODECS = 7 }; /* in the order of enum reel_codec */

struct bag_topic {
    const char *name, *type;
    uint64_t messages;
    uint32_t connections;
    double rate; /* Hz, from the median of the periods; 0 = unknown */
};
struct bag_type {
    const char *name, *md5;
    uint32_t channel; /* its first channel */
};
struct bag_codec {
    const char *name;
    uint64_t chunks, raw, stored;
};

struct bag_figures { /* texts point into the recording's index */
    char version[64];
    bool short_;   /* empty to rosbag: no messages, or no index that it supports */
    bool no_index; /* a bag of version 1.2 from before bags had indexes */
    bool version1; /* one connection per topic, no chunks */
    double start_s, end_s;
    uint64_t size, messages, chunks;
    struct bag_codec codecs[BAG_CODECS]; /* most chunks first; those without chunks at the end */
    struct bag_topic *topics;            /* by name */
    struct bag_type *types;              /* by name */
    size_t n_topics, n_types;
};

static inline double bag_seconds(int64_t ns) {
    int64_t whole = ns / 1000000000 - (ns % 1000000000 < 0);
    return (double)whole + (double)(ns - whole * 1000000000) / 1e9;
}

/* report_file.c. A bag of version 1.2 without a file header is from before bags had indexes. */
bool bag_has_file_header(struct reel_recording *recording, bool *yes, struct reel_error *err);
/* Reads chunks (f->codecs has the names) and time span of a bag of version 2.0; *valid false: its index is
 * inconsistent, and nothing was changed. */
bool bag_read_chunks(struct reel_recording *recording, struct bag_figures *f, bool *valid, struct reel_error *err);

void bag_info_text(const struct bag_figures *f, const char *path, struct grow *out);
void bag_info_yaml(const struct bag_figures *f, const char *path, struct grow *out);

#endif
