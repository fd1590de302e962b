/* Toys whose messages lie in compressed chunks of several parts, so that readers have something to decode. */
#ifndef REEL_TESTS_TOY_CHUNKS_H
#define REEL_TESTS_TOY_CHUNKS_H

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include "makers/toy.h"

/* Byte `at` of chunk `id`'s raw bytes. */
static inline uint8_t chunk_byte(uint32_t id, uint64_t at) {
    return (uint8_t)((at * 7 + at / 251) ^ id * 31);
}

static inline size_t chunk_compress(enum reel_codec codec, const uint8_t *raw, size_t size, uint8_t *out, size_t room) {
    uLongf zlib_size = room;
    switch (codec) {
    case REEL_CODEC_ZLIB:
        assert(compress2(out, &zlib_size, raw, size, 1) == Z_OK);
        return zlib_size;
    case REEL_CODEC_ZSTD:
        return ZSTD_compress(out, room, raw, size, 1);
    case REEL_CODEC_LZ4:
        return LZ4F_compressFrame(out, room, raw, size, NULL);
    default:
        memcpy(out, raw, size);
        return size;
    }
}

/* Adds a chunk of `size` raw bytes at the end of `part`, which must exist. */
static inline uint32_t toy_compressed_chunk(struct toy *t, uint32_t part, enum reel_codec codec, size_t size) {
    uint32_t id = t->n_parts + (uint32_t)t->n_chunks;
    size_t room = LZ4F_compressFrameBound(size, NULL) + compressBound(size);
    uint8_t *raw = malloc(size + 1), *out = malloc(room);
    assert(raw && out);
    for (size_t i = 0; i < size; i++) {
        raw[i] = chunk_byte(id, i);
    }
    size_t stored = chunk_compress(codec, raw, size, out, room);
    uint64_t offset = t->parts[part].size;
    grow_put(&t->parts[part], out, stored);
    free(raw);
    free(out);
    return toy_add_chunk(
        t, (struct reel_chunk){.part = part, .codec = codec, .offset = offset, .stored = stored, .raw = size});
}

/* `chunks` chunks of `size` bytes over two parts, in turn zlib, zstd, lz4 and plain; one channel, messages of up to
 * 3000 bytes in random order. */
static inline void toy_with_chunks(struct toy *t, uint64_t seed, uint32_t chunks, size_t size, uint64_t messages) {
    static const enum reel_codec codecs[] = {REEL_CODEC_ZLIB, REEL_CODEC_ZSTD, REEL_CODEC_LZ4, REEL_CODEC_NONE};
    seed = seed * 0x9e3779b97f4a7c15u | 1;
    t->n_parts = 2;
    toy_add_channel(t, "/a");
    for (uint32_t i = 0; i < chunks; i++) {
        toy_compressed_chunk(t, i / 4 % 2, codecs[i % 4], size);
    }
    for (uint64_t i = 0; i < messages; i++) {
        struct reel_entry e = {
            .time_ns = (int64_t)i, .chunk = 2 + (uint32_t)(toy_next(&seed) % chunks), .head = TOY_HEAD};
        e.size = (uint32_t)(toy_next(&seed) % 3000);
        e.offset = toy_next(&seed) % (size - e.head - e.size + 1);
        toy_add_entry(t, e);
    }
}

static inline bool chunk_bytes_are(uint32_t id, uint64_t offset, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (data[i] != chunk_byte(id, offset + i)) {
            return false;
        }
    }
    return true;
}

#endif
