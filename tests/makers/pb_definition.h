/* Definitions of protobuf messages, made field by field, and payloads decoded by them. A test program includes this
 * once. */
#ifndef TESTS_PB_DEFINITION_H
#define TESTS_PB_DEFINITION_H

#include "formats/protobuf/payload.h"
#include "makers/decode_text.h"
#include "makers/pb_maker.h"

enum { ONE = 1, MANY = 3 };

/* A field of a message that is being described. */
static inline void describe(struct pb *message, const char *name, uint32_t number, unsigned label, enum pb_type type,
                            const char *of) {
    struct pb f = {0};
    pb_text(&f, 1, name);
    pb_number(&f, 3, number);
    pb_number(&f, 4, label);
    pb_number(&f, 5, type);
    if (of) {
        pb_text(&f, 6, of);
    }
    pb_message(message, 2, &f);
}
static inline struct pb named(const char *name) {
    struct pb p = {0};
    pb_text(&p, 1, name);
    return p;
}

static inline const char *decode_by(const struct pb *set, const char *type, const struct pb *payload) {
    const struct reel_schema schema = {.name = type, .encoding = "protobuf", .hash = "", .data = pb_bytes(set)};
    const struct reel_channel channel = {
        .name = "/a", .type = type, .encoding = "protobuf", .schemas = &schema, .n_schemas = 1};
    return decode_text(&channel, pb_bytes(payload));
}

#endif
