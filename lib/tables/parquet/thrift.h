/* Thrift's compact protocol, as far as Parquet's structures need it. A field is written with its number and type; what
 * is absent is not written. */
#ifndef REEL_TABLES_PARQUET_THRIFT_H
#define REEL_TABLES_PARQUET_THRIFT_H

#include "base/sink.h"

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I32 = 5,
    THRIFT_I64,
    THRIFT_BINARY = 8,
    THRIFT_LIST,
    THRIFT_STRUCT = 12
};
enum { THRIFT_DEPTH = 12 };

struct thrift {
    struct reel_sink *out;
    int last[THRIFT_DEPTH]; /* number of the last field, by struct */
    unsigned depth;
};
static inline struct thrift thrift_to(struct reel_sink *out) {
    return (struct thrift){.out = out};
}

static inline void thrift_varint(struct thrift *t, uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; value > 127; value >>= 7) {
        bytes[n++] = (uint8_t)(value | 128);
    }
    bytes[n++] = (uint8_t)value;
    reel_sink_put(t->out, bytes, n);
}
static inline void thrift_zigzag(struct thrift *t, int64_t value) {
    thrift_varint(t, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}
/* The numbers of a struct's fields rise by at most 15. */
static inline void thrift_field(struct thrift *t, int number, enum thrift_type type) {
    reel_sink_u8(t->out, (uint8_t)((number - t->last[t->depth]) << 4 | (int)type));
    t->last[t->depth] = number;
}
static inline void thrift_i32(struct thrift *t, int number, int32_t value) {
    thrift_field(t, number, THRIFT_I32);
    thrift_zigzag(t, value);
}
static inline void thrift_i64(struct thrift *t, int number, int64_t value) {
    thrift_field(t, number, THRIFT_I64);
    thrift_zigzag(t, value);
}
static inline void thrift_i8(struct thrift *t, int number, int8_t value) {
    thrift_field(t, number, THRIFT_I8);
    reel_sink_u8(t->out, (uint8_t)value);
}
static inline void thrift_bool(struct thrift *t, int number, bool value) {
    thrift_field(t, number, value ? THRIFT_TRUE : THRIFT_FALSE);
}
static inline void thrift_bytes(struct thrift *t, struct reel_bytes value) { /* as an item of a list */
    thrift_varint(t, value.size);
    reel_sink_put_bytes(t->out, value);
}
static inline void thrift_binary(struct thrift *t, int number, struct reel_bytes value) {
    thrift_field(t, number, THRIFT_BINARY);
    thrift_bytes(t, value);
}
static inline void thrift_list(struct thrift *t, int number, enum thrift_type type, uint64_t count) {
    thrift_field(t, number, THRIFT_LIST);
    reel_sink_u8(t->out, (uint8_t)((count < 15 ? count << 4 : 0xf0) | type));
    if (count >= 15) {
        thrift_varint(t, count);
    }
}
/* A struct that is an item of a list, or the outermost. */
static inline void thrift_begin_item(struct thrift *t) {
    t->last[++t->depth] = 0;
}
static inline void thrift_begin(struct thrift *t, int number) {
    thrift_field(t, number, THRIFT_STRUCT);
    thrift_begin_item(t);
}
static inline void thrift_end(struct thrift *t) {
    reel_sink_u8(t->out, 0);
    t->depth--;
}

#endif
