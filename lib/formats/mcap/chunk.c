/* Reads chunks, their messages, and the message indexes after a chunk. Nothing of a chunk is reported before its CRC is
 * verified, and each chunk is decoded once. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "chunks/codec.h"
#include "formats/mcap/read.h"

#include <stdio.h>

enum {
    CHUNK_HEAD_ROOM = 256,     /* bytes of a Chunk's content that hold its numbers and the compression name */
    CHUNK_HELD_MAX = 16 << 20, /* a plain chunk up to this size is kept in the window while its CRC is verified, then
                                  walked */
    INDEX_PIECE = 4096,        /* entries of a message index read at a time */
    AHEAD_WINDOW = 4 << 10,    /* one read of headers ahead */
    AHEAD_RECORDS = 4096,      /* from one compressed chunk to the next: a message index for each channel */
    BETWEEN_WINDOW = 64 << 10, /* one read between compressed chunks, whose bytes are read where they are decoded */
};

struct chunk {
    uint64_t at, length; /* position of the record; size of its content */
    uint64_t start_ns, end_ns, raw, records_at, stored;
    uint32_t crc;
    struct reel_bytes compression; /* points into the window: valid until the next read */
    enum reel_codec codec;
    bool known;   /* `codec` is valid */
    bool suspect; /* the CRC is wrong */
    uint32_t found_crc;
    const char *why; /* why it cannot be decoded to its end; NULL: it can */
};

/* ---- the records of one chunk ---- */

/* Position of a record of the run, for findings: in the file when the chunk is plain, else that of the chunk. */
static uint64_t mcap_position_of(const struct mcap *m, const struct mcap_run *run, const struct chunk *c) {
    return run->window == &m->window ? run->at : c->at;
}

static bool take_definition(struct mcap *m, struct mcap_run *run, uint8_t op, uint64_t length, uint64_t position,
                            struct reel_error *err) {
    if (length > MCAP_RECORD_MAX) {
        reel_scan_finding(m->scan, REEL_LOSS, m->part, position, 0,
                          "chunk at %llu: a definition of %llu bytes, more than the limit of %d",
                          (unsigned long long)position, (unsigned long long)length, MCAP_RECORD_MAX);
        return true;
    }
    struct reel_error why = {0};
    const uint8_t *p = window_at(run->window, run->at + MCAP_RECORD_HEAD, (size_t)length, err);
    if (!p) {
        return false;
    }
    struct reel_bytes content = bytes_of(p, (size_t)length);
    if (op == MCAP_SCHEMA ? mcap_define_schema(m, content, position, &why)
                          : mcap_define_channel(m, content, position, &why)) {
        return true;
    }
    if (why.code == REEL_DAMAGED) {
        return reel_scan_finding(m->scan, REEL_LOSS, m->part, position, 0, "chunk at %llu: %s",
                                 (unsigned long long)position, why.text);
    }
    return reel_error_pass(err, &why);
}

/* In a suspect chunk, a definition is ignored when the id is already defined, and a message when its channel is not. */
static bool is_believed(struct mcap *m, struct mcap_run *run, uint8_t op, uint64_t length, bool *yes,
                        struct reel_error *err) {
    size_t at = op == MCAP_MESSAGE ? MCAP_MESSAGE_CHANNEL_AT : MCAP_RECORD_HEAD;
    *yes = true;
    if (!run->suspect || (op != MCAP_MESSAGE && op != MCAP_SCHEMA && op != MCAP_CHANNEL) ||
        at + 2 > MCAP_RECORD_HEAD + length) {
        return true;
    }
    const uint8_t *p = window_at(run->window, run->at, at + 2, err);
    if (!p) {
        return false;
    }
    const struct mcap_id *id = mcap_defined(m->names, load_u16le(p + at));
    bool known = op == MCAP_SCHEMA ? id->schema || id->summary_schema : id->channel || id->summary_channel;
    *yes = known == (op == MCAP_MESSAGE);
    return true;
}

static bool take_in_chunk(struct mcap *m, struct mcap_run *run, uint8_t op, uint64_t length, uint64_t position,
                          struct reel_error *err) {
    bool believed;
    if (!is_believed(m, run, op, length, &believed, err)) {
        return false;
    }
    if (!believed) {
        return true;
    }
    switch (op) {
    case MCAP_MESSAGE:
        return mcap_take_message(m, run, length, position, err);
    case MCAP_SCHEMA:
    case MCAP_CHANNEL:
        return take_definition(m, run, op, length, position, err);
    default:
        if (op > 0 && op <= MCAP_DATA_END) {
            m->unclear_at = m->unclear_records++ == 0 ? position : m->unclear_at;
        } else {
            m->unknown_at = m->unknown_records == 0 ? position : m->unknown_at;
            m->unknown_op = m->unknown_records++ == 0 ? op : m->unknown_op;
        }
        return true;
    }
}

static bool walk_chunk(struct mcap *m, struct mcap_run *run, const struct chunk *c, struct reel_error *err) {
    while (run->at < run->end) {
        if (!mcap_take_messages(m, run, err)) {
            return false;
        }
        uint64_t left = run->end - run->at, length = 0;
        if (left == 0) {
            break;
        }
        if (left >= MCAP_RECORD_HEAD) {
            const uint8_t *p = window_at(run->window, run->at, MCAP_RECORD_HEAD, err);
            if (!p) {
                return false;
            }
            length = load_u64le(p + 1);
            if (length <= left - MCAP_RECORD_HEAD) {
                if (!take_in_chunk(m, run, p[0], length, mcap_position_of(m, run, c), err)) {
                    return false;
                }
                run->at += MCAP_RECORD_HEAD + length;
                continue;
            }
        }
        if (run->suspect) {
            break; /* the chunk has a finding of its own */
        }
        reel_scan_finding(m->scan, REEL_LOSS, m->part, mcap_position_of(m, run, c), left,
                          "chunk at %llu: the record at %llu of its bytes exceeds it", (unsigned long long)c->at,
                          (unsigned long long)(run->at - run->base));
        break;
    }
    return true;
}

/* ---- chunks ---- */

static void chunk_codec(struct chunk *c) {
    static const struct {
        const char *name;
        enum reel_codec codec;
    } known[] = {{"", REEL_CODEC_NONE}, {"lz4", REEL_CODEC_LZ4}, {"zstd", REEL_CODEC_ZSTD}, {"none", REEL_CODEC_NONE}};
    for (size_t i = 0; i < sizeof known / sizeof *known && !c->known; i++) {
        c->known = bytes_is(c->compression, known[i].name);
        c->codec = known[i].codec;
    }
}

/* Reads the fields before the records of the chunk at `begin`. REEL_DAMAGED when they are incomplete; `length` may
 * exceed the file. */
static bool mcap_chunk_read_head(struct window *w, uint64_t begin, uint64_t length, struct chunk *c,
                                 struct reel_error *err) {
    uint64_t at = begin + MCAP_RECORD_HEAD, there = w->source->size - at;
    there = there < length ? there : length;
    there = there < CHUNK_HEAD_ROOM ? there : CHUNK_HEAD_ROOM;
    const uint8_t *p = window_at(w, at, (size_t)there, err);
    if (!p) {
        return false;
    }
    struct cursor r = cursor_of(bytes_of(p, (size_t)there));
    *c = (struct chunk){.at = begin, .length = length};
    c->start_ns = cursor_u64le(&r);
    c->end_ns = cursor_u64le(&r);
    c->raw = cursor_u64le(&r);
    c->crc = cursor_u32le(&r);
    c->compression = cursor_string32(&r);
    c->stored = cursor_u64le(&r);
    c->records_at = at + (uint64_t)(r.at - p);
    chunk_codec(c);
    return !r.failed || reel_fail(err, REEL_DAMAGED, "its fields do not fit");
}

static bool loss_of_chunk(struct mcap *m, const struct chunk *c, const char *why) {
    return reel_scan_finding(m->scan, REEL_LOSS, m->part, c->at, MCAP_RECORD_HEAD + c->length, "chunk at %llu: %s",
                             (unsigned long long)c->at, why);
}

static bool crc_holds(struct window *w, uint64_t at, uint64_t size, struct chunk *c, struct reel_error *err) {
    if (c->crc == 0 || !mcap_crc(w, at, size, &c->found_crc, err)) {
        return c->crc == 0;
    }
    c->suspect = c->found_crc != c->crc;
    return true;
}

/* Keeps the messages of a suspect chunk as far as its records can be read. */
static void suspect_chunk(struct mcap *m, const struct mcap_run *run, const struct chunk *c) {
    if (c->why) {
        reel_scan_finding(m->scan, REEL_LOSS, m->part, c->at, c->records_at + c->stored - c->at,
                          "chunk at %llu: %s; %llu messages of its first %llu bytes are kept, and may be wrong",
                          (unsigned long long)c->at, c->why, (unsigned long long)run->messages,
                          (unsigned long long)(run->end - run->base));
        return;
    }
    reel_scan_finding(
        m->scan, REEL_LOSS, m->part, c->at, 0,
        "chunk at %llu: its CRC is %08x where %08x is stated: %llu messages of it are kept, and may be wrong",
        (unsigned long long)c->at, c->found_crc, c->crc, (unsigned long long)run->messages);
}

static void end_chunk(struct mcap *m, const struct mcap_run *run, const struct chunk *c) {
    mcap_run_end(m, run);
    if (c->suspect) {
        suspect_chunk(m, run, c);
        return; /* the times and indexes of the chunk cannot be compared */
    }
    if (run->messages > 0 && (run->start_ns != c->start_ns || run->end_ns != c->end_ns)) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, c->at, 0,
                          "chunk at %llu: it states times %llu to %llu ns, its messages have %llu to %llu",
                          (unsigned long long)c->at, (unsigned long long)c->start_ns, (unsigned long long)c->end_ns,
                          (unsigned long long)run->start_ns, (unsigned long long)run->end_ns);
    }
    m->index = (struct mcap_index_check){.chunk_at = c->at, .expected = run->index_sum, .open = true};
}

static bool take_plain(struct mcap *m, struct chunk *c, struct reel_error *err) {
    m->window.capacity = m->window.capacity > REEL_WINDOW_BYTES ? m->window.capacity : REEL_WINDOW_BYTES;
    if (c->raw != c->stored) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, c->at, 0,
                          "chunk at %llu: it states %llu bytes of records, and has %llu", (unsigned long long)c->at,
                          (unsigned long long)c->raw, (unsigned long long)c->stored);
    }
    if ((c->stored <= CHUNK_HELD_MAX && !window_at(&m->window, c->records_at, (size_t)c->stored, err)) ||
        !crc_holds(&m->window, c->records_at, c->stored, c, err)) {
        return false;
    }
    struct mcap_run run = {.window = &m->window,
                           .at = c->records_at,
                           .end = c->records_at + c->stored,
                           .base = c->records_at,
                           .chunk = m->part,
                           .suspect = c->suspect};
    bool good = walk_chunk(m, &run, c, err);
    end_chunk(m, &run, c);
    return good;
}

static bool take_decoded(struct mcap *m, struct chunk *c, const struct reel_chunk *row, struct reel_source *source,
                         struct reel_error *err) {
    m->inner.source = source;
    m->inner.offset = 0;
    m->inner.size = 0;
    if (row->damaged) {
        c->suspect = true;
    } else if (scan_chunks_crc(m->compressed, &c->found_crc)) {
        c->suspect = c->crc != 0 && c->found_crc != c->crc;
    } else if (!crc_holds(&m->inner, 0, c->raw, c, err)) {
        return false;
    }
    struct mcap_run run = {.window = &m->inner, .end = row->raw, .suspect = c->suspect, .row = row};
    if (!reel_scan_chunk(m->scan, row, &run.chunk, err)) {
        return false;
    }
    bool good = walk_chunk(m, &run, c, err);
    end_chunk(m, &run, c);
    return good;
}

/* Keeps the records before the damage in a chunk that cannot be decoded to its end. */
static bool take_beginning(struct mcap *m, struct chunk *c, struct reel_chunk *row, const char *why,
                           struct reel_error *err) {
    struct reel_error own = {0};
    if (!codec_measure_damaged(row, m->source, c->raw, err)) {
        return false;
    }
    AUTO(reel_source_free)
    struct reel_source *source = row->raw > 0 ? reel_scan_open_chunk(m->scan, row, &own) : NULL;
    if (!source) {
        return reel_error_ignore(err, &own) && loss_of_chunk(m, c, why);
    }
    c->why = why;
    return take_decoded(m, c, row, source, err);
}

/* Whether all records that begin in these first bytes of a chunk are of a kind that chunks hold, and fit into it. */
static bool holds_records(struct reel_bytes beginning, uint64_t raw) {
    uint64_t at = 0;
    while (at < beginning.size && beginning.size - at >= MCAP_RECORD_HEAD) {
        const uint8_t *p = beginning.data + at;
        uint64_t size = load_u64le(p + 1), left = raw - at - MCAP_RECORD_HEAD;
        if ((p[0] != MCAP_SCHEMA && p[0] != MCAP_CHANNEL && p[0] != MCAP_MESSAGE && p[0] < MCAP_PRIVATE) ||
            size > left) {
            return false;
        }
        at += MCAP_RECORD_HEAD + size;
    }
    return beginning.size >= MCAP_RECORD_HEAD;
}

static struct reel_chunk row_of(const struct mcap *m, const struct chunk *c) {
    return (struct reel_chunk){
        .part = m->part, .codec = c->codec, .offset = c->records_at, .stored = c->stored, .raw = c->raw};
}

/* The next compressed chunk, over the records in between (scan_chunks_ops.next()). */
static bool next_compressed(void *context, uint64_t from, struct reel_chunk *row) {
    struct mcap *m = context;
    uint64_t size = m->source->size;
    for (unsigned i = 0; i < AHEAD_RECORDS && size - from >= MCAP_RECORD_HEAD; i++) {
        const uint8_t *p = window_at(&m->ahead, from, MCAP_RECORD_HEAD, NULL);
        struct chunk c;
        uint64_t length = p ? load_u64le(p + 1) : 0;
        if (!p || length > size - from - MCAP_RECORD_HEAD) {
            return false;
        }
        if (p[0] == MCAP_CHUNK && !mcap_chunk_read_head(&m->ahead, from, length, &c, NULL)) {
            return false;
        }
        if (p[0] == MCAP_CHUNK && c.known && c.codec != REEL_CODEC_NONE) {
            *row = row_of(m, &c);
            return c.stored <= size - c.records_at;
        }
        from += MCAP_RECORD_HEAD + length;
    }
    return false;
}

bool mcap_chunks_begin(struct mcap *m, struct reel_error *err) {
    static const struct scan_chunks_ops ops = {.next = next_compressed, .hashes = true};
    window_close(&m->ahead);
    return window_open(&m->ahead, m->source, AHEAD_WINDOW, err) &&
           (m->compressed = scan_chunks_new(m->scan, m->part, &ops, m, err));
}

static bool take_compressed(struct mcap *m, struct chunk *c, struct reel_error *err) {
    if (c->raw / (1 << 20) > REEL_CHUNK_RAW_MAX_MIB) {
        char why[96];
        snprintf(why, sizeof why, "it would be %llu bytes decoded, more than the %d MiB that are taken",
                 (unsigned long long)c->raw, REEL_CHUNK_RAW_MAX_MIB);
        return loss_of_chunk(m, c, why);
    }
    struct reel_chunk row = row_of(m, c);
    struct reel_error why = {0};
    m->window.capacity = m->crc_needed ? REEL_WINDOW_BYTES : BETWEEN_WINDOW;
    if (!reel_scan_worth_decoding(m->scan, &row, holds_records, &why)) {
        return why.code == REEL_LIMIT ? loss_of_chunk(m, c, why.text) : reel_error_pass(err, &why);
    }
    AUTO(reel_source_free) struct reel_source *source = reel_scan_open_chunk(m->scan, &row, &why);
    if (source) {
        return take_decoded(m, c, &row, source, err);
    }
    if (why.code != REEL_DAMAGED && why.code != REEL_UNSUPPORTED) {
        return reel_error_pass(err, &why);
    }
    return take_beginning(m, c, &row, why.text, err);
}

bool mcap_take_chunk(struct mcap *m, uint64_t length, struct reel_error *err) {
    struct chunk c;
    struct reel_error why = {0};
    m->found.chunks++;
    m->index.chunk_at = m->at; /* also when the chunk is left out: its message indexes are counted */
    if (!mcap_chunk_read_head(&m->window, m->at, length, &c, &why)) {
        return why.code == REEL_DAMAGED ? loss_of_chunk(m, &c, why.text) : reel_error_pass(err, &why);
    }
    uint64_t fields = c.records_at - c.at - MCAP_RECORD_HEAD;
    m->found.chunk_sum += mcap_chunk_hash(c.at, MCAP_RECORD_HEAD + length, c.start_ns, c.end_ns, c.stored, c.raw);
    if (c.stored > length - fields) {
        return loss_of_chunk(m, &c, "its records exceed it");
    }
    if (!c.known) {
        char text[96];
        const char *name =
            arena_utf8(&m->arena, bytes_of(c.compression.data, c.compression.size < 32 ? c.compression.size : 32));
        snprintf(text, sizeof text, "unknown compression \"%.64s\"", name ? name : "?");
        return loss_of_chunk(m, &c, text);
    }
    return c.codec == REEL_CODEC_NONE ? take_plain(m, &c, err) : take_compressed(m, &c, err);
}

bool mcap_take_cut_chunk(struct mcap *m, uint64_t length, bool *inside, struct reel_error *err) {
    struct chunk c;
    struct reel_error why = {0};
    *inside = false;
    if (!mcap_chunk_read_head(&m->window, m->at, length, &c, &why)) {
        return why.code == REEL_DAMAGED || reel_error_pass(err, &why);
    }
    if (!c.known || c.codec != REEL_CODEC_NONE) {
        return true;
    }
    reel_scan_finding(m->scan, REEL_LOSS, m->part, c.at, 0,
                      "chunk at %llu: its length %llu exceeds the file; whole records at its beginning are taken, its "
                      "CRC is not proved",
                      (unsigned long long)c.at, (unsigned long long)length);
    m->found.chunks++;
    m->at = c.records_at;
    *inside = true;
    return true;
}

/* ---- message indexes ---- */

bool mcap_take_message_index(struct mcap *m, uint64_t length, struct reel_error *err) {
    uint64_t at = m->at + MCAP_RECORD_HEAD;
    const uint8_t *p = window_at(&m->window, at, MCAP_MESSAGE_INDEX_HEAD - MCAP_RECORD_HEAD, err);
    if (!p) {
        return false;
    }
    uint16_t channel = load_u16le(p);
    uint32_t size = load_u32le(p + 2);
    at += MCAP_MESSAGE_INDEX_HEAD - MCAP_RECORD_HEAD;
    if (size > length - (MCAP_MESSAGE_INDEX_HEAD - MCAP_RECORD_HEAD) || size % MCAP_MESSAGE_INDEX_ENTRY != 0) {
        return reel_scan_finding(m->scan, REEL_WARNING, m->part, m->at, 0,
                                 "message index at %llu: its %u bytes of entries do not fit", (unsigned long long)m->at,
                                 size);
    }
    struct mcap_index_check *check = &m->index;
    check->records++;
    m->found.chunk_sum += mix_step(mix_step(check->chunk_at, channel), m->at);
    for (uint32_t left = size / MCAP_MESSAGE_INDEX_ENTRY; left > 0 && check->open;) {
        uint32_t n = left < INDEX_PIECE ? left : INDEX_PIECE;
        if (!(p = window_at(&m->window, at, (size_t)n * MCAP_MESSAGE_INDEX_ENTRY, err))) {
            return false;
        }
        for (uint32_t i = 0; i < n; i++, p += MCAP_MESSAGE_INDEX_ENTRY) {
            check->sum += mcap_position_hash(channel, load_u64le(p), load_u64le(p + 8));
        }
        at += (uint64_t)n * MCAP_MESSAGE_INDEX_ENTRY;
        left -= n;
    }
    return true;
}

void mcap_end_message_indexes(struct mcap *m) {
    const struct mcap_index_check *check = &m->index;
    if (check->open && check->records > 0 && check->sum != check->expected) {
        reel_scan_finding(m->scan, REEL_WARNING, m->part, check->chunk_at, 0,
                          "chunk at %llu: its message indexes do not name its messages; they are not used",
                          (unsigned long long)check->chunk_at);
    }
    m->index = (struct mcap_index_check){0};
}
