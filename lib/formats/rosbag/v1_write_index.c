/* Writes the index at the end of a ROS bag 1.2. Its entries are numbered, topic by topic; a part of the tail is a run
 * of these numbers. Positions of messages are not kept: a part computes them again by walking the groups that have its
 * topics. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/ros/write.h"
#include "formats/rosbag/v1_write.h"

#include <stdlib.h>

enum {
    PART_ENTRIES = 1 << 17, /* 2 MiB */
    INDEX_ENTRIES_MAX = UINT32_MAX / ROSBAG_V1_INDEX_ENTRY,
};

static void index_fields(struct reel_sink *out, const char *topic, const char *type, uint32_t count) {
    ros_put_u32(out, "count", count);
    ros_put_op(out, ROSBAG_V1_INDEX);
    ros_put_field(out, "topic", bytes_text(topic));
    ros_put_field(out, "type", bytes_text(type));
    ros_put_u32(out, "ver", 0);
}

uint64_t rosbag_v1_tail_parts(struct reel_write *w) {
    const struct rosbag_v1_run *run = w->run;
    const struct rosbag_v1_totals *totals = w->totals;
    uint64_t entries = 0;
    for (uint32_t t = 0; t < run->n_topics; t++) {
        entries += totals->topic_messages[t];
    }
    return (entries + PART_ENTRIES - 1) / PART_ENTRIES;
}

/* One part of the index being gathered. */
struct gather {
    uint64_t *next;    /* by topic: the number of its next entry */
    uint64_t from, to; /* the part's numbers */
    uint8_t *entries;
    uint64_t group, at; /* where the pass stands */
};

static bool gather_message(struct reel_write *w, const struct reel_message *m, void *context, struct reel_error *err) {
    struct gather *g = context;
    const struct rosbag_v1_run *run = w->run;
    const struct out_channel *o = &run->channels[m->channel];
    const struct rosbag_v1_totals *totals = w->totals;
    uint64_t definition = rosbag_v1_is_first(w, o->connection, g->group)
                              ? rosbag_v1_definition_size(&run->connections[o->connection])
                              : 0;
    uint64_t number = g->next[o->topic]++;
    if (number >= g->from && number < g->to) {
        bool opens = definition > 0 && totals->topic_connection[o->topic] == o->connection; /* the topic's first entry
                                                                                               points at the definition
                                                                                             */
        uint32_t sec, nsec;
        if (!ros_stamp(w, m, &sec, &nsec, err)) {
            return false;
        }
        uint8_t *entry = g->entries + (number - g->from) * ROSBAG_V1_INDEX_ENTRY;
        store_u32le(entry, sec);
        store_u32le(entry + 4, nsec);
        store_u64le(entry + 8, opens ? g->at : g->at + definition);
    }
    g->at += definition + o->head_size + rosbag_v1_extra(w, m) + 4 + (uint64_t)o->wrap + m->size;
    return true;
}

/* Passes over the groups that have entries of the part; of the others only the counts are taken. */
static bool gather_groups(struct reel_write *w, struct gather *g, struct reel_error *err) {
    struct rosbag_v1_run *run = w->run;
    for (g->group = 0; g->group < reel_write_groups(w); g->group++) {
        const struct reel_group *group = reel_write_group(w, g->group);
        bool wanted = false;
        for (uint32_t i = 0; i + ROSBAG12_NOTE_ROW <= group->note_size; i += ROSBAG12_NOTE_ROW) {
            uint64_t number = g->next[load_u32le(group->note + i)];
            wanted |= number < g->to && number + load_u32le(group->note + i + 4) > g->from;
        }
        if (wanted) {
            g->at = group->offset;
            run->pass++;
            if (!reel_write_walk(w, g->group, gather_message, g, err)) {
                return false;
            }
            continue;
        }
        for (uint32_t i = 0; i + ROSBAG12_NOTE_ROW <= group->note_size; i += ROSBAG12_NOTE_ROW) {
            g->next[load_u32le(group->note + i)] += load_u32le(group->note + i + 4);
        }
    }
    return true;
}

static bool gather_part(struct reel_write *w, struct gather *g, struct reel_error *err) {
    const struct rosbag_v1_run *run = w->run;
    const struct rosbag_v1_totals *totals = w->totals;
    AUTO_MEM uint64_t *next = calloc((size_t)run->n_topics + 1, sizeof *next);
    if (!next) {
        return reel_fail_memory(err);
    }
    for (uint32_t t = 1; t < run->n_topics; t++) {
        next[t] = next[t - 1] + totals->topic_messages[t - 1];
    }
    g->next = next;
    return gather_groups(w, g, err);
}

bool rosbag_v1_put_index_head(struct reel_sink *out, const char *topic, const char *type, uint64_t messages,
                              struct reel_error *err) {
    if (messages > INDEX_ENTRIES_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "topic %s: %llu messages are more than an index record of ROS bag 1.2 can name (%u)", topic,
                         (unsigned long long)messages, (unsigned)INDEX_ENTRIES_MAX);
    }
    struct reel_sink count = {0};
    index_fields(&count, topic, type, (uint32_t)messages);
    reel_sink_u32le(out, (uint32_t)count.pos);
    index_fields(out, topic, type, (uint32_t)messages);
    reel_sink_u32le(out, (uint32_t)messages * ROSBAG_V1_INDEX_ENTRY);
    return true;
}

bool rosbag_v1_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct rosbag_v1_run *run = w->run;
    const struct rosbag_v1_totals *totals = w->totals;
    struct gather g = {.from = part * PART_ENTRIES, .to = (part + 1) * PART_ENTRIES};
    AUTO_MEM uint8_t *entries = w->planning ? NULL : calloc(PART_ENTRIES, ROSBAG_V1_INDEX_ENTRY);
    g.entries = entries;
    if (!w->planning && (!entries ? !reel_fail_memory(err) : !gather_part(w, &g, err))) {
        return false;
    }
    uint64_t start = 0; /* number of the topic's first entry */
    for (uint32_t t = 0; t < run->n_topics && start < g.to; start += totals->topic_messages[t], t++) {
        uint64_t end = start + totals->topic_messages[t];
        uint64_t from = start > g.from ? start : g.from, to = end < g.to ? end : g.to;
        if (from >= to) {
            continue;
        }
        const char *type = run->connections[totals->topic_connection[t]].ros->type;
        if (from == start && !rosbag_v1_put_index_head(out, run->topics[t], type, totals->topic_messages[t], err)) {
            return false;
        }
        if (w->planning) {
            reel_sink_fill(out, 0, (to - from) * ROSBAG_V1_INDEX_ENTRY);
        } else {
            reel_sink_put(out, entries + (from - g.from) * ROSBAG_V1_INDEX_ENTRY, (to - from) * ROSBAG_V1_INDEX_ENTRY);
        }
    }
    return true;
}
