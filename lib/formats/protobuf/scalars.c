/* Single values of payloads. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/protobuf/walk.h"

enum proto_wire pb_wire_of(enum pb_type type) {
    switch (type) {
    case PB_DOUBLE:
    case PB_FIXED64:
    case PB_SFIXED64:
        return PROTO_64;
    case PB_FLOAT:
    case PB_FIXED32:
    case PB_SFIXED32:
        return PROTO_32;
    case PB_STRING:
    case PB_BYTES:
    case PB_MESSAGE:
    case PB_GROUP:
        return PROTO_BYTES;
    default:
        return PROTO_VARINT;
    }
}

static int64_t zigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static bool emit_enum(struct pb_walk *w, const struct pb_field *s, int32_t number) {
    size_t size;
    const char *name = s->names ? pb_enum_name(s->names, number, &size) : NULL;
    return name ? visit_text(w->v, bytes_of(name, size)) : visit_integer(w->v, number);
}

bool pb_emit_scalar(struct pb_walk *w, const struct pb_field *s, uint64_t value, struct reel_bytes bytes) {
    switch (s->type) {
    case PB_DOUBLE:
        return visit_real(w->v, f64_of(value));
    case PB_FLOAT:
        return visit_real32(w->v, f32_of((uint32_t)value));
    case PB_INT32:
    case PB_SFIXED32:
        return visit_integer(w->v, (int32_t)(uint32_t)value);
    case PB_SINT32:
        return visit_integer(w->v, (int32_t)zigzag((uint32_t)value));
    case PB_INT64:
    case PB_SFIXED64:
        return visit_integer(w->v, (int64_t)value);
    case PB_SINT64:
        return visit_integer(w->v, zigzag(value));
    case PB_UINT32:
    case PB_FIXED32:
        return visit_natural(w->v, (uint32_t)value);
    case PB_UINT64:
    case PB_FIXED64:
        return visit_natural(w->v, value);
    case PB_BOOL:
        return visit_boolean(w->v, value != 0);
    case PB_ENUM:
        return emit_enum(w, s, (int32_t)(uint32_t)value);
    case PB_STRING:
        return visit_text(w->v, bytes);
    default:
        return visit_binary(w->v, bytes);
    }
}

bool pb_packed_type(enum pb_type type, enum reel_number *number) {
    switch (type) {
    case PB_DOUBLE:
        *number = REEL_F64;
        return true;
    case PB_FLOAT:
        *number = REEL_F32;
        return true;
    case PB_FIXED64:
        *number = REEL_U64;
        return true;
    case PB_FIXED32:
        *number = REEL_U32;
        return true;
    case PB_SFIXED64:
        *number = REEL_I64;
        return true;
    case PB_SFIXED32:
        *number = REEL_I32;
        return true;
    default:
        return false;
    }
}

bool pb_emit_key(struct pb_walk *w, const struct pb_field *s, const struct proto_field *f) {
    char text[24];
    switch (s->type) {
    case PB_STRING:
        return visit_key(w->v, f->bytes);
    case PB_BOOL:
        return visit_key_text(w->v, f->value != 0 ? "true" : "false");
    case PB_UINT64:
    case PB_FIXED64:
        snprintf(text, sizeof text, "%" PRIu64, f->value);
        break;
    case PB_UINT32:
    case PB_FIXED32:
        snprintf(text, sizeof text, "%" PRIu32, (uint32_t)f->value);
        break;
    case PB_SINT32:
    case PB_SINT64:
        snprintf(text, sizeof text, "%" PRIi64, zigzag(f->value));
        break;
    case PB_INT32:
    case PB_SFIXED32:
        snprintf(text, sizeof text, "%" PRIi32, (int32_t)(uint32_t)f->value);
        break;
    default:
        snprintf(text, sizeof text, "%" PRIi64, (int64_t)f->value);
        break;
    }
    return visit_key_text(w->v, text);
}
