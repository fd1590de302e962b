/* Chunks that expand beyond REEL_EXPANSION_MAX:1: a few KB of bzip2 or zstd decode to gigabytes. Recordings of zeros do
 * that too, so what counts is whether the beginning holds records. */
#include <inttypes.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "chunks/codec.h"
#include "index/scan.h"

/* Whether a codec can expand much beyond REEL_EXPANSION_MAX:1; deflate reaches 1032:1, LZ4 255:1. */
static bool can_expand(enum reel_codec codec) {
    return codec == REEL_CODEC_BZIP2 || codec == REEL_CODEC_ZSTD || codec == REEL_CODEC_XZ;
}

uint64_t reel_scan_expansion_max(enum reel_codec codec, uint64_t stored) {
    return !can_expand(codec) || stored > UINT64_MAX / REEL_EXPANSION_MAX ? UINT64_MAX : stored * REEL_EXPANSION_MAX;
}

/* The first window of the stored bytes is enough for a block of bzip2, which is at most 900 KB. */
static bool peek(struct reel_source *part, const struct reel_chunk *chunk, uint8_t *raw, size_t *size,
                 struct reel_error *err) {
    size_t stored = chunk->stored < REEL_WINDOW_BYTES ? (size_t)chunk->stored : REEL_WINDOW_BYTES;
    AUTO_MEM uint8_t *data = malloc(stored ? stored : 1);
    if (!data) {
        return reel_fail_memory(err);
    }
    if (!reel_source_read(part, chunk->offset, data, stored, err)) {
        return false;
    }
    return codec_peek(chunk->codec, bytes_of(data, stored), raw, REEL_EXPANSION_PEEK, size, err);
}

static bool expansion_refuse(const struct reel_chunk *chunk, const char *why, struct reel_error *err) {
    return reel_fail(err, REEL_LIMIT,
                     "its %" PRIu64 " bytes decode to more than %d times as many, and %s: it is not decoded",
                     chunk->stored, REEL_EXPANSION_MAX, why);
}

bool reel_scan_worth_decoding(struct reel_scan *scan, const struct reel_chunk *chunk,
                              bool (*records)(struct reel_bytes beginning, uint64_t raw), struct reel_error *err) {
    uint64_t before = scan->expanded;
    if (chunk->raw <= reel_scan_expansion_max(chunk->codec, chunk->stored) || chunk->part >= scan->n_parts) {
        return true;
    }
    if (chunk->raw <= REEL_EXPANSION_FREE && before <= REEL_EXPANSION_FREE - chunk->raw) {
        scan->expanded += chunk->raw;
        return true;
    }
    if (scan->useless) {
        return expansion_refuse(chunk, "an earlier such chunk held no records", err);
    }
    AUTO_MEM uint8_t *raw = malloc(REEL_EXPANSION_PEEK);
    size_t size;
    if (!raw) {
        return reel_fail_memory(err);
    }
    if (!peek(scan->parts[chunk->part], chunk, raw, &size, err)) {
        return false;
    }
    if (!records(bytes_of(raw, size < chunk->raw ? size : (size_t)chunk->raw), chunk->raw)) {
        scan->useless = true;
        return expansion_refuse(chunk, "no records begin in it", err);
    }
    scan->expanded = UINT64_MAX; /* the allowance is used up */
    if (before != UINT64_MAX) {
        reel_scan_finding(scan, REEL_NOTE, chunk->part, chunk->offset, 0,
                          "the chunk at %" PRIu64
                          " decodes to more than %d times its size; such chunks are read if records begin in them",
                          chunk->offset, REEL_EXPANSION_MAX);
    }
    return true;
}
