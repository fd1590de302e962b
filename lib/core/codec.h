/* Decompression of one stored run into memory or, for huge runs, into a file; compression of one run in memory. */
#ifndef REEL_CORE_CODEC_H
#define REEL_CORE_CODEC_H

#include "reel/model.h"
#include "reel/source.h"
#include "wire/grow.h"

/* Decodes source bytes [offset, offset + stored) into exactly `raw` bytes at `out`. REEL_DAMAGED when they give less or more, or do not
 * decode. */
bool codec_decode(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, uint8_t *out, uint64_t raw,
                  struct reel_error *err);

/* The same into a descriptor, in bounded memory. */
bool codec_decode_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, int fd, uint64_t raw,
                        struct reel_error *err);

/* Both for a chunk; of a damaged one its first `raw` bytes are decoded, and what comes behind them does not matter. */
bool codec_decode_chunk(const struct reel_chunk *chunk, struct reel_source *source, uint8_t *out, struct reel_error *err);
bool codec_decode_chunk_to_fd(const struct reel_chunk *chunk, struct reel_source *source, int fd, struct reel_error *err);
/* Marks a chunk that does not decode as damaged, and sets `raw` to the bytes, at most `max`, that can be decoded before the damage. */
bool codec_measure_damaged(struct reel_chunk *chunk, struct reel_source *source, uint64_t max, struct reel_error *err);

/* The same of a run whose raw size nobody tells: *raw. REEL_LIMIT above `max`. */
bool codec_unpack_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, int fd, uint64_t max,
                        uint64_t *raw, struct reel_error *err);

/* The first at most `room` bytes of what begins with `head`, for a look at it; how many there were. */
size_t codec_peek(enum reel_codec codec, struct reel_bytes head, uint8_t *out, size_t room);

/* Raw size by decoding without keeping; stops with REEL_LIMIT above `max`. */
bool codec_measure(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, uint64_t max, uint64_t *raw,
                   struct reel_error *err);

/* Appends the `size` bytes at `raw`, compressed, to `out`; the same bytes always give the same bytes. gzip, zlib and deflate at level 6,
 * bzip2 in blocks of 900 KB, zstd at level 1, lz4 as a frame that ROS reads (independent blocks of at most 1 MiB, content checksum, no
 * content size). On failure `out` keeps its size. */
bool codec_encode(enum reel_codec codec, const uint8_t *raw, size_t size, struct grow *out, struct reel_error *err);

/* Changes with the versions of the libraries that codec_encode() uses: another one may give other bytes. */
uint32_t codec_encode_version(void);

const char *codec_name(enum reel_codec codec);

#endif
