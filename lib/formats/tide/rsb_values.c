/* Decodes payloads of RSB's fundamental types, and the payloads of TIDE channels that have such a type without an event
 * around them. The payload's size must be that of the type */
#include "base/ascii.h"
#include "base/bytes.h"
#include "formats/tide/rsb.h"
#include "syntax/visitor.h"

enum kind { KIND_VOID, KIND_NUMBER, KIND_TEXT, KIND_BYTES };

static const struct rsb_value {
    const char *wire_schema, *type; /* name of the type in fields() */
    enum kind kind;
    enum reel_number number;
} values[] = {
    {"void", "void", KIND_VOID, 0},
    {"bool", "bool", KIND_NUMBER, REEL_BOOL},
    {"int32", "int32", KIND_NUMBER, REEL_I32},
    {"uint32", "uint32", KIND_NUMBER, REEL_U32},
    {"int64", "int64", KIND_NUMBER, REEL_I64},
    {"uint64", "uint64", KIND_NUMBER, REEL_U64},
    {"float", "float", KIND_NUMBER, REEL_F32},
    {"double", "double", KIND_NUMBER, REEL_F64},
    {"utf-8-string", "string", KIND_TEXT, 0},
    {"ascii-string", "string", KIND_TEXT, 0},
    {"scope", "string", KIND_TEXT, 0},
    {"bytes", "bytes", KIND_BYTES, 0},
};

const struct rsb_value *rsb_value_find(struct reel_bytes schema) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *name = values[i].wire_schema;
        if (schema.size == strlen(name) && ascii_ncasecmp((const char *)schema.data, name, schema.size) == 0) {
            return &values[i];
        }
    }
    return NULL;
}

bool rsb_value_fits(const struct rsb_value *type, struct reel_bytes data) {
    switch (type->kind) {
    case KIND_VOID:
        return data.size == 0;
    case KIND_NUMBER:
        return data.size == reel_number_size(type->number);
    default:
        return true;
    }
}

bool rsb_value_emit(const struct rsb_value *type, struct reel_bytes data, struct reel_visitor *v) {
    switch (type->kind) {
    case KIND_VOID:
        return visit_null(v);
    case KIND_NUMBER:
        return reel_number_visit(v, type->number, data.data);
    case KIND_TEXT:
        return visit_text(v, data);
    default:
        return visit_binary(v, data);
    }
}

struct reel_field rsb_value_field(const struct rsb_value *type, const char *path) {
    return (struct reel_field){.path = path, .type = type->type, .unit = "", .numeric = type->kind == KIND_NUMBER};
}

/* ---- channels without events: encoding "bytes", their type says what they are */

static bool open_bytes(const struct reel_channel *channel, void **state, struct reel_error *err) {
    const struct rsb_value *type = rsb_value_find(bytes_text(channel->type));
    *state = (void *)(uintptr_t)type; /* const, and never freed */
    return type || reel_fail(err, REEL_UNSUPPORTED, "bytes of type \"%.64s\" are not decoded", channel->type);
}

static void close_bytes(void *state) {
    (void)state;
}

static bool decode_bytes(const void *state, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct rsb_value *type = state;
    if (rsb_value_fits(type, payload)) {
        return rsb_value_emit(type, payload, v);
    }
    size_t size = type->kind == KIND_NUMBER ? reel_number_size(type->number) : 0;
    if (payload.size < size) {
        return reel_fail(err, REEL_DAMAGED, "byte %zu of %zu: the payload ends, a %s has %zu bytes", payload.size,
                         payload.size, type->type, size);
    }
    return reel_fail(err, REEL_DAMAGED, "byte %zu of %zu: %zu bytes too many for a %s", size, payload.size,
                     payload.size - size, type->type);
}

static bool fields_of_bytes(const void *state, reel_field_visit visit, void *context) {
    const struct reel_field field = rsb_value_field(state, "");
    return visit(context, &field);
}

const struct reel_encoding reel_encoding_bytes = {
    .name = RSB_PLAIN_ENCODING,
    .open = open_bytes,
    .close = close_bytes,
    .decode = decode_bytes,
    .fields = fields_of_bytes,
    .version = 1,
};
