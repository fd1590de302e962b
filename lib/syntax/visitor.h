/* Calls to a visitor; a callback that is NULL ignores its values. */
#ifndef REEL_SYNTAX_VISITOR_H
#define REEL_SYNTAX_VISITOR_H

#include "base/bytes.h"
#include "reel/encoding.h"

#define REEL_VISIT_(v, what, ...) ((v)->ops->what == NULL || (v)->ops->what((v)__VA_ARGS__))
static inline bool visit_begin_map(struct reel_visitor *v) {
    return REEL_VISIT_(v, begin_map);
}
static inline bool visit_key(struct reel_visitor *v, struct reel_bytes name) {
    return REEL_VISIT_(v, key, , name);
}
static inline bool visit_key_text(struct reel_visitor *v, const char *name) {
    return REEL_VISIT_(v, key, , bytes_text(name));
}
static inline bool visit_end_map(struct reel_visitor *v) {
    return REEL_VISIT_(v, end_map);
}
static inline bool visit_begin_list(struct reel_visitor *v) {
    return REEL_VISIT_(v, begin_list);
}
static inline bool visit_end_list(struct reel_visitor *v) {
    return REEL_VISIT_(v, end_list);
}
static inline bool visit_null(struct reel_visitor *v) {
    return REEL_VISIT_(v, null);
}
static inline bool visit_boolean(struct reel_visitor *v, bool value) {
    return REEL_VISIT_(v, boolean, , value);
}
static inline bool visit_integer(struct reel_visitor *v, int64_t value) {
    return REEL_VISIT_(v, integer, , value);
}
static inline bool visit_natural(struct reel_visitor *v, uint64_t value) {
    return REEL_VISIT_(v, natural, , value);
}
static inline bool visit_real(struct reel_visitor *v, double value) {
    return REEL_VISIT_(v, real, , value);
}
static inline bool visit_real32(struct reel_visitor *v, float value) {
    return REEL_VISIT_(v, real32, , value);
}
static inline bool visit_text(struct reel_visitor *v, struct reel_bytes value) {
    return REEL_VISIT_(v, text, , value);
}
static inline bool visit_binary(struct reel_visitor *v, struct reel_bytes value) {
    return REEL_VISIT_(v, binary, , value);
}
static inline bool visit_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                 unsigned columns) {
    return v->ops->numbers ? v->ops->numbers(v, type, data, columns) : reel_numbers_expand(v, type, data, columns);
}
static inline bool visit_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    return v->ops->stamp ? v->ops->stamp(v, value) : reel_stamp_expand(v, value);
}

/* Of a visitor that ignores all values; without `numbers`, arrays would be walked value by value. */
static inline bool visit_no_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data,
                                    unsigned columns) {
    (void)v, (void)type, (void)data, (void)columns;
    return true;
}
static const struct reel_visitor_ops visit_nothing = {.numbers = visit_no_numbers};

#endif
