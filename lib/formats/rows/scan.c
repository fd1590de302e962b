/* Reads rows one after another. A row that cannot be read is reported, and the next one is looked for. */
#include "formats/rows/container.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/rows/append.h"
#include "syntax/json_scan.h"
#include "syntax/msgpack.h"

enum {
    ROW_MAX = 256 << 20,   /* bytes of one row */
    RUN_BYTES = 256 << 10, /* rows decoded together; a longer row is alone */
    ARENA_KEPT = 1 << 20,
};

/* Where the payload of a row is read: from the decoded run; there or from the plain one; from the plain one, because
 * bytes inside of a value stay digits. */
enum payload_kind { PAYLOAD_BYTES, PAYLOAD_VALUE, PAYLOAD_NESTED };

struct reading {
    struct rows_scan channels;
    struct reel_source *source;
    enum reel_row_media media;
    struct row_parser parser;
    struct arena arena;
    struct grow text; /* of the file, from `offset` on */
    uint64_t offset;  /* of text.data */
    uint64_t row;     /* number of the last row */
    struct { /* rows of JSON that are not reported yet: entries with their offsets in the file, and a payload_kind
                instead of a chunk */
        struct reel_entry *entries;
        size_t n, capacity;
        uint64_t from, to;
        bool has[3]; /* of each kind */
    } run;
};

static void reading_done(struct reading *r) {
    row_parser_close(&r->parser);
    rows_channels_done(&r->channels);
    arena_free(&r->arena);
    free(r->text.data);
    free(r->run.entries);
}

/* ---- entries */

static bool add_chunk(struct reading *r, enum reel_codec codec, uint32_t *id, struct reel_error *err) {
    uint64_t size = r->run.to - r->run.from;
    const struct reel_chunk chunk = {.codec = codec, .offset = r->run.from, .stored = size, .raw = size};
    return reel_scan_chunk(r->channels.scan, &chunk, id, err);
}

/* One chunk, or two: messages of equal time stay in the order of their rows, because entries are ordered by chunk and
 * offset then. */
static bool flush_run(struct reading *r, struct reel_error *err) {
    uint32_t ids[3] = {0};
    const bool *has = r->run.has;
    if ((has[PAYLOAD_BYTES] && !add_chunk(r, REEL_CODEC_JSON_BYTES, &ids[PAYLOAD_BYTES], err)) ||
        ((has[PAYLOAD_NESTED] || (has[PAYLOAD_VALUE] && !has[PAYLOAD_BYTES])) &&
         !add_chunk(r, REEL_CODEC_NONE, &ids[PAYLOAD_NESTED], err))) {
        return false;
    }
    ids[PAYLOAD_VALUE] = has[PAYLOAD_BYTES] ? ids[PAYLOAD_BYTES] : ids[PAYLOAD_NESTED];
    for (size_t i = 0; i < r->run.n; i++) {
        struct reel_entry *e = &r->run.entries[i];
        e->chunk = ids[e->chunk];
        e->offset -= r->run.from;
        if (!reel_scan_entry(r->channels.scan, e, err)) {
            return false;
        }
    }
    r->run.n = 0;
    memset(r->run.has, 0, sizeof r->run.has);
    return true;
}

/* A message of the row [from, to) of the file. */
static bool add_to_run(struct reading *r, const struct reel_entry *entry, uint64_t from, uint64_t to,
                       struct reel_error *err) {
    if (r->run.n > 0 && to - r->run.from > RUN_BYTES && !flush_run(r, err)) {
        return false;
    }
    if (r->run.n == 0) {
        r->run.from = from;
    }
    if (!GROW_ARRAY(r->run.entries, r->run.n, r->run.capacity)) {
        return reel_fail_memory(err);
    }
    r->run.to = to;
    r->run.has[entry->chunk] = true;
    r->run.entries[r->run.n++] = *entry;
    return true;
}

static bool rows_add_message(struct reading *r, const struct row *row, struct reel_bytes text, struct reel_error *err) {
    struct rows_channel *channel = rows_channel_of(&r->channels, row, err);
    if (!channel) {
        return false;
    }
    uint64_t from = r->offset + (uint64_t)(text.data - r->text.data);
    struct reel_entry entry = {
        .time_ns = row->log_ns,
        .channel = channel->id,
        .offset = row->span.size > 0 ? r->offset + (uint64_t)(row->span.data - r->text.data) : from,
        .size = (uint32_t)row->payload.size,
        .extra = {row->has_publish_time ? (uint64_t)row->publish_ns - (uint64_t)row->log_ns : 0,
                  (uint64_t)rows_frame(&r->channels, channel, row->frame_id) << 32 | row->sequence},
    };
    if (row->dated) {
        reel_scan_clock(r->channels.scan, REEL_CLOCK_WALL, NULL);
    }
    r->parser.now_ns = row->log_ns;
    if (r->media == REEL_ROWS_MSGPACK) {
        return reel_scan_entry(r->channels.scan, &entry, err);
    }
    bool nested = !row->is_bytes && memmem(row->span.data, row->span.size, "\"$base64\"", 9);
    entry.chunk = row->is_bytes ? PAYLOAD_BYTES : nested ? PAYLOAD_NESTED : PAYLOAD_VALUE;
    return add_to_run(r, &entry, from, from + text.size, err);
}

/* ---- rows */

static void report_row(struct reading *r, const char *why, uint64_t offset, uint64_t size) {
    reel_scan_finding(r->channels.scan, REEL_LOSS, 0, offset, size, "row %" PRIu64 " cannot be read: %s", r->row, why);
}

static bool rows_scan_take_row(struct reading *r, struct reel_bytes text, bool last, struct reel_error *err) {
    struct row row;
    struct reel_error why = {0};
    uint64_t offset = r->offset + (uint64_t)(text.data - r->text.data);
    r->row++;
    bool good = r->media == REEL_ROWS_JSON ? row_parse_json(&r->parser, text, &row, &why)
                                           : row_parse_msgpack(&r->parser, text, &row, &why);
    if (!good && why.code == REEL_NO_MEMORY) {
        return reel_error_pass(err, &why);
    }
    if (!good) {
        report_row(r, last ? "the file ends in it" : why.text, offset, text.size);
    }
    good = !good || (row.kind == ROW_CHANNEL   ? rows_define(&r->channels, &row, err)
                     : row.kind == ROW_MESSAGE ? rows_add_message(r, &row, text, err)
                                               : true);
    if (r->arena.used > ARENA_KEPT) {
        arena_free(&r->arena);
    }
    return good;
}

/* The line that begins at `at`; 0: it is not complete. */
static size_t line_size(struct reel_bytes text, size_t at, bool whole) {
    const uint8_t *newline = memchr(text.data + at, '\n', text.size - at);
    return newline ? (size_t)(newline + 1 - text.data) - at : whole ? text.size - at : 0;
}

/* Where a row may begin after damage: a small map whose first key is one of Reel's. */
static size_t next_map(struct reel_bytes text, size_t at) {
    static const char *const keys[] = {"\xa5topic", "\xa9recording", "\xa8$channel"};
    size_t best = text.size;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const uint8_t *p = text.data + at + 2;
        while (at + 2 < best && p < text.data + best &&
               (p = memmem(p, (size_t)(text.data + best - p), keys[i], strlen(keys[i])))) {
            if ((p[-1] & 0xf0) == 0x80) {
                best = (size_t)(p - 1 - text.data);
                break;
            }
            p++;
        }
    }
    return best;
}

static bool take_lines(struct reading *r, bool whole, size_t *done, struct reel_error *err) {
    const struct reel_bytes text = bytes_of(r->text.data, r->text.size);
    for (size_t size; *done < text.size && (size = line_size(text, *done, whole)) > 0; *done += size) {
        size_t skip = text.data[*done] == 0x1e; /* json-seq puts a record separator in front */
        struct cursor line = cursor_of(bytes_of(text.data + *done + skip, size - skip));
        bool cut = text.data[*done + size - 1] != '\n';
        json_space(&line);
        if (!cursor_done(&line) && !rows_scan_take_row(r, bytes_of(line.at, cursor_left(&line)), cut, err)) {
            return false;
        }
    }
    return true;
}

static bool take_maps(struct reading *r, bool whole, size_t *done, struct reel_error *err) {
    const struct reel_bytes text = bytes_of(r->text.data, r->text.size);
    while (*done < text.size) {
        struct msgpack_faults faults = {0};
        struct cursor c = cursor_of(bytes_of(text.data + *done, text.size - *done));
        bool is_map = (text.data[*done] & 0xf0) == 0x80 || (text.data[*done] & 0xfe) == 0xde;
        enum msgpack_result result = is_map ? msgpack_skip(&c, REEL_DEPTH_MAX, &faults) : MSGPACK_BAD;
        if (result == MSGPACK_SHORT && !whole && text.size - *done < ROW_MAX) {
            return true;
        }
        if (result == MSGPACK_OK) {
            size_t size = (size_t)(c.at - text.data) - *done;
            if (!rows_scan_take_row(r, bytes_of(text.data + *done, size), false, err)) {
                return false;
            }
            *done += size;
        } else {
            size_t next = next_map(text, *done);
            r->row++;
            report_row(r, msgpack_result_text(result), r->offset + *done, next - *done);
            *done = next;
        }
    }
    return true;
}

/* Drops what was taken, and reads more behind the rest. */
static bool rows_fill(struct reading *r, size_t done, uint64_t *at, struct reel_error *err) {
    if (done > 0) {
        memmove(r->text.data, r->text.data + done, r->text.size - done);
        r->text.size -= done;
        r->offset += done;
    }
    size_t want = r->text.size > REEL_WINDOW_BYTES ? r->text.size : REEL_WINDOW_BYTES;
    uint64_t left = r->source->size - *at;
    want = want < left ? want : (size_t)left;
    uint8_t *room = grow_take(&r->text, want);
    if (!room) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(r->source, *at, room, want, err)) {
        return false;
    }
    *at += want;
    return reel_scan_progress(r->channels.scan, *at, r->source->size, err);
}

/* A line that is longer than ROW_MAX is left out. */
static bool skip_long(struct reading *r, uint64_t *at, struct reel_error *err) {
    uint64_t from = r->offset;
    const uint8_t *newline = NULL;
    while (!newline && *at < r->source->size) {
        r->offset = *at;
        r->text.size = 0;
        if (!rows_fill(r, 0, at, err)) {
            return false;
        }
        newline = memchr(r->text.data, '\n', r->text.size);
    }
    size_t done = newline ? (size_t)(newline - r->text.data) : r->text.size;
    memmove(r->text.data, r->text.data + done, r->text.size - done);
    r->text.size -= done;
    r->offset += done;
    r->row++;
    report_row(r, "it is longer than 256 MiB", from, r->offset - from);
    return true;
}

static bool rows_read_rows(struct reading *r, struct reel_error *err) {
    uint64_t at = 0;
    size_t done = 0;
    do {
        if (!rows_fill(r, done, &at, err)) {
            return false;
        }
        done = 0;
        bool whole = at == r->source->size;
        if (!(r->media == REEL_ROWS_JSON ? take_lines(r, whole, &done, err) : take_maps(r, whole, &done, err))) {
            return false;
        }
        if (done == 0 && r->text.size >= ROW_MAX && !skip_long(r, &at, err)) {
            return false;
        }
    } while (at < r->source->size);
    return flush_run(r, err) && rows_finish_channels(&r->channels, err);
}

/* ---- probe */

struct members_seen {
    bool topic, data, ours;
    unsigned n;
};
static void see(struct members_seen *seen, struct reel_bytes key) {
    static const char *const notes[] = {"$channel", "$play", "$late", "$end"};
    for (size_t i = 0; seen->n == 0 && i < sizeof notes / sizeof *notes; i++) {
        seen->ours |= bytes_is(key, notes[i]);
    }
    seen->n++;
    seen->topic |= bytes_is(key, "topic");
    seen->data |= bytes_is(key, "data");
}

/* Whether a row begins here. One that is not complete is taken for a row when its topic was seen. */
static bool is_json_row(struct reel_bytes text, bool more) {
    struct members_seen seen = {0};
    struct reel_bytes key, value;
    struct cursor c = cursor_of(text);
    while (!cursor_done(&c) && (*c.at == 0x1e || json_is_space(*c.at))) {
        c.at++;
    }
    const uint8_t *newline = memchr(c.at, '\n', cursor_left(&c));
    more &= !newline;
    struct json_items s = json_items_of(bytes_of(c.at, (size_t)((newline ? newline : c.end) - c.at)), '{', '}');
    while (json_next_member(&s, &key, &value)) {
        see(&seen, key);
    }
    return s.c.failed ? more && (seen.topic || seen.ours) : seen.ours || (seen.topic && seen.data);
}

static bool is_msgpack_row(struct reel_bytes text, bool more) {
    struct members_seen seen = {0};
    struct msgpack_faults faults = {0};
    struct msgpack_item item;
    struct reel_bytes key;
    struct cursor c = cursor_of(text);
    enum msgpack_result result = msgpack_read(&c, &item);
    if (result != MSGPACK_OK || item.kind != MSGPACK_MAP) {
        return false;
    }
    for (uint64_t i = 0; i < item.count && result == MSGPACK_OK; i++) {
        if ((result = msgpack_key(&c, &key, REEL_DEPTH_MAX, &faults)) == MSGPACK_OK) {
            see(&seen, key);
            result = msgpack_skip(&c, REEL_DEPTH_MAX, &faults);
        }
    }
    return result == MSGPACK_OK ? seen.ours || (seen.topic && seen.data)
                                : result == MSGPACK_SHORT && more && (seen.topic || seen.ours);
}

static int rows_probe(struct reel_bytes head, struct reel_source *source, struct reel_error *err) {
    (void)err;
    bool more = source->size > head.size;
    return head.size > 0 && (is_json_row(head, more) || is_msgpack_row(head, more)) ? 32 : 0;
}

static bool rows_scan(struct reel_scan *scan, struct reel_error *err) {
    AUTO_STRUCT(reading_done) struct reading r = {.channels.scan = scan, .source = scan->parts[0]};
    uint8_t first = 0;
    if (r.source->size == 0) {
        return reel_fail(err, REEL_NOT_MINE, "%s is empty", r.source->name);
    }
    if (!reel_source_read(r.source, 0, &first, 1, err)) {
        return false;
    }
    r.media = (first & 0xf0) == 0x80 || (first & 0xfe) == 0xde ? REEL_ROWS_MSGPACK : REEL_ROWS_JSON;
    r.channels.medium = r.media == REEL_ROWS_JSON ? "json" : "msgpack";
    r.arena.max = 2 * (size_t)ROW_MAX;
    r.channels.model.max = REEL_MODEL_MAX;
    reel_scan_container(scan, r.media == REEL_ROWS_JSON ? "rows of JSON" : "rows of MessagePack");
    return row_parser_open(&r.parser, &r.arena, 0, err) && rows_read_rows(&r, err);
}

static void rows_describe(struct reel_bytes head, const struct reel_entry *entry, const struct reel_channel *channel,
                          struct reel_description *out) {
    (void)head;
    uint32_t frame = (uint32_t)(entry->extra[1] >> 32);
    out->publish_ns = (int64_t)((uint64_t)entry->time_ns + entry->extra[0]);
    out->sequence = (uint32_t)entry->extra[1];
    if (frame > 0 && frame <= channel->metadata.count) {
        out->frame_id = channel->metadata.items[frame - 1].value;
    }
}

const struct reel_format reel_format_rows = {
    .name = "rows",
    .title = "rows (NDJSON, MessagePack)",
    .media_type = "application/x-ndjson",
    .suffixes = (const char *const[]){".ndjson", ".jsonl", ".msgpack", ".json-seq", NULL},
    .probe = rows_probe,
    .scan = rows_scan,
    .describe = rows_describe,
    .version = 2,
};
