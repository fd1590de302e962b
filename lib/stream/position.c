/* A position in a stream as text, for URLs and rows: the mark's fields in order, little-endian, as base64url without
 * padding. */
#include "base/bytes.h"
#include "stream/stream.h"
#include "syntax/base64.h"

enum { MARK_BYTES = 8 + 8 + 4 * 4 };

bool reel_cursor_encode(const struct reel_position *mark, char *out, size_t size) {
    uint8_t raw[MARK_BYTES];
    store_u64le(raw, (uint64_t)mark->time_ns);
    store_u64le(raw + 8, mark->offset);
    store_u32le(raw + 16, mark->source);
    store_u32le(raw + 20, mark->chunk);
    store_u32le(raw + 24, mark->initial);
    store_u32le(raw + 28, mark->again);
    if (size < REEL_CURSOR_ROOM) {
        return false;
    }
    base64url_write(bytes_of(raw, sizeof raw), out);
    return true;
}

bool reel_cursor_decode(const char *text, struct reel_position *mark) {
    uint8_t raw[MARK_BYTES];
    size_t size = strlen(text);
    if (size != REEL_CURSOR_ROOM - 1 || !base64url_read(bytes_of(text, size), raw, &size)) {
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
