/* See encode.h. */
#include "media/mp4/encode.h"

#include <stdlib.h>
#include <wels/codec_api.h>

#include "base/cleanup.h"
#include "base/grow.h"

enum { QUALITY = 26 /* the quantiser of all frames: constant quality, no rate to keep */, RATE = 30 };

struct encoder {
    ISVCEncoder *codec;
    bool ready;
    uint32_t width, height;
    long long frames;
    uint8_t *planes; /* Y, then U and V of a quarter of the size */
    struct grow stream;
};

bool encoder_accepts(uint32_t *width, uint32_t *height, struct reel_error *err) {
    uint32_t w = *width, h = *height;
    *width &= ~1U;
    *height &= ~1U;
    return (*width >= ENCODE_SIDE_MIN && *height >= ENCODE_SIDE_MIN && *width <= ENCODE_WIDTH_MAX &&
            (uint64_t)*width * *height <= ENCODE_PIXELS_MAX) ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "images of %u x %u pixels make no video: %d to %d a side are encoded; a width makes larger ones "
                     "smaller",
                     w, h, ENCODE_SIDE_MIN, ENCODE_WIDTH_MAX);
}

static void set_params(SEncParamExt *p, uint32_t width, uint32_t height) {
    p->iUsageType = CAMERA_VIDEO_REAL_TIME;
    p->iPicWidth = (int)width;
    p->iPicHeight = (int)height;
    p->iRCMode = RC_OFF_MODE;
    p->fMaxFrameRate = RATE;
    p->iTemporalLayerNum = 1;
    p->iSpatialLayerNum = 1;
    p->iComplexityMode = LOW_COMPLEXITY;
    p->uiIntraPeriod = 0;
    p->eSpsPpsIdStrategy = CONSTANT_ID;
    p->bEnableFrameSkip = false;
    p->bEnableSceneChangeDetect = false;
    p->iMultipleThreadIdc = 1;
    p->iMinQp = p->iMaxQp = QUALITY;
    p->sSpatialLayers[0].iVideoWidth = (int)width;
    p->sSpatialLayers[0].iVideoHeight = (int)height;
    p->sSpatialLayers[0].fFrameRate = RATE;
    p->sSpatialLayers[0].iDLayerQp = QUALITY;
    p->sSpatialLayers[0].sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
}

struct encoder *encoder_new(uint32_t width, uint32_t height, struct reel_error *err) {
    AUTO(encoder_free) struct encoder *e = calloc(1, sizeof *e);
    SEncParamExt params;
    int silent = WELS_LOG_QUIET;
    if (!e || !(e->planes = malloc((size_t)width * height * 3 / 2)) || WelsCreateSVCEncoder(&e->codec) != 0) {
        reel_fail_memory(err);
        return NULL;
    }
    e->width = width;
    e->height = height;
    (*e->codec)->SetOption(e->codec, ENCODER_OPTION_TRACE_LEVEL, &silent);
    (*e->codec)->GetDefaultParams(e->codec, &params);
    set_params(&params, width, height);
    e->ready = (*e->codec)->InitializeExt(e->codec, &params) == cmResultSuccess;
    if (!e->ready) {
        reel_fail(err, REEL_UNSUPPORTED, "a video of %u x %u pixels cannot be encoded", width, height);
        return NULL;
    }
    return TAKE(e);
}

void encoder_free(struct encoder *e) {
    if (e && e->codec) {
        if (e->ready) {
            (*e->codec)->Uninitialize(e->codec);
        }
        WelsDestroySVCEncoder(e->codec);
    }
    if (e) {
        free(e->planes);
        free(e->stream.data);
    }
    free(e);
}

uint32_t encoder_version(void) {
    OpenH264Version v = WelsGetCodecVersion();
    return v.uMajor << 20 | v.uMinor << 10 | v.uRevision;
}

/* ---- colours: BT.601, the range of television */

static void pixel_of(const struct reel_pixels *p, uint32_t x, uint32_t y, int rgb[3]) {
    const uint8_t *at = p->data + ((size_t)y * p->width + x) * p->values;
    for (unsigned i = 0; i < 3; i++) {
        rgb[i] = at[p->values == 3 ? i : 0];
    }
}

static void fill_planes(struct encoder *e, const struct reel_pixels *p) {
    uint8_t *luma = e->planes, *u = luma + (size_t)e->width * e->height, *v = u + (size_t)e->width * e->height / 4;
    for (uint32_t y = 0; y < e->height; y += 2) {
        for (uint32_t x = 0; x < e->width; x += 2) {
            int sum[3] = {0}, rgb[3];
            for (unsigned k = 0; k < 4; k++) {
                pixel_of(p, x + (k & 1), y + (k >> 1), rgb);
                luma[(size_t)(y + (k >> 1)) * e->width + x + (k & 1)] =
                    (uint8_t)((66 * rgb[0] + 129 * rgb[1] + 25 * rgb[2] + 4224) >> 8);
                for (unsigned i = 0; i < 3; i++) {
                    sum[i] += rgb[i];
                }
            }
            *u++ = (uint8_t)((-38 * sum[0] - 74 * sum[1] + 112 * sum[2] + 131584) >> 10);
            *v++ = (uint8_t)((112 * sum[0] - 94 * sum[1] - 18 * sum[2] + 131584) >> 10);
        }
    }
}

bool encoder_put(struct encoder *e, const struct reel_pixels *p, struct reel_bytes *stream, struct reel_error *err) {
    SFrameBSInfo info = {0};
    size_t luma = (size_t)e->width * e->height;
    SSourcePicture picture = {.iColorFormat = videoFormatI420,
                              .iStride = {(int)e->width, (int)e->width / 2, (int)e->width / 2},
                              .pData = {e->planes, e->planes + luma, e->planes + luma + luma / 4},
                              .iPicWidth = (int)e->width,
                              .iPicHeight = (int)e->height,
                              .uiTimeStamp = e->frames++ * 1000 / RATE};
    fill_planes(e, p);
    if ((*e->codec)->EncodeFrame(e->codec, &picture, &info) != cmResultSuccess) {
        return reel_fail(err, REEL_UNSUPPORTED, "a frame could not be encoded");
    }
    e->stream.size = 0;
    for (int i = 0; i < info.iLayerNum; i++) {
        const SLayerBSInfo *layer = &info.sLayerInfo[i];
        size_t size = 0;
        for (int k = 0; k < layer->iNalCount; k++) {
            size += (size_t)layer->pNalLengthInByte[k];
        }
        grow_put(&e->stream, layer->pBsBuf, size);
    }
    *stream = bytes_of(e->stream.data, e->stream.size);
    return !e->stream.failed || reel_fail_memory(err);
}
