/* Decodes protobuf payloads with the tables of their definition. Keys are emitted in the order of field numbers,
 * whatever the order in the payload:
 *   - a repeated field is a list, also when it is empty; a map is a map; of a singular field that occurs twice the last
 * value counts, and messages are merged; of a oneof only the last member is there;
 *   - proto3's plain fields are emitted with their default when absent, because that is how a zero is encoded; fields
 * with presence (messages, optional, oneof, proto2) are emitted only when present;
 *   - an enum is its name, or its number when it has no name; a group is a message, and an extension has its full name
 * in brackets; for well-known types see known.c;
 *   - fields that the definition lacks are emitted as "#NUMBER", one by one.
 * The work is linear in the payload, see REEL_STEPS_PER_BYTE. */
#include "formats/protobuf/walk.h"

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "formats/protobuf/text.h"
#include "formats/ros/channel_definition.h"
#include "syntax/visitor.h"

#include <inttypes.h>
#include <stdio.h>

/* A step is a field of a definition searched for, or a field of the payload skipped because the fields are not in
 * order. Real messages need 1 or 2 for each byte. */
static void spend(struct pb_walk *w, uint64_t steps) {
    w->steps -= steps < w->steps ? steps : w->steps;
}
/* Passing over a group reads its fields. */
static uint64_t steps_over(const struct proto_field *f) {
    return 1 + (f->wire == (enum proto_wire)PROTO_GROUP ? f->bytes.size / 2 : 0);
}

bool pb_fail_at(struct pb_walk *w, const uint8_t *at, const char *what, struct reel_bytes name) {
    bool inside = w->payload.size > 0 && at >= w->payload.data &&
                  at <= w->payload.data + w->payload.size; /* an empty run of bytes may be anywhere */
    size_t position = inside ? (size_t)(at - w->payload.data) : 0;
    return reel_fail(w->err, REEL_DAMAGED, "byte %zu of %zu: %s%.*s", position, w->payload.size, what,
                     name.size > 64 ? 64 : (int)name.size, (const char *)name.data);
}
static bool out_of_steps(struct pb_walk *w) {
    return reel_fail(w->err, REEL_LIMIT,
                     "%zu bytes of protobuf in such disorder, or with so many absent fields, are not decoded",
                     w->payload.size);
}

static bool emit_value(struct pb_walk *w, const struct pb_field *s, const struct proto_field *f, unsigned depth) {
    return s->message ? pb_emit_message(w, s->message, f->bytes, depth) : pb_emit_scalar(w, s, f->value, f->bytes);
}

/* ---- fields of one message, found by number */

struct field_positions {
    const struct pb_message *of;
    struct reel_bytes bytes; /* of the message */
    struct cursor at;
    bool sorted;  /* fields are in the order of their numbers: one walk finds all */
    bool unknown; /* some fields are not in the definition */
};

/* Walks over the message to check that it is complete and to set p->sorted and p->unknown. */
static bool survey(struct pb_walk *w, struct field_positions *p) {
    struct cursor at = cursor_of(p->bytes);
    struct proto_field f;
    uint32_t last = 0;
    const uint8_t *begin = at.at;
    p->at = at;
    p->sorted = true;
    for (; pb_next(&at, &f); begin = at.at) {
        p->sorted &= f.number >= last;
        p->unknown |= f.number != last && !pb_field_find(p->of, f.number);
        last = f.number;
        spend(w, steps_over(&f) - 1);
    }
    return !at.failed || pb_fail_at(w, begin, "no field of protobuf, or it ends early, in ", bytes_text(p->of->name));
}

/* Finds the next field with that number; false when there are no more. */
static bool next_of(struct pb_walk *w, struct field_positions *p, uint32_t number, struct proto_field *f) {
    struct cursor before = p->at;
    for (; pb_next(&p->at, f); before = p->at) {
        if (f->number == number) {
            return true;
        }
        if (p->sorted && f->number > number) {
            p->at = before;
            return false;
        }
        spend(w, steps_over(f));
    }
    return false;
}

/* A message may be written in both ways: editions decide it by an option. */
static bool protobuf_fits(struct pb_walk *w, const struct pb_field *s, const struct proto_field *f,
                          const struct field_positions *p) {
    bool group = f->wire == (enum proto_wire)PROTO_GROUP && (s->type == PB_MESSAGE || s->type == PB_GROUP);
    return group || f->wire == pb_wire_of(s->type) ||
           pb_fail_at(w, p->bytes.data, "the message there has another kind of value in its field ", s->name);
}

/* ---- singular fields */

struct found {
    struct proto_field f;
    bool met;
    struct grow joined; /* a message that came in pieces: parsing them back to back merges them */
};

static void release(struct pb_walk *w, struct found *found) {
    w->joined -= found->joined.size;
    grow_done(&found->joined);
}

static bool join(struct pb_walk *w, struct found *found, struct reel_bytes more) {
    struct reel_bytes first = found->joined.size == 0 ? found->f.bytes : bytes_of("", 0);
    if (w->joined + first.size + more.size > REEL_DECODED_MAX) {
        return reel_fail(w->err, REEL_LIMIT, "more than %d bytes of messages in pieces", REEL_DECODED_MAX);
    }
    w->joined += first.size + more.size;
    grow_put(&found->joined, first.data, first.size);
    grow_put(&found->joined, more.data, more.size);
    found->f.bytes = bytes_of(found->joined.data, found->joined.size);
    return !found->joined.failed || reel_fail_memory(w->err);
}

static bool gather(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, struct found *found) {
    struct proto_field f;
    *found = (struct found){.f = {.bytes = bytes_of("", 0)}};
    while (next_of(w, p, s->number, &f)) {
        if (!protobuf_fits(w, s, &f, p)) {
            return false;
        }
        if (!found->met || !s->message) {
            found->f = f;
        } else if (f.bytes.size > 0 && !join(w, found, f.bytes)) {
            return false;
        }
        found->met = true;
    }
    return true;
}

/* Another member of a oneof removes what came before it. */
static bool gather_last(struct pb_walk *w, const struct pb_field *s, const struct field_positions *p,
                        struct found *found) {
    struct field_positions own = *p;
    struct cursor at = cursor_of(p->bytes);
    struct proto_field f;
    bool others = false;
    while (pb_next(&at, &f)) {
        const struct pb_field *other = f.number == s->number ? NULL : pb_field_find(p->of, f.number);
        if (other && other->oneof == s->oneof) {
            own.at = at;
            others = true;
        }
        spend(w, steps_over(&f));
    }
    if (!others) {
        return true;
    }
    own.sorted = false;
    release(w, found);
    return gather(w, s, &own, found);
}

/* The value of a singular field; release() it in any case. */
static bool find_singular(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, struct found *found) {
    return gather(w, s, p, found) && (!found->met || s->oneof == 0 || gather_last(w, s, p, found));
}

static bool emit_singular(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct found found;
    bool goes_on = find_singular(w, s, p, &found) &&
                   ((!found.met && !s->implicit) || (visit_key(w->v, s->name) && emit_value(w, s, &found.f, depth)));
    release(w, &found);
    return goes_on;
}

/* ---- repeated fields */

static bool emit_packed(struct pb_walk *w, const struct pb_field *s, struct reel_bytes run) {
    struct cursor at = cursor_of(run);
    enum proto_wire wire = pb_wire_of(s->type);
    uint32_t values = 0;
    bool goes_on = true;
    while (goes_on && !cursor_done(&at)) {
        uint64_t value = wire == PROTO_64   ? cursor_u64le(&at)
                         : wire == PROTO_32 ? cursor_u32le(&at)
                                            : proto_varint(&at);
        goes_on = at.failed ? pb_fail_at(w, run.data, "a packed array ends early: ", s->name)
                            : cancel_check_step(&values, w->err) && pb_emit_scalar(w, s, value, bytes_of("", 0));
    }
    return goes_on;
}

static bool protobuf_is_packed(const struct pb_field *s, const struct proto_field *f) {
    return f->wire == PROTO_BYTES && pb_wire_of(s->type) != PROTO_BYTES;
}

/* Emits a list of values, beginning with `f`. */
static bool emit_list(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, struct proto_field *f,
                      unsigned depth) {
    bool more = true, goes_on = visit_begin_list(w->v);
    while (goes_on && more) {
        goes_on = protobuf_is_packed(s, f) ? emit_packed(w, s, f->bytes)
                                           : protobuf_fits(w, s, f, p) && emit_value(w, s, f, depth - 1);
        more = goes_on && next_of(w, p, s->number, f);
    }
    return goes_on && visit_end_list(w->v);
}

static bool emit_repeated(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct proto_field f, second;
    enum reel_number type;
    if (!next_of(w, p, s->number, &f)) {
        return visit_begin_list(w->v) && visit_end_list(w->v);
    }
    if (protobuf_is_packed(s, &f) && pb_packed_type(s->type, &type) && f.bytes.size % reel_number_size(type) == 0) {
        struct field_positions ahead = *p;
        if (!next_of(w, &ahead, s->number, &second)) {
            return visit_numbers(w->v, type, f.bytes, 1);
        }
    }
    return emit_list(w, s, p, &f, depth);
}

/* ---- maps */

/* An entry without key or value has its default. */
static bool emit_entry(struct pb_walk *w, const struct pb_message *entry, struct reel_bytes bytes, unsigned depth) {
    struct field_positions p = {.of = entry, .bytes = bytes};
    struct found key = {0}, value = {0};
    const struct pb_field *s[] = {pb_field_find(entry, 1), pb_field_find(entry, 2)};
    if (!s[0] || !s[1] || !survey(w, &p)) {
        return s[0] && s[1] ? false : pb_fail_at(w, bytes.data, "no map entry: ", bytes_text(entry->name));
    }
    bool goes_on = find_singular(w, s[0], &p, &key);
    p.at = cursor_of(bytes);
    goes_on = goes_on && find_singular(w, s[1], &p, &value) && pb_emit_key(w, s[0], &key.f) &&
              emit_value(w, s[1], &value.f, depth);
    release(w, &key);
    release(w, &value);
    return goes_on;
}

static bool emit_map(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    struct proto_field f;
    bool goes_on = visit_begin_map(w->v);
    while (goes_on && next_of(w, p, s->number, &f)) {
        goes_on = protobuf_fits(w, s, &f, p) && emit_entry(w, s->message, f.bytes, depth - 1);
    }
    return goes_on && visit_end_map(w->v);
}

/* ---- messages */

static bool emit_many(struct pb_walk *w, const struct pb_field *s, struct field_positions *p, unsigned depth) {
    bool map = s->message && s->message->form == PB_ENTRY;
    return map ? emit_map(w, s, p, depth) : emit_repeated(w, s, p, depth);
}

static bool protobuf_payload_emit_field(struct pb_walk *w, const struct pb_field *s, struct field_positions *p,
                                        unsigned depth) {
    if (!s->repeated) {
        return emit_singular(w, s, p, depth);
    }
    return visit_key(w->v, s->name) && emit_many(w, s, p, depth);
}

static bool emit_unknown(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    bool goes_on = true;
    while (goes_on && pb_next(&at, &f)) {
        if (!pb_field_find(m, f.number)) {
            bool bytes_follow = f.wire == PROTO_BYTES || f.wire == (enum proto_wire)PROTO_GROUP;
            char name[16];
            snprintf(name, sizeof name, "#%" PRIu32, f.number);
            goes_on = visit_key_text(w->v, name) &&
                      (bytes_follow ? visit_binary(w->v, f.bytes) : visit_natural(w->v, f.value));
        }
    }
    return goes_on;
}

bool pb_emit_members(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth) {
    struct field_positions p = {.of = m, .bytes = bytes};
    if (!survey(w, &p)) {
        return false;
    }
    bool goes_on = true;
    for (uint32_t i = 0; goes_on && i < m->n; i++) {
        if (w->steps == 0) {
            return out_of_steps(w);
        }
        w->steps--;
        p.at = p.sorted ? p.at : cursor_of(bytes);
        goes_on = protobuf_payload_emit_field(w, &m->fields[i], &p, depth - 1);
    }
    return goes_on && (!p.unknown || emit_unknown(w, m, bytes));
}

/* The message's only field, or of a Value the one that is there, in its place. */
static bool emit_bare(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth) {
    struct field_positions p = {.of = m, .bytes = bytes};
    if (!survey(w, &p)) {
        return false;
    }
    if (m->fields->repeated) {
        return visit_inside(w->v, m->fields->name) && emit_many(w, m->fields, &p, depth);
    }
    bool goes_on = true, met = false;
    for (uint32_t i = 0; goes_on && !met && i < m->n; i++) {
        if (w->steps == 0) {
            return out_of_steps(w);
        }
        w->steps--;
        struct found found;
        p.at = cursor_of(bytes);
        goes_on = find_singular(w, &m->fields[i], &p, &found);
        met = goes_on && (found.met || m->form == PB_WRAPPER);
        if (met && m->fields[i].type == PB_ENUM) {
            goes_on = visit_null(w->v);
        } else if (met) {
            goes_on = visit_inside(w->v, m->fields[i].name) && emit_value(w, &m->fields[i], &found.f, depth - 1);
        }
        release(w, &found);
    }
    return goes_on && (met || visit_null(w->v));
}

bool pb_emit_message(struct pb_walk *w, const struct pb_message *m, struct reel_bytes bytes, unsigned depth) {
    if (depth <= 1) { /* a list or map in it is a level too */
        return reel_fail(w->err, REEL_LIMIT, "messages are nested more than %d levels deep", REEL_DEPTH_MAX);
    }
    switch (m->form) {
    case PB_TIME:
    case PB_DURATION:
        return pb_emit_time(w, bytes, m->form == PB_DURATION);
    case PB_WRAPPER:
    case PB_OBJECT:
    case PB_LIST:
    case PB_VALUE:
        return emit_bare(w, m, bytes, depth);
    case PB_MASK:
        return pb_emit_mask(w, bytes);
    case PB_ANY:
        return pb_emit_any(w, m, bytes, depth);
    default:
        return visit_begin_map(w->v) && pb_emit_members(w, m, bytes, depth) && visit_end_map(w->v);
    }
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
    struct pb_walk w = {.schema = schema,
                        .payload = payload,
                        .v = v,
                        .err = err,
                        .steps = (uint64_t)payload.size * REEL_STEPS_PER_BYTE + REEL_STEPS_LEAST};
    return pb_emit_message(&w, schema->root, payload, REEL_DEPTH_MAX);
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
    .version = 3,
};
