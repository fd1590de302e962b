/* Chunks of a ROS bag 2.0. Every chunk is decoded once and its records decide; index data and the lengths in its header
 * are only compared with them. */
#include "formats/rosbag/v2.h"

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "chunks/codec.h"

#include <stdio.h>

enum {
    AHEAD_WINDOW = 16 << 10, /* one read of headers ahead */
    AHEAD_RECORDS = 4096, /* from one compressed chunk to the next: one for each connection that it has messages of */
    BETWEEN_WINDOW = 64 << 10, /* one read between compressed chunks, whose bytes are read where they are decoded */
};

/* The walk's own window if it holds the header at `at`: then reading ahead costs nothing and moves nothing. */
static struct window *window_for(struct bag2 *bag, uint64_t at) {
    struct window *w = &bag->window;
    size_t held = window_held(w, at);
    bool there = held >= ROSRECORD_MIN && load_u32le(w->buffer + (at - w->offset)) <= held - ROSRECORD_MIN;
    return there ? w : &bag->peek;
}

/* *yes: what follows a chunk or its index may begin here. */
static bool rosbag_v2_follows(struct bag2 *bag, uint64_t at, bool *yes, struct reel_error *err) {
    const struct rosrecord_bounds bounds = {bag->source->size, "the file"};
    struct rosbag_v2_record r;
    struct reel_error why = {0};
    *yes = at == bag->source->size || (at == bag->index_pos && at < bag->source->size);
    if (*yes || at > bag->source->size) {
        return true;
    }
    if (!rosbag_v2_record_read(window_for(bag, at), at, &bounds, &r, &why) && why.code != REEL_DAMAGED) {
        return reel_error_pass(err, &why);
    }
    *yes = rosbag_v2_is_record(&r) && r.op != ROSBAG_V2_MESSAGE; /* also one that the file's end cuts: then its op is
                                                                    known */
    return true;
}

/* ---- opening ---- */

static bool enter_plain(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_error *err) {
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    bool sound = false;
    chunk->plain = true;
    chunk->unfinished = chunk->size == 0;
    bag->window.capacity = REEL_WINDOW_BYTES;
    if (!chunk->unfinished && !rosbag_v2_follows(bag, chunk->data + chunk->size, &sound, err)) {
        return false;
    }
    uint32_t raw = rosbag_v2_u32(r->fields.size, (uint32_t)chunk->size);
    if (raw != chunk->size) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                          "chunk at %llu: not compressed, but %u raw bytes in %llu", (ull)chunk->at, raw,
                          (ull)chunk->size);
    }
    bag->file.at = bag->file.base = chunk->data;
    bag->file.end = sound ? chunk->data + chunk->size : bag->source->size; /* otherwise the records decide where they
                                                                              end */
    chunk->walked = sound ? bag->file.end : 0;
    return true;
}

/* Reports a chunk that cannot be decoded as lost. Its stated end is used only when something follows there. */
static bool lose(struct bag2 *bag, const struct rosbag_v2_record *r, const char *why, struct reel_error *err) {
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    uint64_t end = chunk->data + chunk->size;
    bool sound;
    chunk->broken = true;
    if (!rosbag_v2_follows(bag, end, &sound, err)) {
        return false;
    }
    if (!sound) {
        bag->file.at = r->at;
        return rosbag_v2_resume(bag, &bag->file, why, err);
    }
    bag->file.at = end;
    const struct rosbag_v2_tail *tail = &bag->tail;
    if (tail->has && tail->info.chunk_pos == chunk->at) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, chunk->at, end - chunk->at,
                          "chunk at %llu: %s; its %llu messages are lost", (ull)chunk->at, why,
                          (ull)tail->info.messages);
    } else {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, chunk->at, end - chunk->at, "chunk at %llu: %s; it is lost",
                          (ull)chunk->at, why);
    }
    return true;
}

/* Whether all records that begin in these first bytes of a chunk are messages or connections that fit into it. */
static bool holds_records(struct reel_bytes beginning, uint64_t raw) {
    uint64_t at = 0;
    while (at < beginning.size && beginning.size - at >= ROSRECORD_MIN) {
        struct cursor c = cursor_of(bytes_of(beginning.data + at, beginning.size - (size_t)at));
        uint32_t header = cursor_u32le(&c);
        if (header > REEL_RECORD_HEADER_MAX || header > raw - at) {
            return false;
        }
        if (header > cursor_left(&c)) {
            break;
        }
        struct cursor fields = cursor_of(cursor_bytes(&c, header));
        struct reel_bytes name, value, op = {0};
        while (rosrecord_field(&fields, &name, &value)) {
            op = bytes_is(name, "op") ? value : op;
        }
        uint64_t end = at + ROSRECORD_MIN + header;
        bool known =
            !fields.failed && op.size == 1 && (op.data[0] == ROSBAG_V2_MESSAGE || op.data[0] == ROSBAG_V2_CONNECTION);
        if (!known || end > raw || cursor_left(&c) < 4) {
            return known && end <= raw;
        }
        uint32_t size = cursor_u32le(&c);
        if (size > raw - end) {
            return false;
        }
        at = end + size;
    }
    return beginning.size >= ROSRECORD_MIN;
}

/* The most that a chunk may hold when its header lies about it. */
static uint64_t raw_max(const struct reel_chunk *c) {
    uint64_t max = reel_scan_expansion_max(c->codec, c->stored);
    return max < UINT32_MAX ? max : UINT32_MAX;
}

/* The raw bytes; fewer than stated when decoding yields fewer. NULL with err. */
static struct reel_source *rosbag_decode(struct bag2 *bag, struct reel_chunk *c, struct reel_error *err) {
    struct reel_error why = {0}, other = {0};
    struct reel_source *raw = reel_scan_open_chunk(bag->scan, c, &why);
    uint64_t size, stated = c->raw;
    if (raw) {
        return raw;
    }
    if (why.code != REEL_DAMAGED ||
        !codec_measure(c->codec, bag->source, c->offset, c->stored, raw_max(c), &size, &other)) {
        reel_error_pass(err, reel_is_transient(other.code) ? &other : &why);
        return NULL;
    }
    c->raw = size;
    if ((raw = reel_scan_open_chunk(bag->scan, c, err))) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, bag->chunk.at, 0,
                          "chunk at %llu: holds %llu raw bytes where its header says %llu", (ull)bag->chunk.at,
                          (ull)size, (ull)stated);
    }
    return raw;
}

static bool walk_raw(struct bag2 *bag, struct reel_source *raw, const struct reel_chunk *c, struct reel_error *err) {
    struct window *w = &bag->raw;
    if (!w->buffer && !window_open(w, raw, REEL_WINDOW_BYTES, err)) {
        return false;
    }
    w->source = raw;
    w->offset = w->size = 0;
    struct rosbag_v2_run run = {.window = w, .end = c->raw};
    return reel_scan_chunk(bag->scan, c, &run.chunk, err) && rosbag_v2_walk(bag, &run, err);
}

/* Keeps the records before the damage in a chunk that cannot be decoded to its end. */
static bool keep_beginning(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_chunk *c, const char *why,
                           struct reel_error *err) {
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    uint64_t end = chunk->data + chunk->size;
    bool sound;
    struct reel_error own = {0};
    if (!rosbag_v2_follows(bag, end, &sound, err) || !codec_measure_damaged(c, bag->source, raw_max(c), err)) {
        return false;
    }
    AUTO(reel_source_free)
    struct reel_source *raw = sound && c->raw > 0 ? reel_scan_open_chunk(bag->scan, c, &own) : NULL;
    if (!raw) {
        return reel_error_ignore(err, &own) && lose(bag, r, why, err);
    }
    chunk->broken = true;
    bag->file.at = end;
    if (!walk_raw(bag, raw, c, err)) {
        return false;
    }
    reel_scan_finding(bag->scan, REEL_LOSS, 0, chunk->at, end - chunk->at,
                      "chunk at %llu: %s; %llu messages of its first %llu bytes are kept, and may be wrong",
                      (ull)chunk->at, why, (ull)chunk->messages, (ull)c->raw);
    return true;
}

/* A compressed chunk whose length was never written: its stream has no end. */
static bool skip_unfinished(struct bag2 *bag, struct reel_error *err) {
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    char why[96];
    bool empty;
    chunk->unfinished = chunk->broken = true;
    bag->file.at = chunk->data;
    if (!rosbag_v2_follows(bag, chunk->data, &empty, err)) {
        return false;
    }
    snprintf(why, sizeof why, "the compressed chunk at %llu was never finished", (ull)chunk->at);
    return empty || rosbag_v2_resume(bag, &bag->file, why, err);
}

/* What the header of a compressed chunk says. False: it has another compression. */
static bool packed_chunk(const struct rosbag_v2_record *r, struct reel_chunk *c) {
    bool lz4 = bytes_is(r->fields.compression, "lz4");
    *c = (struct reel_chunk){.codec = lz4 ? REEL_CODEC_LZ4 : REEL_CODEC_BZIP2,
                             .offset = r->at + r->head,
                             .stored = r->size,
                             .raw = rosbag_v2_u32(r->fields.size, 0)};
    return lz4 || bytes_is(r->fields.compression, "bz2");
}

/* The next compressed chunk, over the records in between (scan_chunks_ops.next()). */
static bool next_packed(void *context, uint64_t from, struct reel_chunk *chunk) {
    struct bag2 *bag = context;
    const struct rosrecord_bounds bounds = {bag->source->size, "the file"};
    struct rosbag_v2_record r;
    for (unsigned i = 0; i < AHEAD_RECORDS && from < bag->source->size; i++) {
        if (!rosbag_v2_record_read(&bag->ahead, from, &bounds, &r, NULL)) {
            return false;
        }
        if (r.op == ROSBAG_V2_CHUNK && packed_chunk(&r, chunk)) {
            return chunk->stored > 0;
        }
        from += (uint64_t)r.head + r.size;
    }
    return false;
}

bool rosbag_v2_chunks_begin(struct bag2 *bag, struct reel_error *err) {
    static const struct scan_chunks_ops ops = {.next = next_packed};
    return window_open(&bag->ahead, bag->source, AHEAD_WINDOW, err) &&
           (bag->packed = scan_chunks_new(bag->scan, 0, &ops, bag, err));
}

static bool enter_packed(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_chunk c,
                         struct reel_error *err) {
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    if (chunk->size == 0) {
        return skip_unfinished(bag, err);
    }
    bag->window.capacity = BETWEEN_WINDOW;
    struct reel_error why = {0};
    if (!reel_scan_worth_decoding(bag->scan, &c, holds_records, &why)) {
        return why.code == REEL_LIMIT ? lose(bag, r, why.text, err) : reel_error_pass(err, &why);
    }
    AUTO(reel_source_free) struct reel_source *raw = rosbag_decode(bag, &c, &why);
    if (!raw) {
        return why.code == REEL_DAMAGED       ? keep_beginning(bag, r, &c, why.text, err)
               : why.code == REEL_UNSUPPORTED ? lose(bag, r, why.text, err)
                                              : reel_error_pass(err, &why);
    }
    bag->file.at = chunk->data + chunk->size;
    return walk_raw(bag, raw, &c, err);
}

static void rosbag_v2_chunk_begin(struct bag2 *bag, const struct rosbag_v2_record *r) {
    bag->chunk = (struct rosbag_v2_chunk){
        .open = true, .number = ++bag->chunks, .at = r->at, .data = r->at + r->head, .size = r->size};
}

bool rosbag_v2_chunk_open(struct bag2 *bag, const struct rosbag_v2_record *r, struct reel_error *err) {
    if (!rosbag_v2_chunk_close(bag, err)) {
        return false;
    }
    rosbag_v2_chunk_begin(bag, r);
    bag->tail_met = false;
    struct reel_bytes name = r->fields.compression;
    struct reel_chunk packed;
    if (bytes_is(name, "none")) {
        return enter_plain(bag, r, err);
    }
    if (packed_chunk(r, &packed)) {
        return enter_packed(bag, r, packed, err);
    }
    const char *text = reel_scan_text(
        bag->scan, bytes_of(name.data ? name.data : (const uint8_t *)"", name.size < 64 ? name.size : 64), err);
    char why[384];
    snprintf(why, sizeof why, "unknown compression \"%s\"", text ? text : "");
    return text && lose(bag, r, why, err);
}

void rosbag_v2_chunk_cut(struct bag2 *bag, const struct rosbag_v2_record *r) {
    rosbag_v2_chunk_begin(bag, r);
    bag->chunk.plain = true;
    bag->file.at = bag->file.base = bag->chunk.data;
}

/* ---- index data ---- */

/* Recorders before 1.1.15 (C Turtle) wrote a wrong data length: the count is used instead when something follows there.
 */
static bool repair_length(struct bag2 *bag, struct rosbag_v2_record *r, uint64_t size, struct reel_error *err) {
    bool by_count, by_length;
    if (size == r->size) {
        return true;
    }
    if (!rosbag_v2_follows(bag, r->at + r->head + size, &by_count, err) ||
        !rosbag_v2_follows(bag, r->at + r->head + r->size, &by_length, err)) {
        return false;
    }
    if ((by_length && !by_count) || size > bag->source->size - r->at - r->head) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0,
                          "index data at %llu: says %llu entries but holds %u bytes", (ull)r->at,
                          (ull)size / ROSBAG_V2_INDEX_ENTRY, r->size);
        bag->chunk.distrusted = true;
        return true;
    }
    if (bag->odd_lengths++ == 0) {
        bag->odd_lengths_at = r->at;
    }
    r->size = (uint32_t)size;
    return true;
}

static bool add_entries(struct bag2 *bag, struct rosbag_v2_connection *c, const struct rosbag_v2_record *r,
                        uint32_t count, struct reel_error *err) {
    uint64_t at = r->at + r->head;
    while (count > 0) {
        uint32_t n = count < 4096 ? count : 4096;
        const uint8_t *p = window_at(&bag->window, at, (size_t)n * ROSBAG_V2_INDEX_ENTRY, err);
        if (!p || !rosbag_v2_progress(bag, &bag->file, at, err)) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++, p += ROSBAG_V2_INDEX_ENTRY) {
            c->index_sum += rosbag_v2_entry_hash(rosbag_v2_stamp(p), load_u32le(p + 8));
        }
        c->in_index += n;
        count -= n;
        at += (uint64_t)n * ROSBAG_V2_INDEX_ENTRY;
    }
    return true;
}

bool rosbag_v2_index_record(struct bag2 *bag, struct rosbag_v2_record *r, struct reel_error *err) {
    const struct rosbag_v2_fields *f = &r->fields;
    struct rosbag_v2_chunk *chunk = &bag->chunk;
    uint32_t ver = rosbag_v2_u32(f->ver, UINT32_MAX), count = rosbag_v2_u32(f->count, 0),
             id = rosbag_v2_u32(f->conn, UINT32_MAX);
    if (ver != ROSBAG_V2_VERSION_1) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, r->at, 0, "index data at %llu is of version %u: not used",
                          (ull)r->at, ver);
        chunk->distrusted = true;
        return true;
    }
    if (!repair_length(bag, r, (uint64_t)count * ROSBAG_V2_INDEX_ENTRY, err)) {
        return false;
    }
    chunk->indexed = true;
    if (!chunk->open || chunk->broken || chunk->distrusted || count == 0) {
        return true;
    }
    struct rosbag_v2_connection *c = rosbag_v2_find(bag, id);
    if (!c || c->chunk_number != chunk->number) {
        reel_scan_finding(
            bag->scan, REEL_WARNING, 0, r->at, 0,
            "index data at %llu names %u messages of connection %u, of which the chunk at %llu holds none", (ull)r->at,
            count, id, (ull)chunk->at);
        return true;
    }
    return add_entries(bag, c, r, count, err);
}

/* ---- closing ---- */

static void compare_index(struct bag2 *bag) {
    const struct rosbag_v2_chunk *chunk = &bag->chunk;
    if (!chunk->indexed && !chunk->distrusted) {
        if (chunk->messages > 0 && bag->index_pos != 0 && bag->index_pos <= bag->source->size) {
            reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0, "chunk at %llu has no index data",
                              (ull)chunk->at);
        }
        return;
    }
    for (const struct rosbag_v2_connection *c = chunk->touched; c && !chunk->distrusted; c = c->next_touched) {
        if (c->in_index != c->in_chunk) {
            reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                              "the index data of the chunk at %llu name %llu messages of topic %s, it holds %llu",
                              (ull)chunk->at, (ull)c->in_index, c->model.name, (ull)c->in_chunk);
        } else if (c->index_sum != c->sum) {
            reel_scan_finding(
                bag->scan, REEL_WARNING, 0, chunk->at, 0,
                "the index data of the chunk at %llu have other times or positions than the messages of topic %s",
                (ull)chunk->at, c->model.name);
        }
    }
}

static void report_length(struct bag2 *bag) {
    const struct rosbag_v2_chunk *chunk = &bag->chunk;
    uint64_t end = chunk->data + chunk->size, walked = chunk->walked ? chunk->walked : bag->file.at;
    if (chunk->unfinished) {
        if (chunk->messages > 0) {
            reel_scan_finding(bag->scan, REEL_NOTE, 0, chunk->at, 0,
                              "the chunk at %llu was never finished: read as far as its records go", (ull)chunk->at);
        }
    } else if (end > bag->source->size && walked == bag->source->size && !chunk->broken) {
        reel_scan_finding(bag->scan, REEL_LOSS, 0, walked, 0,
                          "truncated at byte %llu: the chunk at %llu should end at %llu", (ull)walked, (ull)chunk->at,
                          (ull)end);
    } else if (walked != end && !chunk->broken) {
        reel_scan_finding(bag->scan, REEL_WARNING, 0, chunk->at, 0,
                          "the chunk at %llu ends at %llu, its header says %llu", (ull)chunk->at, (ull)walked,
                          (ull)end);
    }
}

bool rosbag_v2_chunk_close(struct bag2 *bag, struct reel_error *err) {
    if (!bag->chunk.open) {
        return true;
    }
    bag->chunk.open = false;
    if (bag->chunk.plain) {
        report_length(bag);
    }
    if (!bag->chunk.broken) {
        compare_index(bag);
    }
    return rosbag_v2_tail_compare(bag, err);
}
