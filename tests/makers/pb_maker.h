/* Makes protobuf messages, field by field, with every defect wanted. For tests and the fuzz corpus; shares no line with
 * the readers. */
#ifndef TESTS_PB_MAKER_H
#define TESTS_PB_MAKER_H

#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "reel/bytes.h"

struct pb {
    uint8_t data[4096];
    size_t size;
};

static inline struct reel_bytes pb_bytes(const struct pb *p) {
    return bytes_of(p->data, p->size);
}
static inline void pb_raw(struct pb *p, const void *data, size_t size) {
    assert(p->size + size <= sizeof p->data);
    memcpy(p->data + p->size, data, size);
    p->size += size;
}
static inline void pb_varint(struct pb *p, uint64_t v) {
    do {
        uint8_t byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        pb_raw(p, &byte, 1);
        v >>= 7;
    } while (v > 0);
}
static inline void pb_number(struct pb *p, uint32_t field, uint64_t v) {
    pb_varint(p, (uint64_t)field << 3);
    pb_varint(p, v);
}
static inline void pb_part(struct pb *p, uint32_t field, const void *data, size_t size) {
    pb_varint(p, (uint64_t)field << 3 | 2);
    pb_varint(p, size);
    pb_raw(p, data, size);
}
static inline void pb_text(struct pb *p, uint32_t field, const char *text) {
    pb_part(p, field, text, strlen(text));
}
static inline void pb_message(struct pb *p, uint32_t field, const struct pb *inner) {
    pb_part(p, field, inner->data, inner->size);
}
static inline void pb_double(struct pb *p, uint32_t field, double v) {
    uint8_t le[8];
    uint64_t bits;
    memcpy(&bits, &v, 8);
    store_u64le(le, bits);
    pb_varint(p, (uint64_t)field << 3 | 1);
    pb_raw(p, le, 8);
}
static inline void pb_float(struct pb *p, uint32_t field, float v) {
    uint8_t le[4];
    uint32_t bits;
    memcpy(&bits, &v, 4);
    store_u32le(le, bits);
    pb_varint(p, (uint64_t)field << 3 | 5);
    pb_raw(p, le, 4);
}

#endif
