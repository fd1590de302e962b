/* Reads an MCAP file record by record, by the layout of formats/mcap_wire.h, and holds every offset, count, order and
 * CRC against what is there; a mistake fails the test. For tests of the writer: knows nothing of compression. */
#ifndef REEL_TESTS_MCAP_READER_H
#define REEL_TESTS_MCAP_READER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "formats/mcap/layout.h"

enum { IDS = 512, CHUNKS = 8192 };

struct seen_chunk {
    uint64_t at, size, index_size, start, end, records;
    uint32_t crc, messages, indexes;
    struct {
        uint16_t channel;
        uint64_t at;
    } index[64];
};

/* What is in a file. */
struct seen {
    struct reel_bytes file;
    struct reel_bytes profile, library;
    struct reel_bytes schema[IDS], channel[IDS]; /* contents, by id */
    uint32_t schemas, channels, chunks, attachments, metadata;
    uint64_t count[IDS], messages, payload;
    uint64_t attachment_at[8], attachment_size[8], metadata_at[8], metadata_size[8];
    struct seen_chunk *chunk;
    uint64_t data_end, last_op_at;
    uint32_t sequence; /* of the last message, and its times */
    uint64_t log_time, publish_time;
};

static struct cursor next_record(struct cursor *c, uint8_t *op) {
    *op = cursor_u8(c);
    struct cursor record = cursor_sub(c, cursor_u64le(c));
    assert_false(c->failed);
    return record;
}

static void see_definition(struct reel_bytes *table, uint32_t *count, struct cursor record) {
    struct reel_bytes content = bytes_of(record.at, cursor_left(&record));
    uint16_t id = cursor_u16le(&record);
    assert_in_range(id, 1, IDS - 1);
    if (table[id].data) {
        assert_true(bytes_equal(table[id], content)); /* a copy, byte for byte */
    } else {
        table[id] = content;
        assert_int_equal(id, ++*count); /* dense, in order */
    }
}

/* The message at `offset` in the chunk's records; false past the end. */
static bool message_at(struct reel_bytes records, uint64_t offset, uint16_t *channel, uint64_t *time) {
    struct cursor c = cursor_of(records);
    if (!cursor_take(&c, offset) && offset > 0) {
        return false;
    }
    uint8_t op = cursor_u8(&c);
    cursor_u64le(&c);
    *channel = cursor_u16le(&c);
    cursor_u32le(&c);
    *time = cursor_u64le(&c);
    return !c.failed && op == MCAP_MESSAGE;
}

static struct reel_bytes see_chunk(struct seen *s, struct cursor record, struct seen_chunk *chunk) {
    chunk->start = cursor_u64le(&record);
    chunk->end = cursor_u64le(&record);
    chunk->records = cursor_u64le(&record);
    chunk->crc = cursor_u32le(&record);
    assert_int_equal(cursor_string32(&record).size, 0);
    assert_int_equal(cursor_u64le(&record), chunk->records);
    struct reel_bytes records = cursor_bytes(&record, chunk->records);
    assert_true(!record.failed && cursor_done(&record));
    if (chunk->crc != 0) {
        assert_int_equal(chunk->crc, crc32(0, records.data, (uInt)records.size));
    }
    uint64_t low = UINT64_MAX, high = 0;
    for (struct cursor c = cursor_of(records); !cursor_done(&c);) {
        uint8_t op = 0;
        struct cursor m = next_record(&c, &op);
        assert_int_equal(op, MCAP_MESSAGE);
        uint16_t channel = cursor_u16le(&m);
        assert_non_null(s->channel[channel].data);
        s->sequence = cursor_u32le(&m);
        s->log_time = cursor_u64le(&m);
        s->publish_time = cursor_u64le(&m);
        assert_false(m.failed);
        s->payload += cursor_left(&m);
        s->count[channel]++;
        s->messages++;
        chunk->messages++;
        low = s->log_time < low ? s->log_time : low;
        high = s->log_time > high ? s->log_time : high;
    }
    assert_int_equal(chunk->start, low);
    assert_int_equal(chunk->end, high);
    return records;
}

static uint32_t see_message_index(struct cursor record, struct reel_bytes records) {
    uint16_t channel = cursor_u16le(&record), found = 0;
    struct cursor entries = cursor_sub(&record, cursor_u32le(&record));
    assert_true(!record.failed && cursor_done(&record));
    uint64_t before = 0;
    uint32_t n = 0;
    for (; !cursor_done(&entries); n++) {
        uint64_t time = cursor_u64le(&entries), real = 0;
        assert_true(message_at(records, cursor_u64le(&entries), &found, &real));
        assert_int_equal(found, channel);
        assert_int_equal(time, real);
        assert_true(time >= before);
        before = time;
    }
    return n;
}

static void see_attachment(struct seen *s, uint64_t at, struct cursor record) {
    const uint8_t *content = record.at;
    size_t size = cursor_left(&record);
    s->attachment_at[s->attachments] = at;
    s->attachment_size[s->attachments++] = MCAP_RECORD_HEAD + size;
    cursor_take(&record, 16);
    cursor_string32(&record);
    cursor_string32(&record);
    cursor_take(&record, cursor_u64le(&record));
    assert_int_equal(cursor_u32le(&record), crc32(0, content, (uInt)size - 4));
    assert_true(!record.failed && cursor_done(&record));
}

/* The data section, up to and with DataEnd. */
static void see_data(struct seen *s, struct cursor *c) {
    struct reel_bytes records = {0};
    struct seen_chunk *chunk = NULL;
    uint32_t indexed = 0;
    for (uint8_t op = 0; op != MCAP_DATA_END;) {
        uint64_t at = (uint64_t)(c->at - s->file.data);
        struct cursor record = next_record(c, &op);
        uint64_t size = MCAP_RECORD_HEAD + cursor_left(&record);
        if (op != MCAP_MESSAGE_INDEX && chunk) {
            assert_int_equal(indexed, chunk->messages); /* each message has its index entry */
            chunk = NULL;
        }
        if (op == MCAP_HEADER) {
            s->profile = cursor_string32(&record);
            s->library = cursor_string32(&record);
        } else if (op == MCAP_SCHEMA) {
            see_definition(s->schema, &s->schemas, record);
        } else if (op == MCAP_CHANNEL) {
            see_definition(s->channel, &s->channels, record);
        } else if (op == MCAP_CHUNK) {
            assert_in_range(s->chunks, 0, CHUNKS - 1);
            chunk = &s->chunk[s->chunks++];
            *chunk = (struct seen_chunk){.at = at, .size = size};
            records = see_chunk(s, record, chunk);
            indexed = 0;
        } else if (op == MCAP_MESSAGE_INDEX) {
            assert_non_null(chunk);
            assert_in_range(chunk->indexes, 0, 63);
            chunk->index[chunk->indexes].channel = load_u16le(record.at);
            chunk->index[chunk->indexes++].at = at;
            chunk->index_size += size;
            indexed += see_message_index(record, records);
        } else if (op == MCAP_ATTACHMENT) {
            see_attachment(s, at, record);
        } else if (op == MCAP_METADATA) {
            s->metadata_at[s->metadata] = at;
            s->metadata_size[s->metadata++] = size;
        } else {
            assert_int_equal(op, MCAP_DATA_END);
            assert_int_equal(cursor_u32le(&record), 0);
        }
    }
    s->data_end = (uint64_t)(c->at - s->file.data);
}

static void check_chunk_index(const struct seen *s, uint32_t n, struct cursor r) {
    const struct seen_chunk *chunk = &s->chunk[n];
    assert_int_equal(cursor_u64le(&r), chunk->start);
    assert_int_equal(cursor_u64le(&r), chunk->end);
    assert_int_equal(cursor_u64le(&r), chunk->at);
    assert_int_equal(cursor_u64le(&r), chunk->size);
    struct cursor map = cursor_sub(&r, cursor_u32le(&r));
    for (uint32_t i = 0; i < chunk->indexes; i++) {
        assert_int_equal(cursor_u16le(&map), chunk->index[i].channel);
        assert_int_equal(cursor_u64le(&map), chunk->index[i].at);
    }
    assert_true(!map.failed && cursor_done(&map));
    assert_int_equal(cursor_u64le(&r), chunk->index_size);
    assert_int_equal(cursor_string32(&r).size, 0);
    assert_int_equal(cursor_u64le(&r), chunk->records);
    assert_int_equal(cursor_u64le(&r), chunk->records);
    assert_true(!r.failed && cursor_done(&r));
}

static void check_statistics(const struct seen *s, struct cursor r) {
    assert_int_equal(cursor_u64le(&r), s->messages);
    assert_int_equal(cursor_u16le(&r), s->schemas);
    assert_int_equal(cursor_u32le(&r), s->channels);
    assert_int_equal(cursor_u32le(&r), s->attachments);
    assert_int_equal(cursor_u32le(&r), s->metadata);
    assert_int_equal(cursor_u32le(&r), s->chunks);
    uint64_t start = s->chunks ? UINT64_MAX : 0, end = 0;
    for (uint32_t i = 0; i < s->chunks; i++) {
        start = s->chunk[i].start < start ? s->chunk[i].start : start;
        end = s->chunk[i].end > end ? s->chunk[i].end : end;
    }
    assert_int_equal(cursor_u64le(&r), start);
    assert_int_equal(cursor_u64le(&r), end);
    struct cursor map = cursor_sub(&r, cursor_u32le(&r));
    uint64_t messages = 0;
    while (!cursor_done(&map)) {
        uint16_t channel = cursor_u16le(&map);
        uint64_t count = cursor_u64le(&map);
        assert_int_equal(count, s->count[channel]);
        messages += count;
    }
    assert_int_equal(messages, s->messages);
    assert_true(!r.failed && cursor_done(&r));
}

/* Summary and summary offsets; returns what each op's group is, to be held against the offsets. */
static void see_summary(struct seen *s, struct cursor *c, uint64_t offsets_at) {
    uint64_t group_at[16] = {0}, group_size[16] = {0};
    uint32_t seen[16] = {0};
    uint8_t op = 0, last = 0;
    while (c->at[0] != MCAP_FOOTER) {
        uint64_t at = (uint64_t)(c->at - s->file.data);
        struct cursor r = next_record(c, &op);
        uint64_t size = MCAP_RECORD_HEAD + cursor_left(&r);
        assert_in_range(op, 1, 15);
        assert_int_equal(at < offsets_at, op != MCAP_SUMMARY_OFFSET);
        if (op == MCAP_SUMMARY_OFFSET) {
            uint8_t group = cursor_u8(&r);
            assert_int_equal(cursor_u64le(&r), group_at[group]);
            assert_int_equal(cursor_u64le(&r), group_size[group]);
            assert_in_range(group_size[group], 1, UINT64_MAX);
            group_size[group] = 0; /* reported once */
            continue;
        }
        assert_true(op == last || seen[op] == 0); /* grouped */
        group_at[op] = seen[op]++ == 0 ? at : group_at[op];
        group_size[op] += size;
        last = op;
        if (op == MCAP_SCHEMA || op == MCAP_CHANNEL) {
            uint32_t none = IDS;
            see_definition(op == MCAP_SCHEMA ? s->schema : s->channel, &none, r);
        } else if (op == MCAP_STATISTICS) {
            check_statistics(s, r);
        } else if (op == MCAP_CHUNK_INDEX) {
            check_chunk_index(s, seen[op] - 1, r);
        } else {
            assert_true(op == MCAP_ATTACHMENT_INDEX || op == MCAP_METADATA_INDEX);
            bool attachment = op == MCAP_ATTACHMENT_INDEX;
            assert_int_equal(cursor_u64le(&r), (attachment ? s->attachment_at : s->metadata_at)[seen[op] - 1]);
            assert_int_equal(cursor_u64le(&r), (attachment ? s->attachment_size : s->metadata_size)[seen[op] - 1]);
        }
    }
    for (int i = 0; i < 16; i++) {
        assert_int_equal(group_size[i], 0); /* each group has its offset */
    }
    assert_int_equal(seen[MCAP_SCHEMA], s->schemas);
    assert_int_equal(seen[MCAP_CHANNEL], s->channels);
    assert_int_equal(seen[MCAP_STATISTICS], 1);
    assert_int_equal(seen[MCAP_CHUNK_INDEX], s->chunks);
    assert_int_equal(seen[MCAP_ATTACHMENT_INDEX], s->attachments);
    assert_int_equal(seen[MCAP_METADATA_INDEX], s->metadata);
}

static void see_file(struct seen *s, const uint8_t *data, uint64_t size) {
    struct seen_chunk *chunks = s->chunk ? s->chunk : malloc(CHUNKS * sizeof *chunks);
    *s = (struct seen){.file = bytes_of(data, (size_t)size), .chunk = chunks};
    struct cursor c = cursor_of(s->file);
    assert_memory_equal(cursor_take(&c, MCAP_MAGIC_SIZE), MCAP_MAGIC, MCAP_MAGIC_SIZE);
    see_data(s, &c);
    assert_in_range(size, 37, UINT64_MAX);
    struct cursor footer = cursor_of(bytes_of(data + size - 28, 28)); /* past its op and length */
    uint64_t summary_at = cursor_u64le(&footer), offsets_at = cursor_u64le(&footer);
    assert_int_equal(summary_at, s->data_end);
    see_summary(s, &c, offsets_at);
    uint8_t op = 0;
    next_record(&c, &op);
    assert_int_equal(op, MCAP_FOOTER);
    assert_int_equal(cursor_u32le(&footer), crc32(0, data + summary_at, (uInt)(size - summary_at - 12)));
    assert_memory_equal(c.at, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    assert_int_equal(cursor_left(&c), MCAP_MAGIC_SIZE);
}

#endif
