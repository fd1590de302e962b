/* Fuzzes the decoding of H.264 by libopenh264. Input: u8 which frames' pixels are wanted (bit i: of each i-th of 8),
 * then frames, each behind u16 its size. After a frame that cannot be decoded the others are put, too, as a caller may.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "exact.h"
#include "media/mp4/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 64 };

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* Reads every pixel. */
static void look(const struct reel_pixels *p) {
    static volatile unsigned seen;
    unsigned sum = 0;
    must(p->width > 0 && p->height > 0 && p->values == 3, "pixels have sides");
    must((uint64_t)p->width * p->height <= REEL_H264_PIXELS_MAX, "a frame is not larger than it may be");
    for (size_t i = 0; i < (size_t)p->width * p->height * p->values; i++) {
        sum += p->data[i];
    }
    seen = sum;
    (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    struct reel_error err = {0};
    unsigned wanted = cursor_u8(&c);
    AUTO(h264_decoder_free) struct h264_decoder *d = h264_decoder_new(&err);
    must(d != NULL, "there is a decoder");
    for (unsigned i = 0; i < FRAMES_MAX && cursor_left(&c) > 0; i++) {
        size_t left, want = cursor_u16le(&c);
        left = cursor_left(&c);
        AUTO_EXACT struct reel_bytes frame = exact_copy(bytes_of(c.at, want < left ? want : left));
        AUTO_STRUCT(reel_pixels_done) struct reel_pixels pixels = {0};
        cursor_take(&c, frame.size);
        err = (struct reel_error){0};
        bool good = h264_decoder_put(d, frame, wanted >> i % 8 & 1 ? &pixels : NULL, &err);
        must(good == (err.code == REEL_OK), "what is not decoded says why");
        if (pixels.data) {
            look(&pixels);
        }
    }
    return 0;
}
