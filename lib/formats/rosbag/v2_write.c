/* Writes ROS bags 2.0 as ROS' own recorders do: chunks of 768 KiB, a connection record in the chunk before its first
 * message, index data after each chunk, all connections and chunk infos at the end. A group of messages is one chunk
 * with its index data. Without compression, planning reads no message; a chunk that is to be compressed is packed
 * (reel_write_pack()). */
#include "formats/rosbag/v2_write.h"
#include "base/bytes.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "formats/ros/wrap.h"
#include "formats/ros/write.h"

#include <stdlib.h>

/* ---- what fits ---- */

static bool accepts_connection(const struct ros_connection *ros, struct reel_loss *loss) {
    const struct reel_channel *c = ros->channel;
    struct reel_sink size = {0};
    rosbag_v2_put_connection(&size, ros, 0);
    if (size.pos > REEL_CONNECTION_MAX || strlen(c->name) > REEL_TEXT_MAX) {
        reel_loss_add(loss, REEL_REFUSES, c,
                      "its definition and metadata of %llu bytes are too large for a connection record",
                      (unsigned long long)size.pos);
        return false;
    }
    ros_report_channel(ros, loss);
    for (size_t i = 0; !ros_wrap_needed(c) && i < c->metadata.count; i++) {
        const char *key = c->metadata.items[i].key;
        if (strchr(key, '=') || key[0] == '\0' || strcmp(key, "type") == 0 || strcmp(key, "md5sum") == 0 ||
            strcmp(key, "message_definition") == 0) {
            reel_loss_add(loss, REEL_LOSES, c, "the channel's metadata \"%s\"", key);
        }
    }
    return true;
}

static bool rosbag_v2_accepts_all(const struct reel_stream *stream, struct reel_loss *loss) {
    ros_report_silent(stream, loss);
    return ros_accepts_all(stream, loss);
}

static bool rosbag_v2_accepts(const struct reel_channel *c, struct reel_loss *loss) {
    return ros_accepts(c, ROS_NAMES_LATER, accepts_connection, loss);
}

/* ---- a run ---- */

bool rosbag_v2_codec_named(const char *name, enum reel_codec *codec, struct reel_error *err) {
    static const struct {
        const char *name;
        enum reel_codec codec;
    } known[] = {{"", REEL_CODEC_NONE}, {"none", REEL_CODEC_NONE}, {"bz2", REEL_CODEC_BZIP2}, {"lz4", REEL_CODEC_LZ4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name ? name : "", known[i].name) == 0) {
            *codec = known[i].codec;
            return true;
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "ROS bags are compressed with bz2 or lz4, not \"%s\"", name);
}

static bool rosbag_v2_open_run(struct reel_write *w, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    struct rosbag_v2_totals *totals = w->totals;
    size_t n = (size_t)w->stream->n_channels + 1;
    run->packed_group = UINT64_MAX;
    if (!rosbag_v2_codec_named(w->options->compression, &run->codec, err)) {
        return false;
    }
    size_t rows = n < ROSBAG_V2_CHUNK_MESSAGES ? n : ROSBAG_V2_CHUNK_MESSAGES;
    run->connections = arena_alloc(&run->arena, n * sizeof *run->connections);
    run->counts = calloc(n, sizeof *run->counts);
    run->touched = calloc(n, sizeof *run->touched);
    run->positions = malloc(ROSBAG_V2_CHUNK_MESSAGES * sizeof *run->positions);
    run->entries = malloc((size_t)ROSBAG_V2_CHUNK_MESSAGES * ROSBAG_V2_INDEX_ENTRY);
    run->note = malloc(ROSBAG_V2_NOTE_HEAD + rows * ROSBAG_V2_NOTE_ROW);
    if (!run->connections || !run->counts || !run->touched || !run->positions || !run->entries || !run->note) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < w->stream->n_channels; i++) {
        if (!cancel_check(err) ||
            !ros_connection_of(&run->arena, w->stream->channels[i], ROS_NAMES_LATER, &run->connections[i], err)) {
            return false;
        }
    }
    if (!totals->first_group) {
        totals->first_group = reel_write_keep(w, n * sizeof *totals->first_group, err);
    }
    return totals->first_group != NULL;
}

static void rosbag_v2_close_run(struct reel_write *w) {
    struct rosbag_v2_write_run *run = w->run;
    arena_free(&run->arena);
    free(run->counts);
    free(run->touched);
    free(run->positions);
    free(run->entries);
    free(run->note);
    free(run->raw);
    free(run->packed.data);
}

static void header_fields(struct reel_sink *out, uint64_t index_pos, uint32_t connections, uint64_t chunks) {
    ros_put_u32(out, "chunk_count", (uint32_t)chunks);
    ros_put_u32(out, "conn_count", connections);
    ros_put_u64(out, "index_pos", index_pos);
    ros_put_op(out, ROSBAG_V2_FILE_HEADER);
}

void rosbag_v2_put_head(struct reel_sink *out, uint64_t index_pos, uint32_t connections, uint64_t chunks) {
    struct reel_sink count = {0};
    header_fields(&count, 0, 0, 0);
    reel_sink_put_bytes(out, bytes_text(ROSBAG_V2_LINE));
    reel_sink_u32le(out, (uint32_t)count.pos);
    header_fields(out, index_pos, connections, chunks);
    reel_sink_u32le(out, ROSBAG_V2_FILE_HEADER_ROOM - (uint32_t)count.pos);
    reel_sink_fill(out, ' ', ROSBAG_V2_FILE_HEADER_ROOM - count.pos);
}

static bool rosbag_v2_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    (void)err;
    const struct rosbag_v2_totals *totals = w->totals;
    uint64_t groups = reel_write_groups(w); /* 0 while planning: the same size with any numbers */
    uint64_t index_pos = strlen(ROSBAG_V2_LINE) + 8 + ROSBAG_V2_FILE_HEADER_ROOM;
    if (groups > 0) {
        const struct reel_group *last = reel_write_group(w, groups - 1);
        index_pos = last->offset + last->size;
    }
    rosbag_v2_put_head(out, index_pos, totals->connections, groups);
    return true;
}

/* ---- messages ---- */

/* The chunk being emitted. */
struct chunk {
    uint64_t records; /* raw bytes */
    uint64_t start, end, last;
    uint32_t count;
    bool disordered;
    enum reel_codec codec; /* what becomes of it: one message over REEL_CHUNK_MEMORY_MAX stands uncompressed */
    bool gather;           /* its raw bytes are wanted in run->raw */
};

struct rosbag_v2_note rosbag_v2_note_of(const struct reel_group *group) {
    return (struct rosbag_v2_note){
        .start = load_u64le(group->note),
        .end = load_u64le(group->note + 8),
        .raw = load_u64le(group->note + 16),
        .stored = load_u64le(group->note + 24),
        .codec = (enum reel_codec)group->note[32],
        .rows = group->note + ROSBAG_V2_NOTE_HEAD,
        .n_rows = (group->note_size - ROSBAG_V2_NOTE_HEAD) / ROSBAG_V2_NOTE_ROW,
    };
}

void rosbag_v2_put_message_head(struct reel_sink *out, uint32_t conn, uint64_t stamp, uint32_t size) {
    uint8_t head[ROSBAG_V2_MESSAGE_HEAD] = "\46\0\0\0"
                                           "\11\0\0\0conn=\0\0\0\0"
                                           "\4\0\0\0op=\2"
                                           "\15\0\0\0time=\0\0\0\0\0\0\0";
    store_u32le(head + 13, conn);
    store_u32le(head + 34, (uint32_t)(stamp >> 32));
    store_u32le(head + 38, (uint32_t)stamp);
    store_u32le(head + 42, size);
    reel_sink_put(out, head, sizeof head);
}

/* True when the connection record precedes this message. */
static bool is_first(struct reel_write *w, uint32_t channel) {
    struct rosbag_v2_write_run *run = w->run;
    struct rosbag_v2_totals *totals = w->totals;
    if (run->counts[channel] > 0) {
        return false;
    }
    return totals->first_group[channel] == w->group + 1 || (w->planning && totals->first_group[channel] == 0);
}

/* Raw bytes the message takes, with its connection record. */
static uint64_t rosbag_size_of(struct reel_write *w, const struct reel_message *m) {
    const struct rosbag_v2_write_run *run = w->run;
    const struct reel_channel *c = w->stream->channels[m->channel];
    struct reel_sink count = {0};
    if (is_first(w, m->channel)) {
        rosbag_v2_put_connection(&count, &run->connections[m->channel], m->channel);
    }
    return count.pos + ROSBAG_V2_MESSAGE_HEAD + (ros_wrap_needed(c) ? ROS_WRAP_HEAD : 0) + (uint64_t)m->size;
}

static bool rosbag_v2_write_put_message(struct reel_write *w, const struct reel_message *m, uint64_t stamp,
                                        struct reel_sink *out, struct reel_error *err) {
    const struct rosbag_v2_write_run *run = w->run;
    bool wrapped = ros_wrap_needed(w->stream->channels[m->channel]);
    if (is_first(w, m->channel)) {
        rosbag_v2_put_connection(out, &run->connections[m->channel], m->channel);
    }
    rosbag_v2_put_message_head(out, m->channel, stamp, m->size + (wrapped ? ROS_WRAP_HEAD : 0));
    if (wrapped) {
        ros_wrap_put_head(out, m->size);
    }
    return reel_write_payload(w, m, out, err);
}

/* Counts a message of `size` raw bytes in the chunk. */
static void rosbag_book(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t stamp,
                        uint64_t size) {
    struct rosbag_v2_write_run *run = w->run;
    struct rosbag_v2_totals *totals = w->totals;
    uint64_t connection = 0;
    if (is_first(w, m->channel)) {
        struct reel_sink count = {0};
        rosbag_v2_put_connection(&count, &run->connections[m->channel], m->channel);
        connection = count.pos;
        if (w->planning) {
            totals->connections++;
            totals->first_group[m->channel] = w->group + 1;
        }
    }
    if (run->counts[m->channel]++ == 0) {
        run->touched[run->n_touched++] = m->channel;
    }
    chunk->start = chunk->count == 0 || stamp < chunk->start ? stamp : chunk->start;
    chunk->end = chunk->count == 0 || stamp > chunk->end ? stamp : chunk->end;
    chunk->disordered |= stamp < chunk->last;
    chunk->last = stamp;
    run->positions[chunk->count++] = (struct rosbag_v2_position){
        .stamp = stamp, .offset = (uint32_t)(chunk->records + connection), .channel = m->channel};
    chunk->records += size;
}

static bool raw_room(struct rosbag_v2_write_run *run, uint64_t size, struct reel_error *err) {
    if (size > run->raw_room) {
        size_t room = size < ROSBAG_V2_CHUNK_BYTES ? ROSBAG_V2_CHUNK_BYTES : (size_t)size;
        uint8_t *raw = realloc(run->raw, room);
        if (!raw) {
            return reel_fail_memory(err);
        }
        run->raw = raw;
        run->raw_room = room;
    }
    return true;
}

/* One message into the chunk: its bytes into run->raw or `out`, or only counted. */
static bool rosbag_add(struct reel_write *w, struct chunk *chunk, const struct reel_message *m, uint64_t size,
                       struct reel_sink *out, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    uint32_t sec, nsec;
    if (!ros_stamp(w, m, &sec, &nsec, err)) {
        return false;
    }
    if (chunk->records + size > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "topic %s: a message of %u bytes does not fit a chunk of a ROS bag",
                         w->stream->channels[m->channel]->name, m->size);
    }
    uint64_t stamp = (uint64_t)sec << 32 | nsec;
    if (chunk->count == 0 && size > REEL_CHUNK_MEMORY_MAX) {
        chunk->codec = REEL_CODEC_NONE;
        chunk->gather = false;
    }
    struct reel_sink gathered = {0};
    if (chunk->gather) {
        if (!raw_room(run, chunk->records + size, err)) {
            return false;
        }
        gathered = (struct reel_sink){.pos = chunk->records, .hi = run->raw_room, .buffer = run->raw};
        out = &gathered;
    }
    bool unseen = !chunk->gather && (w->planning || chunk->codec != REEL_CODEC_NONE);
    if (!unseen && !rosbag_v2_write_put_message(w, m, stamp, out, err)) {
        return false;
    }
    rosbag_book(w, chunk, m, stamp, size);
    return true;
}

static bool rosbag_take_messages(struct reel_write *w, struct chunk *chunk, struct reel_sink *out,
                                 struct reel_error *err) {
    while (chunk->count < ROSBAG_V2_CHUNK_MESSAGES) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        uint64_t size = rosbag_size_of(w, &m);
        if (chunk->count > 0 && chunk->records + size > ROSBAG_V2_CHUNK_BYTES) {
            reel_write_unget(w, &m);
            return true;
        }
        if (!rosbag_add(w, chunk, &m, size, out, err)) {
            return false;
        }
    }
    return true;
}

/* ---- chunks ---- */

static void chunk_fields(struct reel_sink *out, enum reel_codec codec, uint64_t raw) {
    ros_put_field(out, "compression",
                  bytes_text(codec == REEL_CODEC_BZIP2 ? "bz2"
                             : codec == REEL_CODEC_LZ4 ? "lz4"
                                                       : "none"));
    ros_put_op(out, ROSBAG_V2_CHUNK);
    ros_put_u32(out, "size", (uint32_t)raw);
}
void rosbag_v2_put_chunk_head(struct reel_sink *out, const struct rosbag_v2_note *note) {
    struct reel_sink count = {0};
    chunk_fields(&count, note->codec, note->raw);
    reel_sink_u32le(out, (uint32_t)count.pos);
    chunk_fields(out, note->codec, note->raw);
    reel_sink_u32le(out, (uint32_t)note->stored);
}

static bool rosbag_v2_write_pack(struct reel_write *w, const struct chunk *chunk, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    run->packed.size = 0;
    run->packed_group = UINT64_MAX;
    if (!codec_encode(chunk->codec, run->raw, (size_t)chunk->records, &run->packed, err)) {
        return false;
    }
    if (run->packed.size > UINT32_MAX) {
        return reel_fail(err, REEL_UNSUPPORTED, "a chunk of %zu compressed bytes is too long", run->packed.size);
    }
    run->packed_group = w->group;
    return true;
}

/* Leaves the note of the chunk, and emits its head. */
static bool put_note(struct reel_write *w, const struct chunk *chunk, uint64_t stored, struct reel_sink *out,
                     struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    struct rosbag_v2_note note = {.raw = chunk->records, .stored = stored, .codec = chunk->codec};
    store_u64le(run->note, chunk->start);
    store_u64le(run->note + 8, chunk->end);
    store_u64le(run->note + 16, note.raw);
    store_u64le(run->note + 24, note.stored);
    run->note[32] = (uint8_t)note.codec;
    uint8_t *row = run->note + ROSBAG_V2_NOTE_HEAD;
    for (uint32_t i = 0; i < run->n_touched; i++, row += ROSBAG_V2_NOTE_ROW) {
        store_u32le(row, run->touched[i]);
        store_u32le(row + 4, run->counts[run->touched[i]]);
    }
    rosbag_v2_put_chunk_head(out, &note);
    return reel_write_note(w, run->note, (size_t)(row - run->note), err);
}

/* Counts the chunk and stores its note, unless it is to be compressed. */
static bool rosbag_plan_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    struct chunk chunk = {.codec = run->codec};
    if (!rosbag_take_messages(w, &chunk, out, err)) {
        return false;
    }
    bool packs = chunk.codec != REEL_CODEC_NONE;
    uint64_t stored = packs ? codec_encode_bound(chunk.codec, (size_t)chunk.records) : chunk.records;
    if (!put_note(w, &chunk, stored, out, err)) {
        return false;
    }
    reel_sink_fill(out, 0, stored + rosbag_v2_index_size(run->n_touched, chunk.count));
    if (packs) {
        reel_write_pack(w);
    }
    return true;
}

static bool pack_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    struct chunk chunk = {.codec = run->codec, .gather = true};
    if (!rosbag_take_messages(w, &chunk, out, err) || !rosbag_v2_write_pack(w, &chunk, err) ||
        !put_note(w, &chunk, run->packed.size, out, err)) {
        return false;
    }
    reel_sink_put(out, run->packed.data, run->packed.size);
    rosbag_v2_put_index(run, chunk.count, chunk.disordered, out);
    return true;
}

static bool rosbag_render_chunk(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct rosbag_v2_write_run *run = w->run;
    struct rosbag_v2_note note = rosbag_v2_note_of(reel_write_group(w, w->group));
    bool packed = note.codec != REEL_CODEC_NONE, held = packed && run->packed_group == w->group;
    struct chunk chunk = {.codec = note.codec, .gather = packed && !held};
    rosbag_v2_put_chunk_head(out, &note);
    if (!rosbag_take_messages(w, &chunk, out, err) || (chunk.gather && !rosbag_v2_write_pack(w, &chunk, err))) {
        return false;
    }
    if (chunk.records != note.raw || run->n_touched != note.n_rows || (packed && run->packed.size != note.stored)) {
        return reel_fail(err, REEL_CHANGED, "chunk %llu: %llu bytes of messages where %llu were planned",
                         (unsigned long long)w->group, (unsigned long long)chunk.records, (unsigned long long)note.raw);
    }
    if (packed) {
        reel_sink_put(out, run->packed.data, run->packed.size);
    }
    rosbag_v2_put_index(run, chunk.count, chunk.disordered, out);
    return true;
}

static void rosbag_v2_write_forget_chunk(struct rosbag_v2_write_run *run) {
    for (uint32_t i = 0; i < run->n_touched; i++) {
        run->counts[run->touched[i]] = 0;
    }
    run->n_touched = 0;
}

static bool rosbag_v2_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    rosbag_v2_write_forget_chunk(w->run); /* left over from a chunk that failed */
    bool good = w->planning  ? rosbag_plan_chunk(w, out, err)
                : w->packing ? pack_chunk(w, out, err)
                             : rosbag_render_chunk(w, out, err);
    rosbag_v2_write_forget_chunk(w->run);
    return good;
}

#define ROSBAG_V2_WRITER(variant_text)                                                                                 \
    {                                                                                                                  \
        .name = "rosbag-2.0", .extension = ".bag", .variant = variant_text, .media_type = "application/x-rosbag",      \
        .needs = REEL_COMPRESSES | REEL_HEAD_LAST, .version = 3, .encoding = "ros1",                                   \
        .totals_size = sizeof(struct rosbag_v2_totals), .run_size = sizeof(struct rosbag_v2_write_run),                \
        .accepts = rosbag_v2_accepts, .accepts_all = rosbag_v2_accepts_all, .compressions = "bz2 lz4",                 \
        .open = rosbag_v2_open_run, .close = rosbag_v2_close_run, .head = rosbag_v2_head,                              \
        .messages = rosbag_v2_messages, .tail_parts = rosbag_v2_tail_parts, .tail = rosbag_v2_tail,                    \
        .recorder = &rosbag_v2_recorder                                                                                \
    }
const struct reel_writer reel_writer_rosbag_v2 = ROSBAG_V2_WRITER(NULL);
const struct reel_writer reel_writer_rosbag_v2_named = ROSBAG_V2_WRITER("2.0"); /* the same, asked for by its version */
