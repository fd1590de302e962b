/* The records at index_pos of a ROS bag 2.0: all connections, and the position of each chunk. Connections are read
 * before the walk; chunk infos are read in step with the walk over the chunks, so that none is kept. */
#include "base/bytes.h"
#include "formats/rosbag/v2.h"

enum { TAIL_WINDOW = 64 << 10 };

bool rosbag_v2_tail_record(struct bag2 *bag, struct rosbag_v2_record *r, bool *yes, struct reel_error *err) {
    const struct rosrecord_bounds bounds = {bag->source->size, "the file"};
    struct rosbag_v2_tail *tail = &bag->tail;
    struct reel_error why = {0};
    *yes = tail->at < bag->source->size && rosbag_v2_record_read(&tail->window, tail->at, &bounds, r, &why);
    if (!*yes && tail->at < bag->source->size && why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    if (*yes) {
        *yes = r->op == ROSBAG_V2_CONNECTION || r->op == ROSBAG_V2_CHUNK_INFO;
        tail->at += (uint64_t)r->head + r->size;
    }
    return true;
}

bool rosbag_v2_tail_next(struct bag2 *bag, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    for (tail->has = false; !tail->has;) {
        struct rosbag_v2_record r;
        bool yes;
        if (!rosbag_v2_tail_record(bag, &r, &yes, err)) {
            return false;
        }
        if (!yes) {
            return true;
        }
        if (r.op == ROSBAG_V2_CHUNK_INFO) {
            tail->has = true;
            return rosbag_v2_info_read(&tail->window, &r, &tail->info, err);
        }
    }
    return true;
}

bool rosbag_v2_tail_begin(struct bag2 *bag, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    tail->there = bag->index_pos >= bag->file.at && bag->index_pos < bag->source->size;
    tail->at = bag->index_pos;
    return !tail->there || window_open(&tail->window, bag->source, TAIL_WINDOW, err);
}

bool rosbag_v2_tail_open(struct bag2 *bag, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    uint64_t infos_at = 0, last = 0;
    if (!rosbag_v2_tail_begin(bag, err)) {
        return false;
    }
    if (!tail->there) {
        return true;
    }
    tail->there = false; /* until a record is */
    tail->ordered = true;
    for (struct rosbag_v2_record r;;) {
        bool yes;
        if (!rosbag_v2_tail_record(bag, &r, &yes, err)) {
            return false;
        }
        if (!yes) {
            break;
        }
        tail->there = true;
        if (r.op == ROSBAG_V2_CONNECTION) {
            tail->connections++;
            if (!rosbag_v2_connection_record(bag, &tail->window, &r, r.at, err)) {
                return false;
            }
            continue;
        }
        struct rosbag_v2_info info;
        if (!rosbag_v2_info_read(&tail->window, &r, &info, err)) {
            return false;
        }
        infos_at = tail->infos++ == 0 ? r.at : infos_at;
        tail->ordered &= info.chunk_pos >= last;
        tail->messages += info.messages;
        last = info.chunk_pos;
    }
    tail->at = infos_at;
    return !tail->there || !tail->ordered || tail->infos == 0 || rosbag_v2_tail_next(bag, err);
}

static void rosbag_v2_tail_compare_(struct bag2 *bag, const struct rosbag_v2_info *info) {
    const struct rosbag_v2_chunk *chunk = &bag->chunk;
    uint64_t sum = 0;
    for (const struct rosbag_v2_connection *c = chunk->touched; c; c = c->next_touched) {
        sum += rosbag_v2_row_hash(c->id, c->in_chunk);
    }
    if (info->messages != chunk->messages) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                          "the chunk info of the chunk at %llu counts %llu messages, it holds %llu", (ull)chunk->at,
                          (ull)info->messages, (ull)chunk->messages);
    } else if (info->sum != sum) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                          "the chunk info of the chunk at %llu counts other messages of its connections than it holds",
                          (ull)chunk->at);
    } else if (chunk->messages > 0 && (info->start != chunk->first || info->end != chunk->last)) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                          "the chunk info of the chunk at %llu says other times than its messages have",
                          (ull)chunk->at);
    }
}

static bool skip_strays(struct bag2 *bag, uint64_t before, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    while (tail->has && tail->info.chunk_pos < before) {
        tail->strays_at = tail->strays++ == 0 ? tail->info.chunk_pos : tail->strays_at;
        if (!rosbag_v2_tail_next(bag, err)) {
            return false;
        }
    }
    return true;
}

bool rosbag_v2_tail_compare(struct bag2 *bag, struct reel_error *err) {
    struct rosbag_v2_tail *tail = &bag->tail;
    const struct rosbag_v2_chunk *chunk = &bag->chunk;
    if (!tail->there || !tail->ordered) {
        return true;
    }
    if (!skip_strays(bag, chunk->at, err)) {
        return false;
    }
    if (!tail->has || tail->info.chunk_pos != chunk->at) {
        tail->missing_at = tail->missing++ == 0 ? chunk->at : tail->missing_at;
        return true;
    }
    if (!chunk->broken) {
        rosbag_v2_tail_compare_(bag, &tail->info);
    }
    return rosbag_v2_tail_next(bag, err);
}

bool rosbag_v2_tail_prove(struct bag2 *bag, struct reel_error *err) {
    const struct rosbag_v2_tail *tail = &bag->tail;
    if (!tail->there) {
        rosrecord_no_index(bag->scan, bag->has_header, bag->index_pos, bag->messages > 0, "index");
        return true;
    }
    if (tail->ordered && !skip_strays(bag, UINT64_MAX, err)) {
        return false;
    }
    if (!tail->ordered) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, bag->index_pos, 0,
                          "the chunk infos are not in the order of the chunks: not compared");
    }
    if (tail->missing > 0) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, tail->missing_at, 0,
                          "%llu chunks have no chunk info, the first at %llu", (ull)tail->missing,
                          (ull)tail->missing_at);
    }
    if (tail->strays > 0) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_pos, 0,
                          "%llu chunk infos have positions without a chunk, the first %llu", (ull)tail->strays,
                          (ull)tail->strays_at);
    }
    if (tail->connections != bag->conn_count || tail->infos != bag->chunk_count) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->index_pos, 0,
                          "the file header counts %llu connections and %llu chunks, the index has %llu and %llu",
                          (ull)bag->conn_count, (ull)bag->chunk_count, (ull)tail->connections, (ull)tail->infos);
    }
    return true;
}
