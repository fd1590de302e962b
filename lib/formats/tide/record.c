/* Records TIDE logs: types and channels are written when they are added, messages are gathered to a chunk, which is
 * written with its index blocks at once. The counts in the head of a log 0.0 stay 0 until it is closed, as in logs of
 * RSBag's recorder. */
#include "record/record.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/tide/write.h"

#include <stdlib.h>

struct recorder {
    struct reel_recorder base;
    struct tide_run run; /* ids, counts and touched have room for `room` channels */
    size_t room;
    struct grow records;
    struct tide_chunk_note note;
    uint64_t last_ns, chunks;
    uint32_t count;
    bool disordered;
};

static bool tide_record_put_head(struct recorder *t, struct reel_error *err) {
    uint8_t head[TIDE_BLOCK_HEAD + TIDE_BODY_OLD];
    struct reel_sink out = {.hi = sizeof head, .buffer = head};
    tide_put_head(&out, "TIDE", t->run.is_new ? TIDE_BODY_NEW : TIDE_BODY_OLD);
    reel_sink_u8(&out, t->run.is_new ? 2 : 0);
    reel_sink_u8(&out, 0);
    if (!t->run.is_new) {
        bool open = t->base.pos == 0;
        reel_sink_u32le(&out, open ? 0 : t->base.n_channels);
        reel_sink_u32le(&out, open ? 0 : (uint32_t)t->chunks);
    }
    return t->base.pos == 0 ? recorder_put(&t->base, head, (size_t)out.pos, err)
                            : recorder_patch(&t->base, 0, head, (size_t)out.pos, err);
}

static bool log_open(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    const char *variant = r->writer->variant;
    t->run.is_new = variant && strcmp(variant, "2.0") == 0;
    t->run.positions = malloc(TIDE_CHUNK_MESSAGES * sizeof *t->run.positions);
    t->run.rows = malloc((size_t)TIDE_CHUNK_MESSAGES * TIDE_INDEX_ROW);
    if (!t->run.positions || !t->run.rows) {
        return reel_fail_memory(err);
    }
    return tide_codec_named(r->options.compression, &t->run.codec, t->run.is_new, err) && tide_record_put_head(t, err);
}

static void log_close(struct reel_recorder *r) {
    struct recorder *t = (struct recorder *)r;
    free(t->run.ids);
    free(t->run.counts);
    free(t->run.touched);
    free(t->run.positions);
    free(t->run.rows);
    free(t->run.packed.data);
    free(t->records.data);
}

/* ---- channels */

static bool tide_widen(struct recorder *t, struct reel_error *err) {
    size_t room = t->room ? 2 * t->room : 16;
    if (t->base.n_channels < t->room) {
        return true;
    }
    void *ids = realloc(t->run.ids, room * sizeof *t->run.ids);
    t->run.ids = ids ? ids : t->run.ids;
    void *counts = ids ? realloc(t->run.counts, room * sizeof *t->run.counts) : NULL;
    t->run.counts = counts ? counts : t->run.counts;
    void *touched = counts ? realloc(t->run.touched, room * sizeof *t->run.touched) : NULL;
    t->run.touched = touched ? touched : t->run.touched;
    t->room = touched ? room : t->room;
    return touched || reel_fail_memory(err);
}

static void put_blocks(const struct tide_book *book, bool is_new, struct reel_sink *out) {
    if (is_new) {
        tide_put_types(book, out); /* also those that another channel has: equal ones are read as one */
    }
    tide_put_channels(book, out);
}

static bool log_channel(struct reel_recorder *r, const struct reel_channel *channel, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    const struct reel_stream one = {.channels = &channel, .n_channels = 1};
    uint32_t id = r->n_channels;
    struct reel_sink count = {0};
    if (!tide_widen(t, err)) {
        return false;
    }
    t->run.ids[id] = id;
    t->run.counts[id] = 0;
    AUTO(tide_book_free) struct tide_book *book = tide_book_new(&one, &id, t->run.is_new, err);
    if (!book) {
        return false;
    }
    put_blocks(book, t->run.is_new, &count);
    AUTO_MEM uint8_t *blocks = malloc((size_t)count.pos);
    if (!blocks) {
        return reel_fail_memory(err);
    }
    put_blocks(book, t->run.is_new, &(struct reel_sink){.hi = count.pos, .buffer = blocks});
    return recorder_put(r, blocks, (size_t)count.pos, err);
}

/* ---- chunks */

static bool tide_record_pack(struct recorder *t, struct reel_error *err) {
    t->note.codec = t->records.size > REEL_CHUNK_MEMORY_MAX ? REEL_CODEC_NONE : t->run.codec;
    t->note.raw = t->note.stored = t->records.size;
    if (t->note.codec == REEL_CODEC_NONE) {
        return true;
    }
    t->run.packed.size = 0;
    if (!codec_encode(t->note.codec, t->records.data, t->records.size, &t->run.packed, err)) {
        return false;
    }
    t->note.stored = t->run.packed.size;
    return true;
}

static bool tide_put_chunk(struct recorder *t, struct reel_error *err) {
    if (!tide_record_pack(t, err)) {
        return false;
    }
    uint64_t size = TIDE_BLOCK_HEAD + TIDE_CHUNK_HEAD + t->note.stored + tide_indexes_size(&t->run, t->count);
    AUTO_MEM uint8_t *whole = malloc((size_t)size);
    if (!whole) {
        return reel_fail_memory(err);
    }
    const struct tide_indexed indexed = {
        .number = t->chunks, .at = t->base.pos, .count = t->count, .disordered = t->disordered};
    struct reel_sink out = {.hi = size, .buffer = whole};
    tide_put_chunk_head(&out, t->chunks, t->count, &t->note);
    reel_sink_put(&out, t->note.codec == REEL_CODEC_NONE ? t->records.data : t->run.packed.data,
                  (size_t)t->note.stored);
    tide_put_indexes(&t->run, &indexed, &out);
    bool good = recorder_put(&t->base, whole, (size_t)out.pos, err);
    t->chunks += good;
    return good;
}

static bool log_flush(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    bool good = t->count == 0 || tide_put_chunk(t, err);
    for (uint32_t i = 0; i < t->run.n_touched; i++) {
        t->run.counts[t->run.touched[i]] = 0;
    }
    t->run.n_touched = t->count = 0;
    t->records.size = 0;
    t->last_ns = 0;
    t->disordered = false;
    return good;
}

static bool log_message(struct reel_recorder *r, const struct reel_record *record, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    uint32_t c = record->channel;
    uint64_t time = (uint64_t)record->log_time_ns;
    size_t size = TIDE_ENTRY_HEAD + record->payload.size,
           most = r->options.chunk_bytes ? (size_t)r->options.chunk_bytes : TIDE_CHUNK_BYTES;
    bool full = t->count == TIDE_CHUNK_MESSAGES || (t->count > 0 && t->records.size + size > most);
    if (full && !log_flush(r, err)) {
        return false;
    }
    uint8_t *p = grow_take(&t->records, size);
    if (!p) {
        t->records.failed = false;
        return reel_fail_memory(err);
    }
    store_u32le(p, c);
    store_u64le(p + TIDE_ENTRY_TIME_AT, time);
    store_u32le(p + TIDE_ENTRY_SIZE_AT, (uint32_t)record->payload.size);
    if (record->payload.size > 0) {
        memcpy(p + TIDE_ENTRY_HEAD, record->payload.data, record->payload.size);
    }
    if (t->run.counts[c]++ == 0) {
        t->run.touched[t->run.n_touched++] = c;
    }
    t->note.start_ns = t->count == 0 || time < t->note.start_ns ? time : t->note.start_ns;
    t->note.end_ns = t->count == 0 || time > t->note.end_ns ? time : t->note.end_ns;
    t->disordered |= time < t->last_ns;
    t->last_ns = time;
    t->run.positions[t->count++] =
        (struct tide_position){.time_ns = time, .offset = t->records.size - size, .channel = c};
    return true;
}

static bool log_finish(struct reel_recorder *r, struct reel_error *err) {
    struct recorder *t = (struct recorder *)r;
    return t->run.is_new || tide_record_put_head(t, err);
}

const struct reel_recorder_ops tide_recorder = {
    .state_size = sizeof(struct recorder),
    .open = log_open,
    .channel = log_channel,
    .message = log_message,
    .flush = log_flush,
    .finish = log_finish,
    .close = log_close,
};
