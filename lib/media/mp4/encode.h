/* Images as H.264, by libopenh264: a group of messages is a run of frames that begins with a key frame and needs no
 * other group. So groups are encoded on several threads, and the same images always give the same bytes. */
#ifndef REEL_MEDIA_MP4_ENCODE_H
#define REEL_MEDIA_MP4_ENCODE_H

#include "media/picture.h"

enum { ENCODE_FRAMES = 30, ENCODE_SIDE_MIN = 16, ENCODE_WIDTH_MAX = 3840, ENCODE_PIXELS_MAX = 3840 * 2160 };

/* Makes the sides of images even, as they are encoded. REEL_UNSUPPORTED: they are too small or too large. */
bool encoder_accepts(uint32_t *width, uint32_t *height, struct reel_error *err);

struct encoder;
struct encoder *encoder_new(uint32_t width, uint32_t height, struct reel_error *err);
void encoder_free(struct encoder *encoder);
REEL_DEFINE_AUTO(struct encoder, encoder_free);
/* The next frame as a byte stream, valid until the next call. */
bool encoder_put(struct encoder *encoder, const struct reel_pixels *pixels, struct reel_bytes *stream,
                 struct reel_error *err);
uint32_t encoder_version(void); /* of the library */

#endif
