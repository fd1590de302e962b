/* A position in a stream as text, for URLs and rows: the mark's fields in order, little-endian, as base64url without
 * padding. */
#include "base/bytes.h"
#include "reel/iterate.h"

enum { MARK_BYTES = 8 + 8 + 4 * 4 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool reel_cursor_encode(const struct reel_position *mark, char *out, size_t size) {
    uint8_t raw[MARK_BYTES + 1] = {0};
    store_u64le(raw, (uint64_t)mark->time_ns);
    store_u64le(raw + 8, mark->offset);
    store_u32le(raw + 16, mark->source);
    store_u32le(raw + 20, mark->chunk);
    store_u32le(raw + 24, mark->initial);
    store_u32le(raw + 28, mark->again);
    if (size < REEL_CURSOR_ROOM) {
        return false;
    }
    for (size_t digit = 0; digit < REEL_CURSOR_ROOM - 1; digit++) { /* the six bits from bit 6 * digit on */
        size_t at = digit * 6 / 8, shift = 10 - digit * 6 % 8;
        out[digit] = alphabet[((uint32_t)raw[at] << 8 | raw[at + 1]) >> shift & 63];
    }
    out[REEL_CURSOR_ROOM - 1] = '\0';
    return true;
}

static int sextet(char c) {
    const char *found = c ? strchr(alphabet, c) : NULL;
    return found ? (int)(found - alphabet) : -1;
}

bool reel_cursor_decode(const char *text, struct reel_position *mark) {
    uint8_t raw[MARK_BYTES];
    uint32_t bits = 0, held = 0;
    size_t size = 0;
    for (; *text; text++) {
        int six = sextet(*text);
        if (six < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)six) & 0xFFF;
        held += 6;
        if (held >= 8) {
            held -= 8;
            if (size == sizeof raw) {
                return false;
            }
            raw[size++] = (uint8_t)(bits >> held);
        }
    }
    if (size != sizeof raw || held >= 6 || (bits & ((1U << held) - 1)) != 0) {
        return false;
    }
    *mark = (struct reel_position){
        .time_ns = (int64_t)load_u64le(raw),
        .offset = load_u64le(raw + 8),
        .source = load_u32le(raw + 16),
        .chunk = load_u32le(raw + 20),
        .initial = load_u32le(raw + 24),
        .again = load_u32le(raw + 28),
    };
    return true;
}
