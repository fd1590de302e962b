/* What `rosbag info` reads from a bag beyond the index: whether a bag of version 1.2 begins with a file header, and the
 * chunks of version 2.0. Chunks are reported only when all of them agree with the bag's own index. */
#include "formats/rosbag/report_info.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "formats/rosbag/v2_layout.h"
#include "read/reader.h"

enum { TAIL_WINDOW = 64 << 10, CHUNK_WINDOW = 512 };
#define BAG1_LINE "#ROSRECORD V1.2\n"
#define BAG1_FILE_HEADER 3

bool bag_has_file_header(struct reel_recording *recording, bool *yes, struct reel_error *err) {
    AUTO_STRUCT(window_close) struct window w = {0};
    const struct rosrecord_bounds bounds = {recording->parts[0]->size, "the file"};
    struct rosrecord r;
    struct reel_bytes name, value;
    *yes = false;
    if (!window_open(&w, recording->parts[0], TAIL_WINDOW, err)) {
        return false;
    }
    if (bounds.end < strlen(BAG1_LINE)) {
        return true;
    }
    struct reel_error why = {0};
    if (!rosrecord_head(&w, strlen(BAG1_LINE), &bounds, &r, &why)) {
        return why.code == REEL_DAMAGED || reel_error_pass(err, &why); /* no record, so no file header */
    }
    struct cursor fields = cursor_of(r.header);
    while (rosrecord_field(&fields, &name, &value)) {
        *yes = *yes || (bytes_is(name, "op") && value.size == 1 && value.data[0] == BAG1_FILE_HEADER);
    }
    return true;
}

/* --- version 2.0 --- */

struct rosbag_report_file_walk {
    struct window tail, chunk;
    struct rosrecord_bounds bounds;
    struct bag_figures *f;
};

static void walk_done(struct rosbag_report_file_walk *w) {
    window_close(&w->tail);
    window_close(&w->chunk);
}

static bool rosbag_take_chunk(struct rosbag_report_file_walk *w, uint64_t at, struct reel_error *err) {
    struct rosbag_v2_record r;
    if (at >= w->bounds.end) {
        return reel_fail(err, REEL_DAMAGED, "the chunk at %llu is beyond the end of the file", (unsigned long long)at);
    }
    if (!rosbag_v2_record_read(&w->chunk, at, &w->bounds, &r, err)) {
        return false;
    }
    for (unsigned i = 0; r.op == ROSBAG_V2_CHUNK && rosbag_v2_is_record(&r) && i < BAG_CODECS; i++) {
        struct bag_codec *c = &w->f->codecs[i];
        if (bytes_is(r.fields.compression, c->name)) {
            c->chunks++;
            c->raw += rosbag_v2_u32(r.fields.size, 0);
            c->stored += r.size;
            w->f->chunks++;
            return true;
        }
    }
    return reel_fail(err, REEL_DAMAGED, "there is no chunk at %llu", (unsigned long long)at);
}

/* The span is from the start of the first chunk to the end of the last one, in index order. */
static bool take_info(struct rosbag_report_file_walk *w, const struct rosbag_v2_record *r, struct reel_error *err) {
    struct rosbag_v2_info info;
    if (!rosbag_v2_is_record(r) || !rosbag_v2_info_read(&w->tail, r, &info, err)) {
        return rosbag_v2_is_record(r)
                   ? false
                   : reel_fail(err, REEL_DAMAGED, "the chunk info at %llu lacks fields", (unsigned long long)r->at);
    }
    w->f->start_s = w->f->chunks == 0 ? bag_seconds(rosbag_v2_stamp_ns(info.start)) : w->f->start_s;
    w->f->end_s = bag_seconds(rosbag_v2_stamp_ns(info.end));
    return rosbag_take_chunk(w, info.chunk_pos, err);
}

static bool rosbag_report_file_walk(struct rosbag_report_file_walk *w, struct reel_error *err) {
    struct rosbag_v2_record r;
    uint64_t at = strlen(ROSBAG_V2_LINE);
    if (at >= w->bounds.end || !rosbag_v2_record_read(&w->tail, at, &w->bounds, &r, err)) {
        return at >= w->bounds.end ? reel_fail(err, REEL_DAMAGED, "there is no file header") : false;
    }
    uint32_t left = rosbag_v2_u32(r.fields.chunk_count, 0);
    at = r.op == ROSBAG_V2_FILE_HEADER && r.fields.index_pos.size == 8 ? load_u64le(r.fields.index_pos.data) : 0;
    while (at > 0 && at < w->bounds.end && left > 0) {
        if (!rosbag_v2_record_read(&w->tail, at, &w->bounds, &r, err)) {
            return false;
        }
        at += (uint64_t)r.head + r.size;
        if (r.op == ROSBAG_V2_CHUNK_INFO) {
            left--;
            if (!take_info(w, &r, err)) {
                return false;
            }
        }
    }
    return left == 0 || reel_fail(err, REEL_DAMAGED, "the index lacks %u chunks", left);
}

bool bag_read_chunks(struct reel_recording *recording, struct bag_figures *f, bool *valid, struct reel_error *err) {
    AUTO_STRUCT(walk_done)
    struct rosbag_report_file_walk w = {.bounds = {recording->parts[0]->size, "the file"}, .f = f};
    const struct bag_figures before = *f;
    if (!window_open(&w.tail, recording->parts[0], TAIL_WINDOW, err) ||
        !window_open(&w.chunk, recording->parts[0], CHUNK_WINDOW, err)) {
        return false;
    }
    struct reel_error why = {0};
    *valid = rosbag_report_file_walk(&w, &why);
    if (!*valid) {
        *f = before;
    }
    return *valid || why.code == REEL_DAMAGED || reel_error_pass(err, &why);
}
