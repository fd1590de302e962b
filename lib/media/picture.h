/* One message as a picture: compressed or raw images of ROS and Foxglove, whatever encoding their messages are in. */
#ifndef REEL_MEDIA_PICTURE_H
#define REEL_MEDIA_PICTURE_H

#include "decode/encoding.h"
#include "read/reader.h"

enum reel_picture_form {
    REEL_PICTURE_JPEG,
    REEL_PICTURE_PNG,
    REEL_PICTURE_H264, /* of a video, as a byte stream (Annex B): read, but not drawn */
    REEL_PICTURE_H265,
};

/* What a message holds: the fields of sensor_msgs/Image and CompressedImage, foxglove.RawImage,
 * CompressedImage and CompressedVideo. */
struct reel_image {
    bool compressed; /* data is a file of the form `form`; else rows of pixels */
    enum reel_picture_form form;
    char encoding[32];      /* of pixels: "rgb8", "bayer_rggb8", "32FC1" … */
    uint32_t width, height; /* of pixels */
    uint64_t step;          /* bytes from row to row */
    bool big_endian;
    struct reel_bytes data; /* in the payload, or in `own` */
    uint8_t *own;
};
/* REEL_UNSUPPORTED: this message is no image, or one of a form that is not read; the payload must outlive it. */
bool reel_image_read(const struct reel_decoder *decoder, struct reel_bytes payload, struct reel_image *out,
                     struct reel_error *err);
void reel_image_done(struct reel_image *image);

/* The sides of the whole image, from the head of its file; false: they cannot be told. */
bool reel_image_size(const struct reel_image *image, uint32_t *width, uint32_t *height);

struct reel_picture {
    uint8_t *data; /* from malloc */
    size_t size;
    uint32_t width, height;
};
/* The image as a file, no wider than `width` (0: as it is). Depths and floats are stretched so that the smallest stands
 * as black and the largest as white; a Bayer mosaic becomes colour, bilinearly. REEL_LIMIT: more than 16384 a side or
 * 64 megapixels; REEL_DAMAGED; REEL_UNSUPPORTED: an encoding that is not drawn. */
bool reel_picture_make(const struct reel_image *image, enum reel_picture_form form, uint32_t width,
                       struct reel_picture *out, struct reel_error *err);
void reel_picture_done(struct reel_picture *picture);
/* The bytes that this allocates at most, as far as the head of the image says. */
uint64_t reel_picture_memory(const struct reel_image *image, enum reel_picture_form form, uint32_t width);

/* The same as rows of 8-bit values, without padding: 1 a pixel, grey, or 3, RGB. */
struct reel_pixels {
    uint8_t *data; /* from malloc */
    uint32_t width, height;
    unsigned values;
};
bool reel_picture_pixels(const struct reel_image *image, uint32_t width, struct reel_pixels *out,
                         struct reel_error *err);
void reel_pixels_done(struct reel_pixels *pixels);

/* Pictures of a recording side by side in one JPEG: from its best channel of images, at evenly spread times; of one
 * frame, from the middle. REEL_NOT_FOUND: it has no images; REEL_UNSUPPORTED, REEL_DAMAGED, REEL_LIMIT: they are not
 * drawn. */
struct reel_thumbnail {
    uint32_t frames;        /* at least 1; REEL_LIMIT: side by side they are too wide for a picture */
    uint32_t width, height; /* of each, at most */
    /* Optional: before each of them is decoded; `bytes` are needed together until the next call. False: not drawn. */
    bool (*reserve)(void *context, uint64_t bytes, struct reel_error *err);
    void *context;
};
bool reel_thumbnail_make(struct reel_recording *recording, const struct reel_thumbnail *options,
                         struct reel_picture *out, struct reel_error *err);
bool reel_thumbnail_fits(const struct reel_index *index); /* whether it has such a channel */

enum { REEL_PICTURE_VERSION = 3 }; /* part of every ETag: raise it when one pixel changes */

#endif
