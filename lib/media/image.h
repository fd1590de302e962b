/* Shared by the parts of picture output. fields: fields of an image message · rows: conversion of any pixel encoding to
 * rows of grey or RGB, and scaling · bayer: mosaics · files: reading and writing JPEG and PNG, and the public function
 * · thumbnail: pictures of a recording. */
#ifndef REEL_MEDIA_IMAGE_H
#define REEL_MEDIA_IMAGE_H

#include <stdlib.h>

#include "media/picture.h"

enum {
    PICTURE_SIDE_MAX = 16384,
    PICTURE_PIXELS_MAX = 64 << 20,
    PICTURE_SCANNED_MAX = 1 << 30 /* pixels times the scans of a JPEG */
};

struct pixels { /* 8 bits per value, rows without padding */
    uint8_t *data;
    uint32_t width, height;
    unsigned values; /* values per pixel: 1 grey, 3 RGB */
};
static inline void reel_auto_pixels_done(struct pixels *p) {
    free(p->data);
}

/* Checks that both sides are at least 1 and within the limits. */
bool picture_fits(uint64_t width, uint64_t height, struct reel_error *err);
/* Zeroed. */
bool pixels_new(uint32_t width, uint32_t height, unsigned values, struct pixels *out, struct reel_error *err);

/* Pixels of a raw image, or of 8-bit rows, scaled to the requested width by averaging. */
bool pixels_of_image(const struct reel_image *image, uint32_t target_width, struct pixels *out, struct reel_error *err);
bool pixels_scale(const struct pixels *from, uint32_t target_width, struct pixels *out, struct reel_error *err);
/* Row `y` of a mosaic as RGB. The pixels with odd x if red_x, odd y if red_y, else even ones, are red. */
struct mosaic {
    const struct reel_image *image;
    uint64_t step;
    unsigned bytes, red_x, red_y;
};
void bayer_row(const struct mosaic *m, uint32_t y, uint8_t *to);
/* Reads an image file; a JPEG is decoded no larger than needed to scale it to the requested width (0: full size). */
bool pixels_of_file(const struct reel_image *image, uint32_t target_width, struct pixels *out, struct reel_error *err);
bool picture_write(const struct pixels *from, enum reel_picture_form form, struct reel_picture *out,
                   struct reel_error *err);

#endif
