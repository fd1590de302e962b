/* A step of each codec: plain, JSON's bytes, zlib, gzip, deflate, bzip2, lz4, zstd. */
#include "base/bytes.h"
#include "chunks/codec_internal.h"

#include <stdlib.h>
#include <zstd_errors.h>

#define XZ_MEMORY_MAX (UINT64_C(256) << 20) /* xz -9 needs 65 MiB */

/* --- plain
 * -------------------------------------------------------------------------------------------------------------------
 */

static enum codec_step none_step(union codec_state *state, struct codec_run *run) {
    (void)state;
    size_t size = run->left < run->room ? run->left : run->room;
    memcpy(run->out, run->in, size);
    run->in += size;
    run->left -= size;
    run->out += size;
    run->room -= size;
    return STEP_MORE;
}

static enum codec_step json_bytes_step(union codec_state *state, struct codec_run *run) {
    json_bytes_decode(&state->json, &run->in, &run->left, &run->out, &run->room);
    return STEP_MORE;
}

/* --- zlib, gzip, deflate
 * ----------------------------------------------------------------------------------------------------- */

static enum codec_step inflate_open(union codec_state *state, int window_bits) {
    return inflateInit2(&state->z, window_bits) == Z_OK ? STEP_MORE : STEP_MEMORY;
}
static enum codec_step zlib_open(union codec_state *state) {
    return inflate_open(state, 15);
}
static enum codec_step gzip_open(union codec_state *state) {
    return inflate_open(state, 15 + 16);
}
static enum codec_step deflate_open(union codec_state *state) {
    return inflate_open(state, -15);
}
static enum codec_step inflate_step(union codec_state *state, struct codec_run *run) {
    z_stream *z = &state->z;
    z->next_in = (z_const Bytef *)run->in;
    z->avail_in = (uInt)run->left;
    z->next_out = run->out;
    z->avail_out = (uInt)run->room;
    int result = inflate(z, Z_NO_FLUSH);
    run->in = z->next_in;
    run->left = z->avail_in;
    run->out = z->next_out;
    run->room = z->avail_out;
    run->why = z->msg;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do yet */
        return STEP_MORE;
    case Z_STREAM_END:
        return STEP_END;
    case Z_MEM_ERROR:
        return STEP_MEMORY;
    case Z_NEED_DICT:
        run->why = "it needs a preset dictionary";
        return STEP_UNSUPPORTED;
    default:
        return STEP_DAMAGED;
    }
}
static bool inflate_again(union codec_state *state) {
    return inflateReset(&state->z) == Z_OK;
}
static void inflate_close(union codec_state *state) {
    inflateEnd(&state->z);
}
static bool gzip_follows(const uint8_t *p, size_t size) {
    return size >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

/* --- bzip2
 * -------------------------------------------------------------------------------------------------------------------
 */

static enum codec_step bzip2_open(union codec_state *state) {
    return BZ2_bzDecompressInit(&state->bz, 0, 0) == BZ_OK ? STEP_MORE : STEP_MEMORY;
}
static enum codec_step bzip2_step(union codec_state *state, struct codec_run *run) {
    bz_stream *bz = &state->bz;
    bz->next_in = (char *)run->in; /* not written to, but the library's parameter is not const */
    bz->avail_in = (unsigned)run->left;
    bz->next_out = (char *)run->out;
    bz->avail_out = (unsigned)run->room;
    int result = BZ2_bzDecompress(bz);
    run->in = (const uint8_t *)bz->next_in;
    run->left = bz->avail_in;
    run->out = (uint8_t *)bz->next_out;
    run->room = bz->avail_out;
    switch (result) {
    case BZ_OK:
        return STEP_MORE;
    case BZ_STREAM_END:
        return STEP_END;
    case BZ_MEM_ERROR:
        return STEP_MEMORY;
    case BZ_DATA_ERROR_MAGIC:
        run->why = "wrong magic";
        return STEP_DAMAGED;
    default:
        run->why = "wrong data or checksum";
        return STEP_DAMAGED;
    }
}
static void bzip2_close(union codec_state *state) {
    BZ2_bzDecompressEnd(&state->bz);
}
static bool bzip2_again(union codec_state *state) {
    bzip2_close(state);
    state->bz = (bz_stream){0};
    return bzip2_open(state) == STEP_MORE;
}
static bool bzip2_follows(const uint8_t *p, size_t size) {
    return size >= 3 && memcmp(p, "BZh", 3) == 0;
}

/* --- lz4 frame
 * --------------------------------------------------------------------------------------------------------------- */

static enum codec_step lz4_open(union codec_state *state) {
    return LZ4F_isError(LZ4F_createDecompressionContext(&state->lz4, LZ4F_VERSION)) ? STEP_MEMORY : STEP_MORE;
}
static enum codec_step lz4_step(union codec_state *state, struct codec_run *run) {
    size_t taken = run->left;
    size_t written = run->room;
    const LZ4F_decompressOptions_t options = {.stableDst = run->stable}; /* lets the library skip an internal copy */
    size_t result = LZ4F_decompress(state->lz4, run->out, &written, run->in, &taken, &options);
    if (LZ4F_isError(result)) {
        run->why = LZ4F_getErrorName(result);
        return strcmp(run->why, "ERROR_allocation_failed") == 0 ? STEP_MEMORY : STEP_DAMAGED; /* the error codes are not
                                                                                                 in the public header */
    }
    run->in += taken;
    run->left -= taken;
    run->out += written;
    run->room -= written;
    return result == 0 ? STEP_END : STEP_MORE;
}
static void lz4_close(union codec_state *state) {
    LZ4F_freeDecompressionContext(state->lz4);
}
static bool lz4_whole(struct codec_buffers *buffers, struct reel_bytes stored, uint8_t *out, size_t raw) {
    (void)buffers;
    return lz4_frame_decode(stored, out, raw);
}
/* lz4 and zstd both have skippable frames, with the same magic numbers. */
static bool frame_follows(const uint8_t *p, size_t size, uint32_t magic) {
    return size >= 4 && (load_u32le(p) == magic || (load_u32le(p) & 0xfffffff0U) == 0x184d2a50U);
}
static bool lz4_follows(const uint8_t *p, size_t size) {
    return frame_follows(p, size, LZ4_MAGIC);
}

/* --- zstd
 * --------------------------------------------------------------------------------------------------------------------
 */

static enum codec_step zstd_open(union codec_state *state) {
    state->zstd = ZSTD_createDStream();
    return state->zstd ? STEP_MORE : STEP_MEMORY;
}
static enum codec_step zstd_step(union codec_state *state, struct codec_run *run) {
    ZSTD_inBuffer in = {.src = run->in, .size = run->left};
    ZSTD_outBuffer out = {.dst = run->out, .size = run->room};
    size_t result = ZSTD_decompressStream(state->zstd, &out, &in);
    if (ZSTD_isError(result)) {
        run->why = ZSTD_getErrorName(result);
        switch (ZSTD_getErrorCode(result)) {
        case ZSTD_error_memory_allocation:
            return STEP_MEMORY;
        case ZSTD_error_frameParameter_windowTooLarge: /* above the library's default maximum of 128 MiB */
        case ZSTD_error_dictionary_wrong:
            return STEP_UNSUPPORTED;
        default:
            return STEP_DAMAGED;
        }
    }
    run->in += in.pos;
    run->left -= in.pos;
    run->out += out.pos;
    run->room -= out.pos;
    return result == 0 ? STEP_END : STEP_MORE;
}
static void zstd_close(union codec_state *state) {
    ZSTD_freeDStream(state->zstd);
}
static bool zstd_whole(struct codec_buffers *buffers, struct reel_bytes stored, uint8_t *out, size_t raw) {
    if (!buffers->zstd && !(buffers->zstd = ZSTD_createDCtx())) {
        return false;
    }
    return ZSTD_decompressDCtx(buffers->zstd, out, raw, stored.data, stored.size) == raw;
}
static bool zstd_follows(const uint8_t *p, size_t size) {
    return frame_follows(p, size, ZSTD_MAGICNUMBER);
}

/* --- xz
 * ---------------------------------------------------------------------------------------------------------------------
 */

static enum codec_step xz_open(union codec_state *state) {
    state->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&state->xz, XZ_MEMORY_MAX, 0) == LZMA_OK ? STEP_MORE : STEP_MEMORY;
}
static enum codec_step xz_step(union codec_state *state, struct codec_run *run) {
    lzma_stream *xz = &state->xz;
    xz->next_in = run->in;
    xz->avail_in = run->left;
    xz->next_out = run->out;
    xz->avail_out = run->room;
    lzma_ret result = lzma_code(xz, LZMA_RUN);
    run->in = xz->next_in;
    run->left = xz->avail_in;
    run->out = xz->next_out;
    run->room = xz->avail_out;
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return STEP_MORE;
    case LZMA_STREAM_END:
        return STEP_END;
    case LZMA_MEM_ERROR:
        return STEP_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        run->why = "its dictionary is too large";
        return STEP_UNSUPPORTED;
    default:
        run->why = "wrong data or checksum";
        return STEP_DAMAGED;
    }
}
static void xz_close(union codec_state *state) {
    lzma_end(&state->xz);
}
static bool xz_again(union codec_state *state) {
    xz_close(state);
    return xz_open(state) == STEP_MORE;
}
static bool xz_follows(const uint8_t *p, size_t size) {
    return size >= 4 && memcmp(p,
                               "\xfd"
                               "7zX",
                               4) == 0;
}

static const struct codec codecs[] = {
    [REEL_CODEC_NONE] = {"none", NULL, none_step, NULL, NULL, NULL, true, NULL},
    [REEL_CODEC_ZLIB] = {"zlib", zlib_open, inflate_step, NULL, inflate_close, NULL, false, NULL},
    [REEL_CODEC_GZIP] = {"gzip", gzip_open, inflate_step, inflate_again, inflate_close, gzip_follows, false, NULL},
    [REEL_CODEC_DEFLATE] = {"deflate", deflate_open, inflate_step, NULL, inflate_close, NULL, false, NULL},
    [REEL_CODEC_BZIP2] = {"bzip2", bzip2_open, bzip2_step, bzip2_again, bzip2_close, bzip2_follows, false, NULL},
    [REEL_CODEC_LZ4] = {"lz4", lz4_open, lz4_step, NULL, lz4_close, lz4_follows, false, lz4_whole},
    [REEL_CODEC_ZSTD] = {"zstd", zstd_open, zstd_step, NULL, zstd_close, zstd_follows, false, zstd_whole},
    [REEL_CODEC_XZ] = {"xz", xz_open, xz_step, xz_again, xz_close, xz_follows, false, NULL},
    [REEL_CODEC_JSON_BYTES] = {"base64", NULL, json_bytes_step, NULL, NULL, NULL, true, NULL},
};

void codec_buffers_free(struct codec_buffers *buffers) {
    free(buffers->in);
    ZSTD_freeDCtx(buffers->zstd);
    *buffers = (struct codec_buffers){0};
}

const struct codec *codec_of(enum reel_codec codec) {
    return (size_t)codec < sizeof codecs / sizeof codecs[0] && codecs[codec].step ? &codecs[codec] : NULL;
}

const char *codec_name(enum reel_codec codec) {
    const struct codec *c = codec_of(codec);
    return c ? c->name : "unknown";
}
