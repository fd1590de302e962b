/* Decodes payloads of MIRA tapes of C++ fundamental types and std::string. MIRA's serialization of larger types is not
 * documented, so a payload whose type and length do not agree exactly stays bytes. */
#include "base/bytes.h"
#include "base/cursor.h"
#include "decode/encoding.h"
#include "formats/mira/keys.h"
#include "syntax/visitor.h"

enum kind { KIND_NUMBER, KIND_LONG, KIND_STRING }; /* C++ long: 4 bytes on Windows, else 8 */

static const struct value {
    const char *name;
    enum kind kind;
    enum reel_number number;
} values[] = {
    {"bool", KIND_NUMBER, REEL_BOOL},
    {"signed char", KIND_NUMBER, REEL_I8},
    {"unsigned char", KIND_NUMBER, REEL_U8},
    {"short", KIND_NUMBER, REEL_I16},
    {"unsigned short", KIND_NUMBER, REEL_U16},
    {"int", KIND_NUMBER, REEL_I32},
    {"unsigned int", KIND_NUMBER, REEL_U32},
    {"long", KIND_LONG, REEL_I64},
    {"unsigned long", KIND_LONG, REEL_U64},
    {"long long", KIND_NUMBER, REEL_I64},
    {"unsigned long long", KIND_NUMBER, REEL_U64},
    {"float", KIND_NUMBER, REEL_F32},
    {"double", KIND_NUMBER, REEL_F64},
    {"std::string", KIND_STRING, 0},
};

/* True when the channel states that its tape is big-endian: then payloads are not decoded. */
static bool is_big(const struct reel_channel *channel) {
    for (size_t i = 0; i < channel->metadata.count; i++) {
        if (strcmp(channel->metadata.items[i].key, MIRA_ORDER_KEY) == 0) {
            return strcmp(channel->metadata.items[i].value, "big") == 0;
        }
    }
    return false;
}

static bool open_mira(const struct reel_channel *channel, void **state, struct reel_error *err) {
    if (is_big(channel)) {
        return reel_fail(err, REEL_UNSUPPORTED, "payloads of a big-endian tape are not decoded");
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(channel->type, values[i].name) == 0) {
            *state = (void *)(uintptr_t)&values[i]; /* const, and never freed */
            return true;
        }
    }
    return reel_fail(err, REEL_UNSUPPORTED, "MIRA's \"%.128s\" is not decoded: how it is serialized is not documented",
                     channel->type);
}

static void close_mira(void *state) {
    (void)state;
}

/* The text in a serialized std::string. Its length has 4 or 8 bytes; at most one of the two can be right. data NULL:
 * neither is. */
static struct reel_bytes string_in(struct reel_bytes payload) {
    struct cursor four = cursor_of(payload), eight = four;
    uint64_t n = cursor_u32le(&four), m = cursor_u64le(&eight);
    struct cursor *c = !four.failed && cursor_left(&four) == n     ? &four
                       : !eight.failed && cursor_left(&eight) == m ? &eight
                                                                   : NULL;
    return c ? bytes_of(c->at, cursor_left(c)) : (struct reel_bytes){0};
}

static bool decode_mira(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct value *type = state;
    if (type->kind == KIND_STRING) {
        struct reel_bytes text = string_in(payload);
        return text.data ? visit_text(v, text)
                         : reel_fail(err, REEL_DAMAGED, "%zu bytes, of which no length of 4 or 8 bytes makes a string",
                                     payload.size);
    }
    enum reel_number number = type->number;
    if (type->kind == KIND_LONG && payload.size == 4) {
        number = number == REEL_I64 ? REEL_I32 : REEL_U32;
    }
    return payload.size == reel_number_size(number) ? reel_number_visit(v, number, payload.data)
                                                    : reel_fail(err, REEL_DAMAGED, "%zu bytes, where %s has %u",
                                                                payload.size, type->name, reel_number_size(number));
}

static bool fields_of_mira(const void *state, reel_field_visit visit, void *context) {
    const struct value *type = state;
    const struct reel_field field = {.path = "", .type = type->name, .unit = "", .numeric = type->kind != KIND_STRING};
    return visit(context, &field);
}

const struct reel_encoding reel_encoding_mira = {
    .name = MIRA_ENCODING,
    .open = open_mira,
    .close = close_mira,
    .decode = decode_mira,
    .fields = fields_of_mira,
    .version = 1,
};
