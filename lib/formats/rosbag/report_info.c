/* Computes the figures of `rosbag info` from the index, with rosbag's own definitions: seconds are doubles, a bag of
 * version 2 begins with its first chunk, and one of version 1.2 without a file header has no figures. */
#include "formats/rosbag/report_info.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/encoding.h"
#include "formats/ros/wrap.h"
#include "stream/stream.h"

enum {
    STAMPS_MAX = 8 << 20, /* messages of one topic used for a median: 64 MiB of time stamps */
};

/* --- topics and types --- */

static int by_topic(const void *a, const void *b) {
    const struct reel_channel *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);
    return order ? order : ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

static int by_type(const void *a, const void *b) {
    const struct bag_type *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->channel > y->channel) - (x->channel < y->channel);
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double rate_of(double *stamps, size_t n) {
    qsort(stamps, n, sizeof *stamps, by_value);
    for (size_t i = 0; i + 1 < n; i++) {
        stamps[i] = stamps[i + 1] - stamps[i];
    }
    size_t periods = n - 1;
    qsort(stamps, periods, sizeof *stamps, by_value);
    double median = periods % 2 ? stamps[periods / 2] : (stamps[periods / 2 - 1] + stamps[periods / 2]) / 2;
    return median > 0 ? 1 / median : 0;
}

struct stamps {
    double *seconds;
    size_t n;
};
static bool keep_stamp(void *context, const struct reel_entry *e) {
    struct stamps *s = context;
    s->seconds[s->n++] = bag_seconds(e->time_ns);
    return true;
}

/* The channels[0 … n) of one topic. */
static bool rosbag_measure(struct reel_reader *reader, const struct reel_channel *const *channels, size_t n,
                           struct bag_topic *topic, struct reel_error *err) {
    if (topic->messages < 2 || topic->messages > STAMPS_MAX) {
        return true;
    }
    AUTO_MEM double *seconds = malloc((size_t)topic->messages * sizeof *seconds);
    struct stamps s = {.seconds = seconds};
    if (!seconds) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (!reel_reader_reverse(reader, channels[i]->id, REEL_TIME_MAX, keep_stamp, &s, err)) {
            return false;
        }
    }
    topic->rate = rate_of(seconds, s.n);
    return true;
}

/* Channels that are not ROS's are wrapped in a bag, and rosbag sees the wrapper. */
static bool wrapped(const struct reel_index_info *info, const struct reel_channel *c) {
    return strncmp(info->container, "#ROS", 4) == 0 && ros_wrap_needed(c);
}

static struct bag_type rosbag_type_of(const struct reel_index_info *info, const struct reel_channel *c) {
    if (wrapped(info, c)) {
        return (struct bag_type){ROS_WRAP_TYPE, ROS_WRAP_MD5, c->id};
    }
    const struct reel_schema *own = reel_channel_schema(c);
    return (struct bag_type){c->type, own ? own->hash : "", c->id};
}

/* Each type once, with the sum of its first channel. */
static void fill_types(struct bag_figures *f, const struct reel_index_info *info,
                       const struct reel_channel *const *channels, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        f->types[i] = rosbag_type_of(info, channels[i]);
    }
    if (n > 0) {
        qsort(f->types, n, sizeof *f->types, by_type);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(f->types[i].name, f->types[f->n_types - 1].name) != 0) {
            f->types[f->n_types++] = f->types[i];
        }
    }
}

static bool fill_topics(struct bag_figures *f, struct reel_reader *reader, bool rates, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(reel_reader_recording(reader));
    const struct reel_index_info *info = reel_index_info(index);
    bool lists_silent = strncmp(info->container, "#ROSBAG", 7) != 0; /* of these ROS names those with messages */
    uint32_t n = info->n_channels;
    AUTO_MEM const struct reel_channel **channels = malloc((n + 1u) * sizeof *channels);
    f->topics = calloc(n + 1u, sizeof *f->topics);
    f->types = calloc(n + 1u, sizeof *f->types);
    if (!channels || !f->topics || !f->types) {
        return reel_fail_memory(err);
    }
    n = 0;
    for (uint32_t i = 0; i < info->n_channels; i++) {
        channels[n] = reel_index_channel(index, i);
        n += lists_silent || reel_index_stats(index, i)->count > 0;
    }
    fill_types(f, info, channels, n);
    qsort(channels, n, sizeof *channels, by_topic);
    for (uint32_t i = 0, end; i < n; i = end) {
        struct bag_topic *topic = &f->topics[f->n_topics++];
        *topic = (struct bag_topic){.name = channels[i]->name, .type = rosbag_type_of(info, channels[i]).name};
        for (end = i; end < n && strcmp(channels[end]->name, topic->name) == 0; end++) {
            topic->messages += reel_index_stats(index, channels[end]->id)->count;
        }
        topic->connections = f->version1 ? 1 : end - i;
        if (rates && !rosbag_measure(reader, channels + i, end - i, topic, err)) {
            return false;
        }
    }
    return true;
}

/* --- chunks --- */

static bool add_chunk(void *context, const struct reel_chunk *c) {
    struct bag_figures *f = context;
    if ((unsigned)c->codec < BAG_CODECS) { /* rows of a database are not a chunk */
        f->codecs[c->codec].chunks++;
        f->codecs[c->codec].raw += c->raw;
        f->codecs[c->codec].stored += c->stored;
        f->chunks++;
    }
    return true;
}

/* Most chunks first, then by name from the end of the alphabet. */
static int by_chunks(const void *a, const void *b) {
    const struct bag_codec *x = a, *y = b;
    return x->chunks != y->chunks ? (x->chunks < y->chunks ? 1 : -1) : strcmp(y->name, x->name);
}

static bool fill_chunks(struct bag_figures *f, struct reel_recording *recording, struct reel_error *err) {
    static const char *const names[BAG_CODECS] = {"none", "zlib", "gzip", "deflate", "bz2", "lz4", "zstd"};
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    bool valid = false;
    for (unsigned i = 0; i < BAG_CODECS; i++) {
        f->codecs[i].name = names[i];
    }
    f->start_s = bag_seconds(info->start_ns);
    f->end_s = bag_seconds(info->end_ns);
    if (strncmp(info->container, "#ROSBAG V2", 10) == 0 && !bag_read_chunks(recording, f, &valid, err)) {
        return false;
    }
    if (!valid && !reel_index_chunks(reel_recording_index(recording), add_chunk, f, err)) {
        return false;
    }
    qsort(f->codecs, BAG_CODECS, sizeof *f->codecs, by_chunks);
    return true;
}

static bool is_ros(const struct reel_index *index, const struct reel_index_info *info) {
    bool ros = strncmp(info->container, "#ROS", 4) == 0;
    for (uint32_t i = 0; i < info->n_channels && !ros; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        ros = reel_channel_has_profile(c, "ros1") || reel_channel_has_profile(c, "ros2");
    }
    return ros;
}

static bool bag_figures_of(struct reel_recording *recording, bool rates, struct bag_figures *f,
                           struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    const struct reel_index_info *info = reel_index_info(index);
    *f = (struct bag_figures){.messages = info->messages};
    if (!is_ros(index, info)) {
        return reel_fail(err, REEL_UNSUPPORTED, "rosbag info needs a ROS recording; this is a %s without ROS messages",
                         info->format->title);
    }
    const char *version = strncmp(info->container, "#ROS", 4) == 0 ? strstr(info->container, " V") : NULL;
    snprintf(f->version, sizeof f->version, "%s",
             version              ? version + 2
             : info->container[0] ? info->container
                                  : info->format->name);
    f->version1 = version && version[2] == '1';
    for (uint32_t i = 0; i < info->n_parts; i++) {
        f->size += reel_index_part_size(index, i);
    }
    bool headed = true;
    if (f->version1 && strcmp(f->version, "1.2") == 0 && !bag_has_file_header(recording, &headed, err)) {
        return false;
    }
    f->no_index = !headed;
    f->short_ = !headed || f->messages == 0;
    AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, err);
    return reader &&
           (f->short_ || (fill_chunks(f, recording, err) && fill_topics(f, reader, rates || f->version1, err)));
}

static void bag_figures_done(struct bag_figures *f) {
    free(f->topics);
    free(f->types);
}

char *reel_bag_info(struct reel_recording *recording, const struct reel_bag_question *question,
                    struct reel_error *err) {
    struct bag_figures f;
    struct grow out = {0};
    bool good = bag_figures_of(recording, question->freq, &f, err);
    if (good) {
        (question->yaml ? bag_info_yaml : bag_info_text)(&f, question->path, &out);
        grow_put(&out, "\n", 2); /* with the NUL */
    }
    bag_figures_done(&f);
    if (good && out.failed) {
        reel_fail_memory(err);
    }
    if (!good || out.failed) {
        free(out.data);
        return NULL;
    }
    return (char *)out.data;
}

static bool rosbag_put_rows(const struct bag_figures *f, const struct reel_table *to) {
    static const char *const columns[] = {"topic", "type", "messages", "connections", "frequency_hz"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    bool good = to->columns(to->context, columns, COLUMNS);
    for (size_t i = 0; good && i < f->n_topics; i++) {
        const struct bag_topic *t = &f->topics[i];
        const struct reel_cell cells[COLUMNS] = {
            reel_cell_text(bytes_text(t->name)), reel_cell_text(bytes_text(t->type ? t->type : "")),
            reel_cell_integer((int64_t)t->messages), reel_cell_integer(t->connections),
            t->rate > 0 ? reel_cell_real(t->rate) : reel_cell_of(REEL_CELL_NULL)};
        good = to->row(to->context, cells, COLUMNS);
    }
    return good && to->end(to->context);
}

bool reel_bag_topics(struct reel_recording *recording, const struct reel_table *to, struct reel_error *err) {
    struct bag_figures f;
    bool good = bag_figures_of(recording, true, &f, err) &&
                (rosbag_put_rows(&f, to) || reel_fail(err, REEL_CANCELLED, "stopped by the receiver"));
    bag_figures_done(&f);
    return good;
}
