/* Decompression of one stored run into memory or, for huge runs, into a file. */
#ifndef REEL_CORE_CODEC_H
#define REEL_CORE_CODEC_H

#include "reel/model.h"
#include "reel/source.h"

/* Decodes source bytes [offset, offset + stored) into exactly `raw` bytes at `out`. REEL_DAMAGED when they give less or more, or do not decode. */
bool codec_decode(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, uint8_t *out, uint64_t raw, struct reel_error *err);

/* The same into a descriptor, in bounded memory. */
bool codec_decode_to_fd(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, int fd, uint64_t raw, struct reel_error *err);

/* Raw size by decoding without keeping; stops with REEL_LIMIT above `max`. */
bool codec_measure(enum reel_codec codec, struct reel_source *source, uint64_t offset, uint64_t stored, uint64_t max, uint64_t *raw, struct reel_error *err);

const char *codec_name(enum reel_codec codec);

#endif
