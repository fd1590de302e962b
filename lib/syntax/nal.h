/* H.264 and H.265 as byte streams (Annex B): units behind start codes 00 00 01, and what their parameter sets say of
 * the picture. */
#ifndef REEL_SYNTAX_NAL_H
#define REEL_SYNTAX_NAL_H

#include "base/bytes.h"

enum nal_role { NAL_OTHER, NAL_PICTURE, NAL_KEY_PICTURE, NAL_VPS, NAL_SPS, NAL_PPS };

/* Takes the next unit off the stream, without its start code and the zeros behind it. False: there is none. */
bool nal_next(struct reel_bytes *stream, struct reel_bytes *unit);
enum nal_role nal_role(struct reel_bytes unit, bool h265);

struct nal_size { /* of a sequence's pictures */
    uint32_t width, height;
    uint32_t coded_width, coded_height; /* with what is cut off at the edges; UINT32_MAX: that or more */
    uint8_t chroma, luma_bits, chroma_bits;
    uint8_t layers, nested; /* H.265 */
    uint8_t profile[12];    /* H.265: profile, tier and level as in the unit */
};
/* Reads a sequence parameter set. False: it is damaged, or has sides of 0 or more than 65535 pixels. */
bool nal_read_sps(struct reel_bytes unit, bool h265, struct nal_size *out);

#endif
