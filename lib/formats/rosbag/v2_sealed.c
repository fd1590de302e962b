/* Encrypted ROS bags. The unencrypted parts (who encrypted it, when each chunk begins and ends, how many messages it
 * has) become metadata. The scan succeeds without messages and reports why. */
#include "formats/rosbag/v2.h"

#include "base/bytes.h"
#include "base/error.h"
#include "reel/time.h"

#include <stdio.h>

enum { CHUNKS_LISTED = 1000 };

struct sealed {
    uint64_t chunks, messages, first, last; /* stamps */
};

static bool list_chunk(struct bag2 *bag, struct sealed *all, const struct rosbag_v2_info *info,
                       struct reel_error *err) {
    char line[256], start[REEL_TIME_TEXT], end[REEL_TIME_TEXT];
    if (info->messages > 0) {
        all->first = all->messages == 0 || info->start < all->first ? info->start : all->first;
        all->last = info->end > all->last ? info->end : all->last;
    }
    all->messages += info->messages;
    if (all->chunks++ >= CHUNKS_LISTED) {
        return true;
    }
    reel_time_rfc3339(rosbag_v2_stamp_ns(info->start), start);
    reel_time_rfc3339(rosbag_v2_stamp_ns(info->end), end);
    int size = snprintf(line, sizeof line, "at %llu: %llu messages of %u connections from %s to %s",
                        (ull)info->chunk_pos, (ull)info->messages, info->connections, start, end);
    return reel_scan_metadata(bag->scan, "encrypted chunk", bytes_of(line, (size_t)size), err);
}

/* Skips the connection records, of which only the two lengths can be read. */
static bool skip_connections(struct bag2 *bag, uint64_t *at, struct reel_error *err) {
    uint64_t size = bag->source->size;
    for (uint64_t parts = 2 * bag->conn_count; parts > 0 && size - *at >= 4; parts--) {
        const uint8_t *p = window_at(&bag->window, *at, 4, err);
        if (!p || !rosbag_v2_progress(bag, &bag->file, *at, err)) {
            return false;
        }
        uint32_t length = load_u32le(p);
        *at += 4;
        if (length > size - *at) {
            *at = size;
        } else {
            *at += length;
        }
    }
    return true;
}

static bool list_chunks(struct bag2 *bag, struct sealed *all, struct reel_error *err) {
    const struct rosrecord_bounds bounds = {bag->source->size, "the file"};
    uint64_t at = bag->index_pos;
    if (at < bag->file.at || at >= bag->source->size) {
        return true;
    }
    if (!skip_connections(bag, &at, err)) {
        return false;
    }
    while (at < bag->source->size) {
        struct rosbag_v2_record r;
        struct rosbag_v2_info info;
        struct reel_error why = {0};
        if (!rosbag_v2_record_read(&bag->window, at, &bounds, &r, &why) || r.op != ROSBAG_V2_CHUNK_INFO) {
            return reel_error_ignore(err, &why); /* what is listed so far is all that is known */
        }
        if (!rosbag_v2_info_read(&bag->window, &r, &info, err) || !list_chunk(bag, all, &info, err) ||
            !rosbag_v2_progress(bag, &bag->file, at, err)) {
            return false;
        }
        at += (uint64_t)r.head + r.size;
    }
    return true;
}

bool rosbag_v2_sealed(struct bag2 *bag, struct reel_error *err) {
    struct sealed all = {0};
    if (!list_chunks(bag, &all, err)) {
        return false;
    }
    char start[REEL_TIME_TEXT], end[REEL_TIME_TEXT];
    reel_time_rfc3339(rosbag_v2_stamp_ns(all.first), start);
    reel_time_rfc3339(rosbag_v2_stamp_ns(all.last), end);
    if (all.messages > 0) {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, 0, 0,
                          "the bag is encrypted (%.128s): its %llu messages in %llu chunks, from %s to %s, cannot be "
                          "read without the key",
                          bag->encryptor, (ull)all.messages, (ull)all.chunks, start, end);
    } else {
        reel_scan_finding(bag->scan, REEL_NOTE, 0, 0, 0,
                          "the bag is encrypted (%.128s): its messages cannot be read without the key%s",
                          bag->encryptor, bag->index_pos == 0 ? "; it was not closed, so their number is unknown" : "");
    }
    return true;
}
