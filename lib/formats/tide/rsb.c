/* Decodes RSB events: rsb.protocol.Notification (0.5.1 … 0.9) and rsb.serialization.Event (0.4, 0.5), distinguished by
 * their fields. Every event is emitted with the same keys, null for missing values.
 *
 *   {"scope", "event_id", "sender_id", "sequence_number", "method", "create_time", "send_time", "receive_time",
 * "deliver_time" (µs since 1970), "user_times": {key: µs}, "user_infos": {key: text}, "causes": [{"event_id",
 * "sender_id", "sequence_number"}], "wire_schema", "payload"}
 *
 *   what             Notification                    Event
 *   id               108 (107 in autumn 2011):       sender 2 bytes, sequence 1 varint
 *                    1 sender bytes, 2 sequence
 *   scope            6 bytes                         3 bytes
 *   method           14 bytes                        4 bytes
 *   wire schema      7 bytes                         7 bytes
 *   payload          9 bytes                         8 bytes
 *   causes           13 id, repeated                 16 id, repeated
 *   meta data        15                              15: 2 create, 3 send, 4 receive, 5 deliver, 6* {1 key, 2 µs}, 7*
 * {1 key, 2 value} */
#include <stdio.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/hex.h"
#include "decode/decoder.h"
#include "formats/protobuf/text.h"
#include "formats/tide/rsb.h"
#include "syntax/protobuf.h"
#include "syntax/visitor.h"

enum { FIELD_META = 15, SLOT_ID = 17, SLOTS, UUID_BYTES = 16, UUID_TEXT = 36, FIELD_PATH_MAX = 1024 };

struct rsb {
    struct reel_bytes wire_schema; /* of the channel */
    struct reel_decoder *message;  /* decoder of the named protobuf payload, or NULL */
    struct grow definition;        /* definition that `message` uses */
    struct reel_schema schema;
    struct reel_channel inner;
};

/* ---- fields of the envelope */

struct walk {
    struct cursor c;
    struct reel_bytes event; /* for positions in errors */
    struct reel_error *err;
};

static struct walk walk_of(const struct walk *outer, struct reel_bytes part) {
    return (struct walk){.c = cursor_of(part), .event = outer->event, .err = outer->err};
}

/* Reads the next field. False at the end, and with the error and c.failed set when the bytes are not a field. */
static bool next_field(struct walk *w, struct proto_field *f) {
    const uint8_t *at = w->c.at;
    if (proto_next(&w->c, f)) {
        return true;
    }
    if (w->c.failed) {
        reel_fail(w->err, REEL_DAMAGED, "byte %zu of %zu: not a protobuf field, or one that ends after its message",
                  (size_t)(at - w->event.data), w->event.size);
    }
    return false;
}

struct event {
    struct reel_bytes part[SLOTS]; /* by field number, the id in SLOT_ID; the last of each counts; data NULL: absent */
    uint64_t sequence;             /* field 1 of an Event */
    bool notification;
    struct walk walk; /* at the beginning again */
};

static bool tide_rsb_read_event(struct reel_bytes payload, struct event *e, struct reel_error *err) {
    *e = (struct event){.walk = {.event = payload, .err = err}};
    struct walk w = walk_of(&e->walk, payload);
    struct proto_field f;
    while (next_field(&w, &f)) {
        if (f.wire == PROTO_BYTES && (f.number < SLOT_ID || f.number == 107 || f.number == 108)) {
            e->part[f.number < SLOT_ID ? f.number : SLOT_ID] = f.bytes;
        } else if (proto_is(&f, 1, PROTO_VARINT)) {
            e->sequence = f.value;
        }
    }
    if (w.c.failed) {
        return false;
    }
    e->notification = e->part[SLOT_ID].data != NULL;
    bool event = e->part[3].size > 0 && e->part[3].data[0] == '/';
    e->walk = walk_of(&e->walk, payload);
    return e->notification || event ||
           reel_fail(err, REEL_DAMAGED, "no RSB event in these %zu bytes: no id in field 108, no scope in field 3",
                     payload.size);
}

static struct reel_bytes part_of(const struct event *e, uint32_t in_notification, uint32_t in_event) {
    return e->part[e->notification ? in_notification : in_event];
}

/* ---- texts and ids */

static bool emit_text(struct reel_bytes text, struct reel_visitor *v) {
    return text.data ? visit_text(v, text) : visit_null(v);
}

static void uuid_text(const uint8_t uuid[UUID_BYTES], char out[UUID_TEXT]) {
    for (unsigned i = 0; i < UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *out++ = '-';
        }
        hex_byte(uuid[i], out);
        out += 2;
    }
}

struct id {
    struct reel_bytes sender;
    uint32_t sequence;
};

static bool tide_read_id(struct walk w, struct id *id) {
    struct proto_field f;
    *id = (struct id){0};
    while (next_field(&w, &f)) {
        id->sender = proto_is(&f, 1, PROTO_BYTES) ? f.bytes : id->sender;
        id->sequence = proto_is(&f, 2, PROTO_VARINT) ? (uint32_t)f.value : id->sequence;
    }
    return !w.c.failed;
}

/* Emits an event's id: the version 5 UUID of its sequence number, as eight hexadecimal digits, in the namespace of its
 * sender. */
static bool emit_id(const struct id *id, struct reel_visitor *v) {
    char name[UUID_BYTES + 9], text[UUID_TEXT];
    uint8_t hash[DIGEST_SHA1];
    bool known = id->sender.size == UUID_BYTES;
    if (known) {
        memcpy(name, id->sender.data, UUID_BYTES);
        snprintf(name + UUID_BYTES, 9, "%08x", id->sequence);
        digest_of(DIGEST_SHA1, bytes_of(name, UUID_BYTES + 8), hash);
        hash[6] = (hash[6] & 0x0f) | 0x50;
        hash[8] = (hash[8] & 0x3f) | 0x80;
        uuid_text(hash, text);
    }
    if (!visit_key_text(v, "event_id") || !(known ? visit_text(v, bytes_of(text, sizeof text)) : visit_null(v)) ||
        !visit_key_text(v, "sender_id")) {
        return false;
    }
    if (known) {
        uuid_text(id->sender.data, text);
    }
    bool good = known             ? visit_text(v, bytes_of(text, sizeof text))
                : id->sender.data ? visit_binary(v, id->sender)
                                  : visit_null(v);
    return good && visit_key_text(v, "sequence_number") && visit_natural(v, id->sequence);
}

static bool emit_causes(const struct event *e, struct reel_visitor *v) {
    struct walk w = e->walk;
    struct proto_field f;
    if (!visit_key_text(v, "causes") || !visit_begin_list(v)) {
        return false;
    }
    while (next_field(&w, &f)) {
        struct id id;
        if (proto_is(&f, e->notification ? 13 : 16, PROTO_BYTES) &&
            !(tide_read_id(walk_of(&w, f.bytes), &id) && visit_begin_map(v) && emit_id(&id, v) && visit_end_map(v))) {
            return false;
        }
    }
    return visit_end_list(v);
}

/* ---- meta data */

static const char *const time_names[] = {"create_time", "send_time", "receive_time", "deliver_time"};

static bool emit_times(struct walk w, struct reel_visitor *v) {
    int64_t times[4] = {0};
    struct proto_field f;
    while (next_field(&w, &f)) {
        if (f.wire == PROTO_VARINT && f.number >= 2 && f.number <= 5) {
            times[f.number - 2] = (int64_t)f.value;
        }
    }
    bool goes_on = !w.c.failed;
    for (unsigned i = 0; goes_on && i < 4; i++) { /* 0: not set */
        goes_on = visit_key_text(v, time_names[i]) && (times[i] ? visit_integer(v, times[i]) : visit_null(v));
    }
    return goes_on;
}

/* Emits {1 key, 2 value}: the value is a time or bytes. */
static bool emit_user(struct walk w, struct reel_visitor *v) {
    struct proto_field f, value = {.wire = PROTO_BYTES};
    struct reel_bytes key = {0};
    while (next_field(&w, &f)) {
        key = proto_is(&f, 1, PROTO_BYTES) ? f.bytes : key;
        value = f.number == 2 ? f : value;
    }
    return !w.c.failed && visit_key(v, key) &&
           (value.wire == PROTO_BYTES ? emit_text(value.bytes, v) : visit_natural(v, value.value));
}

static bool emit_users(struct walk w, const char *name, uint32_t number, struct reel_visitor *v) {
    struct proto_field f;
    if (!visit_key_text(v, name) || !visit_begin_map(v)) {
        return false;
    }
    while (next_field(&w, &f)) {
        if (proto_is(&f, number, PROTO_BYTES) && !emit_user(walk_of(&w, f.bytes), v)) {
            return false;
        }
    }
    return !w.c.failed && visit_end_map(v);
}

static bool emit_meta(const struct event *e, struct reel_visitor *v) {
    struct walk meta = walk_of(&e->walk, e->part[FIELD_META]);
    return emit_times(meta, v) && emit_users(meta, "user_times", 6, v) && emit_users(meta, "user_infos", 7, v);
}

/* ---- the payload */

/* Checked before decoding, because emitted values cannot be taken back. */
static bool fits_definition(const struct rsb *r, struct reel_bytes data, bool *fits, struct reel_error *err) {
    struct reel_visitor visitor = {.ops = &visit_nothing};
    return decode_try(r->message, data, &visitor, fits, err);
}

static bool emit_payload(const struct rsb *r, struct reel_bytes schema, struct reel_bytes data, struct reel_visitor *v,
                         struct reel_error *err) {
    const struct rsb_value *value = rsb_value_find(schema);
    if (!data.data) {
        data = bytes_of("", 0); /* which means the same as an absent field in protobuf */
    }
    if (value && rsb_value_fits(value, data)) {
        return rsb_value_emit(value, data, v);
    }
    bool message = schema.size > 0 && schema.data[0] == '.';
    bool fits = message && r->message && bytes_equal(schema, r->wire_schema);
    if (fits && !fits_definition(r, data, &fits, err)) {
        return false;
    }
    if (fits) {
        return reel_decode(r->message, data, v, err);
    }
    return message && rsb_guess_fits(data) ? rsb_guess_emit(data, v) : visit_binary(v, data);
}

/* Files of 0.4 … 0.8 have the schema in the user infos too. */
static struct reel_bytes schema_in_infos(const struct event *e) {
    struct cursor meta = cursor_of(e->part[FIELD_META]);
    struct proto_field f, g;
    while (proto_next(&meta, &f)) {
        struct cursor pair = cursor_of(f.bytes);
        if (proto_is(&f, 7, PROTO_BYTES) && proto_next(&pair, &g) && proto_is(&g, 1, PROTO_BYTES) &&
            bytes_is(g.bytes, "rsb.wire-schema") && proto_next(&pair, &g) && proto_is(&g, 2, PROTO_BYTES)) {
            return g.bytes;
        }
    }
    return (struct reel_bytes){0};
}

static bool tide_rsb_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                            struct reel_error *err) {
    const struct rsb *r = state;
    struct event e;
    if (!tide_rsb_read_event(payload, &e, err)) {
        return false;
    }
    struct id id = {.sender = e.part[2], .sequence = (uint32_t)e.sequence};
    if (e.notification && !tide_read_id(walk_of(&e.walk, e.part[SLOT_ID]), &id)) {
        return false;
    }
    struct reel_bytes schema = e.part[7].size > 0        ? e.part[7]
                               : r->wire_schema.size > 0 ? r->wire_schema
                                                         : schema_in_infos(&e);
    return visit_begin_map(v) && visit_key_text(v, "scope") && emit_text(part_of(&e, 6, 3), v) && emit_id(&id, v) &&
           visit_key_text(v, "method") && emit_text(part_of(&e, 14, 4), v) && emit_meta(&e, v) && emit_causes(&e, v) &&
           visit_key_text(v, "wire_schema") && emit_text(schema, v) && visit_key_text(v, "payload") &&
           emit_payload(r, schema, part_of(&e, 9, 8), v, err) && visit_end_map(v);
}

/* ---- the channel */

static void close_rsb(void *state) {
    struct rsb *r = state;
    reel_decoder_free(r->message);
    free(r->definition.data);
    free(r);
}

/* True when the first schema is that of the event around the payload. */
static bool has_envelope(const struct reel_channel *channel) {
    const char *name = channel->n_schemas > 0 ? channel->schemas[0].name : "";
    return strcmp(name, "rsb.protocol.Notification") == 0 || strcmp(name, "rsb.serialization.Event") == 0;
}

/* The definition of the messages on /__rsb/introspection, for logs that lack it. */
static const char introspection[] =
    "package rsb.protocol.introspection;"
    "message Process { required string id = 1; required string program_name = 2; repeated string commandline_arguments "
    "= 3; required "
    "uint64 "
    "start_time = 4;"
    "  optional string executing_user = 5; optional string rsb_version = 7; optional string display_name = 8; }"
    "message Host { required string id = 1; required string hostname = 2; optional string machine_type = 3; optional "
    "string "
    "machine_version = 4;"
    "  optional string software_type = 5; optional string software_version = 6; }"
    "message Hello { required string kind = 1; required bytes id = 2; optional bytes parent = 3; required string scope "
    "= 4; optional "
    "string type = 5;"
    "  repeated string transport = 6; optional Process process = 7; optional Host host = 8; }"
    "message Bye { required bytes id = 1; }";

/* Without a definition, payloads are decoded by field number. */
static bool open_message(struct rsb *r, const struct reel_channel *channel, struct reel_error *err) {
    struct reel_error why = {0};
    bool compiled = proto_text_compile_channel(channel, has_envelope(channel), &r->definition, &why);
    if (why.code == REEL_UNSUPPORTED && strncmp(channel->type, ".rsb.protocol.introspection.", 28) == 0) {
        compiled = proto_text_compile(bytes_text(introspection), &r->definition, &why);
    }
    if (!compiled) {
        return reel_error_ignore(err, &why);
    }
    r->schema = (struct reel_schema){.name = channel->type + 1,
                                     .encoding = "protobuf",
                                     .hash = "",
                                     .data = bytes_of(r->definition.data, r->definition.size)};
    r->inner = (struct reel_channel){.name = channel->name,
                                     .type = channel->type + 1,
                                     .encoding = "protobuf",
                                     .schemas = &r->schema,
                                     .n_schemas = 1};
    return decoder_try(&r->inner, &r->message, err);
}

static bool open_rsb(const struct reel_channel *channel, void **state, struct reel_error *err) {
    struct rsb *r = calloc(1, sizeof *r);
    if (!r) {
        return reel_fail_memory(err);
    }
    r->wire_schema = bytes_text(channel->type);
    *state = r;
    return channel->type[0] != '.' || open_message(r, channel, err) || (close_rsb(r), false);
}

struct inner_fields {
    reel_field_visit visit;
    void *context;
};

static bool inner_field(void *context, const struct reel_field *field) {
    const struct inner_fields *inner = context;
    char path[FIELD_PATH_MAX];
    int length = snprintf(path, sizeof path, "payload.%s", field->path);
    struct reel_field outer = *field;
    outer.path = path;
    return length >= (int)sizeof path || inner->visit(inner->context, &outer);
}

static bool tide_rsb_fields(const void *state, reel_field_visit visit, void *context) {
    static const struct reel_field known[] = {
        {"scope", "string", "", false},        {"event_id", "string", "", false},
        {"sender_id", "string", "", false},    {"sequence_number", "uint32", "", true},
        {"method", "string", "", false},       {"create_time", "int64", "us", true},
        {"send_time", "int64", "us", true},    {"receive_time", "int64", "us", true},
        {"deliver_time", "int64", "us", true}, {"user_times", "map", "us", false},
        {"user_infos", "map", "", false},      {"causes", "EventId[]", "", false},
        {"wire_schema", "string", "", false}};
    const struct rsb *r = state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!visit(context, &known[i])) {
            return false;
        }
    }
    if (r->message) {
        struct inner_fields inner = {visit, context};
        return reel_decoder_fields(r->message, inner_field, &inner);
    }
    const struct rsb_value *value = rsb_value_find(r->wire_schema);
    struct reel_field payload = {
        .path = "payload", .type = r->wire_schema.size > 0 ? (const char *)r->wire_schema.data : "bytes", .unit = ""};
    if (value) {
        payload = rsb_value_field(value, "payload");
    }
    return visit(context, &payload);
}

const struct reel_encoding reel_encoding_rsb = {
    .name = RSB_ENCODING,
    .open = open_rsb,
    .close = close_rsb,
    .decode = tide_rsb_decode,
    .fields = tide_rsb_fields,
    .is_envelope = true,
    .version = 1,
};
