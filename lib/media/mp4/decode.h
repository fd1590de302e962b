/* H.264 as pixels, by libopenh264. */
#ifndef REEL_MEDIA_MP4_DECODE_H
#define REEL_MEDIA_MP4_DECODE_H

#include "media/picture.h"

/* Whether no picture is larger than REEL_H264_PIXELS_MAX: libopenh264 allocates frames when it reads a parameter set.
 * (survey.c, as syntax/nal.h and the library's header have the same names.) */
bool h264_fits(struct reel_bytes stream);

struct h264_decoder;
struct h264_decoder *h264_decoder_new(struct reel_error *err);
void h264_decoder_free(struct h264_decoder *decoder); /* NULL is fine */
REEL_DEFINE_AUTO(struct h264_decoder, h264_decoder_free);
/* The next frame of a byte stream that begins with a key frame. `out` (NULL: not wanted) is left empty if the decoder
 * gives no picture for it. REEL_UNSUPPORTED: it is damaged, or has more than REEL_H264_PIXELS_MAX. */
bool h264_decoder_put(struct h264_decoder *decoder, struct reel_bytes stream, struct reel_pixels *out,
                      struct reel_error *err);

#endif
