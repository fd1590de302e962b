/* Index data after each chunk of a ROS bag 2.0, and what stands at its end: all connections, then a chunk info for each
 * chunk. */
#include "base/bytes.h"
#include "formats/ros/wrap.h"
#include "formats/ros/write.h"
#include "formats/rosbag/v2_write.h"

#include <stdlib.h>

enum { PART_CHUNKS = 4096 };

/* ---- connections ---- */

/* Fields with a meaning of their own; "topic" as metadata is the name before it was remapped. */
static bool is_reserved(const char *key) {
    static const char *const names[] = {"topic", "type", "md5sum", "message_definition"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(key, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void connection_fields(struct reel_sink *out, const struct ros_connection *ros) {
    const struct reel_channel *c = ros->channel;
    bool wrapped = ros_wrap_needed(c);
    for (size_t i = 0; !wrapped && i < c->metadata.count; i++) {
        const struct reel_pair *pair = &c->metadata.items[i];
        if (!is_reserved(pair->key) && !strchr(pair->key, '=')) {
            ros_put_field(out, pair->key, bytes_text(pair->value));
        }
    }
    const char *inner_topic = wrapped ? NULL : ros_metadata_of(c, "topic");
    if (c->latched && (wrapped || !ros_metadata_of(c, "latching"))) {
        ros_put_field(out, "latching", bytes_text("1"));
    }
    ros_put_field(out, "md5sum", bytes_text(ros->md5));
    ros_put_field(out, "message_definition", ros->definition);
    if (wrapped) {
        ros_wrap_put_fields(out, c);
    }
    ros_put_field(out, "topic", bytes_text(inner_topic ? inner_topic : c->name));
    ros_put_field(out, "type", bytes_text(ros->type));
}

static void connection_head(struct reel_sink *out, const struct reel_channel *c, uint32_t id) {
    ros_put_u32(out, "conn", id);
    ros_put_op(out, ROSBAG_V2_CONNECTION);
    ros_put_field(out, "topic", bytes_text(c->name));
}

void rosbag_v2_put_connection(struct reel_sink *out, const struct ros_connection *ros, uint32_t id) {
    struct reel_sink head = {0}, data = {0};
    connection_head(&head, ros->channel, id);
    connection_fields(&data, ros);
    reel_sink_u32le(out, (uint32_t)head.pos);
    connection_head(out, ros->channel, id);
    reel_sink_u32le(out, (uint32_t)data.pos);
    connection_fields(out, ros);
}

/* ---- index data ---- */

static void put_index_head(struct reel_sink *out, uint32_t conn, uint32_t count) {
    struct reel_sink size = {0};
    for (struct reel_sink *sink = &size;; sink = out) {
        if (sink == out) {
            reel_sink_u32le(out, (uint32_t)size.pos);
        }
        ros_put_u32(sink, "conn", conn);
        ros_put_u32(sink, "count", count);
        ros_put_op(sink, ROSBAG_V2_INDEX);
        ros_put_u32(sink, "ver", ROSBAG_V2_VERSION_1);
        if (sink == out) {
            break;
        }
    }
    reel_sink_u32le(out, count * ROSBAG_V2_INDEX_ENTRY);
}

uint64_t rosbag_v2_index_size(uint32_t connections, uint32_t count) {
    struct reel_sink head = {0};
    put_index_head(&head, 0, 0);
    return connections * head.pos + (uint64_t)count * ROSBAG_V2_INDEX_ENTRY;
}

static int compare_entries(const void *a, const void *b) {
    const uint8_t *l = a, *r = b;
    for (unsigned i = 0; i < ROSBAG_V2_INDEX_ENTRY; i += 4) {
        uint32_t x = load_u32le(l + i), y = load_u32le(r + i);
        if (x != y) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

/* One pass lays every message into the run of its channel; the runs are then written as they lie. */
void rosbag_v2_put_index(struct rosbag_v2_write_run *run, uint32_t count, bool disordered, struct reel_sink *out) {
    uint32_t begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) { /* turns the count into the index of the channel's first entry; it
                                                       then advances to its end */
        uint32_t *at = &run->counts[run->touched[i]], messages = *at;
        *at = begin;
        begin += messages;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rosbag_v2_position *p = &run->positions[i];
        uint8_t *entry = run->entries + (size_t)run->counts[p->channel]++ * ROSBAG_V2_INDEX_ENTRY;
        store_u32le(entry, (uint32_t)(p->stamp >> 32));
        store_u32le(entry + 4, (uint32_t)p->stamp);
        store_u32le(entry + 8, p->offset);
    }
    begin = 0;
    for (uint32_t i = 0; i < run->n_touched; i++) {
        uint32_t end = run->counts[run->touched[i]];
        uint8_t *entries = run->entries + (size_t)begin * ROSBAG_V2_INDEX_ENTRY;
        if (disordered) { /* messages put in front of the selection, or a view's */
            qsort(entries, end - begin, ROSBAG_V2_INDEX_ENTRY, compare_entries);
        }
        put_index_head(out, run->touched[i], end - begin);
        reel_sink_put(out, entries, (size_t)(end - begin) * ROSBAG_V2_INDEX_ENTRY);
        begin = end;
    }
}

/* ---- the tail ---- */

static void put_stamp(struct reel_sink *out, const char *name, uint64_t stamp) {
    ros_put_u64(out, name, stamp << 32 | stamp >> 32); /* seconds first */
}

static void info_fields(struct reel_sink *out, uint64_t chunk_pos, const struct rosbag_v2_note *note) {
    ros_put_u64(out, "chunk_pos", chunk_pos);
    ros_put_u32(out, "count", note->n_rows);
    put_stamp(out, "end_time", note->end);
    ros_put_op(out, ROSBAG_V2_CHUNK_INFO);
    put_stamp(out, "start_time", note->start);
    ros_put_u32(out, "ver", ROSBAG_V2_VERSION_1);
}

void rosbag_v2_put_info(struct reel_sink *out, uint64_t chunk_pos, const struct rosbag_v2_note *note) {
    struct reel_sink head = {0};
    info_fields(&head, chunk_pos, note);
    reel_sink_u32le(out, (uint32_t)head.pos);
    info_fields(out, chunk_pos, note);
    reel_sink_u32le(out, note->n_rows * ROSBAG_V2_INFO_ROW);
    reel_sink_put(out, note->rows, (size_t)note->n_rows * ROSBAG_V2_NOTE_ROW); /* the same bytes */
    _Static_assert((int)ROSBAG_V2_NOTE_ROW == (int)ROSBAG_V2_INFO_ROW, "rows are copied");
}

uint64_t rosbag_v2_tail_parts(struct reel_write *w) {
    uint64_t groups = reel_write_groups(w);
    return groups > 0 ? 1 + (groups + PART_CHUNKS - 1) / PART_CHUNKS : 0;
}

bool rosbag_v2_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    const struct rosbag_v2_totals *totals = w->totals;
    if (part == 0) {
        const struct rosbag_v2_write_run *run = w->run;
        for (uint32_t i = 0; i < w->stream->n_channels; i++) {
            if (totals->first_group[i] > 0) {
                rosbag_v2_put_connection(out, &run->connections[i], i);
            }
        }
        return true;
    }
    uint64_t groups = reel_write_groups(w), end = part * PART_CHUNKS < groups ? part * PART_CHUNKS : groups;
    for (uint64_t g = (part - 1) * PART_CHUNKS; g < end; g++) {
        const struct reel_group *group = reel_write_group(w, g);
        const struct rosbag_v2_note note = rosbag_v2_note_of(group);
        rosbag_v2_put_info(out, group->offset, &note);
    }
    return true;
}
