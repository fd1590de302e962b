/* See write_yaml.h. Versions differ little: 5 (Humble), 6 (custom_data), 7 (Iron: type_description_hash), 8
 * (ros_distro), 9 (Jazzy: profiles as a list with names). Texts are written as JSON strings, which YAML reads. */
#include "formats/rosbag2/write_yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/write.h"
#include "syntax/json_out.h"

static void rosbag2_put_string(struct grow *out, const char *key, const char *value) {
    grow_text(out, key);
    json_put_string(out, bytes_text(value));
    grow_text(out, "\n");
}
static void rosbag2_put_number(struct grow *out, const char *key, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)value);
    grow_text(out, key);
    grow_text(out, text);
}

bool rosbag2_plays(const struct reel_channel *c) {
    return strcmp(c->encoding, "cdr") == 0;
}

/* ---- profiles of version 9 */

static const struct {
    const char *key, *names[4]; /* by number */
} policies[] = {
    {"history", {"system_default", "keep_last", "keep_all", "unknown"}},
    {"reliability", {"system_default", "reliable", "best_effort", "unknown"}},
    {"durability", {"system_default", "transient_local", "volatile", "unknown"}},
    {"liveliness", {"system_default", "automatic", "unknown", "manual_by_topic"}},
};

/* One line of a block list of profiles: policies by their names. False: it is no such line. */
static bool put_profile_line(struct grow *out, const char *line, size_t size) {
    const char *colon = memchr(line, ':', size);
    size_t indent = strspn(line, " -"), key = colon ? (size_t)(colon - line) : 0;
    if (!colon || indent >= key || strspn(line + indent, "abcdefghijklmnopqrstuvwxyz_") != key - indent) {
        return false;
    }
    grow_text(out, "          ");
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        bool is_it =
            strlen(policies[i].key) == key - indent && memcmp(policies[i].key, line + indent, key - indent) == 0;
        if (is_it && size == key + 3 && colon[1] == ' ' && colon[2] >= '0' && colon[2] <= '3') {
            grow_put(out, line, key);
            grow_text(out, ": ");
            grow_text(out, policies[i].names[colon[2] - '0']);
            grow_text(out, "\n");
            return true;
        }
    }
    grow_put(out, line, size);
    grow_text(out, "\n");
    return true;
}

static void put_profiles(struct grow *out, const char *qos) {
    static const char key[] = "        offered_qos_profiles:";
    size_t begin = out->size;
    grow_text(out, key);
    grow_text(out, "\n");
    bool good = qos[0] == '-';
    for (const char *line = qos; good && *line;) {
        size_t size = strcspn(line, "\n");
        good = put_profile_line(out, line, size);
        line += size + (line[size] == '\n');
    }
    if (!good) { /* of another form */
        out->size = begin;
        grow_text(out, key);
        grow_text(out, " []\n");
    }
}

/* ---- topics */

static int compare_topics(const void *a, const void *b, void *context) {
    const struct reel_stream *s = context;
    uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;
    int order = strcmp(s->channels[l]->name, s->channels[r]->name);
    return order ? order : (l > r) - (l < r);
}

static void put_topic(struct grow *out, const struct rosbag2_yaml *y, const struct reel_channel *c, uint64_t messages) {
    const char *qos = ros_metadata_of(c, "offered_qos_profiles"), *hash = ros_metadata_of(c, "topic_type_hash");
    rosbag2_put_string(out, "    - topic_metadata:\n        name: ", c->name);
    rosbag2_put_string(out, "        type: ", c->type);
    grow_text(out, "        serialization_format: cdr\n");
    if (y->version >= 9) {
        put_profiles(out, qos ? qos : "");
    } else {
        rosbag2_put_string(out, "        offered_qos_profiles: ", qos ? qos : "");
    }
    if (y->version >= 7) {
        rosbag2_put_string(out, "        type_description_hash: ", hash ? hash : "");
    }
    rosbag2_put_number(out, "      message_count: ", messages);
}

/* One entry for each name, whose channels are counted together. */
static bool rosbag2_write_yaml_put_topics(struct grow *out, const struct rosbag2_yaml *y, struct reel_error *err) {
    const struct reel_stream *s = y->stream;
    AUTO_MEM uint32_t *order = calloc((size_t)s->n_channels + 1, sizeof *order);
    uint32_t n = 0;
    if (!order) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        order[n] = i;
        n += rosbag2_plays(s->channels[i]);
    }
    qsort_r(order, n, sizeof *order, compare_topics, (void *)s);
    grow_text(out, n > 0 ? "  topics_with_message_count:\n" : "  topics_with_message_count: []\n");
    for (uint32_t i = 0, end; i < n; i = end) {
        const struct reel_channel *c = s->channels[order[i]];
        uint64_t messages = 0;
        for (end = i; end < n && strcmp(s->channels[order[end]]->name, c->name) == 0; end++) {
            messages += y->counts->by_channel[order[end]];
        }
        put_topic(out, y, c, messages);
    }
    return true;
}

/* ---- the file */

static uint64_t played(const struct rosbag2_yaml *y) {
    uint64_t messages = 0;
    for (uint32_t i = 0; i < y->stream->n_channels; i++) {
        messages += rosbag2_plays(y->stream->channels[i]) ? y->counts->by_channel[i] : 0;
    }
    return messages;
}

bool rosbag2_put_yaml(struct grow *out, const struct rosbag2_yaml *y, struct reel_error *err) {
    uint64_t start = (uint64_t)y->counts->first_ns, duration = (uint64_t)y->counts->last_ns - start,
             messages = played(y);
    grow_text(out, "rosbag2_bagfile_information:\n");
    rosbag2_put_number(out, "  version: ", y->version);
    rosbag2_put_string(out, "  storage_identifier: ", y->storage);
    rosbag2_put_number(out, "  duration:\n    nanoseconds: ", duration);
    rosbag2_put_number(out, "  starting_time:\n    nanoseconds_since_epoch: ", start);
    rosbag2_put_number(out, "  message_count: ", messages);
    if (!rosbag2_write_yaml_put_topics(out, y, err)) {
        return false;
    }
    grow_text(out, "  compression_format: \"\"\n  compression_mode: \"\"\n");
    rosbag2_put_string(out, "  relative_file_paths:\n    - ", y->file);
    rosbag2_put_string(out, "  files:\n    - path: ", y->file);
    rosbag2_put_number(out, "      starting_time:\n        nanoseconds_since_epoch: ", start);
    rosbag2_put_number(out, "      duration:\n        nanoseconds: ", duration);
    rosbag2_put_number(out, "      message_count: ", messages);
    grow_text(out, y->version >= 6 ? "  custom_data: ~\n" : "");
    grow_text(out, y->version >= 8 ? "  ros_distro: \"unknown\"\n" : "");
    return !out->failed || reel_fail_memory(err);
}
