/* See nal.h. The syntax is that of the standards: H.264 7.3.2.1.1, H.265 7.3.2.2.1 and 7.3.3. */
#include "syntax/nal.h"

#include "base/cursor.h"

enum { UNIT_MAX = 1024, SIDE_MAX = 65535 }; /* a parameter set is read as far as the sides are, which is within this */

/* ---- units */

/* Where the next 00 00 01 begins; the end if there is none. */
static size_t find_code(struct reel_bytes s, size_t from) {
    for (size_t i = from; i + 3 <= s.size;) {
        const uint8_t *one = memchr(s.data + i + 2, 1, s.size - i - 2);
        if (!one) {
            return s.size;
        }
        i = (size_t)(one - s.data) - 2;
        if (s.data[i] == 0 && s.data[i + 1] == 0) {
            return i;
        }
        i++;
    }
    return s.size;
}

bool nal_next(struct reel_bytes *stream, struct reel_bytes *unit) {
    for (;;) {
        size_t code = find_code(*stream, 0);
        if (code == stream->size) {
            return false;
        }
        size_t begin = code + 3, end = find_code(*stream, begin), trimmed = end;
        while (trimmed > begin && stream->data[trimmed - 1] == 0) {
            trimmed--;
        }
        *unit = bytes_of(stream->data + begin, trimmed - begin);
        *stream = bytes_of(stream->data + end, stream->size - end);
        if (unit->size > 0) {
            return true;
        }
    }
}

enum nal_role nal_role(struct reel_bytes unit, bool h265) {
    unsigned type = h265 ? unit.data[0] >> 1 & 63 : unit.data[0] & 31;
    if (h265) {
        return type == 32                ? NAL_VPS
               : type == 33              ? NAL_SPS
               : type == 34              ? NAL_PPS
               : type >= 16 && type < 24 ? NAL_KEY_PICTURE
               : type < 16               ? NAL_PICTURE
                                         : NAL_OTHER;
    }
    return type == 7              ? NAL_SPS
           : type == 8            ? NAL_PPS
           : type == 5            ? NAL_KEY_PICTURE
           : type > 0 && type < 5 ? NAL_PICTURE
                                  : NAL_OTHER;
}

/* ---- parameter sets */

struct bits {
    uint8_t data[UNIT_MAX];
    size_t size, at; /* bits */
    bool failed;
};

/* Without the bytes that keep start codes out of a unit. */
static void bits_open(struct bits *b, struct reel_bytes unit, size_t head) {
    size_t n = 0;
    unsigned zeros = 0;
    for (size_t i = head; i < unit.size && n < UNIT_MAX; i++) {
        uint8_t byte = unit.data[i];
        bool extra = zeros >= 2 && byte == 3;
        zeros = byte == 0 ? zeros + 1 : 0;
        if (!extra) {
            b->data[n++] = byte;
        }
    }
    b->size = 8 * n;
    b->at = 0;
    b->failed = false;
}

static uint32_t bits_get(struct bits *b, unsigned n) {
    uint32_t value = 0;
    if (b->size - b->at < n) {
        b->failed = true;
        b->at = b->size;
        return 0;
    }
    for (unsigned i = 0; i < n; i++, b->at++) {
        value = value << 1 | (b->data[b->at / 8] >> (7 - b->at % 8) & 1U);
    }
    return value;
}

static uint32_t bits_exp(struct bits *b) {
    unsigned zeros = 0;
    while (!b->failed && bits_get(b, 1) == 0) {
        zeros++;
    }
    if (zeros > 31) {
        b->failed = true;
        return 0;
    }
    return b->failed ? 0 : (UINT32_C(1) << zeros) - 1 + bits_get(b, zeros);
}
static int64_t bits_exp_signed(struct bits *b) {
    uint32_t value = bits_exp(b);
    return value & 1 ? (int64_t)(value / 2) + 1 : -(int64_t)(value / 2);
}

static void skip_scaling_list(struct bits *b, unsigned size) {
    int64_t last = 8, next = 8;
    for (unsigned i = 0; i < size && !b->failed; i++) {
        if (next != 0) {
            next = (last + bits_exp_signed(b)) & 255;
        }
        last = next == 0 ? last : next;
    }
}

static void read_chroma(struct bits *b, struct nal_size *out) {
    out->chroma = (uint8_t)bits_exp(b);
    if (out->chroma == 3) {
        bits_get(b, 1);
    }
    b->failed |= out->chroma > 3;
}
static void read_depths(struct bits *b, struct nal_size *out) {
    uint32_t luma = bits_exp(b), chroma = bits_exp(b);
    b->failed |= luma > 8 || chroma > 8;
    out->luma_bits = (uint8_t)(8 + luma % 9);
    out->chroma_bits = (uint8_t)(8 + chroma % 9);
}

static bool has_chroma(uint32_t profile) {
    static const uint8_t profiles[] = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};
    return memchr(profiles, (int)profile, sizeof profiles) != NULL;
}

static uint32_t at_most(uint64_t side) {
    return side < UINT32_MAX ? (uint32_t)side : UINT32_MAX;
}

/* Of a side: `cut` pixels at its two ends do not belong to the picture. */
static bool set_sides(struct nal_size *out, uint64_t width, uint64_t height, uint64_t cut_x, uint64_t cut_y) {
    if (cut_x >= width || cut_y >= height || width - cut_x > SIDE_MAX || height - cut_y > SIDE_MAX) {
        return false;
    }
    out->coded_width = at_most(width);
    out->coded_height = at_most(height);
    out->width = (uint32_t)(width - cut_x);
    out->height = (uint32_t)(height - cut_y);
    return true;
}

static bool read_h264(struct bits *b, struct nal_size *out) {
    uint32_t profile = bits_get(b, 8);
    bits_get(b, 16);
    bits_exp(b); /* its number */
    *out = (struct nal_size){.chroma = 1, .luma_bits = 8, .chroma_bits = 8};
    if (has_chroma(profile)) {
        read_chroma(b, out);
        read_depths(b, out);
        bits_get(b, 1);
        bool lists = bits_get(b, 1);
        for (unsigned i = 0; lists && i < (out->chroma == 3 ? 12 : 8); i++) {
            if (bits_get(b, 1)) {
                skip_scaling_list(b, i < 6 ? 16 : 64);
            }
        }
    }
    bits_exp(b);
    uint32_t order = bits_exp(b);
    if (order == 0) {
        bits_exp(b);
    } else if (order == 1) {
        bits_get(b, 1);
        bits_exp(b);
        bits_exp(b);
        for (uint32_t n = bits_exp(b); n > 0 && !b->failed; n--) {
            bits_exp(b);
        }
    }
    bits_exp(b);
    bits_get(b, 1);
    uint64_t width = 16 * ((uint64_t)bits_exp(b) + 1), height = 16 * ((uint64_t)bits_exp(b) + 1);
    bool frames = bits_get(b, 1);
    if (!frames) {
        bits_get(b, 1);
    }
    bits_get(b, 1);
    uint64_t cut[4] = {0};
    bool crops = bits_get(b, 1);
    for (unsigned i = 0; crops && i < 4; i++) {
        cut[i] = bits_exp(b);
    }
    uint64_t unit_x = out->chroma == 1 || out->chroma == 2 ? 2 : 1,
             unit_y = (out->chroma == 1 ? 2 : 1) * (frames ? 1 : 2);
    return !b->failed &&
           set_sides(out, width, height * (frames ? 1 : 2), (cut[0] + cut[1]) * unit_x, (cut[2] + cut[3]) * unit_y);
}

static void skip_layers(struct bits *b, unsigned layers) {
    uint32_t has[8] = {0};
    for (unsigned i = 0; i + 1 < layers; i++) {
        has[i] = bits_get(b, 2);
    }
    for (unsigned i = layers; layers > 1 && i < 9; i++) {
        bits_get(b, 2);
    }
    for (unsigned i = 0; i + 1 < layers; i++) {
        for (unsigned n = (has[i] & 2 ? 11 : 0) + (has[i] & 1); n > 0; n--) {
            bits_get(b, 8);
        }
    }
}

static bool read_h265(struct bits *b, struct nal_size *out) {
    *out = (struct nal_size){0};
    bits_get(b, 4);
    out->layers = (uint8_t)(bits_get(b, 3) + 1);
    out->nested = (uint8_t)bits_get(b, 1);
    for (size_t i = 0; i < sizeof out->profile; i++) {
        out->profile[i] = (uint8_t)bits_get(b, 8);
    }
    skip_layers(b, out->layers);
    bits_exp(b); /* its number */
    read_chroma(b, out);
    uint64_t width = bits_exp(b), height = bits_exp(b), cut[4] = {0};
    bool crops = bits_get(b, 1);
    for (unsigned i = 0; crops && i < 4; i++) {
        cut[i] = bits_exp(b);
    }
    read_depths(b, out);
    uint64_t unit_x = out->chroma == 1 || out->chroma == 2 ? 2 : 1, unit_y = out->chroma == 1 ? 2 : 1;
    return !b->failed && set_sides(out, width, height, (cut[0] + cut[1]) * unit_x, (cut[2] + cut[3]) * unit_y);
}

bool nal_read_sps(struct reel_bytes unit, bool h265, struct nal_size *out) {
    struct bits b;
    bits_open(&b, unit, h265 ? 2 : 1);
    return (h265 ? read_h265 : read_h264)(&b, out);
}
