/* Constructing and comparing struct reel_bytes; little-endian loads and stores. */
#ifndef REEL_BASE_BYTES_H
#define REEL_BASE_BYTES_H

#include <string.h>

#include "reel/bytes.h"

static inline struct reel_bytes bytes_of(const void *data, size_t size) {
    return (struct reel_bytes){.data = (const uint8_t *)data, .size = size};
}
static inline struct reel_bytes bytes_text(const char *text) {
    return bytes_of(text, strlen(text));
}
static inline bool bytes_equal(struct reel_bytes a, struct reel_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool bytes_is(struct reel_bytes a, const char *text) {
    return bytes_equal(a, bytes_text(text));
}
static inline bool bytes_start(struct reel_bytes a, struct reel_bytes prefix) {
    return a.size >= prefix.size && (prefix.size == 0 || memcmp(a.data, prefix.data, prefix.size) == 0);
}

/* The order of memcmp(); of two that begin alike, the shorter one first. */
static inline int bytes_compare(struct reel_bytes a, struct reel_bytes b) {
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}
static inline int bytes_compare_items(const void *a, const void *b) { /* for qsort() */
    return bytes_compare(*(const struct reel_bytes *)a, *(const struct reel_bytes *)b);
}

/* Numbers of these bits, and the bits of numbers. */
static inline float f32_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline double f64_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint64_t f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Unaligned little-endian loads and stores; the caller has checked the bounds (base/cursor.h does that for bytes of
 * files). */
static inline uint16_t load_u16le(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t load_u32le(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t load_u64le(const uint8_t *p) {
    return (uint64_t)load_u32le(p) | (uint64_t)load_u32le(p + 4) << 32;
}
static inline float load_f32le(const uint8_t *p) {
    return f32_of(load_u32le(p));
}
static inline double load_f64le(const uint8_t *p) {
    return f64_of(load_u64le(p));
}
static inline void store_u16le(uint8_t *p, uint16_t v) {
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}
static inline void store_u32le(uint8_t *p, uint32_t v) {
    store_u16le(p, (uint16_t)v);
    store_u16le(p + 2, (uint16_t)(v >> 16));
}
static inline void store_u64le(uint8_t *p, uint64_t v) {
    store_u32le(p, (uint32_t)v);
    store_u32le(p + 4, (uint32_t)(v >> 32));
}

#endif
