/* One fuzz run of a decoder with a definition: u8 which language, u32 length, definition, the rest is the payload.
 * Nothing may crash, leak or hang; the values are well nested and not far more than there are bytes for. Definition and
 * payload are decoded from memory of their own size. */
#ifndef TESTS_FUZZ_DECODE_H
#define TESTS_FUZZ_DECODE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/limits.h"
#include "decode/encoding.h"
#include "exact.h"

struct fuzz_meter {
    struct reel_visitor visitor;
    size_t values, depth;
};
static inline bool fuzz_count_value(struct reel_visitor *v) {
    ((struct fuzz_meter *)v)->values++;
    return true;
}
static inline bool fuzz_deeper(struct reel_visitor *v) {
    ((struct fuzz_meter *)v)->depth++;
    return fuzz_count_value(v) && ((struct fuzz_meter *)v)->depth <= REEL_DEPTH_MAX;
}
static inline bool fuzz_higher(struct reel_visitor *v) {
    ((struct fuzz_meter *)v)->depth--;
    return fuzz_count_value(v);
}
static inline bool fuzz_bytes(struct reel_visitor *v, struct reel_bytes value) {
    static volatile uint8_t seen; /* reads every byte of the value */
    for (size_t i = 0; i < value.size; i++) {
        seen = value.data[i];
    }
    return fuzz_count_value(v) && seen + 1 > 0;
}
static inline bool fuzz_natural(struct reel_visitor *v, uint64_t value) {
    (void)value;
    return fuzz_count_value(v);
}
static inline bool fuzz_real(struct reel_visitor *v, double value) {
    (void)value;
    return fuzz_count_value(v);
}
static inline bool fuzz_field(void *context, const struct reel_field *field) {
    (void)context;
    return field->path[0] != '\0' && field->type[0] != '\0';
}
static inline void fuzz_must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* A payload by an opened definition. */
static inline int fuzz_decode_opened(const struct reel_decoder *d, struct reel_bytes all) {
    AUTO_EXACT struct reel_bytes payload = exact_copy(all);
    static const struct reel_visitor_ops ops = {.begin_map = fuzz_deeper,
                                                .end_map = fuzz_higher,
                                                .begin_list = fuzz_deeper,
                                                .end_list = fuzz_higher,
                                                .key = fuzz_bytes,
                                                .text = fuzz_bytes,
                                                .binary = fuzz_bytes,
                                                .natural = fuzz_natural,
                                                .real = fuzz_real};
    struct reel_error err = {0};
    struct fuzz_meter meter = {.visitor = {&ops}};
    bool whole = reel_decode(d, payload, &meter.visitor, &err);
    fuzz_must(whole == (err.code == REEL_OK), "what is not decoded says why, and nothing nests too deep");
    fuzz_must(!whole || meter.depth == 0, "what begins ends");
    fuzz_must(meter.values <
                  3 * REEL_DEFINITION_FIELDS_MAX + 4 * REEL_EMPTY_VALUES_MAX + 4 * REEL_DEPTH_MAX * (payload.size + 1),
              "no more values than there are bytes for");
    return 0;
}

/* A channel has one schema or none. */
static inline int fuzz_decode_payload(const struct reel_channel *channel, struct reel_bytes payload) {
    AUTO_EXACT struct reel_bytes definition =
        exact_copy(channel->n_schemas > 0 ? channel->schemas->data : bytes_of(NULL, 0));
    struct reel_schema schema = channel->n_schemas > 0 ? *channel->schemas : (struct reel_schema){0};
    struct reel_channel own = *channel;
    schema.data = definition;
    own.schemas = channel->n_schemas > 0 ? &schema : NULL;
    struct reel_error err = {0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&own, &err);
    fuzz_must((d != NULL) == (err.code == REEL_OK), "what is not opened says why");
    if (!d) {
        return 0;
    }
    fuzz_must(reel_decoder_fields(d, fuzz_field, NULL), "a field has a path and a type");
    return fuzz_decode_opened(d, payload);
}

static inline int fuzz_decode(const uint8_t *data, size_t size, const char *encoding, const char *const *languages,
                              unsigned n_languages) {
    struct cursor c = cursor_of(bytes_of(data, size));
    const char *language = languages[cursor_u8(&c) % n_languages];
    struct reel_bytes definition = cursor_string32(&c), payload = bytes_of(c.at, cursor_left(&c));
    if (c.failed) {
        return 0;
    }
    const struct reel_schema schema = {.name = "p/T", .encoding = language, .hash = "", .data = definition};
    const struct reel_channel channel = {
        .name = "/a", .type = "p/T", .encoding = encoding, .schemas = &schema, .n_schemas = 1};
    return fuzz_decode_payload(&channel, payload);
}

#endif
