/* Fuzzes pictures. Input: u8 how (bit 0: PNG is wanted, bit 1: rows of pixels follow, bit 2: scaled, bit 3: a message),
 * then rows of pixels: u8 encoding, u8 big-endian, u32 width, u32 height, u32 step, pixels a message:      JSON else:
 * a JPEG or PNG file Nothing may crash, leak or hang; a picture that is made is one that can be read. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "media/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SCALED_TO = 7, SMALL = 1 << 20 /* pixels: larger ones are only looked at */ };

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static bool read_rows(struct cursor *c, struct reel_image *image) {
    static const char *const encodings[] = {"rgb8",  "bgr8",        "8UC3",   "rgba8",       "bgra8", "8UC4",
                                            "mono8", "8UC1",        "mono16", "16UC1",       "32FC1", "yuv422",
                                            "uyvy",  "yuv422_yuy2", "yuyv",   "bayer_rggb8", "none",  "bayer_gbrg16"};
    snprintf(image->encoding, sizeof image->encoding, "%s",
             encodings[cursor_u8(c) % (sizeof encodings / sizeof *encodings)]);
    image->big_endian = cursor_u8(c) & 1;
    image->width = cursor_u32le(c);
    image->height = cursor_u32le(c);
    image->step = cursor_u32le(c);
    image->data = bytes_of(c->at, cursor_left(c));
    return !c->failed;
}

static bool read_message(struct reel_bytes json, struct reel_image *image) {
    static const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "json"};
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&channel, &err);
    must(d != NULL, "JSON is decoded");
    bool good = reel_image_read(d, json, image, &err);
    must(good == (err.code == REEL_OK), "what is no image says why");
    return good;
}

/* The width and height in the header of a file; large ones are left out, they only cost time. */
static bool is_small(const struct reel_image *image) {
    const struct reel_bytes f = image->data;
    if (!image->compressed) {
        return (uint64_t)image->width * image->height <= SMALL;
    }
    if (image->form == REEL_PICTURE_PNG) {
        struct cursor c = cursor_of(f);
        cursor_take(&c, 16); /* after the signature, and length and name of IHDR */
        uint64_t width = cursor_be(&c, 4), height = cursor_be(&c, 4);
        return width * height <= SMALL;
    }
    for (size_t i = 2; i + 9 < f.size; i++) { /* the frame header, whatever is around it */
        bool frame = f.data[i] == 0xff && f.data[i + 1] >= 0xc0 && f.data[i + 1] <= 0xcf;
        uint64_t height = (uint64_t)(f.data[i + 5] << 8 | f.data[i + 6]),
                 width = (uint64_t)(f.data[i + 7] << 8 | f.data[i + 8]);
        if (frame && height * width > SMALL) {
            return false;
        }
    }
    return true;
}

static void draw(const struct reel_image *image, enum reel_picture_form form, uint32_t width) {
    struct reel_picture made, again;
    struct reel_error err = {0};
    bool good = reel_picture_make(image, form, width, &made, &err);
    must(good == (err.code == REEL_OK), "what is not drawn says why");
    if (good) {
        const struct reel_image file = {.compressed = true, .form = form, .data = bytes_of(made.data, made.size)};
        must(made.width > 0 && made.height > 0 && (width == 0 || made.width <= width), "it is as wide as was asked");
        must(reel_picture_make(&file, form, 0, &again, &err), "it can be read");
        must(again.width == made.width && again.height == made.height, "it has the sides that it says");
        reel_picture_done(&again);
    }
    reel_picture_done(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    struct reel_image image = {0};
    uint8_t how = cursor_u8(&c);
    bool there;
    if (how & 8) {
        there = read_message(bytes_of(c.at, cursor_left(&c)), &image);
    } else if (how & 2) {
        there = read_rows(&c, &image);
    } else {
        image.data = bytes_of(c.at, cursor_left(&c));
        image.compressed = true;
        image.form = bytes_start(image.data, bytes_of("\xff\xd8", 2)) ? REEL_PICTURE_JPEG : REEL_PICTURE_PNG;
        there = true;
    }
    if (there && is_small(&image)) {
        draw(&image, how & 1 ? REEL_PICTURE_PNG : REEL_PICTURE_JPEG, how & 4 ? SCALED_TO : 0);
    }
    reel_image_done(&image);
    return 0;
}
