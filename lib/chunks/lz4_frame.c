/* A whole LZ4 frame decoded straight into its place: the library's own function for frames copies the last block, and
 * each that may be larger than what is left of the output. Layout: lz4_Frame_format.md of LZ4. */
#include "base/bytes.h"
#include "base/cursor.h"
#include "chunks/codec_internal.h"

#include <lz4.h>

enum {
    VERSION = 1 << 6,
    VERSION_MASK = 3 << 6,
    INDEPENDENT = 1 << 5,
    BLOCK_SUMS = 1 << 4,
    CONTENT_SIZE = 1 << 3,
    CONTENT_SUM = 1 << 2,
    DICTIONARY_ID = 1,
    RESERVED = 1 << 1,
    SIZE_CODE_LEAST = 4,
    HISTORY = 64 << 10, /* how far a block may refer to those before it */
};
#define STORED_PLAIN UINT32_C(0x80000000) /* in the size of a block: it is not compressed */

/* ---- XXH32 with seed 0 */

#define PRIME_1 UINT32_C(2654435761)
#define PRIME_2 UINT32_C(2246822519)
#define PRIME_3 UINT32_C(3266489917)
#define PRIME_4 UINT32_C(668265263)
#define PRIME_5 UINT32_C(374761393)

static inline uint32_t rotated(uint32_t x, unsigned bits) {
    return x << bits | x >> (32 - bits);
}

static inline uint32_t lane(uint32_t sum, const uint8_t *p) {
    return rotated(sum + load_u32le(p) * PRIME_2, 13) * PRIME_1;
}

static uint32_t xxh32(const uint8_t *p, size_t size) {
    const uint8_t *end = p + size;
    uint32_t sum = PRIME_5;
    if (size >= 16) {
        uint32_t a = PRIME_1 + PRIME_2, b = PRIME_2, c = 0, d = 0 - PRIME_1;
        for (; end - p >= 16; p += 16) {
            a = lane(a, p);
            b = lane(b, p + 4);
            c = lane(c, p + 8);
            d = lane(d, p + 12);
        }
        sum = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
    }
    sum += (uint32_t)size;
    for (; end - p >= 4; p += 4) {
        sum = rotated(sum + load_u32le(p) * PRIME_3, 17) * PRIME_4;
    }
    for (; p < end; p++) {
        sum = rotated(sum + *p * PRIME_5, 11) * PRIME_1;
    }
    sum = (sum ^ sum >> 15) * PRIME_2;
    sum = (sum ^ sum >> 13) * PRIME_3;
    return sum ^ sum >> 16;
}

/* ---- the frame */

struct frame {
    unsigned flags;
    size_t block_max;
};

static bool read_head(struct cursor *c, size_t raw, struct frame *f) {
    uint32_t magic = cursor_u32le(c);
    const uint8_t *descriptor = c->at;
    f->flags = cursor_u8(c);
    unsigned block = cursor_u8(c);
    uint64_t size = (f->flags & CONTENT_SIZE) != 0 ? cursor_u64le(c) : raw;
    size_t length = (size_t)(c->at - descriptor);
    unsigned sum = cursor_u8(c), code = block >> 4;
    f->block_max = (size_t)1 << (2 * code + 8);
    return !c->failed && magic == LZ4_MAGIC && size == raw && code >= SIZE_CODE_LEAST && (block & ~0x70U) == 0 &&
           (f->flags & VERSION_MASK) == VERSION && (f->flags & (DICTIONARY_ID | RESERVED)) == 0 &&
           sum == (xxh32(descriptor, length) >> 8 & 0xff);
}

static size_t put_block(const struct frame *f, struct reel_bytes block, bool plain, uint8_t *out, size_t done,
                        size_t raw) {
    size_t room = raw - done < f->block_max ? raw - done : f->block_max;
    size_t history = (f->flags & INDEPENDENT) != 0 ? 0 : done < HISTORY ? done : HISTORY;
    if (plain) {
        memcpy(out + done, block.data, block.size < room ? block.size : room);
        return block.size <= room ? block.size : SIZE_MAX;
    }
    int size = LZ4_decompress_safe_usingDict((const char *)block.data, (char *)out + done, (int)block.size, (int)room,
                                             (const char *)out + done - history, (int)history);
    return size >= 0 ? (size_t)size : SIZE_MAX;
}

bool lz4_frame_decode(struct reel_bytes stored, uint8_t *out, size_t raw) {
    struct cursor c = cursor_of(stored);
    struct frame f;
    size_t done = 0;
    if (!read_head(&c, raw, &f)) {
        return false;
    }
    for (uint32_t word; (word = cursor_u32le(&c)) != 0;) {
        struct reel_bytes block = cursor_bytes(&c, word & ~STORED_PLAIN);
        uint32_t sum = (f.flags & BLOCK_SUMS) != 0 ? cursor_u32le(&c) : 0;
        if (c.failed || block.size > f.block_max ||
            ((f.flags & BLOCK_SUMS) != 0 && sum != xxh32(block.data, block.size))) {
            return false;
        }
        size_t size = put_block(&f, block, (word & STORED_PLAIN) != 0, out, done, raw);
        if (size == SIZE_MAX) {
            return false;
        }
        done += size;
    }
    uint32_t sum = (f.flags & CONTENT_SUM) != 0 ? cursor_u32le(&c) : 0;
    return !c.failed && cursor_left(&c) == 0 && done == raw && ((f.flags & CONTENT_SUM) == 0 || sum == xxh32(out, raw));
}
