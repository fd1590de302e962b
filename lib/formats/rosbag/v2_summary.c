/* The summary of a ROS bag 2.0, without a scan. It reads the file header (the first 64 KiB) and everything from
 * index_pos to the end: the connection records, and the chunk infos with each chunk's first and last stamp and its
 * messages by connection. Of an encrypted bag the scan reads no more than this either. It reports only what the scan of
 * an undamaged file reports too; an inconsistent index gives no summary. A connection's times are those of its chunks.
 * Channels are in the order of the chunks, within a chunk in that of its chunk info, which writers sort by first
 * message. */
#include "base/cleanup.h"
#include "formats/rosbag/v2.h"

enum {
    OUTLINE_WINDOW = 64 << 10,
    INDEX_MAX_MIB = 256, /* about a million chunks of twenty connections */
};

struct summary {
    uint64_t connections, infos, messages;
    uint64_t chunk_pos; /* of the last chunk info */
};

static bool rosbag_is_whole(const struct rosbag_v2_record *r) {
    const struct rosbag_v2_fields *f = &r->fields;
    return rosbag_v2_is_record(r) && rosbag_v2_u32(f->ver, 0) == ROSBAG_V2_VERSION_1 && f->start_time.size == 8 &&
           f->end_time.size == 8 && r->size == (uint64_t)rosbag_v2_u32(f->count, 0) * ROSBAG_V2_INFO_ROW;
}

/* Checks that such a chunk is possible at its stated position. */
static bool check_info(const struct bag2 *bag, const struct summary *o, const struct rosbag_v2_info *info,
                       struct reel_error *err) {
    if (info->chunk_pos < bag->file.at || info->chunk_pos >= bag->index_pos) {
        return reel_fail(err, REEL_UNSUPPORTED, "a chunk info names byte %llu, where no chunk can be",
                         (ull)info->chunk_pos);
    }
    if (o->infos > 0 && info->chunk_pos <= o->chunk_pos) {
        return reel_fail(err, REEL_UNSUPPORTED, "the chunk infos are not in the order of the chunks");
    }
    if (info->messages > UINT32_MAX / ROSBAG_V2_MESSAGE_HEAD) {
        return reel_fail(err, REEL_UNSUPPORTED, "%llu messages in one chunk, at %llu, cannot be", (ull)info->messages,
                         (ull)info->chunk_pos);
    }
    bool sound = info->start <= info->end && (uint32_t)info->start < ROSBAG_V2_NS_PER_SEC &&
                 (uint32_t)info->end < ROSBAG_V2_NS_PER_SEC;
    return info->messages == 0 || sound ||
           reel_fail(err, REEL_UNSUPPORTED, "the times of the chunk at %llu are not valid", (ull)info->chunk_pos);
}

static bool count_row(struct bag2 *bag, const struct rosbag_v2_info *info, const struct rosbag_v2_row *row,
                      struct reel_error *err) {
    struct rosbag_v2_connection *c = rosbag_v2_find(bag, row->conn);
    if (!c || !c->described) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "connection %u, which the chunk at %llu has messages of, is not described", row->conn,
                         (ull)info->chunk_pos);
    }
    const struct reel_channel_stats stats = {
        .count = row->messages, .first_ns = rosbag_v2_stamp_ns(info->start), .last_ns = rosbag_v2_stamp_ns(info->end)};
    return (c->has_channel || rosbag_v2_channel_ready(bag, c, err)) &&
           reel_scan_count(bag->scan, c->model.id, &stats, err);
}

static bool count_chunk(struct bag2 *bag, struct summary *o, const struct rosbag_v2_record *r, struct reel_error *err) {
    struct rosbag_v2_info info;
    struct window *w = &bag->tail.window;
    if (!rosbag_is_whole(r)) {
        return reel_fail(err, REEL_UNSUPPORTED, "the chunk info at %llu lacks fields", (ull)r->at);
    }
    if (!rosbag_v2_info_read(w, r, &info, err) || !check_info(bag, o, &info, err)) {
        return false;
    }
    o->infos++;
    o->chunk_pos = info.chunk_pos;
    o->messages += info.messages;
    for (uint32_t i = 0; i < info.rows; i++) {
        struct rosbag_v2_row row;
        if (!rosbag_v2_info_row(w, r, i, &row, err) || (row.messages > 0 && !count_row(bag, &info, &row, err))) {
            return false;
        }
    }
    return true;
}

/* All records from index_pos to the end. */
static bool rosbag_v2_summary_read_index(struct bag2 *bag, struct summary *o, struct reel_error *err) {
    if (!rosbag_v2_tail_begin(bag, err)) {
        return false;
    }
    for (bool yes = bag->tail.there; yes;) {
        struct rosbag_v2_record r;
        if (!rosbag_v2_progress(bag, &bag->file, bag->tail.at, err) || !rosbag_v2_tail_record(bag, &r, &yes, err)) {
            return false;
        }
        o->connections += yes && r.op == ROSBAG_V2_CONNECTION;
        if (yes && !(r.op == ROSBAG_V2_CONNECTION ? rosbag_v2_connection_record(bag, &bag->tail.window, &r, r.at, err)
                                                  : count_chunk(bag, o, &r, err))) {
            return false;
        }
    }
    if (bag->tail.at != bag->source->size) {
        return reel_fail(err, REEL_UNSUPPORTED, "the index ends at byte %llu with a record that is not part of it",
                         (ull)bag->tail.at);
    }
    if (o->connections != bag->conn_count || o->infos != bag->chunk_count || bag->n_connections != o->connections) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "the file header counts %llu connections and %llu chunks, the index has %llu and %llu",
                         (ull)bag->conn_count, (ull)bag->chunk_count, (ull)bag->n_connections, (ull)o->infos);
    }
    return true;
}

static bool summarize_file(struct reel_scan *scan, struct rosbag_v2_splits *splits, struct reel_error *err) {
    AUTO_STRUCT(rosbag_v2_close) struct bag2 bag = {0};
    struct summary o = {0};
    if (!rosbag_v2_open(&bag, scan, splits, OUTLINE_WINDOW, err)) {
        return false;
    }
    if (bag.index_pos == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "the bag was not closed: it has no index");
    }
    if (bag.index_pos < bag.file.at || bag.index_pos > bag.source->size) {
        return reel_fail(err, REEL_UNSUPPORTED, "the index should begin at byte %llu, where it cannot",
                         (ull)bag.index_pos);
    }
    if ((bag.source->size - bag.index_pos) >> 20 >= INDEX_MAX_MIB) {
        return reel_fail(err, REEL_UNSUPPORTED, "the index has more than the %d MiB that a summary reads",
                         INDEX_MAX_MIB);
    }
    return bag.encryptor ? rosbag_v2_sealed(&bag, err)
                         : rosbag_v2_summary_read_index(&bag, &o, err) && rosbag_v2_finish_connections(&bag, err);
}

bool rosbag_v2_summary(struct reel_scan *scan, struct reel_error *err) {
    return rosbag_v2_each_file(scan, summarize_file, err);
}
