/* A format for tests of the core and of the writers: recordings are made in memory, message by message, then scanned
 * like any other.
 *
 *   struct toy toy = {0};
 *   toy_start(&toy, REEL_CLOCK_WALL);
 *   toy_channel(&toy, &(struct reel_channel){.name = "/a", .type = "std_msgs/String", .encoding = "ros1"});
 *   toy_message(&toy, 0, 1000, 7, payload, size);        // channel, time, sequence; publish time = time + 1
 *   struct reel_recording *r = toy_open(&toy);           // writes and opens the index pack
 *   …; reel_recording_free(r); toy_free(&toy);
 *
 * A file: "TOY1", then records: kind u8, size u32 of the rest, the rest. Kinds: 'k' clock u8 · 'c' channel: name, type,
 * encoding, latched u8, n u32 × schema {name, encoding, hash, data}, n u32 × pair {key, value} · 'p' pair of metadata
 * {key, value} · 'a' attachment {name, media type, time u64, bytes} · 'm' message {channel u32, time u64, sequence u32,
 * publish u64, payload} · 'r' message without a header whose payload lies earlier in the file {channel u32, time u64,
 * offset u64, size u32}; a text is u32 length + bytes. A test program includes this once: it defines the tables
 * reel_formats[] and reel_writers[] for itself. Rule: mistakes of the test's own stop it (assert). */
#ifndef REEL_TESTS_TOY_FORMAT_H
#define REEL_TESTS_TOY_FORMAT_H

#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "convert/writer.h"
#include "index/scan.h"
#include "read/reader.h"

enum { TOY_RECORD_HEAD = 5, TOY_MESSAGE_HEAD = 24 };

struct toy {
    uint8_t *data;
    size_t size, room;
    size_t open;    /* where the record being made begins */
    unsigned packs; /* how many packs were made of it */
};

static inline void toy_put(struct toy *t, const void *data, size_t size) {
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size) + 4096;
        t->data = realloc(t->data, t->room);
        assert(t->data);
    }
    if (size > 0) {
        memcpy(t->data + t->size, data, size);
    }
    t->size += size;
}
static inline void toy_u32(struct toy *t, uint32_t v) {
    uint8_t b[4];
    store_u32le(b, v);
    toy_put(t, b, sizeof b);
}
static inline void toy_u64(struct toy *t, uint64_t v) {
    uint8_t b[8];
    store_u64le(b, v);
    toy_put(t, b, sizeof b);
}
static inline void toy_bytes(struct toy *t, struct reel_bytes b) {
    toy_u32(t, (uint32_t)b.size);
    toy_put(t, b.data, b.size);
}
static inline void toy_text(struct toy *t, const char *text) {
    toy_bytes(t, bytes_text(text ? text : ""));
}
static inline void toy_begin(struct toy *t, char kind) {
    t->open = t->size;
    toy_put(t, &kind, 1);
    toy_u32(t, 0);
}
static inline void toy_end(struct toy *t) {
    store_u32le(t->data + t->open + 1, (uint32_t)(t->size - t->open - TOY_RECORD_HEAD));
}

static inline void toy_start(struct toy *t, enum reel_clock clock) {
    t->size = 0;
    toy_put(t, "TOY1", 4);
    toy_begin(t, 'k');
    toy_put(t, clock == REEL_CLOCK_RELATIVE ? "\1" : "\0", 1);
    toy_end(t);
}
/* Channel ids are given in the order of the calls, from 0. */
static inline void toy_channel(struct toy *t, const struct reel_channel *c) {
    toy_begin(t, 'c');
    toy_text(t, c->name);
    toy_text(t, c->type);
    toy_text(t, c->encoding);
    toy_put(t, c->latched ? "\1" : "\0", 1);
    toy_u32(t, c->n_schemas);
    for (uint32_t i = 0; i < c->n_schemas; i++) {
        toy_text(t, c->schemas[i].name);
        toy_text(t, c->schemas[i].encoding);
        toy_text(t, c->schemas[i].hash);
        toy_bytes(t, c->schemas[i].data);
    }
    toy_u32(t, (uint32_t)c->metadata.count);
    for (size_t i = 0; i < c->metadata.count; i++) {
        toy_text(t, c->metadata.items[i].key);
        toy_text(t, c->metadata.items[i].value);
    }
    toy_end(t);
}
static inline void toy_pair(struct toy *t, const char *key, const char *value) {
    toy_begin(t, 'p');
    toy_text(t, key);
    toy_text(t, value);
    toy_end(t);
}
static inline void toy_attachment(struct toy *t, const char *name, const char *media_type, int64_t time_ns,
                                  struct reel_bytes data) {
    toy_begin(t, 'a');
    toy_text(t, name);
    toy_text(t, media_type);
    toy_u64(t, (uint64_t)time_ns);
    toy_put(t, data.data, data.size);
    toy_end(t);
}
static inline void toy_message(struct toy *t, uint32_t channel, int64_t time_ns, uint32_t sequence, const void *payload,
                               size_t size) {
    toy_begin(t, 'm');
    toy_u32(t, channel);
    toy_u64(t, (uint64_t)time_ns);
    toy_u32(t, sequence);
    toy_u64(t, (uint64_t)time_ns + 1);
    toy_put(t, payload, size);
    toy_end(t);
}
/* A message whose payload is `size` bytes of the file from `offset`: large recordings from few bytes. */
static inline void toy_message_again(struct toy *t, uint32_t channel, int64_t time_ns, uint64_t offset, uint32_t size) {
    toy_begin(t, 'r');
    toy_u32(t, channel);
    toy_u64(t, (uint64_t)time_ns);
    toy_u64(t, offset);
    toy_u32(t, size);
    toy_end(t);
}
static inline void toy_free(struct toy *t) {
    free(t->data);
    *t = (struct toy){0};
}

/* --- the format ----------------------------------------------------------------------------------------------------
 */

static inline const char *toy_scan_text(struct reel_scan *scan, struct cursor *c) {
    const char *text = reel_scan_text(scan, cursor_string32(c), NULL);
    assert(text);
    return text;
}

static inline bool toy_scan_channel(struct reel_scan *scan, struct cursor *c, struct reel_error *err) {
    struct reel_channel channel = {0};
    channel.name = toy_scan_text(scan, c);
    channel.type = toy_scan_text(scan, c);
    channel.encoding = toy_scan_text(scan, c);
    channel.latched = cursor_u8(c) != 0;
    channel.n_schemas = cursor_u32le(c);
    AUTO_MEM struct reel_schema *schemas = calloc((size_t)channel.n_schemas + 1, sizeof *schemas);
    for (uint32_t i = 0; i < channel.n_schemas; i++) {
        schemas[i].name = toy_scan_text(scan, c);
        schemas[i].encoding = toy_scan_text(scan, c);
        schemas[i].hash = toy_scan_text(scan, c);
        schemas[i].data = cursor_string32(c);
    }
    channel.schemas = schemas;
    channel.metadata.count = cursor_u32le(c);
    AUTO_MEM struct reel_pair *pairs = calloc(channel.metadata.count + 1, sizeof *pairs);
    for (size_t i = 0; i < channel.metadata.count; i++) {
        pairs[i].key = toy_scan_text(scan, c);
        pairs[i].value = toy_scan_text(scan, c);
    }
    channel.metadata.items = pairs;
    uint32_t id = 0;
    return reel_scan_channel(scan, &channel, &id, err);
}

/* `offset`: of the record's rest in the file. */
static inline bool toy_scan_record(struct reel_scan *scan, char kind, uint64_t offset, struct cursor c,
                                   struct reel_error *err) {
    const uint8_t *start = c.at;
    if (kind == 'k') {
        reel_scan_clock(scan, cursor_u8(&c) ? REEL_CLOCK_RELATIVE : REEL_CLOCK_WALL, NULL);
        return true;
    }
    if (kind == 'c') {
        return toy_scan_channel(scan, &c, err);
    }
    if (kind == 'p') {
        const char *key = toy_scan_text(scan, &c);
        return reel_scan_metadata(scan, key, cursor_string32(&c), err);
    }
    if (kind == 'a') {
        struct reel_attachment a = {.name = toy_scan_text(scan, &c)};
        a.media_type = toy_scan_text(scan, &c);
        a.time_ns = (int64_t)cursor_u64le(&c);
        a.offset = offset + (uint64_t)(c.at - start);
        a.size = cursor_left(&c);
        return reel_scan_attachment(scan, &a, err);
    }
    struct reel_entry e = {.offset = offset, .head = TOY_MESSAGE_HEAD};
    e.channel = cursor_u32le(&c);
    e.time_ns = (int64_t)cursor_u64le(&c);
    if (kind == 'r') {
        e.offset = cursor_u64le(&c);
        e.size = cursor_u32le(&c);
        e.head = 0;
    } else {
        cursor_take(&c, 12);
        e.size = (uint32_t)cursor_left(&c);
    }
    return reel_scan_entry(scan, &e, err);
}

static inline bool toy_scan(struct reel_scan *scan, struct reel_error *err) {
    size_t size = (size_t)scan->parts[0]->size;
    AUTO_MEM uint8_t *all = malloc(size + 1);
    if (!reel_source_read(scan->parts[0], 0, all, size, err)) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(all, size));
    cursor_take(&c, 4);
    while (!cursor_done(&c)) {
        char kind = (char)cursor_u8(&c);
        struct cursor record = cursor_sub(&c, cursor_u32le(&c));
        assert(!c.failed);
        if (!toy_scan_record(scan, kind, (uint64_t)(record.at - all), record, err)) {
            return false;
        }
    }
    return true;
}

static inline void toy_describe(struct reel_bytes head, const struct reel_entry *entry,
                                const struct reel_channel *channel, struct reel_description *out) {
    (void)entry;
    (void)channel;
    struct cursor c = cursor_of(head);
    if (!cursor_take(&c, 12)) {
        return; /* a message without a header: the presets hold */
    }
    out->sequence = cursor_u32le(&c);
    out->publish_ns = (int64_t)cursor_u64le(&c);
}

static inline int toy_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    (void)source;
    return bytes_start(head, bytes_text("TOY1")) ? 32 : 0;
}

static const char *const toy_suffixes[] = {".toy", NULL};
static const struct reel_format toy_format = {
    .name = "toy",
    .title = "Toy",
    .media_type = "application/x-toy",
    .suffixes = toy_suffixes,
    .probe = toy_probe,
    .scan = toy_scan,
    .describe = toy_describe,
    .version = 1,
};
#ifndef TOY_MORE_FORMATS /* others that a test reads; each with its comma */
#define TOY_MORE_FORMATS
#endif
const struct reel_format *const reel_formats[] = {&toy_format, TOY_MORE_FORMATS NULL};
#ifndef TOY_MORE_WRITERS
#define TOY_MORE_WRITERS
#endif
const struct reel_writer *const reel_writers[] = {TOY_MORE_WRITERS NULL};

/* --- its recordings
 * --------------------------------------------------------------------------------------------------- */

/* Scans what was made so far. The toy must outlive the recording. */
static inline struct reel_recording *toy_open(struct toy *t) {
    struct reel_error err = {0};
    char pack[512];
    snprintf(pack, sizeof pack, REEL_SCRATCH "/toy-%p-%u.pack", (void *)t, t->packs++);
    struct reel_source *source = reel_source_from_memory(bytes_of(t->data, t->size), "test.toy", &err);
    struct reel_index *index = NULL;
    struct reel_recording *recording = NULL;
    if (source && reel_scan_run(&source, 1, &toy_format, pack, NULL, &err) &&
        (index = reel_index_open(pack, &err)) != NULL) {
        recording = reel_recording_from_index(index, &source, 1, NULL, &err);
    }
    if (!recording) {
        fprintf(stderr, "toy: %s\n", err.text);
    }
    assert(recording);
    remove(pack);
    return recording;
}

/* A stream over all of one recording. */
static inline struct reel_stream *toy_stream(struct reel_recording *recording, const struct reel_selection *selection) {
    struct reel_error err = {0};
    struct reel_stream *stream = reel_stream_open(&recording, 1, selection ? selection : &selection_all, &err);
    assert(stream);
    return stream;
}

/* The whole of a planned output, read in pieces of at most `step` bytes. NULL with err: it failed. */
static inline uint8_t *toy_render_planned(struct reel_recording *recording, const struct reel_writer *writer,
                                          const struct reel_write_options *options,
                                          const struct reel_selection *selection, size_t step, uint64_t *size,
                                          struct reel_error *err) {
    struct reel_stream *stream = toy_stream(recording, selection);
    struct reel_plan *plan = reel_plan_new(writer, options, stream, NULL, err);
    reel_stream_free(stream);
    if (!plan) {
        return NULL;
    }
    *size = reel_plan_length(plan);
    uint8_t *all = malloc((size_t)*size + 1);
    struct reel_planned_output *output = reel_planned_output_new(plan, toy_stream(recording, selection), err);
    bool good = all && output;
    for (uint64_t at = 0; good && at < *size; at += step) {
        good = reel_planned_output_read(output, at, all + at, *size - at < step ? (size_t)(*size - at) : step, err);
    }
    reel_planned_output_free(output);
    reel_plan_free(plan);
    if (!good) {
        free(all);
        all = NULL;
    }
    return all;
}

/* The whole of a streamed output as a text, pulled in pieces of at most `step` bytes. */
static inline char *toy_render_streamed(struct reel_recording *recording, const struct reel_writer *writer,
                                        const struct reel_write_options *options,
                                        const struct reel_selection *selection, size_t step, size_t *size,
                                        struct reel_error *err) {
    struct reel_row_output *rows = reel_row_output_new(writer, options, toy_stream(recording, selection), err);
    struct toy all = {0};
    uint8_t *piece = malloc(step);
    size_t got = 0;
    bool good = rows && piece;
    while (good && (good = reel_row_output_next(rows, piece, step, &got, err)) && got > 0) {
        toy_put(&all, piece, got);
    }
    free(piece);
    reel_row_output_free(rows);
    *size = all.size;
    toy_put(&all, "", 1);
    if (!good) {
        toy_free(&all);
    }
    return (char *)all.data;
}

#endif
