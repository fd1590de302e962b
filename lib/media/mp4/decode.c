/* See decode.h. */
#include "media/mp4/decode.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wels/codec_api.h>

#include "base/cleanup.h"
#include "media/image.h"

struct h264_decoder {
    ISVCDecoder *codec;
    bool ready;
};

struct h264_decoder *h264_decoder_new(struct reel_error *err) {
    AUTO(h264_decoder_free) struct h264_decoder *d = calloc(1, sizeof *d);
    SDecodingParam params = {.eEcActiveIdc = ERROR_CON_DISABLE, .sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC};
    int silent = WELS_LOG_QUIET;
    if (!d || WelsCreateDecoder(&d->codec) != 0) {
        reel_fail_memory(err);
        return NULL;
    }
    (*d->codec)->SetOption(d->codec, DECODER_OPTION_TRACE_LEVEL, &silent);
    d->ready = (*d->codec)->Initialize(d->codec, &params) == cmResultSuccess;
    return d->ready ? TAKE(d) : (reel_fail(err, REEL_UNSUPPORTED, "H.264 cannot be decoded here"), NULL);
}

void h264_decoder_free(struct h264_decoder *d) {
    if (d && d->codec) {
        if (d->ready) {
            (*d->codec)->Uninitialize(d->codec);
        }
        WelsDestroyDecoder(d->codec);
    }
    free(d);
}

static uint8_t clamped(int value) {
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* BT.601, the range of television, as encode.c has it. */
static void put_pixel(uint8_t *to, int luma, int u, int v) {
    int y = 298 * (luma - 16) + 128;
    u -= 128;
    v -= 128;
    to[0] = clamped((y + 409 * v) >> 8);
    to[1] = clamped((y - 100 * u - 208 * v) >> 8);
    to[2] = clamped((y + 516 * u) >> 8);
}

static bool take_picture(const SSysMEMBuffer *picture, unsigned char *const planes[3], struct reel_pixels *out,
                         struct reel_error *err) {
    struct pixels pixels;
    if (picture->iFormat != videoFormatI420 || !planes[1] || !planes[2]) {
        return reel_fail(err, REEL_UNSUPPORTED, "the pixels of an H.264 frame are of a kind that is not read");
    }
    if (picture->iWidth < 1 || picture->iHeight < 1 ||
        !picture_fits((uint64_t)picture->iWidth, (uint64_t)picture->iHeight, err) ||
        !pixels_new((uint32_t)picture->iWidth, (uint32_t)picture->iHeight, 3, &pixels, err)) {
        return false;
    }
    uint8_t *to = pixels.data;
    for (int y = 0; y < picture->iHeight; y++) {
        const uint8_t *luma = planes[0] + (ptrdiff_t)y * picture->iStride[0];
        const ptrdiff_t chroma = (ptrdiff_t)(y / 2) * picture->iStride[1];
        for (int x = 0; x < picture->iWidth; x++, to += 3) {
            put_pixel(to, luma[x], planes[1][chroma + x / 2], planes[2][chroma + x / 2]);
        }
    }
    *out = (struct reel_pixels){
        .data = pixels.data, .width = pixels.width, .height = pixels.height, .values = pixels.values};
    return true;
}

bool h264_decoder_put(struct h264_decoder *d, struct reel_bytes stream, struct reel_pixels *out,
                      struct reel_error *err) {
    unsigned char *planes[3] = {NULL, NULL, NULL};
    SBufferInfo info = {0};
    if (stream.size > INT_MAX || !h264_fits(stream) ||
        (*d->codec)->DecodeFrameNoDelay(d->codec, stream.data, (int)stream.size, planes, &info) != dsErrorFree) {
        return reel_fail(err, REEL_UNSUPPORTED, "a frame of H.264 cannot be decoded");
    }
    return !out || info.iBufferStatus != 1 || !planes[0] || take_picture(&info.UsrData.sSystemBuffer, planes, out, err);
}
