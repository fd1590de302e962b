/* Goes on with an MCAP file whose recorder was not closed. A chunk counts with its message indexes: they are written at
 * once, so what lacks them was being written. Chunks before the last complete one are kept as they are, also damaged
 * ones. */
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/mix.h"
#include "chunks/codec.h"
#include "formats/mcap/record.h"

#include <errno.h>
#include <libdeflate.h>
#include <unistd.h>

enum { WALK_BYTES = 64 << 10 };

bool mcap_records_open(struct mcap_records *w, int fd, uint64_t size, struct reel_error *err) {
    *w = (struct mcap_records){.at = MCAP_MAGIC_SIZE};
    int own = dup(fd);
    w->source = own >= 0 ? reel_source_from_fd(own, "the recording", err) : NULL;
    if (!w->source) {
        return own >= 0 ? false : reel_fail_errno(err, "could not read the recording");
    }
    w->source->size = size < w->source->size ? size : w->source->size;
    if (!window_open(&w->window, w->source, WALK_BYTES, err)) {
        return false;
    }
    const uint8_t *magic = NULL;
    if (w->source->size >= MCAP_MAGIC_SIZE && !(magic = window_at(&w->window, 0, MCAP_MAGIC_SIZE, err))) {
        return false;
    }
    return (magic && memcmp(magic, MCAP_MAGIC, MCAP_MAGIC_SIZE) == 0) ||
           reel_fail(err, REEL_NOT_MINE, "this is no MCAP file");
}

void mcap_records_close(struct mcap_records *w) {
    window_close(&w->window);
    reel_source_free(w->source);
}

bool mcap_records_next(struct mcap_records *w, struct mcap_record *r, struct reel_error *err) {
    if (w->source->size - w->at < MCAP_RECORD_HEAD) {
        return false;
    }
    const uint8_t *p = window_at(&w->window, w->at, MCAP_RECORD_HEAD, err);
    if (!p) {
        return false;
    }
    *r = (struct mcap_record){.at = w->at, .op = p[0], .length = load_u64le(p + 1)};
    if (r->op == 0 || r->op >= MCAP_DATA_END || r->op == MCAP_FOOTER ||
        r->length > w->source->size - w->at - MCAP_RECORD_HEAD) {
        return false;
    }
    w->at += MCAP_RECORD_HEAD + r->length;
    return true;
}

const uint8_t *mcap_records_view(struct mcap_records *w, const struct mcap_record *r, size_t size,
                                 struct reel_error *err) {
    return window_at(&w->window, r->at + MCAP_RECORD_HEAD, size, err);
}

/* ---- resuming */

struct resumed {
    struct mcap_recorder *m;
    struct mcap_records walk;
    uint64_t end; /* of what is complete */
    uint64_t sum; /* of the last chunk's messages whose index entries have not come yet; 0: none */
};
static void resumed_done(struct resumed *s) {
    mcap_records_close(&s->walk);
}

static uint64_t entry_sum(uint16_t channel, uint64_t time_ns, uint64_t offset) {
    return mix_step(mix_step(channel, time_ns), offset);
}

/* The sum of the index entries that these records must have, in any order; 0: they are not whole. */
static uint64_t sum_of_messages(struct reel_bytes records) {
    struct cursor c = cursor_of(records);
    uint64_t sum = 0;
    while (!cursor_done(&c) && !c.failed) {
        uint64_t offset = records.size - cursor_left(&c);
        uint8_t op = cursor_u8(&c);
        struct cursor content = cursor_sub(&c, cursor_u64le(&c));
        if (op == MCAP_MESSAGE) {
            uint16_t channel = cursor_u16le(&content);
            cursor_u32le(&content);
            sum += entry_sum(channel, cursor_u64le(&content), offset);
        }
    }
    return c.failed ? 0 : sum;
}

static bool mcap_record_resume_take_index(struct resumed *s, const struct mcap_record *r, struct reel_error *err) {
    bool small = r->length <= (uint64_t)MCAP_CHUNK_MESSAGES * MCAP_MESSAGE_INDEX_ENTRY + 6;
    const uint8_t *p = s->sum != 0 && small ? mcap_records_view(&s->walk, r, (size_t)r->length, err) : NULL;
    if (s->sum == 0 || !small) {
        return true;
    }
    if (!p) {
        return false;
    }
    struct cursor c = cursor_of(bytes_of(p, (size_t)r->length));
    uint16_t channel = cursor_u16le(&c);
    for (uint32_t left = cursor_u32le(&c); left >= MCAP_MESSAGE_INDEX_ENTRY && !c.failed;
         left -= MCAP_MESSAGE_INDEX_ENTRY) {
        uint64_t time_ns = cursor_u64le(&c);
        s->sum -= entry_sum(channel, time_ns, cursor_u64le(&c));
    }
    s->end = s->sum == 0 ? s->walk.at : s->end;
    return true;
}

/* *sum: sum_of_messages() of a chunk whose checksum holds; 0: it does not. */
static bool read_chunk(struct resumed *s, const struct mcap_record *r, uint64_t *sum, struct reel_error *err) {
    enum { FIXED = MCAP_CHUNK_HEAD - MCAP_RECORD_HEAD, NAME_MAX_BYTES = 8 };
    *sum = 0;
    if (r->length < FIXED) {
        return true;
    }
    const uint8_t *p = mcap_records_view(&s->walk, r, FIXED, err);
    if (!p) {
        return false;
    }
    uint64_t raw = load_u64le(p + 16);
    uint32_t crc = load_u32le(p + 24), name = load_u32le(p + 28);
    if (name > NAME_MAX_BYTES || raw > REEL_MESSAGE_MEMORY_MAX + (uint64_t)MCAP_CHUNK_BYTES ||
        r->length < FIXED + (uint64_t)name) {
        return true;
    }
    if (!(p = mcap_records_view(&s->walk, r, FIXED + (size_t)name, err))) {
        return false;
    }
    struct reel_bytes named = bytes_of(p + 32, name);
    struct reel_chunk chunk = {
        .offset = r->at + MCAP_CHUNK_HEAD + name, .stored = r->length - FIXED - name, .raw = raw};
    chunk.codec = bytes_is(named, "zstd") ? REEL_CODEC_ZSTD : bytes_is(named, "lz4") ? REEL_CODEC_LZ4 : REEL_CODEC_NONE;
    if (chunk.codec == REEL_CODEC_NONE && (name > 0 || chunk.stored != raw)) {
        return true;
    }
    AUTO_MEM uint8_t *records = malloc(raw ? (size_t)raw : 1);
    if (!records) {
        return reel_fail_memory(err);
    }
    struct reel_error why = {0};
    if (!codec_decode_chunk(&chunk, s->walk.source, records, NULL, &why)) {
        return why.code == REEL_DAMAGED || reel_error_pass(err, &why);
    }
    if (libdeflate_crc32(0, records, (size_t)raw) == crc) {
        *sum = sum_of_messages(bytes_of(records, (size_t)raw));
    }
    return true;
}

static bool mcap_record_resume_take_record(struct resumed *s, const struct mcap_record *r, struct reel_error *err) {
    const uint8_t *p;
    bool small = r->length <= REEL_SCHEMA_MAX + 2 * (uint64_t)REEL_TEXT_MAX;
    if (r->op == MCAP_CHUNK) {
        return read_chunk(s, r, &s->sum, err);
    }
    if (r->op == MCAP_MESSAGE_INDEX) {
        return mcap_record_resume_take_index(s, r, err);
    }
    if ((r->op == MCAP_SCHEMA || r->op == MCAP_CHANNEL) && small) {
        if (!(p = mcap_records_view(&s->walk, r, (size_t)r->length, err))) {
            return false;
        }
        uint32_t id = r->length >= 2 ? load_u16le(p) : 0;
        if (r->op == MCAP_SCHEMA && r->length > 2) {
            s->m->n_schemas = id > s->m->n_schemas ? id : s->m->n_schemas;
            if (!mcap_recorder_note_schema(s->m, bytes_of(p, (size_t)r->length), err)) {
                return false;
            }
        } else if (r->op == MCAP_CHANNEL) {
            s->m->base.n_channels = id > s->m->base.n_channels ? id : s->m->base.n_channels;
        }
    }
    s->sum = 0;
    s->end = s->walk.at;
    return true;
}

/* Whether the file ends with a footer and the magic; while the summary is being written it does not. */
static bool is_complete(struct mcap_records *walk, bool *complete, struct reel_error *err) {
    enum { LAST = MCAP_FOOTER_SIZE + MCAP_MAGIC_SIZE };
    uint64_t size = walk->source->size;
    const uint8_t *p = size > LAST ? window_at(&walk->window, size - LAST, LAST, err) : NULL;
    *complete = p && p[0] == MCAP_FOOTER && load_u64le(p + 1) == MCAP_FOOTER_SIZE - MCAP_RECORD_HEAD &&
                memcmp(p + MCAP_FOOTER_SIZE, MCAP_MAGIC, MCAP_MAGIC_SIZE) == 0;
    return p || size <= LAST;
}

bool mcap_recorder_resume(struct mcap_recorder *m, struct reel_error *err) {
    AUTO_STRUCT(resumed_done) struct resumed s = {.m = m, .end = MCAP_MAGIC_SIZE};
    struct reel_error why = {0};
    struct mcap_record r;
    if (!mcap_records_open(&s.walk, m->base.fd, UINT64_MAX, err)) {
        return false;
    }
    while (mcap_records_next(&s.walk, &r, &why)) {
        if (!mcap_record_resume_take_record(&s, &r, err)) {
            return false;
        }
    }
    if (why.code != REEL_OK) {
        return reel_error_pass(err, &why);
    }
    bool complete = false;
    if (!is_complete(&s.walk, &complete, err)) {
        return false;
    }
    if (complete) {
        return reel_fail(err, REEL_CONFLICT, "the recording is complete");
    }
    m->base.pos = s.end;
    return ftruncate(m->base.fd, (off_t)s.end) == 0 ||
           reel_fail_errno(err, "could not cut the recording behind its last record");
}
