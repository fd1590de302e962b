/* Decodes CBOR (RFC 8949), which has no schema:
 *   - keys that are no text become texts: numbers and simple values as in JSON, byte strings as they are, anything else
 *     as its own bytes;
 *   - integers beyond 64 bits are decimal texts, bignums of more than BIGNUM_MAX bytes are bytes;
 *   - undefined and the simple values without a meaning are null;
 *   - tag 1 is a time, 2 and 3 are integers, 4 and 5 numbers, 64 to 87 arrays of numbers (RFC 8746); other tags are
 *     ignored, as RFC 8949 advises for JSON (6.1).
 * One walk with a small stack of counts. libcbor's streaming decoder would replace read_head() alone, and it refuses
 * simple values that have no meaning yet. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/c_locale.h"
#include "base/cancel.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "syntax/json_out.h"
#include "syntax/visitor.h"

enum major { UNSIGNED, NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, SIMPLE };
enum { /* the low five bits of a head's first byte */
       INFO_FALSE = 20,
       INFO_TRUE,
       INFO_NULL,
       INFO_UNDEFINED,
       INFO_1,
       INFO_2,
       INFO_4,
       INFO_8,
       INFO_INDEFINITE = 31
};
enum {
    TAG_NONE = -1,
    TAG_TIME = 1,
    TAG_BIGNUM = 2,
    TAG_NEGATIVE_BIGNUM = 3,
    TAG_DECIMAL = 4,
    TAG_BIGFLOAT = 5,
    TAG_NUMBERS = 64, /* 010fsell: float, signed or for a byte clamped, little-endian, size */
    TAG_NUMBERS_LAST = 87,
    BIGNUM_MAX = 64,   /* bytes */
    KEY_DEPTH_MAX = 8, /* levels in a key: each may take a frame of walk_value(), and threads have small stacks */
};
#define UNTIL_BREAK UINT64_MAX

struct head {
    enum major major;
    uint8_t info;
    uint64_t argument;
    int64_t tag; /* the innermost, or TAG_NONE */
};
static bool is_indefinite(const struct head *h) {
    return h->info == INFO_INDEFINITE;
}
static bool is_break(const struct head *h) {
    return h->major == SIMPLE && is_indefinite(h);
}

struct cbor_walk {
    struct reel_bytes payload;
    struct cursor at;
    struct reel_visitor *v;
    struct reel_error *err;
    struct grow joined;  /* a string that came in pieces */
    struct grow numbers; /* numbers of an array in the order of our bytes */
};

static bool cbor_fail_at(struct cbor_walk *w, const uint8_t *at, enum reel_code code, const char *why) {
    return reel_fail(w->err, code, "byte %zu of %zu: %s", (size_t)(at - w->payload.data), w->payload.size, why);
}
static bool is_no_cbor(struct cbor_walk *w, const uint8_t *at) {
    return cbor_fail_at(w, at, REEL_DAMAGED, "is no CBOR");
}

/* ---- heads */

static bool read_head(struct cbor_walk *w, struct head *h) {
    const uint8_t *begin = w->at.at;
    uint8_t first = cursor_u8(&w->at);
    *h = (struct head){.major = (enum major)(first >> 5), .info = first & 31, .tag = TAG_NONE};
    bool counted = h->info >= INFO_1 && h->info <= INFO_8;
    h->argument = counted ? cursor_be(&w->at, 1U << (h->info - INFO_1)) : h->info;
    if (w->at.failed) {
        return cbor_fail_at(w, begin, REEL_DAMAGED, "ends inside a value");
    }
    bool open = is_indefinite(h) && h->major != UNSIGNED && h->major != NEGATIVE && h->major != TAG;
    bool odd = h->major == SIMPLE && h->info == INFO_1 && h->argument < 32; /* has a shorter form */
    return (!odd && (h->info <= INFO_8 || open)) || is_no_cbor(w, begin);
}

/* The head of a value, with its tags. Each item of an array or map has at least a byte. */
static bool read_value(struct cbor_walk *w, struct head *h) {
    const uint8_t *begin = w->at.at;
    int64_t tag = TAG_NONE;
    bool good;
    while ((good = read_head(w, h)) && h->major == TAG) {
        tag = h->argument <= INT64_MAX ? (int64_t)h->argument : TAG_NONE;
    }
    if (!good) {
        return false;
    }
    h->tag = tag;
    uint64_t most = h->major == ARRAY ? cursor_left(&w->at) : h->major == MAP ? cursor_left(&w->at) / 2 : UINT64_MAX;
    return is_indefinite(h) || h->argument <= most || cbor_fail_at(w, begin, REEL_DAMAGED, "ends inside a value");
}

/* ---- strings */

static bool read_piece(struct cbor_walk *w, uint64_t size, struct reel_bytes *out) {
    const uint8_t *begin = w->at.at;
    *out = cursor_bytes(&w->at, size);
    return !w->at.failed || cbor_fail_at(w, begin, REEL_DAMAGED, "ends inside a string");
}

/* The content of a string whose head was read. One in pieces is valid until the next. */
static bool read_string(struct cbor_walk *w, const struct head *h, struct reel_bytes *out) {
    if (!is_indefinite(h)) {
        return read_piece(w, h->argument, out);
    }
    struct head piece;
    bool good;
    w->joined.size = 0;
    for (const uint8_t *begin = w->at.at; (good = read_head(w, &piece)) && !is_break(&piece); begin = w->at.at) {
        if (piece.major != h->major || is_indefinite(&piece)) {
            return is_no_cbor(w, begin);
        }
        if (!read_piece(w, piece.argument, out)) {
            return false;
        }
        grow_put(&w->joined, out->data, out->size);
    }
    *out = bytes_of(w->joined.size > 0 ? w->joined.data : (const uint8_t *)"", w->joined.size);
    return good && (!w->joined.failed || reel_fail_memory(w->err));
}

/* ---- numbers */

static bool emit_integer(struct reel_visitor *v, bool negative, uint64_t n) {
    if (n <= INT64_MAX) {
        return visit_integer(v, negative ? -1 - (int64_t)n : (int64_t)n);
    }
    char text[24];
    bool all = n == UINT64_MAX; /* -2^64 has no room in 64 bits */
    snprintf(text, sizeof text, all ? "-18446744073709551616" : "-%" PRIu64, n + 1);
    return negative ? visit_text(v, bytes_text(text)) : visit_natural(v, n);
}

/* A big-endian integer as decimal digits: 32 bits at a time, divided by 10^9. */
static bool emit_digits(struct reel_visitor *v, bool negative, struct reel_bytes big) {
    uint32_t words[BIGNUM_MAX / 4 + 1] = {0};
    char text[BIGNUM_MAX * 5 / 2 + 16];
    size_t n = sizeof words / sizeof *words, at = sizeof text;
    for (size_t i = 0; i < big.size; i++) {
        words[i / 4] |= (uint32_t)big.data[big.size - 1 - i] << 8 * (i % 4);
    }
    for (size_t i = 0; negative && ++words[i] == 0; i++) {
    }
    while (n > 0) {
        uint64_t rest = 0;
        for (size_t i = n; i-- > 0;) {
            rest = rest << 32 | words[i];
            words[i] = (uint32_t)(rest / 1000000000);
            rest %= 1000000000;
        }
        for (; n > 0 && words[n - 1] == 0; n--) {
        }
        for (unsigned digit = 0; digit < 9 && (n > 0 || rest > 0); digit++, rest /= 10) {
            text[--at] = (char)('0' + rest % 10);
        }
    }
    if (negative) {
        text[--at] = '-';
    }
    return visit_text(v, bytes_of(text + at, sizeof text - at));
}

static bool emit_bignum(struct reel_visitor *v, bool negative, struct reel_bytes big) {
    struct reel_bytes all = big;
    for (; big.size > 0 && big.data[0] == 0; big = bytes_of(big.data + 1, big.size - 1)) {
    }
    if (big.size <= 8) {
        struct cursor c = cursor_of(big);
        return emit_integer(v, negative, cursor_be(&c, (unsigned)big.size));
    }
    return big.size <= BIGNUM_MAX ? emit_digits(v, negative, big) : visit_binary(v, all);
}

static float half_of(uint16_t bits) {
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent     ? ldexpf((float)(fraction + 1024), (int)exponent - 25)
                                : ldexpf((float)fraction, -24);
    return bits & 0x8000 ? -size : size;
}

static double real_of(const struct head *h) {
    return h->info == INFO_2   ? (double)half_of((uint16_t)h->argument)
           : h->info == INFO_4 ? (double)f32_of((uint32_t)h->argument)
                               : f64_of(h->argument);
}
static bool is_real(const struct head *h) {
    return h->major == SIMPLE && h->info >= INFO_2 && h->info <= INFO_8;
}

/* Seconds since 1970; numbers that are none stay numbers. */
static bool emit_time(struct reel_visitor *v, const struct head *h) {
    const double end = 0x1p62;
    struct reel_stamp stamp = {.nanoseconds_name = "nsec", .is_text = true};
    if (is_real(h)) {
        double seconds = real_of(h), below = floor(seconds);
        if (!(fabs(seconds) < end)) {
            return visit_real(v, seconds);
        }
        int64_t ns = llround((seconds - below) * 1e9), more = ns / 1000000000;
        stamp.seconds = (int64_t)below + more;
        stamp.nanoseconds = ns - more * 1000000000;
        return visit_stamp(v, &stamp);
    }
    if (h->argument >= (uint64_t)1 << 62) {
        return emit_integer(v, h->major == NEGATIVE, h->argument);
    }
    stamp.seconds = h->major == NEGATIVE ? -1 - (int64_t)h->argument : (int64_t)h->argument;
    return visit_stamp(v, &stamp);
}

/* [exponent, mantissa], two integers of 64 bits; anything else stays the list that it is. *done: it was emitted. */
static bool emit_fraction(struct cbor_walk *w, const struct head *h, bool *done) {
    struct cursor before = w->at;
    struct head part[2] = {{0}};
    bool good = h->argument == 2 && !is_indefinite(h);
    for (unsigned i = 0; good && i < 2; i++) {
        if (!read_head(w, &part[i])) {
            return false;
        }
        good = part[i].major <= NEGATIVE && part[i].argument <= INT64_MAX;
    }
    int64_t value[2];
    for (unsigned i = 0; good && i < 2; i++) {
        value[i] = part[i].major == NEGATIVE ? -1 - (int64_t)part[i].argument : (int64_t)part[i].argument;
    }
    *done = good && value[0] > -100000 && value[0] < 100000;
    if (!*done) {
        w->at = before;
        return true;
    }
    if (h->tag == TAG_BIGFLOAT) {
        return visit_real(w->v, ldexp((double)value[1], (int)value[0]));
    }
    C_LOCALE;
    char text[48];
    snprintf(text, sizeof text, "%" PRIi64 "e%" PRIi64, value[1], value[0]);
    return visit_real(w->v, strtod(text, NULL));
}

/* ---- arrays of numbers (RFC 8746) */

struct packed {
    enum reel_number number;
    unsigned size; /* bytes of one */
    bool swap, half;
};
/* False: no such tag, or numbers of 128 bits. */
static bool packed_of(int64_t tag, struct packed *p) {
    static const enum reel_number numbers[2][2][4] = {
        {{REEL_U8, REEL_U16, REEL_U32, REEL_U64}, {REEL_I8, REEL_I16, REEL_I32, REEL_I64}},
        {{REEL_F32, REEL_F32, REEL_F64, REEL_F64}, {REEL_F32, REEL_F32, REEL_F64, REEL_F64}}};
    bool is_float = tag & 16, is_signed = tag & 8, is_little = tag & 4;
    unsigned size = tag & 3;
    p->half = is_float && size == 0;
    p->number = tag == 76 ? REEL_U8 : numbers[is_float][is_signed][size];
    p->size = (is_float ? 2U : 1U) << size;
    p->swap = p->size > 1 && !is_little;
    return tag >= TAG_NUMBERS && tag <= TAG_NUMBERS_LAST && p->size <= 8;
}

static bool emit_numbers(struct cbor_walk *w, const struct packed *p, struct reel_bytes data) {
    if (!p->swap && !p->half) {
        return visit_numbers(w->v, p->number, data, 1);
    }
    unsigned size = reel_number_size(p->number);
    w->numbers.size = 0;
    uint8_t *out = grow_take(&w->numbers, data.size / p->size * size);
    if (!out) {
        return reel_fail_memory(w->err);
    }
    for (size_t i = 0; i < data.size / p->size; i++) {
        const uint8_t *at = data.data + i * p->size;
        if (p->half) {
            store_u32le(out + i * size, f32_bits(half_of((uint16_t)(p->swap ? at[0] << 8 | at[1] : load_u16le(at)))));
        }
        for (unsigned k = 0; !p->half && k < size; k++) {
            out[i * size + k] = at[size - 1 - k];
        }
    }
    return visit_numbers(w->v, p->number, bytes_of(out, w->numbers.size), 1);
}

/* ---- single values */

static bool cbor_emit_bytes(struct cbor_walk *w, const struct head *h, struct reel_bytes data) {
    struct packed p;
    if (h->tag == TAG_BIGNUM || h->tag == TAG_NEGATIVE_BIGNUM) {
        return emit_bignum(w->v, h->tag == TAG_NEGATIVE_BIGNUM, data);
    }
    return packed_of(h->tag, &p) && data.size % p.size == 0 ? emit_numbers(w, &p, data) : visit_binary(w->v, data);
}

static bool emit_simple(struct cbor_walk *w, const struct head *h) {
    if (h->info == INFO_FALSE || h->info == INFO_TRUE) {
        return visit_boolean(w->v, h->info == INFO_TRUE);
    }
    if (!is_real(h)) {
        return visit_null(w->v);
    }
    return h->tag == TAG_TIME  ? emit_time(w->v, h)
           : h->info == INFO_8 ? visit_real(w->v, real_of(h))
                               : visit_real32(w->v, (float)real_of(h));
}

static bool emit_single(struct cbor_walk *w, const struct head *h) {
    struct reel_bytes data;
    switch (h->major) {
    case UNSIGNED:
    case NEGATIVE:
        return h->tag == TAG_TIME ? emit_time(w->v, h) : emit_integer(w->v, h->major == NEGATIVE, h->argument);
    case BYTES:
        return read_string(w, h, &data) && cbor_emit_bytes(w, h, data);
    case TEXT:
        return read_string(w, h, &data) && visit_text(w->v, data);
    default:
        return emit_simple(w, h);
    }
}

/* ---- containers */

static bool walk_value(struct cbor_walk *w, const struct head *first, unsigned depth);

static bool cbor_emit_key(struct cbor_walk *w, const struct head *h, const uint8_t *begin, unsigned depth) {
    struct reel_bytes data;
    char text[REEL_NUMBER_TEXT] = "null";
    if (h->major == TEXT || h->major == BYTES) {
        return read_string(w, h, &data) && visit_key(w->v, data);
    }
    if (h->major == ARRAY || h->major == MAP) { /* no text would be unambiguous: its bytes */
        struct reel_visitor nothing = {&visit_nothing}, *v = w->v;
        w->v = &nothing;
        bool good = walk_value(w, h, depth < KEY_DEPTH_MAX ? depth : KEY_DEPTH_MAX);
        w->v = v;
        return good && visit_key(v, bytes_of(begin, (size_t)(w->at.at - begin)));
    }
    if (h->major <= NEGATIVE) {
        uint64_t n = h->argument + (h->major == NEGATIVE && h->argument < UINT64_MAX);
        snprintf(text, sizeof text, "%s%" PRIu64, h->major == NEGATIVE ? "-" : "", n);
    } else if (is_real(h)) {
        if (h->info == INFO_8) {
            reel_number_text(real_of(h), text);
        } else {
            reel_number_text32((float)real_of(h), text);
        }
    } else if (h->info == INFO_FALSE || h->info == INFO_TRUE) {
        return visit_key_text(w->v, h->info == INFO_TRUE ? "true" : "false");
    }
    return visit_key_text(w->v, text);
}

struct level {
    uint64_t left; /* values still to come, or UNTIL_BREAK */
    bool map;
};

/* Reads the head of the next value of a container, after its key. *ended: there is none. */
static bool next_value(struct cbor_walk *w, struct level *l, struct head *h, unsigned depth, bool *ended) {
    *ended = l->left == 0;
    if (*ended) {
        return true;
    }
    const uint8_t *begin = w->at.at;
    if (!read_value(w, h)) {
        return false;
    }
    *ended = is_break(h) && h->tag == TAG_NONE && l->left == UNTIL_BREAK;
    l->left -= l->left != UNTIL_BREAK;
    if (*ended) {
        return true;
    }
    if (l->map && !is_break(h)) {
        if (!cbor_emit_key(w, h, begin, depth)) {
            return false;
        }
        begin = w->at.at;
        if (!read_value(w, h)) {
            return false;
        }
    }
    return !is_break(h) || is_no_cbor(w, begin);
}

/* A value that is one to a visitor. *opened: a container, whose values follow. */
static bool begin_value(struct cbor_walk *w, const struct head *h, bool *opened) {
    bool done = false;
    if (h->major == ARRAY && (h->tag == TAG_DECIMAL || h->tag == TAG_BIGFLOAT) && !emit_fraction(w, h, &done)) {
        return false;
    }
    *opened = !done && (h->major == ARRAY || h->major == MAP);
    if (*opened) {
        return h->major == MAP ? visit_begin_map(w->v) : visit_begin_list(w->v);
    }
    return done || emit_single(w, h);
}

static bool walk_value(struct cbor_walk *w, const struct head *first, unsigned depth) {
    struct level stack[REEL_DEPTH_MAX];
    struct head h = *first;
    uint32_t values = 0;
    for (unsigned level = 0;;) {
        bool opened, ended;
        if (!cancel_check_step(&values, w->err)) {
            return false;
        }
        if ((h.major == ARRAY || h.major == MAP) && level >= depth) {
            return cbor_fail_at(w, w->at.at, REEL_LIMIT, "nested too deeply");
        }
        if (!begin_value(w, &h, &opened)) {
            return false;
        }
        if (opened) {
            stack[level++] =
                (struct level){.left = is_indefinite(&h) ? UNTIL_BREAK : h.argument, .map = h.major == MAP};
        }
        for (ended = true; level > 0; level--) {
            if (!next_value(w, &stack[level - 1], &h, depth - level, &ended)) {
                return false;
            }
            if (!ended) {
                break;
            }
            if (!(stack[level - 1].map ? visit_end_map(w->v) : visit_end_list(w->v))) {
                return false;
            }
        }
        if (level == 0) {
            return true;
        }
    }
}

/* ---- the encoding */

static bool cbor_open(const struct reel_channel *channel, void **state, struct reel_error *err) {
    (void)channel;
    (void)err;
    *state = NULL;
    return true;
}
static void cbor_close(void *state) {
    (void)state;
}

static bool cbor_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    (void)state;
    struct cbor_walk w = {.payload = payload, .at = cursor_of(payload), .v = v, .err = err};
    struct head h;
    bool good =
        read_value(&w, &h) && (!is_break(&h) || is_no_cbor(&w, payload.data)) && walk_value(&w, &h, REEL_DEPTH_MAX);
    if (good && !cursor_done(&w.at)) {
        char why[48];
        snprintf(why, sizeof why, "%zu bytes too many", cursor_left(&w.at));
        good = cbor_fail_at(&w, w.at.at, REEL_DAMAGED, why);
    }
    grow_done(&w.joined);
    grow_done(&w.numbers);
    return good;
}

const struct reel_encoding reel_encoding_cbor = {
    .name = "cbor",
    .open = cbor_open,
    .close = cbor_close,
    .decode = cbor_decode,
    .languages = (const char *const[]){"cbor", NULL},
    .version = 1,
};
