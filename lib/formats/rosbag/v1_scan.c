/* Scans ROS bags before 2.0: text-header logs (versions 0, 1.0, 1.1) and 1.2. One walk from front to back decides what
 * is in the file; the index is compared with it and helps after damage. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "formats/rosbag/v1.h"

#include <stdlib.h>

static const struct generation {
    const char *line, *name;
    bool framed;
    enum rosbag_v1_log log;
} generations[] = {
    {ROSBAG_V1_LINE_12, "#ROSRECORD V1.2", true, 0},
    {"#ROSRECORD V1.1\n", "#ROSRECORD V1.1", false, ROSBAG_V1_LOG_11},
    {"#ROSLOG V1.1\n", "#ROSLOG V1.1", false, ROSBAG_V1_LOG_11},
    {"#ROSLOG V1.0\n", "#ROSLOG V1.0", false, ROSBAG_V1_LOG_10},
};
static const struct generation generation_0 = {"", "ROS log, version 0", false, ROSBAG_V1_LOG_0};

static const struct generation *generation_of(struct reel_bytes head) {
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        if (bytes_start(head, bytes_text(generations[i].line))) {
            return &generations[i];
        }
    }
    return NULL;
}

/* True for a version line 1.x with a minor version that was never released or is unknown. */
static bool is_other_version_1(struct reel_bytes head) {
    return bytes_start(head, bytes_text("#ROSBAG V1.")) || bytes_start(head, bytes_text("#ROSRECORD V1.")) ||
           bytes_start(head, bytes_text("#ROSLOG V1."));
}

static int rosbag_v1_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    const struct generation *g = generation_of(head);
    if (g) {
        return 8 * (int)strlen(g->line);
    }
    if (is_other_version_1(head)) {
        return 8 * 11; /* recognised, so that the scan can refuse it with the reason */
    }
    return rosbag_v1_text_plausible(head, source->size) ? 12 : 0;
}

void rosbag_v1_close(struct rosbag_v1 *bag) {
    hash_table_free(&bag->channel_table);
    hash_table_free(&bag->connection_table);
    hash_table_free(&bag->type_table);
    hash_table_free(&bag->topic_table);
    free(bag->key);
    free(bag->templates);
    free(bag->positions.at);
    window_close(&bag->window);
    arena_free(&bag->arena);
}

bool rosbag_v1_open(struct rosbag_v1 *bag, struct reel_scan *scan, size_t window_bytes, struct reel_error *err) {
    *bag = (struct rosbag_v1){.scan = scan, .source = scan->parts[0], .index_at = ROSBAG_V1_NOWHERE};
    bag->arena.max = REEL_MODEL_MAX;
    bag->channels_end = &bag->channels;
    bag->connections_end = &bag->connections;
    bag->topics_end = &bag->topics;
    bag->search_left =
        bag->source->size < UINT64_MAX / 8 ? 4 * bag->source->size + REEL_WINDOW_BYTES : bag->source->size;
    bag->seed = hash_seed(); /* results do not depend on it */
    bag->templates = calloc(1, sizeof *bag->templates);
    return bag->templates ? window_open(&bag->window, bag->source, window_bytes, err) : reel_fail_memory(err);
}

static void rosbag_v1_scan_report_counts(struct rosbag_v1 *bag) {
    if (bag->carried > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, 0, 0,
                          "%llu stamps have 10^9 or more nanoseconds: carried over to the seconds",
                          (unsigned long long)bag->carried);
    }
    if (bag->unwrapped > 0) {
        reel_scan_finding(
            bag->scan, REEL_WARNING, 0, bag->unwrapped_at, 0,
            "%llu messages do not have the wrapper that the definition of their topic states: kept unchanged",
            (unsigned long long)bag->unwrapped);
    }
    if (bag->unknown_ops > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, bag->unknown_ops_at, 0,
                          "%llu records of an unknown kind are skipped, the first with op %u",
                          (unsigned long long)bag->unknown_ops, bag->unknown_op);
    }
    if (bag->unknown_fields > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, bag->unknown_fields_at, 0,
                          "%llu unknown header fields, the first named %s", (unsigned long long)bag->unknown_fields,
                          bag->unknown_name);
    }
}

static bool rosbag_v1_run(struct rosbag_v1 *bag, const struct generation *g, struct reel_error *err) {
    bag->framed = g->framed;
    bag->at = strlen(g->line);
    reel_scan_container(bag->scan, g->name);
    bool ok = g->framed
                  ? rosbag_v1_walk(bag, err) && rosbag_v1_finish_channels(bag, err) && rosbag_v1_index_prove(bag, err)
                  : rosbag_v1_text_walk(bag, g->log, err);
    rosbag_v1_scan_report_counts(bag);
    return ok;
}

static bool rosbag_v1_scan(struct reel_scan *scan, struct reel_error *err) {
    if (scan->n_parts != 1) {
        return reel_fail(err, REEL_UNSUPPORTED, "a ROS bag is one file, here are %u", scan->n_parts);
    }
    AUTO_STRUCT(rosbag_v1_close) struct rosbag_v1 bag;
    if (!rosbag_v1_open(&bag, scan, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    uint64_t size = bag.source->size;
    size_t head_size = size < 64 << 10 ? (size_t)size : 64 << 10;
    const uint8_t *p = window_at(&bag.window, 0, head_size, err);
    if (!p) {
        return false;
    }
    struct reel_bytes head = bytes_of(p, head_size);
    const struct generation *g = generation_of(head);
    if (!g && is_other_version_1(head)) {
        const uint8_t *end = memchr(p, '\n', head_size < 32 ? head_size : 32);
        return reel_fail(err, REEL_UNSUPPORTED,
                         "\"%.*s\" is not a released ROS bag version (1.3 was written only for six weeks in April "
                         "2010): only 1.0, 1.1 and "
                         "1.2 are supported",
                         end ? (int)(end - p) : 11, (const char *)p);
    }
    if (!g && !rosbag_v1_text_plausible(head, size)) {
        return reel_fail(err, REEL_NOT_MINE,
                         "no ROS bag: it begins with no version line, nor with topic, md5 sum and type");
    }
    return rosbag_v1_run(&bag, g ? g : &generation_0, err);
}

static const char *const suffixes[] = {".bag", ".bag.active", ".log", NULL};

const struct reel_format reel_format_rosbag_v1 = {
    .name = "rosbag-1.2",
    .title = "ROS 1 bag (1.2)",
    .media_type = "application/x-rosbag",
    .suffixes = suffixes,
    .probe = rosbag_v1_probe,
    .scan = rosbag_v1_scan,
    .summary = rosbag_v1_summary,
    .version = 6,
};
