/* Makes ZIP and tar archives in memory for tests, the same bytes each time. */
#ifndef TESTS_ARCHIVE_MAKER_H
#define TESTS_ARCHIVE_MAKER_H

#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/grow.h"

struct zip_maker {
    struct grow file, directory;
    unsigned count;
};

static inline void zip_u16(struct grow *g, unsigned v) {
    uint8_t b[2];
    store_u16le(b, (uint16_t)v);
    grow_put(g, b, sizeof b);
}

static inline struct reel_bytes zip_deflate(struct reel_bytes raw, uint8_t **packed) {
    z_stream z = {0};
    size_t room = compressBound(raw.size) + 64;
    *packed = malloc(room);
    assert(*packed && deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (z_const Bytef *)(uintptr_t)raw.data;
    z.avail_in = (uInt)raw.size;
    z.next_out = *packed;
    z.avail_out = (uInt)room;
    assert(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return bytes_of(*packed, z.total_out);
}

/* What a local header and a directory entry share. */
static inline void zip_fields(struct grow *g, struct reel_bytes name, struct reel_bytes raw, size_t stored,
                              bool deflated) {
    zip_u16(g, 20);
    zip_u16(g, 0);
    zip_u16(g, deflated ? 8 : 0);
    grow_u32(g, 0x00210000); /* 1980-01-01 */
    grow_u32(g, (uint32_t)crc32(0, raw.data, (uInt)raw.size));
    grow_u32(g, (uint32_t)stored);
    grow_u32(g, (uint32_t)raw.size);
    zip_u16(g, (unsigned)name.size);
    zip_u16(g, 0);
}

static inline void zip_add(struct zip_maker *z, const char *name, struct reel_bytes raw, bool deflated) {
    uint8_t *packed = NULL;
    struct reel_bytes data = deflated ? zip_deflate(raw, &packed) : raw, text = bytes_text(name);
    size_t at = z->file.size;
    grow_u32(&z->file, 0x04034b50);
    zip_fields(&z->file, text, raw, data.size, deflated);
    grow_put(&z->file, text.data, text.size);
    grow_put(&z->file, data.data, data.size);
    grow_u32(&z->directory, 0x02014b50);
    zip_u16(&z->directory, 20);
    zip_fields(&z->directory, text, raw, data.size, deflated);
    for (int i = 0; i < 5; i++) {
        zip_u16(&z->directory, 0);
    }
    grow_u32(&z->directory, (uint32_t)at);
    grow_put(&z->directory, text.data, text.size);
    z->count++;
    free(packed);
}

/* The archive; the caller frees z->file.data. */
static inline struct reel_bytes zip_end(struct zip_maker *z) {
    size_t at = z->file.size;
    grow_put(&z->file, z->directory.data, z->directory.size);
    grow_u32(&z->file, 0x06054b50);
    grow_u32(&z->file, 0);
    zip_u16(&z->file, z->count);
    zip_u16(&z->file, z->count);
    grow_u32(&z->file, (uint32_t)z->directory.size);
    grow_u32(&z->file, (uint32_t)at);
    zip_u16(&z->file, 0);
    assert(!z->file.failed && !z->directory.failed);
    free(z->directory.data);
    return bytes_of(z->file.data, z->file.size);
}

/* One member; kind '0' a file, 'x' pax fields, 'L' a long name. */
static inline void tar_add(struct grow *g, const char *name, char kind, struct reel_bytes data) {
    static const uint8_t zeros[512];
    uint8_t header[512] = {0};
    assert(strlen(name) < 100);
    memcpy(header, name, strlen(name));
    memcpy(header + 100, "0000644", 7);
    snprintf((char *)header + 124, 12, "%011llo", (unsigned long long)data.size);
    memset(header + 148, ' ', 8);
    header[156] = (uint8_t)kind;
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof header; i++) {
        sum += header[i];
    }
    snprintf((char *)header + 148, 8, "%06o", sum);
    grow_put(g, header, sizeof header);
    grow_put(g, data.data, data.size);
    grow_put(g, zeros, (512 - data.size % 512) % 512);
}
static inline struct reel_bytes tar_end(struct grow *g) {
    static const uint8_t zeros[1024];
    grow_put(g, zeros, sizeof zeros);
    assert(!g->failed);
    return bytes_of(g->data, g->size);
}

#endif
