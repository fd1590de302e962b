/* Fuzzes what is decoded of TIDE logs and MIRA tapes: u8 which encoding and type, u32 length, schema (the text of
 * definitions), the rest is the payload. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "exact.h"
#include "formats/protobuf/text.h"
#include "formats/tide/rsb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *encoding, *type;
} kinds[] = {{"rsb", ".p.M"},   {"rsb", "uint64"},       {"rsb", ""},      {"rsb", "utf-8-string"}, {"bytes", "double"},
             {"bytes", "void"}, {"mira", "std::string"}, {"mira", "long"}, {"mira", "bool"}};

/* Counts the values and how deep they nest. */
struct meter {
    struct reel_visitor visitor;
    size_t values, depth;
};
static bool count_value(struct reel_visitor *v) {
    ((struct meter *)v)->values++;
    return true;
}
static bool deeper(struct reel_visitor *v) {
    ((struct meter *)v)->depth++;
    return count_value(v);
}
static bool higher(struct reel_visitor *v) {
    ((struct meter *)v)->depth--;
    return count_value(v);
}
static bool bytes(struct reel_visitor *v, struct reel_bytes value) {
    static volatile uint8_t seen; /* reads every byte of the value */
    for (size_t i = 0; i < value.size; i++) {
        seen = value.data[i];
    }
    return count_value(v) && seen + 1 > 0;
}
static bool natural(struct reel_visitor *v, uint64_t value) {
    return count_value(v) && value + 1 != value;
}
static const struct reel_visitor_ops ops = {.begin_map = deeper,
                                            .end_map = higher,
                                            .begin_list = deeper,
                                            .end_list = higher,
                                            .null = count_value,
                                            .key = bytes,
                                            .text = bytes,
                                            .binary = bytes,
                                            .natural = natural};

static void must(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cursor c = cursor_of(bytes_of(data, size));
    uint8_t kind = cursor_u8(&c) % (sizeof kinds / sizeof *kinds);
    AUTO_EXACT struct reel_bytes text = exact_copy(cursor_string32(&c));
    AUTO_EXACT struct reel_bytes payload = exact_copy(bytes_of(c.at, cursor_left(&c)));
    if (c.failed) {
        return 0;
    }
    struct reel_error err = {0};
    struct grow set = {0};
    bool compiled = proto_text_compile(text, &set, &err);
    must(compiled == (err.code == REEL_OK), "what is not compiled says why");
    must(!compiled || rsb_guess_fits(bytes_of(set.data, set.size)), "a compiled text is protobuf");
    must(set.size < 64 + 600 * text.size, "a compiled text is not far larger");
    free(set.data);
    const struct reel_schema schema = {.name = "p.M", .encoding = "proto", .hash = "", .data = text};
    const struct reel_channel channel = {
        .name = "/a", .type = kinds[kind].type, .encoding = kinds[kind].encoding, .schemas = &schema, .n_schemas = 1};
    err = (struct reel_error){0};
    AUTO(reel_decoder_free) struct reel_decoder *d = reel_decoder_open(&channel, &err);
    must(d != NULL, err.text);
    struct meter meter = {.visitor = {&ops}};
    bool whole = reel_decode(d, payload, &meter.visitor, &err);
    must(whole == (err.code == REEL_OK), "what is not decoded says why");
    must(!whole || meter.depth == 0, "what begins ends");
    must(meter.values < 64 + 16 * payload.size, "no more values than there are bytes for");
    return 0;
}
