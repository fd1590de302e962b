/* Decodes protobuf payloads with the tables of their definition. Keys are emitted in the order of field numbers,
 * whatever the order in the payload:
 *   - a repeated field is a list, also when it is empty; a map is a map; of a singular field that occurs twice the last
 * value counts (messages are not merged);
 *   - proto3's plain fields are emitted with their default when absent, because that is how a zero is encoded; fields
 * with presence (messages, optional, oneof, proto2) are emitted only when present;
 *   - an enum is its name, or its number when it has no name; Timestamp and Duration are {"sec","nsec"};
 *   - fields that the definition lacks are emitted as "#NUMBER", one by one; groups are skipped.
 * The work is linear in the payload, see STEPS_PER_BYTE. */
#include "formats/protobuf/payload.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "formats/protobuf/text.h"
#include "formats/ros/channel_definition.h"
#include "syntax/visitor.h"

#include <inttypes.h>
#include <stdio.h>

/* A step is a field of a definition searched for, or a field of the payload skipped because the fields are not in
 * order. Real messages need 1 or 2 for each byte. */
enum { STEPS_PER_BYTE = 64, STEPS_LEAST = REEL_DEFINITION_FIELDS_MAX };

struct walk {
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
    uint64_t steps; /* steps left */
};

static bool protobuf_fail_at(struct walk *w, const uint8_t *at, const char *what, struct reel_bytes name) {
    bool inside = w->payload.size > 0 && at >= w->payload.data &&
                  at <= w->payload.data + w->payload.size; /* an empty run of bytes may be anywhere */
    size_t position = inside ? (size_t)(at - w->payload.data) : 0;
    return reel_fail(w->err, REEL_DAMAGED, "byte %zu of %zu: %s%.*s", position, w->payload.size, what,
                     name.size > 64 ? 64 : (int)name.size, (const char *)name.data);
}
static bool out_of_steps(struct walk *w) {
    return reel_fail(w->err, REEL_LIMIT,
                     "%zu bytes of protobuf in such disorder, or with so many absent fields, are not decoded",
                     w->payload.size);
}

/* ---- single values */

static enum proto_wire wire_of(enum pb_type type) {
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
        return PROTO_BYTES;
    case PB_GROUP:
        return (enum proto_wire)PROTO_GROUP;
    default:
        return PROTO_VARINT;
    }
}

static int64_t zigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static bool emit_enum(struct walk *w, const struct pb_field *s, int32_t number) {
    size_t size;
    const char *name = s->names ? pb_enum_name(s->names, number, &size) : NULL;
    return name ? visit_text(w->v, bytes_of(name, size)) : visit_integer(w->v, number);
}

/* Emits any value except messages. */
static bool emit_scalar(struct walk *w, const struct pb_field *s, uint64_t value, struct reel_bytes bytes) {
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

static bool protobuf_emit_message(struct walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth);

static bool emit_value(struct walk *w, const struct pb_field *s, const struct proto_field *f, unsigned depth) {
    return s->message ? protobuf_emit_message(w, s->message, f->bytes, depth) : emit_scalar(w, s, f->value, f->bytes);
}

/* ---- fields of one message, found by number */

struct field_positions {
    struct reel_bytes bytes; /* of the message */
    struct cursor at;
    bool sorted;  /* fields are in the order of their numbers: one walk finds all */
    bool unknown; /* some fields are not in the definition */
};

/* Walks over the message to check that it is complete and to set p->sorted and p->unknown. */
static bool survey(struct walk *w, const struct pb_message *m, struct field_positions *p) {
    struct cursor at = cursor_of(p->bytes);
    struct proto_field f;
    uint32_t last = 0;
    const uint8_t *begin = at.at;
    p->sorted = true;
    for (; pb_next(&at, &f); begin = at.at) {
        p->sorted &= f.number >= last;
        p->unknown |= f.number != last && !pb_field_find(m, f.number);
        last = f.number;
    }
    return !at.failed || protobuf_fail_at(w, begin, "no field of protobuf, or it ends early, in ", bytes_text(m->name));
}

/* Finds the next field with that number; false when there are no more. */
static bool next_of(struct walk *w, struct field_positions *p, uint32_t number, struct proto_field *f) {
    struct cursor before = p->at;
    for (; pb_next(&p->at, f); before = p->at) {
        if (f->number == number) {
            return true;
        }
        if (p->sorted && f->number > number) {
            p->at = before;
            return false;
        }
        w->steps -= w->steps > 0;
    }
    return false;
}

static bool protobuf_fits(struct walk *w, const struct pb_field *s, const struct proto_field *f,
                          const struct field_positions *p) {
    return f->wire == wire_of(s->type) ||
           protobuf_fail_at(w, p->bytes.data, "the message there has another kind of value in its field ", s->name);
}

/* ---- repeated fields */

/* The number type of a packed array with fixed-size items. */
static bool packed_type(enum pb_type type, enum reel_number *number) {
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

static bool emit_packed(struct walk *w, const struct pb_field *s, struct reel_bytes run) {
    struct cursor at = cursor_of(run);
    enum proto_wire wire = wire_of(s->type);
    bool goes_on = true;
    while (goes_on && !cursor_done(&at)) {
        uint64_t value = wire == PROTO_64   ? cursor_u64le(&at)
                         : wire == PROTO_32 ? cursor_u32le(&at)
                                            : proto_varint(&at);
        goes_on = at.failed ? protobuf_fail_at(w, run.data, "a packed array ends early: ", s->name)
                            : emit_scalar(w, s, value, bytes_of("", 0));
    }
    return goes_on;
}

static bool protobuf_is_packed(const struct pb_field *s, const struct proto_field *f) {
    return f->wire == PROTO_BYTES && wire_of(s->type) != PROTO_BYTES;
}

/* Emits a list of values, beginning with `f`. */
static bool emit_list(struct walk *w, const struct pb_field *s, struct field_positions *p, struct proto_field *f,
                      unsigned depth) {
    bool more = true, goes_on = visit_begin_list(w->v);
    while (goes_on && more) {
        goes_on = protobuf_is_packed(s, f) ? emit_packed(w, s, f->bytes)
                                           : protobuf_fits(w, s, f, p) && emit_value(w, s, f, depth - 1);
        more = goes_on && next_of(w, p, s->number, f);
    }
    return goes_on && visit_end_list(w->v);
}

static bool emit_repeated(struct walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct proto_field f, second;
    enum reel_number type;
    if (!next_of(w, p, s->number, &f)) {
        return visit_begin_list(w->v) && visit_end_list(w->v);
    }
    if (protobuf_is_packed(s, &f) && packed_type(s->type, &type) && f.bytes.size % reel_number_size(type) == 0) {
        struct field_positions ahead = *p;
        if (!next_of(w, &ahead, s->number, &second)) {
            return visit_numbers(w->v, type, f.bytes, 1);
        }
    }
    return emit_list(w, s, p, &f, depth);
}

/* ---- maps */

static bool emit_key(struct walk *w, const struct pb_field *s, const struct proto_field *f) {
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

/* An entry without key or value has its default. */
static bool emit_entry(struct walk *w, const struct pb_message *entry, struct reel_bytes bytes, unsigned depth) {
    struct field_positions p = {.bytes = bytes};
    struct proto_field f, key = {.bytes = bytes_of("", 0)}, value = key;
    const struct pb_field *s[] = {pb_field_find(entry, 1), pb_field_find(entry, 2)};
    if (!s[0] || !s[1] || !survey(w, entry, &p)) {
        return s[0] && s[1] ? false : protobuf_fail_at(w, bytes.data, "no map entry: ", bytes_text(entry->name));
    }
    for (p.at = cursor_of(bytes); pb_next(&p.at, &f);) {
        if (f.number <= 2 && !protobuf_fits(w, s[f.number - 1], &f, &p)) {
            return false;
        }
        key = f.number == 1 ? f : key;
        value = f.number == 2 ? f : value;
    }
    return emit_key(w, s[0], &key) && emit_value(w, s[1], &value, depth);
}

static bool emit_map(struct walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct proto_field f;
    bool goes_on = visit_begin_map(w->v);
    while (goes_on && next_of(w, p, s->number, &f)) {
        goes_on = protobuf_fits(w, s, &f, p) && emit_entry(w, s->message, f.bytes, depth - 1);
    }
    return goes_on && visit_end_map(w->v);
}

/* ---- messages */

static bool emit_singular(struct walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct proto_field f, last = {.bytes = bytes_of("", 0)};
    bool met = false;
    while (next_of(w, p, s->number, &f)) {
        last = f;
        met = true;
        if (!protobuf_fits(w, s, &f, p)) {
            return false;
        }
    }
    return (!met && !s->implicit) || s->type == PB_GROUP ||
           (visit_key(w->v, s->name) && emit_value(w, s, &last, depth));
}

static bool protobuf_payload_emit_field(struct walk *w, const struct pb_field *s, struct field_positions *p,
                                        unsigned depth) {
    if (!s->repeated) {
        return emit_singular(w, s, p, depth);
    }
    if (s->type == PB_GROUP) {
        return true;
    }
    bool map = s->message && s->message->form == PB_ENTRY;
    return visit_key(w->v, s->name) && (map ? emit_map(w, s, p, depth) : emit_repeated(w, s, p, depth));
}

static bool emit_unknown(struct walk *w, const struct pb_message *m, struct reel_bytes bytes) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    bool goes_on = true;
    while (goes_on && pb_next(&at, &f)) {
        if (f.wire != (enum proto_wire)PROTO_GROUP && !pb_field_find(m, f.number)) {
            char name[16];
            snprintf(name, sizeof name, "#%" PRIu32, f.number);
            goes_on = visit_key_text(w->v, name) &&
                      (f.wire == PROTO_BYTES ? visit_binary(w->v, f.bytes) : visit_natural(w->v, f.value));
        }
    }
    return goes_on;
}

/* Emits a Timestamp or Duration: field 1 seconds, 2 nanoseconds. */
static bool emit_time(struct walk *w, struct reel_bytes bytes, bool is_duration) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    int64_t seconds = 0;
    int32_t ns = 0;
    while (proto_next(&at, &f)) {
        seconds = proto_is(&f, 1, PROTO_VARINT) ? (int64_t)f.value : seconds;
        ns = proto_is(&f, 2, PROTO_VARINT) ? (int32_t)(uint32_t)f.value : ns;
    }
    if (at.failed) {
        return protobuf_fail_at(w, bytes.data, "no time", bytes_of("", 0));
    }
    const struct reel_stamp value = {
        .seconds = seconds, .nanoseconds = ns, .nanoseconds_name = "nsec", .is_duration = is_duration};
    return visit_stamp(w->v, &value);
}

static bool protobuf_emit_message(struct walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth) {
    struct field_positions p = {.bytes = bytes};
    if (depth <= 1) { /* a list or map in it is a level too */
        return reel_fail(w->err, REEL_LIMIT, "messages are nested more than %d levels deep", REEL_DEPTH_MAX);
    }
    if (m->form == PB_TIME || m->form == PB_DURATION) {
        return emit_time(w, bytes, m->form == PB_DURATION);
    }
    if (!survey(w, m, &p)) {
        return false;
    }
    bool goes_on = visit_begin_map(w->v);
    p.at = cursor_of(bytes);
    for (uint32_t i = 0; goes_on && i < m->n; i++) {
        if (w->steps == 0) {
            return out_of_steps(w);
        }
        w->steps--;
        p.at = p.sorted ? p.at : cursor_of(bytes);
        goes_on = protobuf_payload_emit_field(w, &m->fields[i], &p, depth - 1);
    }
    return goes_on && (!p.unknown || emit_unknown(w, m, bytes)) && visit_end_map(w->v);
}

/* ---- the encoding */

static void pb_close(void *p) {
    struct pb_schema *schema = p;
    if (schema) {
        arena_free(&schema->arena);
        free(schema);
    }
}

/* TIDE 2.0 stores definitions as .proto texts. */
static bool protobuf_read_text(struct pb_schema *schema, const struct reel_channel *channel, struct reel_error *err) {
    struct grow set = {0};
    bool compiled = proto_text_compile_channel(channel, 0, &set, err);
    const uint8_t *kept = compiled ? arena_copy(&schema->arena, set.data, set.size) : NULL;
    size_t size = set.size;
    free(set.data);
    return compiled &&
           (kept ? pb_schema_read(schema, bytes_of(kept, size), channel->type + (channel->type[0] == '.'), err)
                 : reel_fail_memory(err));
}

/* Reads a FileDescriptorSet: that of the channel's own schema, with the files that the other schemas add. */
static bool read_set(struct pb_schema *schema, const struct reel_channel *channel, const char *name,
                     struct reel_error *err) {
    struct reel_bytes set;
    return channel_definition(&schema->arena, channel, &set, err) && pb_schema_read(schema, set, name, err);
}

static bool pb_open(const struct reel_channel *channel, void **out, struct reel_error *err) {
    const struct reel_schema *own = reel_channel_schema(channel);
    bool is_set = own && strcmp(own->encoding, "protobuf") == 0;
    if (is_set && own->data.size == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "protobuf without a definition is not decoded");
    }
    struct pb_schema *schema = calloc(1, sizeof *schema);
    if (!schema) {
        return reel_fail_memory(err);
    }
    if (!(is_set ? read_set(schema, channel, own->name, err) : protobuf_read_text(schema, channel, err))) {
        pb_close(schema);
        return false;
    }
    *out = schema;
    return true;
}

static bool pb_decode(const void *p, struct reel_bytes payload, struct reel_visitor *v, struct reel_error *err) {
    const struct pb_schema *schema = p;
    struct walk w = {
        .payload = payload, .v = v, .err = err, .steps = (uint64_t)payload.size * STEPS_PER_BYTE + STEPS_LEAST};
    return protobuf_emit_message(&w, schema->root, payload, REEL_DEPTH_MAX);
}

const struct reel_encoding reel_encoding_protobuf = {
    .name = "protobuf",
    .open = pb_open,
    .close = pb_close,
    .decode = pb_decode,
    .fields = pb_fields,
    .shape = pb_shape,
    .languages = (const char *const[]){"proto", NULL},
    .is_viewable = true,
    .version = 2,
};
