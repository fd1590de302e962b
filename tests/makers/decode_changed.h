/* For tests of decoders of binary schemas: files, and payloads and schemas that are changed anywhere. A test program
 * includes this once. */
#ifndef REEL_TESTS_DECODE_CHANGED_H
#define REEL_TESTS_DECODE_CHANGED_H

#include <stdio.h>

#include "base/grow.h"
#include "base/limits.h"
#include "decode/decoder.h"
#include "decode/encoding.h"
#include "syntax/visitor.h"

/* A file of tests/unit/formats. */
static inline struct grow file(const char *name) {
    char path[512];
    struct grow out = {0};
    snprintf(path, sizeof path, "%s/unit/formats/%s", REEL_TESTS, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    out.size = fread(grow_room(&out, 1 << 16), 1, 1 << 16, in);
    fclose(in);
    return out;
}
static inline struct reel_bytes whole(const struct grow *g) {
    return bytes_of(g->data, g->size);
}

/* Counts, so that a walk that never ends fails. */
struct meter {
    struct reel_visitor visitor;
    uint64_t values;
};
static inline bool one(struct reel_visitor *v) {
    return ++((struct meter *)v)->values > 0;
}
static inline bool natural(struct reel_visitor *v, uint64_t value) {
    (void)value;
    return one(v);
}
static inline bool text(struct reel_visitor *v, struct reel_bytes value) {
    static volatile uint8_t seen;
    for (size_t i = 0; i < value.size; i++) {
        seen = value.data[i];
    }
    return one(v) && seen + 1 > 0;
}
static const struct reel_visitor_ops counting = {
    .begin_map = one, .begin_list = one, .key = text, .text = text, .binary = text, .natural = natural};

/* From memory of its own size, which sanitizers guard. */
static inline void decode_anyhow(const struct reel_channel *channel, const struct grow *payload) {
    struct reel_error err = {0};
    struct reel_decoder *d = reel_decoder_open(channel, &err);
    assert_true(d || err.code != REEL_OK);
    if (d) {
        struct meter m = {.visitor = {&counting}};
        bool good = reel_decode(d, whole(payload), &m.visitor, &err);
        assert_true(good == (err.code == REEL_OK));
        assert_true(m.values <= 3 * (64 * payload->size + REEL_DEFINITION_FIELDS_MAX));
    }
    reel_decoder_free(d);
}

/* Sets each byte of the schema and of the payload to some values, then cuts the payload anywhere, which uses it up. */
static inline void decode_changed(const struct reel_channel *channel, struct grow *schema, struct grow *payload) {
    static const uint8_t values[] = {0, 1, 0x7f, 0xff};
    for (unsigned k = 0; k < 2; k++) {
        struct grow *changed = k == 0 ? schema : payload;
        for (size_t i = 0; i < changed->size; i++) {
            uint8_t before = changed->data[i];
            for (size_t n = 0; n < sizeof values; n++) {
                changed->data[i] = values[n];
                decode_anyhow(channel, payload);
            }
            changed->data[i] = before;
        }
    }
    for (size_t size = payload->size; payload->size-- > 0 && size > 0;) {
        decode_anyhow(channel, payload);
    }
}

#endif
