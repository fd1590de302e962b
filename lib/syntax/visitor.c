/* Packed arrays and stamps for visitors that take single values. */
#include "syntax/visitor.h"

bool reel_number_visit(struct reel_visitor *v, enum reel_number type, const uint8_t *at) {
    switch (type) {
    case REEL_BOOL:
        return visit_boolean(v, *at != 0);
    case REEL_I8:
        return visit_integer(v, (int8_t)*at);
    case REEL_U8:
        return visit_natural(v, *at);
    case REEL_I16:
        return visit_integer(v, (int16_t)load_u16le(at));
    case REEL_U16:
        return visit_natural(v, load_u16le(at));
    case REEL_I32:
        return visit_integer(v, (int32_t)load_u32le(at));
    case REEL_U32:
        return visit_natural(v, load_u32le(at));
    case REEL_I64:
        return visit_integer(v, (int64_t)load_u64le(at));
    case REEL_U64:
        return visit_natural(v, load_u64le(at));
    case REEL_F32:
        return visit_real32(v, load_f32le(at));
    case REEL_F64:
        return visit_real(v, load_f64le(at));
    }
    return false;
}

bool reel_numbers_expand(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    size_t size = reel_number_size(type), n = data.size / size;
    bool rows = columns > 1, goes_on = visit_begin_list(v);
    for (size_t i = 0; goes_on && i < n; i++) {
        bool first = rows && i % columns == 0, last = rows && (i % columns == columns - 1 || i == n - 1);
        goes_on = (!first || visit_begin_list(v)) && reel_number_visit(v, type, data.data + i * size) &&
                  (!last || visit_end_list(v));
    }
    return goes_on && visit_end_list(v);
}

static bool visitor_visit_part(struct reel_visitor *v, int64_t value) {
    return value < 0 ? visit_integer(v, value) : visit_natural(v, (uint64_t)value);
}

bool reel_stamp_expand(struct reel_visitor *v, const struct reel_stamp *value) {
    return visit_begin_map(v) && visit_key_text(v, "sec") && visitor_visit_part(v, value->seconds) &&
           visit_key_text(v, value->nanoseconds_name) && visitor_visit_part(v, value->nanoseconds) && visit_end_map(v);
}
