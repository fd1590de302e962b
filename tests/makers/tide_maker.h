/* Makes TIDE logs in memory, block by block and with every defect wanted. For tests, golden files and the fuzz corpus;
 * shares no line with the reader or the writer. */
#ifndef TESTS_TIDE_MAKER_H
#define TESTS_TIDE_MAKER_H

#include <assert.h>
#include <bzlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct log {
    uint8_t *data;
    size_t size, room;
    size_t block; /* where the open one begins */
};

static inline void log_bytes(struct log *l, const void *data, size_t size) {
    if (l->size + size > l->room) {
        l->room = (l->size + size) * 2;
        l->data = (uint8_t *)realloc(l->data, l->room);
        assert(l->data);
    }
    if (size > 0) {
        memcpy(l->data + l->size, data, size);
    }
    l->size += size;
}
static inline void log_number(struct log *l, uint64_t v, unsigned bytes) {
    uint8_t b[8];
    for (unsigned i = 0; i < 8; i++) {
        b[i] = (uint8_t)(v >> 8 * i);
    }
    log_bytes(l, b, bytes);
}
static inline void log_patch(struct log *l, size_t at, uint64_t v, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        l->data[at + i] = (uint8_t)(v >> 8 * i);
    }
}
/* A text with its length in `bytes` bytes before it. */
static inline void log_text(struct log *l, const char *text, unsigned bytes) {
    log_number(l, strlen(text), bytes);
    log_bytes(l, text, strlen(text));
}

static inline void log_begin(struct log *l, const char *tag) {
    l->block = l->size;
    log_bytes(l, tag, 4);
    log_number(l, 0, 8);
}
static inline size_t log_end(struct log *l) {
    log_patch(l, l->block + 4, l->size - l->block - 12, 8);
    return l->block;
}
/* Adds to the Size of the last block. */
static inline void log_resize(struct log *l, int64_t by) {
    log_patch(l, l->block + 4, (uint64_t)((int64_t)(l->size - l->block - 12) + by), 8);
}

static inline void log_tide(struct log *l, unsigned major, unsigned minor) {
    log_begin(l, "TIDE");
    log_number(l, major, 1);
    log_number(l, minor, 1);
    if (major < 2) {
        log_number(l, 0, 8);
    }
    log_end(l);
}

static inline size_t log_channel_of(struct log *l, uint32_t id, const char *name, const char *type, const char *source,
                                    const char *config, const char *format) {
    log_begin(l, "CHAN");
    log_number(l, id, 4);
    log_text(l, name, 1);
    log_text(l, type, 4);
    log_text(l, source, 4);
    log_text(l, config, 4);
    log_text(l, format, 4);
    return log_end(l);
}
static inline size_t log_channel(struct log *l, uint32_t id, const char *name) {
    return log_channel_of(l, id, name, "TEXT", "", "", "");
}
/* New layout; `hashes` is NULL-terminated, or NULL for none. */
static inline size_t log_channel_new(struct log *l, uint32_t id, const char *name, const char *source,
                                     const char *config, const char *const *hashes) {
    uint8_t n = 0;
    while (hashes && hashes[n]) {
        n++;
    }
    log_begin(l, "CHAN");
    log_number(l, id, 4);
    log_text(l, name, 1);
    log_text(l, source, 4);
    log_text(l, config, 4);
    log_number(l, n, 1);
    for (unsigned i = 0; i < n; i++) {
        log_text(l, hashes[i], 2);
    }
    return log_end(l);
}
/* `needs` is NULL-terminated, or NULL for none. */
static inline size_t log_type_of(struct log *l, const char *hash, const char *syntax, const char *name,
                                 const char *version, const char *definition, const char *source,
                                 const char *const *needs) {
    uint16_t n = 0;
    while (needs && needs[n]) {
        n++;
    }
    log_begin(l, "TYPE");
    log_text(l, hash, 2);
    log_text(l, syntax, 1);
    log_text(l, name, 2);
    log_text(l, version, 2);
    log_text(l, definition, 4);
    log_number(l, source != NULL, 1);
    if (source) {
        log_text(l, source, 2);
    }
    log_number(l, n, 2);
    for (unsigned i = 0; i < n; i++) {
        log_text(l, needs[i], 2);
    }
    return log_end(l);
}
static inline size_t log_type(struct log *l, const char *hash, const char *syntax, const char *name,
                              const char *version, const char *definition, const char *source, const char *needs) {
    const char *const list[] = {needs, NULL};
    return log_type_of(l, hash, syntax, name, version, definition, source, list);
}
/* key, value, key, value, …, NULL */
static inline size_t log_meta(struct log *l, const char *const *texts) {
    unsigned n = 0;
    while (texts[n]) {
        n++;
    }
    log_begin(l, "META");
    log_number(l, n / 2, 2);
    for (unsigned i = 0; i < n; i += 2) {
        log_text(l, texts[i], 2);
        log_text(l, texts[i + 1], 4);
    }
    return log_end(l);
}

static inline void log_entry(struct log *l, uint32_t channel, uint64_t time_ns, const char *text) {
    log_number(l, channel, 4);
    log_number(l, time_ns, 8);
    log_text(l, text, 4);
}

/* A chunk: log_chunk(), entries, log_chunk_end(). */
static inline size_t log_chunk(struct log *l, uint32_t id, uint32_t count, uint64_t start, uint64_t end) {
    log_begin(l, "CHNK");
    log_number(l, id, 4);
    log_number(l, count, 4);
    log_number(l, start, 8);
    log_number(l, end, 8);
    log_number(l, 0, 1);
    return l->block;
}

static int log_level = 6; /* of deflate; 0 gives the same bytes with any zlib */
enum log_packing { LOG_PLAIN, LOG_GZIP, LOG_ZLIB, LOG_DEFLATE, LOG_BZIP2 };

/* Closes the chunk; its entries are packed before. */
static inline size_t log_chunk_end(struct log *l, enum log_packing packing) {
    size_t first = l->block + 12 + 25, size = l->size - first, room = size + size / 10 + 1000;
    if (packing == LOG_PLAIN) {
        return log_end(l);
    }
    uint8_t *packed = (uint8_t *)malloc(room);
    assert(packed);
    if (packing == LOG_BZIP2) {
        unsigned made = (unsigned)room;
        int status = BZ2_bzBuffToBuffCompress((char *)packed, &made, (char *)l->data + first, (unsigned)size, 9, 0, 0);
        assert(status == BZ_OK);
        room = made;
    } else {
        z_stream z = {0};
        int bits = packing == LOG_GZIP ? 31 : packing == LOG_ZLIB ? 15 : -15;
        deflateInit2(&z, log_level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
        z.next_in = l->data + first;
        z.avail_in = (unsigned)size;
        z.next_out = packed;
        z.avail_out = (unsigned)room;
        int status = deflate(&z, Z_FINISH);
        assert(status == Z_STREAM_END);
        room = z.total_out;
        deflateEnd(&z);
    }
    l->size = first;
    log_bytes(l, packed, room);
    free(packed);
    l->data[first - 1] = packing == LOG_BZIP2 ? 2 : 1;
    return log_end(l);
}

/* An INDX block of one row. */
static inline size_t log_index(struct log *l, uint32_t channel, bool is_new, uint64_t chunk, uint64_t time_ns,
                               uint64_t offset) {
    log_begin(l, "INDX");
    log_number(l, channel, 4);
    log_number(l, 1, 4);
    log_number(l, chunk, is_new ? 8 : 4);
    log_number(l, time_ns, 8);
    log_number(l, offset, is_new ? 4 : 8);
    return log_end(l);
}

#define LOG_T0 1400000000000000000u
#define LOG_S 1000000000u

/* Six messages m0 … m5, in turn on channels 0 and 1, one second apart. */
static inline size_t log_six(struct log *l, uint32_t id, enum log_packing packing) {
    log_chunk(l, id, 6, LOG_T0, LOG_T0 + 5 * (uint64_t)LOG_S);
    for (unsigned i = 0; i < 6; i++) {
        char text[3] = {'m', (char)('0' + i), 0};
        log_entry(l, i % 2, LOG_T0 + i * (uint64_t)LOG_S, text);
    }
    return log_chunk_end(l, packing);
}
/* The rows for them: channel 0 and 1, one INDX each. `chunk`: what the layout links by. */
static inline void log_six_index(struct log *l, bool is_new, uint64_t chunk) {
    for (unsigned c = 0; c < 2; c++) {
        log_begin(l, "INDX");
        log_number(l, c, 4);
        log_number(l, 3, 4);
        for (unsigned i = c; i < 6; i += 2) {
            log_number(l, chunk, is_new ? 8 : 4);
            log_number(l, LOG_T0 + i * (uint64_t)LOG_S, 8);
            log_number(l, i * 18, is_new ? 4 : 8);
        }
        log_end(l);
    }
}
/* A whole log of version 0.0 with these. */
static inline void log_default(struct log *l) {
    log_tide(l, 0, 0);
    log_channel(l, 0, "/a");
    log_channel(l, 1, "/b");
    log_six(l, 0, LOG_PLAIN);
    log_six_index(l, false, 0);
}

#endif
