/* Compression of one run of bytes in memory. Output is deterministic: a writer may compress while it plans, keep only
 * the size, and compress again when it renders. Other versions of the libraries may produce other bytes; see
 * codec_encode_version(). */
#include "base/bytes.h"
#include "chunks/codec.h"

#include <bzlib.h>
#include <lz4.h>
#include <lz4frame.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 1, BZIP2_BLOCK = 9, GZIP_BITS = 15 + 16, ZLIB_BITS = 15, DEFLATE_BITS = -15, DEFLATE_MEMORY = 8 };

/* The only kind of frame that roslz4 reads: independent blocks, a content checksum, no content size and no block
 * checksums. */
static const LZ4F_preferences_t lz4_frame = {.frameInfo = {.blockSizeID = LZ4F_max1MB,
                                                           .blockMode = LZ4F_blockIndependent,
                                                           .contentChecksumFlag = LZ4F_contentChecksumEnabled}};

size_t codec_encode_bound(enum reel_codec codec, size_t size) {
    switch (codec) {
    case REEL_CODEC_NONE:
        return size;
    case REEL_CODEC_ZLIB:
    case REEL_CODEC_GZIP:
    case REEL_CODEC_DEFLATE:
        return size > UINT32_MAX / 2 ? 0 : compressBound(size) + 32;
    case REEL_CODEC_BZIP2: /* from the bzip2 manual: 1 % and 600 bytes more than the input */
        return size > UINT32_MAX / 2 ? 0 : size + size / 100 + 600;
    case REEL_CODEC_LZ4:
        return LZ4F_compressFrameBound(size, &lz4_frame);
    case REEL_CODEC_ZSTD:
        return ZSTD_compressBound(size);
    case REEL_CODEC_ROWS:
    case REEL_CODEC_JSON_BYTES:
    case REEL_CODEC_LOGGED:
    case REEL_CODEC_XZ:
        return 0;
    }
    return 0;
}

static bool encode_deflate(int window_bits, struct reel_bytes raw, uint8_t *out, size_t *room) {
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, DEFLATE_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        return false;
    }
    z.next_in = (z_const Bytef *)(uintptr_t)raw.data;
    z.avail_in = (uInt)raw.size;
    z.next_out = out;
    z.avail_out = (uInt)*room;
    bool good = deflate(&z, Z_FINISH) == Z_STREAM_END;
    *room = z.total_out;
    deflateEnd(&z);
    return good;
}

static bool encode_bzip2(struct reel_bytes raw, uint8_t *out, size_t *room) {
    unsigned written = (unsigned)*room;
    char none = 0; /* the library requires a valid address even for empty input */
    char *data = raw.size > 0 ? (char *)(uintptr_t)raw.data : &none;
    bool good = BZ2_bzBuffToBuffCompress((char *)out, &written, data, (unsigned)raw.size, BZIP2_BLOCK, 0, 0) == BZ_OK;
    *room = written;
    return good;
}

static bool encode_run(enum reel_codec codec, struct reel_bytes raw, uint8_t *out, size_t *room) {
    size_t written = 0;
    switch (codec) {
    case REEL_CODEC_NONE:
        if (raw.size > 0) {
            memcpy(out, raw.data, raw.size);
        }
        return true;
    case REEL_CODEC_ZLIB:
        return encode_deflate(ZLIB_BITS, raw, out, room);
    case REEL_CODEC_GZIP:
        return encode_deflate(GZIP_BITS, raw, out, room);
    case REEL_CODEC_DEFLATE:
        return encode_deflate(DEFLATE_BITS, raw, out, room);
    case REEL_CODEC_BZIP2:
        return encode_bzip2(raw, out, room);
    case REEL_CODEC_LZ4:
        written = LZ4F_compressFrame(out, *room, raw.data, raw.size, &lz4_frame);
        *room = written;
        return !LZ4F_isError(written);
    case REEL_CODEC_ZSTD:
        written = ZSTD_compress(out, *room, raw.data, raw.size, ZSTD_LEVEL);
        *room = written;
        return !ZSTD_isError(written);
    case REEL_CODEC_ROWS:
    case REEL_CODEC_JSON_BYTES:
    case REEL_CODEC_LOGGED:
    case REEL_CODEC_XZ:
        return false;
    }
    return false;
}

bool codec_encode(enum reel_codec codec, const uint8_t *raw, size_t size, struct grow *out, struct reel_error *err) {
    size_t room = codec_encode_bound(codec, size);
    if (room == 0 && codec != REEL_CODEC_NONE) {
        return reel_fail(err, REEL_UNSUPPORTED, "%zu bytes cannot be compressed as %s in one run", size,
                         codec_name(codec));
    }
    size_t before = out->size, written = room;
    uint8_t *at = grow_take(out, room);
    if (!at && room > 0) {
        return reel_fail_memory(err);
    }
    if (!encode_run(codec, bytes_of(raw, size), at, &written)) {
        /* The output buffer is large enough, so memory is the only reason to fail. */
        out->size = before;
        return reel_fail_memory(err);
    }
    out->size = before + written;
    return true;
}

uint32_t codec_encode_version(void) {
    char text[256];
    int size = snprintf(text, sizeof text, "%s %s %d %u", zlibVersion(), BZ2_bzlibVersion(), LZ4_versionNumber(),
                        ZSTD_versionNumber());
    return (uint32_t)crc32(0, (const Bytef *)text,
                           size > 0 && (size_t)size < sizeof text ? (uInt)size : (uInt)sizeof text);
}
