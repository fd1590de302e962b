/* Decompression of one stored run of bytes into memory or, for huge runs, into a file; compression of one run in
 * memory. */
#ifndef REEL_CHUNKS_CODEC_H
#define REEL_CHUNKS_CODEC_H

#include "base/grow.h"
#include "base/source.h"
#include "chunks/chunk.h"

#define ZSTD_MAGIC_LE UINT32_C(0xfd2fb528) /* the first bytes of a zstd frame */

/* What decoding needs besides its output, for whoever decodes many chunks: used again for each. Of one thread at a
 * time; begins zeroed. */
struct codec_buffers {
    uint8_t *in;
    size_t in_room;
    struct ZSTD_DCtx_s *zstd;
};
void codec_buffers_free(struct codec_buffers *buffers);

/* Decodes a chunk into exactly `raw` bytes at `out`. REEL_DAMAGED when it decodes to fewer or more bytes, or not at
 * all. Of a damaged chunk the first `raw` bytes are decoded and the rest is ignored. `buffers` may be NULL. */
bool codec_decode_chunk(const struct reel_chunk *chunk, struct reel_source *source, uint8_t *out,
                        struct codec_buffers *buffers, struct reel_error *err);
/* The same into a descriptor, in bounded memory. */
bool codec_decode_chunk_to_fd(const struct reel_chunk *chunk, struct reel_source *source, int fd,
                              struct reel_error *err);
/* Marks a chunk that fails to decode as damaged, and sets its `raw` to the number of bytes (at most `max`) before the
 * damage. */
bool codec_measure_damaged(struct reel_chunk *chunk, struct reel_source *source, uint64_t max, struct reel_error *err);

/* Like codec_decode_chunk_to_fd(), for a run of unknown raw size, returned in *raw. REEL_LIMIT above `max`. */
bool codec_unpack_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, int fd,
                        uint64_t max, uint64_t *raw, struct reel_error *err);

/* Decodes at most `room` bytes from the start of a run that begins with `head`, to identify its content; returns how
 * many there were. */
bool codec_peek(enum reel_codec codec, struct reel_bytes head, uint8_t *out, size_t room, size_t *size,
                struct reel_error *err);

/* Determines the raw size by decoding; REEL_LIMIT above `max`. */
static inline bool codec_measure(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored,
                                 uint64_t max, uint64_t *raw, struct reel_error *err) {
    return codec_unpack_to_fd(codec, source, offset, stored, -1, max, raw, err);
}

/* Appends the `size` bytes at `raw`, compressed, to `out`; equal input gives equal output. gzip, zlib and deflate at
 * level 6, bzip2 in blocks of 900 KB, zstd at level 1, lz4 as a frame that ROS reads (independent blocks of at most 1
 * MiB, content checksum, no content size). On failure `out` keeps its size. */
bool codec_encode(enum reel_codec codec, const uint8_t *raw, size_t size, struct grow *out, struct reel_error *err);

/* The most bytes that codec_encode() appends; 0: this codec does not encode, or the run is too long for it. */
size_t codec_encode_bound(enum reel_codec codec, size_t size);

/* Changes with the versions of the compression libraries, because another version may produce other bytes. */
uint32_t codec_encode_version(void);

const char *codec_name(enum reel_codec codec);

#endif
