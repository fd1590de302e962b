/* Columns of a segment: constant, delta or delta of delta, whichever is smaller, as zigzag varints. Regular recordings
 * shrink to a few bytes a message. */
#include "index/pack.h"
#include "base/bytes.h"

#include <libdeflate.h>

enum { MODE_CONSTANT, MODE_DELTA, MODE_DELTA2 };
enum { SAMPLE = 512 }; /* rows used to choose the mode of a column; the others are assumed to be similar */

uint32_t pack_crc(const void *data, size_t size) {
    return libdeflate_crc32(0, data, size);
}

static inline uint64_t zigzag(uint64_t difference) {
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}
static inline uint64_t unzigzag(uint64_t v) {
    return v >> 1 ^ (0 - (v & 1));
}

static inline size_t varint_size(uint64_t v) {
    return ((size_t)(63 - __builtin_clzll(v | 1)) * 9 + 73) / 64;
}
static inline uint8_t *pack_put_varint(uint8_t *out, uint64_t v) {
    while (v >= 0x80) {
        *out++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *out++ = (uint8_t)v;
    return out;
}

/* Size of the values as deltas and as deltas of deltas, including the first value. */
static void pack_measure(const uint64_t *v, size_t n, size_t *delta, size_t *delta2) {
    uint64_t last = 0, step = 0;
    size_t one = 0, two = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t d = v[i] - last;
        one += varint_size(zigzag(d));
        two += varint_size(zigzag(d - step));
        last = v[i];
        step = d;
    }
    *delta = one;
    *delta2 = two;
}

static uint8_t *put_differences(uint8_t *out, const uint64_t *v, size_t n, bool second) {
    uint64_t last = 0, step = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t d = v[i] - last;
        out = pack_put_varint(out, zigzag(second ? d - step : d));
        last = v[i];
        step = d;
    }
    return out;
}

/* A column: u8 mode, u32 size, bytes. */
static uint8_t *put_constant(uint8_t *out, uint64_t value) {
    uint8_t *body = out + 5, *end = pack_put_varint(body, value);
    out[0] = MODE_CONSTANT;
    store_u32le(out + 1, (uint32_t)(end - body));
    return end;
}

static uint8_t *put_varied(uint8_t *out, const uint64_t *v, size_t n) {
    size_t delta, delta2;
    pack_measure(v, n < SAMPLE ? n : SAMPLE, &delta, &delta2);
    uint8_t *body = out + 5, *end = put_differences(body, v, n, delta2 < delta);
    out[0] = delta2 < delta ? MODE_DELTA2 : MODE_DELTA;
    store_u32le(out + 1, (uint32_t)(end - body));
    return end;
}

static uint8_t *put_column(uint8_t *out, const uint64_t *v, size_t n) {
    uint64_t differs = 0;
    for (size_t i = 1; i < n; i++) {
        differs |= v[i] ^ v[0];
    }
    return differs == 0 ? put_constant(out, v[0]) : put_varied(out, v, n);
}

/* The values of a column. */
static void entry_column(const struct reel_entry *entries, size_t n, unsigned column, uint64_t *v) {
    static const struct {
        size_t at, size;
    } of[PACK_ENTRY_COLUMNS] = {{offsetof(struct reel_entry, time_ns), 8}, {offsetof(struct reel_entry, chunk), 4},
                                {offsetof(struct reel_entry, offset), 8},  {offsetof(struct reel_entry, head), 4},
                                {offsetof(struct reel_entry, size), 4},    {offsetof(struct reel_entry, extra[0]), 8},
                                {offsetof(struct reel_entry, extra[1]), 8}};
    _Static_assert(REEL_ENTRY_EXTRAS == 2, "all columns are above");
    const char *p = (const char *)entries + of[column].at;
    if (of[column].size == 4) {
        for (size_t i = 0; i < n; i++, p += sizeof *entries) {
            uint32_t value;
            memcpy(&value, p, sizeof value);
            v[i] = value;
        }
    } else {
        for (size_t i = 0; i < n; i++, p += sizeof *entries) {
            memcpy(&v[i], p, sizeof *v);
        }
    }
}

/* Bits in which entries differ from the first one: most columns of most segments are constant. */
static struct reel_entry differing_bits(const struct reel_entry *entries, size_t n) {
    struct reel_entry d = {0}, first = entries[0];
    for (size_t i = 1; i < n; i++) {
        const struct reel_entry *e = &entries[i];
        d.time_ns |= e->time_ns ^ first.time_ns;
        d.offset |= e->offset ^ first.offset;
        d.chunk |= e->chunk ^ first.chunk;
        d.head |= e->head ^ first.head;
        d.size |= e->size ^ first.size;
        d.extra[0] |= e->extra[0] ^ first.extra[0];
        d.extra[1] |= e->extra[1] ^ first.extra[1];
    }
    return d;
}

size_t pack_entries(const struct reel_entry *entries, size_t n, uint8_t *out) {
    uint64_t v[4096];
    uint8_t *at = out;
    const struct reel_entry differ = differing_bits(entries, n);
    for (unsigned column = 0; column < PACK_ENTRY_COLUMNS; column++) {
        entry_column(&differ, 1, column, v);
        bool constant = v[0] == 0;
        entry_column(entries, constant ? 1 : n, column, v);
        at = constant ? put_constant(at, v[0]) : put_varied(at, v, n);
    }
    return (size_t)(at - out);
}

size_t pack_chunks(const struct reel_chunk *chunks, size_t n, uint8_t *out) {
    uint64_t v[4096];
    uint8_t *at = out;
    for (unsigned column = 0; column < PACK_CHUNK_COLUMNS; column++) {
        for (size_t i = 0; i < n; i++) {
            const struct reel_chunk *c = &chunks[i];
            uint64_t codec = (uint64_t)c->codec | (c->damaged ? PACK_CODEC_DAMAGED : 0);
            v[i] = column == 0   ? c->part
                   : column == 1 ? codec
                   : column == 2 ? c->offset
                   : column == 3 ? c->stored
                                 : c->raw;
        }
        at = put_column(at, v, n);
    }
    return (size_t)(at - out);
}

static inline uint64_t get_varint(struct pack_column *c) {
    uint64_t v = 0;
    for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
        uint8_t byte = *c->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            break;
        }
    }
    return v;
}

static bool open_column(struct pack_column *c, const uint8_t **at, const uint8_t *end) {
    if (end - *at < 5 || load_u32le(*at + 1) > (size_t)(end - *at - 5)) {
        return false;
    }
    c->mode = (*at)[0];
    c->at = *at + 5;
    c->end = c->at + load_u32le(*at + 1);
    *at = c->end;
    c->value = c->mode == MODE_CONSTANT ? get_varint(c) : 0;
    c->step = 0;
    return c->mode <= MODE_DELTA2;
}

static inline uint64_t column_next(struct pack_column *c) {
    if (c->mode == MODE_CONSTANT) {
        return c->value;
    }
    uint64_t d = unzigzag(get_varint(c));
    if (c->mode == MODE_DELTA2) {
        d += c->step;
        c->step = d;
    }
    c->value += d;
    return c->value;
}

bool pack_cursor_open(struct pack_cursor *c, struct reel_bytes data, uint32_t count, uint32_t channel) {
    const uint8_t *at = data.data, *end = data.data + data.size;
    for (unsigned i = 0; i < PACK_ENTRY_COLUMNS; i++) {
        if (!open_column(&c->columns[i], &at, end)) {
            return false;
        }
    }
    c->left = count;
    c->channel = channel;
    return at == end;
}

void pack_cursor_skip(struct pack_cursor *c, int64_t time_ns) {
    struct pack_column times = c->columns[0];
    uint32_t n = 0;
    while (n < c->left && (int64_t)column_next(&times) < time_ns) {
        c->columns[0] = times;
        n++;
    }
    c->left -= n;
    for (unsigned i = 1; i < PACK_ENTRY_COLUMNS; i++) {
        struct pack_column column = c->columns[i];
        for (uint32_t k = 0; k < n && column.mode != MODE_CONSTANT; k++) {
            column_next(&column);
        }
        c->columns[i] = column;
    }
}

bool pack_cursor_next(struct pack_cursor *c, struct reel_entry *out) {
    if (c->left == 0) {
        return false;
    }
    c->left--;
    out->time_ns = (int64_t)column_next(&c->columns[0]);
    out->chunk = (uint32_t)column_next(&c->columns[1]);
    out->offset = column_next(&c->columns[2]);
    out->head = (uint32_t)column_next(&c->columns[3]);
    out->size = (uint32_t)column_next(&c->columns[4]);
    out->channel = c->channel;
    for (unsigned i = 0; i < REEL_ENTRY_EXTRAS; i++) {
        out->extra[i] = column_next(&c->columns[5 + i]);
    }
    return true;
}

bool pack_unpack_chunks(struct reel_bytes data, uint32_t count, struct reel_chunk *out) {
    const uint8_t *at = data.data, *end = data.data + data.size;
    struct pack_column columns[PACK_CHUNK_COLUMNS];
    for (unsigned i = 0; i < PACK_CHUNK_COLUMNS; i++) {
        if (!open_column(&columns[i], &at, end)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i].part = (uint32_t)column_next(&columns[0]);
        uint64_t codec = column_next(&columns[1]);
        out[i].damaged = (codec & PACK_CODEC_DAMAGED) != 0;
        codec &= ~(uint64_t)PACK_CODEC_DAMAGED;
        if (codec > REEL_CODEC_XZ) {
            return false;
        }
        out[i].codec = (enum reel_codec)codec;
        out[i].offset = column_next(&columns[2]);
        out[i].stored = column_next(&columns[3]);
        out[i].raw = column_next(&columns[4]);
    }
    return at == end;
}
