/* Records ROS bags 2.0: messages are gathered to a chunk, which is written with its index data at once. Until the bag
 * is closed its header says index_pos=0, as `rosbag record` leaves it: readers scan such a bag. The chunk infos of the
 * end wait in a temporary file. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/rosbag/v2_write.h"
#include "index/pack_model.h"
#include "record/record.h"

#include <stdlib.h>

enum { NS_PER_SEC = 1000000000, HEAD_ROOM = 128 };

struct recorder {
    struct reel_recorder base;
    struct rosbag_v2_write_run run; /* connections, counts and touched have room for `room` channels */
    size_t room;
    bool *written; /* by channel: its connection record is in the file */
    struct grow records, rows;
    uint64_t start, end, last; /* stamps of the chunk */
    uint32_t count, chunks;
    bool disordered;
    FILE *infos;
};

static bool rosbag_v2_record_put_head(struct recorder *b, uint64_t index_pos, uint32_t connections,
                                      struct reel_error *err) {
    enum { SIZE = sizeof ROSBAG_V2_LINE - 1 + 8 + ROSBAG_V2_FILE_HEADER_ROOM };
    uint8_t head[SIZE];
    struct reel_sink out = {.hi = sizeof head, .buffer = head};
    rosbag_v2_put_head(&out, index_pos, connections, b->chunks);
    return b->base.pos == 0 ? recorder_put(&b->base, head, (size_t)out.pos, err)
                            : recorder_patch(&b->base, 0, head, (size_t)out.pos, err);
}

static bool bag_open(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    b->run.arena.max = REEL_MODEL_MAX;
    b->run.positions = malloc(ROSBAG_V2_CHUNK_MESSAGES * sizeof *b->run.positions);
    b->run.entries = malloc((size_t)ROSBAG_V2_CHUNK_MESSAGES * ROSBAG_V2_INDEX_ENTRY);
    if (!b->run.positions || !b->run.entries) {
        return reel_fail_memory(err);
    }
    return rosbag_v2_codec_named(r->options.compression, &b->run.codec, err) && (b->infos = recorder_spool(err)) &&
           rosbag_v2_record_put_head(b, 0, 0, err);
}

static void bag_close(struct reel_recorder *r) {
    struct recorder *b = (struct recorder *)r;
    arena_free(&b->run.arena);
    free(b->run.connections);
    free(b->run.counts);
    free(b->run.touched);
    free(b->run.positions);
    free(b->run.entries);
    free(b->run.packed.data);
    free(b->written);
    free(b->records.data);
    free(b->rows.data);
    if (b->infos) {
        fclose(b->infos);
    }
}

/* ---- channels */

static bool rosbag_widen(struct recorder *b, struct reel_error *err) {
    size_t n = b->base.n_channels, room = b->room ? 2 * b->room : 16;
    if (n < b->room) {
        return true;
    }
    void *connections = realloc(b->run.connections, room * sizeof *b->run.connections);
    b->run.connections = connections ? connections : b->run.connections;
    void *counts = connections ? realloc(b->run.counts, room * sizeof *b->run.counts) : NULL;
    b->run.counts = counts ? counts : b->run.counts;
    void *touched = counts ? realloc(b->run.touched, room * sizeof *b->run.touched) : NULL;
    b->run.touched = touched ? touched : b->run.touched;
    void *written = touched ? realloc(b->written, room * sizeof *b->written) : NULL;
    b->written = written ? written : b->written;
    b->room = written ? room : b->room;
    return written || reel_fail_memory(err);
}

static bool bag_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    uint32_t n = r->n_channels;
    struct reel_channel *own = arena_alloc(&b->run.arena, sizeof *own);
    if (!own || !pack_model_copy_channel(&b->run.arena, channel, own)) {
        return arena_fail(&b->run.arena, err);
    }
    if (!rosbag_widen(b, err) || !ros_connection_of(&b->run.arena, own, ROS_NAMES_LATER, &b->run.connections[n], err)) {
        return false;
    }
    b->run.counts[n] = 0;
    b->written[n] = false;
    return true;
}

/* ---- chunks */

static bool rosbag_v2_record_pack(struct recorder *b, struct rosbag_v2_note *note, struct reel_error *err) {
    bool large = b->records.size > REEL_CHUNK_MEMORY_MAX;
    note->codec = large ? REEL_CODEC_NONE : b->run.codec;
    note->raw = note->stored = b->records.size;
    if (note->codec == REEL_CODEC_NONE) {
        return true;
    }
    b->run.packed.size = 0;
    if (!codec_encode(note->codec, b->records.data, b->records.size, &b->run.packed, err)) {
        return false;
    }
    note->stored = b->run.packed.size;
    return true;
}

/* Renders the chunk info of the end into b->rows. */
static bool render_info(struct recorder *b, struct rosbag_v2_note *note, struct reel_bytes *info,
                        struct reel_error *err) {
    size_t size = (size_t)b->run.n_touched * ROSBAG_V2_NOTE_ROW;
    b->rows.size = 0;
    uint8_t *rows = grow_take(&b->rows, 2 * size + 2 * HEAD_ROOM);
    if (!rows) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < b->run.n_touched; i++) {
        store_u32le(rows + (size_t)i * ROSBAG_V2_NOTE_ROW, b->run.touched[i]);
        store_u32le(rows + (size_t)i * ROSBAG_V2_NOTE_ROW + 4, b->run.counts[b->run.touched[i]]);
    }
    note->rows = rows;
    note->n_rows = b->run.n_touched;
    struct reel_sink out = {.hi = size + 2 * HEAD_ROOM, .buffer = rows + size};
    rosbag_v2_put_info(&out, b->base.pos, note);
    *info = bytes_of(rows + size, (size_t)out.pos);
    return true;
}

static bool rosbag_put_chunk(struct recorder *b, struct reel_error *err) {
    struct rosbag_v2_note note = {.start = b->start, .end = b->end};
    struct reel_bytes info = {0};
    uint64_t size = HEAD_ROOM + rosbag_v2_index_size(b->run.n_touched, b->count);
    if (!rosbag_v2_record_pack(b, &note, err) || !render_info(b, &note, &info, err)) {
        return false;
    }
    AUTO_MEM uint8_t *whole = malloc((size_t)(size + note.stored));
    if (!whole) {
        return reel_fail_memory(err);
    }
    struct reel_sink out = {.hi = size + note.stored, .buffer = whole};
    rosbag_v2_put_chunk_head(&out, &note);
    reel_sink_put(&out, note.codec == REEL_CODEC_NONE ? b->records.data : b->run.packed.data, (size_t)note.stored);
    rosbag_v2_put_index(&b->run, b->count, b->disordered, &out);
    if (!recorder_put(&b->base, whole, (size_t)out.pos, err)) {
        return false;
    }
    b->chunks++;
    return fwrite(info.data, info.size, 1, b->infos) == 1 || reel_fail_errno(err, "could not write a temporary file");
}

static void rosbag_v2_record_forget_chunk(struct recorder *b, bool kept) {
    for (uint32_t i = 0; i < b->run.n_touched; i++) {
        b->run.counts[b->run.touched[i]] = 0;
    }
    for (uint32_t i = 0; i < b->base.n_channels && !kept; i++) {
        b->written[i] = false; /* which of them that chunk had is not known: a connection record may be there twice */
    }
    b->run.n_touched = b->count = 0;
    b->records.size = 0;
    b->disordered = false;
    b->last = 0;
}

static bool bag_flush(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    bool good = b->count == 0 || rosbag_put_chunk(b, err);
    rosbag_v2_record_forget_chunk(b, good);
    return good;
}

static bool bag_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    uint32_t c = record->channel;
    int64_t time = record->log_time_ns + (record->log_time_ns == 0); /* ROS readers skip messages at time 0 */
    uint64_t stamp = (uint64_t)(time / NS_PER_SEC) << 32 | (uint64_t)(time % NS_PER_SEC);
    uint32_t wrap = ros_wrap_needed(b->run.connections[c].channel) ? ROS_WRAP_HEAD : 0,
             size = (uint32_t)record->payload.size + wrap;
    size_t most = r->options.chunk_bytes ? (size_t)r->options.chunk_bytes : ROSBAG_V2_CHUNK_BYTES;
    if (time / NS_PER_SEC > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "a message at %lld ns: ROS bags hold times from 1970 to 2106 only",
                         (long long)time);
    }
    bool full = b->count == ROSBAG_V2_CHUNK_MESSAGES ||
                (b->count > 0 && b->records.size + ROSBAG_V2_MESSAGE_HEAD + size > most);
    if (full && !bag_flush(r, err)) {
        return false;
    }
    struct reel_sink counted = {0};
    if (!b->written[c]) {
        rosbag_v2_put_connection(&counted, &b->run.connections[c], c);
    }
    uint64_t room = counted.pos + ROSBAG_V2_MESSAGE_HEAD + size;
    uint8_t *p = grow_room(&b->records, (size_t)room);
    if (!p) {
        b->records.failed = false;
        return reel_fail_memory(err);
    }
    struct reel_sink out = {.hi = room, .buffer = p};
    if (!b->written[c]) {
        rosbag_v2_put_connection(&out, &b->run.connections[c], c);
        b->written[c] = true;
    }
    if (b->run.counts[c]++ == 0) {
        b->run.touched[b->run.n_touched++] = c;
    }
    b->start = b->count == 0 || stamp < b->start ? stamp : b->start;
    b->end = b->count == 0 || stamp > b->end ? stamp : b->end;
    b->disordered |= stamp < b->last;
    b->last = stamp;
    b->run.positions[b->count++] =
        (struct rosbag_v2_position){.stamp = stamp, .offset = (uint32_t)(b->records.size + out.pos), .channel = c};
    rosbag_v2_put_message_head(&out, c, stamp, size);
    if (wrap > 0) {
        ros_wrap_put_head(&out, (uint32_t)record->payload.size);
    }
    reel_sink_put_bytes(&out, record->payload);
    b->records.size += (size_t)room;
    return true;
}

/* ---- the end */

static bool bag_finish(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *b = (struct recorder *)r;
    uint64_t index_pos = r->pos;
    uint32_t connections = 0;
    for (uint32_t c = 0; c < r->n_channels; c++) {
        struct reel_sink count = {0};
        if (!b->written[c]) {
            continue;
        }
        rosbag_v2_put_connection(&count, &b->run.connections[c], c);
        AUTO_MEM uint8_t *bytes = malloc((size_t)count.pos);
        if (!bytes) {
            return reel_fail_memory(err);
        }
        rosbag_v2_put_connection(&(struct reel_sink){.hi = count.pos, .buffer = bytes}, &b->run.connections[c], c);
        if (!recorder_put(r, bytes, (size_t)count.pos, err)) {
            return false;
        }
        connections++;
    }
    return recorder_put_spool(r, b->infos, err) && rosbag_v2_record_put_head(b, index_pos, connections, err);
}

const struct reel_recorder_ops rosbag_v2_recorder = {
    .state_size = sizeof(struct recorder),
    .open = bag_open,
    .channel = bag_channel,
    .message = bag_message,
    .flush = bag_flush,
    .finish = bag_finish,
    .close = bag_close,
};
