/* The nested shape of a message (decode/encoding.h). A message inside itself, a map and what stands for JSON may have
 * any keys, so they are values of any kind. */
#include "decode/fields.h"
#include "formats/protobuf/payload.h"

struct shaping {
    reel_shape_visit visit;
    void *context;
    const struct pb_message *inside[FIELD_DEPTH_MAX];
    unsigned depth;
};

static bool protobuf_put_message(struct shaping *s, const struct pb_message *m, struct reel_shape part);

static enum reel_shape_next put_open(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    part.kind = kind;
    return s->visit(s->context, &part);
}

static bool protobuf_put(struct shaping *s, enum reel_shape_kind kind, struct reel_shape part) {
    return put_open(s, kind, part) != REEL_SHAPE_STOP;
}

static bool protobuf_shape_put_number(struct shaping *s, enum pb_type type, struct reel_shape part) {
    static const uint8_t numbers[PB_TYPES] = {
        [PB_DOUBLE] = REEL_F64, [PB_FLOAT] = REEL_F32,   [PB_INT64] = REEL_I64,    [PB_UINT64] = REEL_U64,
        [PB_INT32] = REEL_I32,  [PB_FIXED64] = REEL_U64, [PB_FIXED32] = REEL_U32,  [PB_BOOL] = REEL_BOOL,
        [PB_UINT32] = REEL_U32, [PB_ENUM] = REEL_I32,    [PB_SFIXED32] = REEL_I32, [PB_SFIXED64] = REEL_I64,
        [PB_SINT32] = REEL_I32, [PB_SINT64] = REEL_I64,
    };
    part.number = (enum reel_number)numbers[type];
    return protobuf_put(s, REEL_SHAPE_NUMBER, part);
}

static bool protobuf_put_value(struct shaping *s, const struct pb_field *f, struct reel_shape part) {
    switch (f->type) {
    case PB_STRING:
        return protobuf_put(s, REEL_SHAPE_TEXT, part);
    case PB_MESSAGE:
    case PB_GROUP:
        return f->message ? protobuf_put_message(s, f->message, part) : protobuf_put(s, REEL_SHAPE_BYTES, part);
    case PB_BYTES:
        return protobuf_put(s, REEL_SHAPE_BYTES, part);
    case PB_ENUM:
        return f->names ? protobuf_put(s, REEL_SHAPE_TEXT, part) : protobuf_shape_put_number(s, f->type, part);
    default:
        return protobuf_shape_put_number(s, f->type, part);
    }
}

static bool protobuf_put_field(struct shaping *s, const struct pb_field *f) {
    struct reel_shape part = {.name = f->name, .optional = !f->repeated && !f->implicit};
    if (!f->repeated || (f->message && f->message->form == PB_ENTRY)) {
        return protobuf_put_value(s, f, part);
    }
    enum reel_shape_next next = put_open(s, REEL_SHAPE_LIST, part);
    return next == REEL_SHAPE_ENTER ? protobuf_put_value(s, f, (struct reel_shape){0}) : next != REEL_SHAPE_STOP;
}

static bool protobuf_put_message(struct shaping *s, const struct pb_message *m, struct reel_shape part) {
    if (m->form == PB_TIME || m->form == PB_DURATION) {
        return protobuf_put(s, m->form == PB_TIME ? REEL_SHAPE_TIME : REEL_SHAPE_DURATION, part);
    }
    if (m->form == PB_WRAPPER) {
        return protobuf_put_value(s, m->fields, part);
    }
    if (m->form == PB_MASK) {
        return protobuf_put(s, REEL_SHAPE_TEXT, part);
    }
    bool any = m->form != PB_PLAIN || s->depth == FIELD_DEPTH_MAX;
    for (unsigned i = 0; i < s->depth && !any; i++) {
        any = s->inside[i] == m;
    }
    if (any) {
        return protobuf_put(s, REEL_SHAPE_ANY, part);
    }
    enum reel_shape_next next = put_open(s, REEL_SHAPE_STRUCT, part);
    if (next != REEL_SHAPE_ENTER) {
        return next != REEL_SHAPE_STOP;
    }
    s->inside[s->depth++] = m;
    bool more = true;
    for (uint32_t i = 0; more && i < m->n; i++) {
        more = protobuf_put_field(s, &m->fields[i]);
    }
    s->depth--;
    return more && protobuf_put(s, REEL_SHAPE_END, (struct reel_shape){.name = part.name});
}

bool pb_shape(const void *p, reel_shape_visit visit, void *context) {
    const struct pb_schema *schema = p;
    struct shaping s = {.visit = visit, .context = context};
    return protobuf_put_message(&s, schema->root, (struct reel_shape){0});
}
