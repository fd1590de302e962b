/* The values of a page in Parquet's encodings, and their bounds. */
#include "tables/parquet/parquet.h"

#include <math.h>
#include <string.h>

#include "syntax/utf8.h"

static struct reel_bytes text_at(const struct column_data *data, uint64_t slot) {
    uint64_t from = column_offset(data, slot), to = load_u32le(data->offsets.data + slot * 4);
    return bytes_of(data->values.data + from, to - from);
}

/* An integer of any width, extended to 64 bits. */
static int64_t integer_at(const struct column *column, const uint8_t *at) {
    switch (column_width(column)) {
    case 1:
        return column->is_signed ? (int8_t)at[0] : (int64_t)at[0];
    case 2:
        return column->is_signed ? (int16_t)load_u16le(at) : (int64_t)load_u16le(at);
    case 4:
        return column->is_signed ? (int32_t)load_u32le(at) : (int64_t)load_u32le(at);
    default:
        return (int64_t)load_u64le(at);
    }
}

/* ---- plain */

static void put_bits(const struct column_data *data, const struct parquet_entries *e, struct grow *out) {
    uint8_t *room = grow_take(out, (e->values + 7) / 8);
    uint64_t n = 0;
    if (!room) {
        return;
    }
    memset(room, 0, (e->values + 7) / 8);
    for (size_t s = 0; s < e->n_spans; s++) {
        for (uint64_t i = e->spans[s].from; i < e->spans[s].to; i++, n++) {
            room[n / 8] |= (uint8_t)((data->values.data[i] != 0) << n % 8);
        }
    }
}

static void put_texts(const struct column_data *data, const struct parquet_span *span, struct grow *out) {
    for (uint64_t i = span->from; i < span->to; i++) {
        struct reel_bytes text = text_at(data, i);
        grow_u32(out, (uint32_t)text.size);
        grow_put(out, text.data, text.size);
    }
}

static void put_narrow(const struct column *column, const struct column_data *data, const struct parquet_span *span,
                       struct grow *out) {
    uint32_t width = column_width(column);
    uint8_t *room = grow_take(out, (span->to - span->from) * 4);
    for (uint64_t i = span->from; room && i < span->to; i++, room += 4) {
        store_u32le(room, (uint32_t)integer_at(column, data->values.data + i * width));
    }
}

void parquet_put_plain(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out) {
    if (column->kind == COLUMN_BOOL) {
        put_bits(data, e, out);
        return;
    }
    for (size_t s = 0; s < e->n_spans; s++) {
        const struct parquet_span *span = &e->spans[s];
        uint32_t width = column_width(column);
        if (column_is_bytes(column)) {
            put_texts(data, span, out);
        } else if (width < 4) {
            put_narrow(column, data, span, out);
        } else {
            grow_put(out, data->values.data + span->from * width, (span->to - span->from) * width);
        }
    }
}

/* ---- floats: all first bytes, all second ones … */

/* Exchanges the `bits` highest of every 2 × bits of `*a` with the lowest of `*b`. */
static inline void values_exchange(uint64_t *a, uint64_t *b, unsigned bits, uint64_t low) {
    uint64_t other = (*a >> bits ^ *b) & low;
    *b ^= other;
    *a ^= other << bits;
}

/* Byte k of eight values, for each k: afterwards v[k] has them in order. */
static inline void turn_eight(uint64_t v[8]) {
    for (int i = 0; i < 4; i++) {
        values_exchange(&v[i], &v[i + 4], 32, UINT64_C(0x00000000ffffffff));
    }
    for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) { /* 0, 1, 4, 5 */
        values_exchange(&v[i], &v[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
    }
    for (int i = 0; i < 8; i += 2) {
        values_exchange(&v[i], &v[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
    }
}

/* The same of eight values of four bytes; v[i] has the values i and i + 4. */
static inline void turn_four(uint64_t v[4]) {
    for (int i = 0; i < 2; i++) {
        values_exchange(&v[i], &v[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
    }
    for (int i = 0; i < 4; i += 2) {
        values_exchange(&v[i], &v[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
    }
}

/* As many values as are a multiple of eight, of which byte k of the first goes to out[k * stride]. Returns how many. */
static uint64_t split_eights(const uint8_t *values, uint64_t n, uint32_t width, uint64_t stride, uint8_t *out) {
    uint64_t v[8], done = 0;
    for (; done + 8 <= n; done += 8) {
        const uint8_t *at = values + done * width;
        for (uint32_t i = 0; i < width; i++) {
            v[i] = width == 8 ? load_u64le(at + (size_t)8 * i)
                              : load_u32le(at + (size_t)4 * i) | (uint64_t)load_u32le(at + (size_t)4 * (i + 4)) << 32;
        }
        if (width == 8) {
            turn_eight(v);
        } else {
            turn_four(v);
        }
        for (uint32_t i = 0; i < width; i++) {
            store_u64le(out + i * stride + done, v[i]);
        }
    }
    return done;
}

/* Of floats, which have 4 or 8 bytes. */
void parquet_put_split(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out) {
    uint32_t width = column_width(column);
    uint8_t *room = grow_take(out, e->values * width);
    for (size_t s = 0; room && s < e->n_spans; s++) {
        uint64_t n = e->spans[s].to - e->spans[s].from;
        const uint8_t *values = data->values.data + e->spans[s].from * width;
        uint64_t i =
            width == 8 ? split_eights(values, n, 8, e->values, room) : split_eights(values, n, 4, e->values, room);
        for (; i < n; i++) {
            for (uint32_t k = 0; k < width; k++) {
                room[k * e->values + i] = values[i * width + k];
            }
        }
        room += n;
    }
}

/* ---- integers that rise: differences, in blocks of 128, each 32 of them packed with as many bits as the largest needs
 */

enum { BLOCK = 128, MINI = 32 };

static void put_zigzag(struct grow *out, int64_t value) {
    parquet_put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static unsigned bits_of(uint64_t value) {
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static void put_mini(const uint64_t *values, unsigned width, struct grow *out) {
    uint8_t *room = grow_take(out, MINI / 8 * (size_t)width);
    if (!room) {
        return;
    }
    memset(room, 0, MINI / 8 * (size_t)width);
    for (unsigned i = 0, at = 0; i < MINI; i++, at += width) {
        for (unsigned done = 0; done < width;) { /* byte by byte: a number may begin and end in the middle of one */
            unsigned shift = (at + done) % 8;
            room[(at + done) / 8] |= (uint8_t)(values[i] >> done << shift);
            done += 8 - shift;
        }
    }
}

static void put_block(uint64_t *deltas, unsigned n, bool narrow, struct grow *out) {
    int64_t least = INT64_MAX;
    unsigned widths[BLOCK / MINI] = {0};
    for (unsigned i = 0; i < n; i++) {
        least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
        deltas[i] = narrow ? (uint32_t)deltas[i] : deltas[i];
        unsigned bits = bits_of(deltas[i]);
        widths[i / MINI] = bits > widths[i / MINI] ? bits : widths[i / MINI];
    }
    put_zigzag(out, least);
    for (unsigned i = 0; i < BLOCK / MINI; i++) {
        grow_u8(out, (uint8_t)widths[i]);
    }
    for (unsigned i = 0; i * MINI < n; i++) {
        put_mini(deltas + i * MINI, widths[i], out);
    }
}

void parquet_put_delta(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                       struct grow *out) {
    uint32_t width = column_width(column), n = 0;
    uint64_t deltas[BLOCK];
    int64_t last = 0;
    bool narrow = parquet_type_of(column) == PARQUET_INT32, first = true;
    parquet_put_varint(out, BLOCK);
    parquet_put_varint(out, BLOCK / MINI);
    parquet_put_varint(out, e->values);
    for (size_t s = 0; s < e->n_spans; s++) {
        for (uint64_t i = e->spans[s].from; i < e->spans[s].to; i++) {
            int64_t value = integer_at(column, data->values.data + i * width);
            value = narrow ? (int32_t)value : value; /* an unsigned one by its bits */
            if (first) {
                put_zigzag(out, value);
            } else {
                uint64_t delta = (uint64_t)value - (uint64_t)last;
                deltas[n++] = narrow ? (uint64_t)(int32_t)delta : delta;
            }
            if (n == BLOCK) {
                put_block(deltas, n, narrow, out);
                n = 0;
            }
            last = value;
            first = false;
        }
    }
    if (first) {
        put_zigzag(out, 0);
    }
    if (n > 0) {
        put_block(deltas, n, narrow, out);
    }
}

/* ---- bounds */

static void values_keep(struct parquet_bounds *b, int which, const void *bytes, size_t size, bool exact) {
    b->size[which] = (uint8_t)size;
    b->exact[which] = exact;
    if (size > 0) {
        memcpy(b->bytes[which], bytes, size);
    }
}

/* Where a text can be cut. */
static size_t cut_of(const struct column *column, struct reel_bytes text) {
    size_t size = PARQUET_BOUND;
    while (column->kind != COLUMN_BYTES && size > 0 && (text.data[size] & 0xc0) == 0x80) {
        size--;
    }
    return size;
}

/* A long maximum is replaced by a shorter one above it: its last byte is raised, of a text only if that is still one.
 */
static bool raise(const struct column *column, struct parquet_bounds *b) {
    uint8_t most = column->kind == COLUMN_BYTES ? 0xfe : 0x7e;
    for (; b->size[1] > 0; b->size[1]--) {
        uint8_t *last = &b->bytes[1][b->size[1] - 1];
        if (*last < most) {
            ++*last;
            return true;
        }
    }
    return false;
}

static void bytes_bounds(const struct column *column, struct parquet_bounds *b, struct reel_bytes least,
                         struct reel_bytes most) {
    bool whole = least.size <= PARQUET_BOUND;
    values_keep(b, 0, least.data, whole ? least.size : cut_of(column, least), whole);
    whole = most.size <= PARQUET_BOUND;
    values_keep(b, 1, most.data, whole ? most.size : cut_of(column, most), whole);
    b->unknown = !whole && !raise(column, b);
    b->any = true;
}

static void values_add_texts(const struct column *column, const struct column_data *data,
                             const struct parquet_entries *e, struct parquet_bounds *b) {
    struct reel_bytes least = {0}, most = {0};
    bool any = false;
    for (size_t s = 0; s < e->n_spans; s++) {
        for (uint64_t i = e->spans[s].from; i < e->spans[s].to; i++) {
            struct reel_bytes text = text_at(data, i);
            least = !any || bytes_compare(text, least) < 0 ? text : least;
            most = !any || bytes_compare(text, most) > 0 ? text : most;
            any = true;
        }
    }
    if (any) {
        bytes_bounds(column, b, least, most);
    }
}

static void add_integers(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                         struct parquet_bounds *b) {
    uint32_t width = column_width(column);
    bool huge = column->kind == COLUMN_INTEGER && column->bits == 64 && !column->is_signed;
    uint64_t flip = huge ? UINT64_C(1) << 63 : 0; /* unsigned numbers in the order of signed ones */
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t s = 0; s < e->n_spans; s++) {
        for (uint64_t i = e->spans[s].from; i < e->spans[s].to; i++) {
            int64_t value = (int64_t)((uint64_t)integer_at(column, data->values.data + i * width) ^ flip);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    }
    if (e->values > 0) {
        uint8_t bytes[2][8];
        store_u64le(bytes[0], (uint64_t)least ^ flip);
        store_u64le(bytes[1], (uint64_t)most ^ flip);
        size_t size = column->kind == COLUMN_BOOL ? 1 : parquet_type_of(column) == PARQUET_INT32 ? 4 : 8;
        values_keep(b, 0, bytes[0], size, true);
        values_keep(b, 1, bytes[1], size, true);
        b->any = true;
    }
}

static double real_of(const struct column *column, const uint8_t *at) {
    return column->kind == COLUMN_FLOAT ? (double)load_f32le(at) : load_f64le(at);
}

/* The extremes of a run of values, whose comparisons would wait for each other: those of each fourth value. */
struct extremes {
    double least[4], most[4];
};
static inline void add_extremes(struct extremes *x, const uint8_t *values, uint64_t n, bool single) {
    for (uint64_t i = 0; i < n; i++) {
        double value = single ? (double)load_f32le(values + i * 4) : load_f64le(values + i * 8);
        x->least[i % 4] = value < x->least[i % 4] ? value : x->least[i % 4];
        x->most[i % 4] = value > x->most[i % 4] ? value : x->most[i % 4];
    }
}

/* NaN has no order. The minimum 0 is -0 and the maximum +0, because readers may take them for equal. */
static void add_reals(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                      struct parquet_bounds *b) {
    uint32_t width = column_width(column);
    struct extremes x;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < 4; i++) {
        x.least[i] = INFINITY;
        x.most[i] = -INFINITY;
    }
    for (size_t s = 0; s < e->n_spans; s++) {
        const uint8_t *values = data->values.data + e->spans[s].from * width;
        uint64_t n = e->spans[s].to - e->spans[s].from;
        if (width == 4) {
            add_extremes(&x, values, n, true);
        } else {
            add_extremes(&x, values, n, false);
        }
    }
    for (int i = 0; i < 4; i++) {
        least = x.least[i] < least ? x.least[i] : least;
        most = x.most[i] > most ? x.most[i] : most;
    }
    if (least <= most) { /* else there is no value but NaN */
        const double values[2] = {least == 0 ? -0.0 : least, most == 0 ? 0.0 : most};
        for (int i = 0; i < 2; i++) {
            float single = (float)values[i];
            values_keep(b, i, width == 4 ? (const void *)&single : (const void *)&values[i], width, true);
        }
        b->any = true;
    }
}

void parquet_bounds_add(const struct column *column, const struct column_data *data, const struct parquet_entries *e,
                        struct parquet_bounds *bounds) {
    if (column_is_bytes(column)) {
        values_add_texts(column, data, e, bounds);
    } else if (column->kind == COLUMN_FLOAT || column->kind == COLUMN_DOUBLE) {
        add_reals(column, data, e, bounds);
    } else {
        add_integers(column, data, e, bounds);
    }
}

static int order_of(const struct column *column, const struct parquet_bounds *a, const struct parquet_bounds *b,
                    int which) {
    if (column_is_bytes(column)) {
        return bytes_compare(bytes_of(a->bytes[which], a->size[which]), bytes_of(b->bytes[which], b->size[which]));
    }
    if (column->kind == COLUMN_FLOAT || column->kind == COLUMN_DOUBLE) {
        double x = real_of(column, a->bytes[which]), y = real_of(column, b->bytes[which]);
        return (x > y) - (x < y);
    }
    if (a->size[which] == 8) {
        uint64_t flip = column->kind == COLUMN_INTEGER && !column->is_signed ? 0 : UINT64_C(1) << 63;
        uint64_t x = load_u64le(a->bytes[which]) ^ flip, y = load_u64le(b->bytes[which]) ^ flip;
        return (x > y) - (x < y);
    }
    if (a->size[which] == 1) {
        return a->bytes[which][0] - b->bytes[which][0];
    }
    uint32_t flip = column->is_signed ? UINT32_C(1) << 31 : 0, x = load_u32le(a->bytes[which]) ^ flip,
             y = load_u32le(b->bytes[which]) ^ flip;
    return (x > y) - (x < y);
}

void parquet_bounds_join(const struct column *column, struct parquet_bounds *chunk, const struct parquet_bounds *page) {
    chunk->unknown = chunk->unknown || page->unknown;
    for (int which = 0; page->any && which < 2; which++) {
        int order = chunk->any ? order_of(column, page, chunk, which) : 0;
        if (!chunk->any || (which == 0 ? order < 0 : order > 0)) {
            values_keep(chunk, which, page->bytes[which], page->size[which], page->exact[which]);
        }
    }
    chunk->any = chunk->any || page->any;
}

bool parquet_bounds_follow(const struct column *column, const struct parquet_bounds *page,
                           const struct parquet_bounds *before) {
    return order_of(column, before, page, 0) <= 0 && order_of(column, before, page, 1) <= 0;
}
