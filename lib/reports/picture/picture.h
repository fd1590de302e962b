/* What the parts of picture making share. fields: a message's fields · rows: pixels of any encoding as rows of grey or RGB, and scaled ·
 * files: JPEG and PNG, read and written; and the whole of it. */
#ifndef REEL_TOOLS_PICTURE_H
#define REEL_TOOLS_PICTURE_H

#include <stdlib.h>

#include "reel/picture.h"

enum { PICTURE_SIDE_MAX = 16384, PICTURE_PIXELS_MAX = 64 << 20, PICTURE_SCANNED_MAX = 1 << 30 /* pixels, times the scans of a JPEG */ };

struct pixels { /* 8 bits a value, rows back to back */
    uint8_t *data;
    uint32_t width, height;
    unsigned values; /* a pixel: 1 grey, 3 RGB */
};
static inline void reel_auto_pixels_done(struct pixels *p) {
    free(p->data);
}

/* Both sides 1 or more and under the ceilings. */
bool picture_fits(uint64_t width, uint64_t height, struct reel_error *err);
/* Zeroed. */
bool pixels_new(uint32_t width, uint32_t height, unsigned values, struct pixels *out, struct reel_error *err);

/* The pixels that `want` wide are enough of: a raw image, or rows of 8 bits, each scaled by the mean of what falls on a pixel. */
bool pixels_of_image(const struct reel_image *image, uint32_t want, struct pixels *out, struct reel_error *err);
bool pixels_scale(const struct pixels *from, uint32_t want, struct pixels *out, struct reel_error *err);
/* Image files; a JPEG is read no larger than need be to be scaled to `want` (0: whole). */
bool pixels_of_file(const struct reel_image *image, uint32_t want, struct pixels *out, struct reel_error *err);

#endif
