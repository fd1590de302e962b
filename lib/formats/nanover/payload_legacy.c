/* Decodes messages of NanoVer's older form (protobuf) to the shape of current ones, so that a field has the same path
 * in both. The rules are those of formats/nanover/legacy.c: the last of several alternatives counts, a null in
 * changed_keys is a removal, three counts are integers. Nothing is kept in memory, so a key that occurs twice (no
 * writer does that) is emitted twice. */
#include "base/bytes.h"
#include "formats/nanover/payload.h"
#include "syntax/protobuf.h"
#include "syntax/visitor.h"

#include <math.h>

enum { VALUE_DEPTH_MAX = REEL_DEPTH_MAX - 4 }; /* as in formats/nanover/legacy.c */

struct emitter {
    struct reel_bytes payload;
    struct reel_visitor *v;
    struct reel_error *err;
};

/* Ends a walk over the fields of `whole`; false with an error when a field did not fit. */
static bool nanover_payload_legacy_walked(struct emitter *t, const struct cursor *at, struct reel_bytes whole) {
    return !at->failed ||
           reel_fail(t->err, REEL_DAMAGED,
                     "the %zu bytes at byte %zu of %zu are not a valid protobuf message: a field does not fit",
                     whole.size, whole.size > 0 ? (size_t)(whole.data - t->payload.data) : 0, t->payload.size);
}

struct pair {
    struct reel_bytes key, value;
};
static bool nanover_payload_legacy_read_pair(struct emitter *t, struct reel_bytes entry, struct pair *pair) {
    struct cursor at = cursor_of(entry);
    struct proto_field f;
    pair->key = pair->value = bytes_of("", 0);
    while (proto_next(&at, &f)) {
        if (proto_is(&f, MAP_KEY, PROTO_BYTES)) {
            pair->key = f.bytes;
        } else if (proto_is(&f, MAP_VALUE, PROTO_BYTES)) {
            pair->value = f.bytes;
        }
    }
    return nanover_payload_legacy_walked(t, &at, entry);
}

/* ---- values */

static enum proto_wire value_wire(uint32_t kind) {
    return kind == VALUE_NULL || kind == VALUE_BOOL ? PROTO_VARINT : kind == VALUE_NUMBER ? PROTO_64 : PROTO_BYTES;
}
/* Reads a google.protobuf.Value; number 0: none was set, which means null. */
static bool nanover_payload_legacy_read_value(struct emitter *t, struct reel_bytes bytes, struct proto_field *value) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    *value = (struct proto_field){.number = 0};
    while (proto_next(&at, &f)) {
        if (f.number <= VALUE_LIST && f.wire == value_wire(f.number)) {
            *value = f;
        }
    }
    return nanover_payload_legacy_walked(t, &at, bytes);
}
static bool is_null(const struct proto_field *value) {
    return value->number == 0 || value->number == VALUE_NULL;
}

static bool emit_value(struct emitter *t, const struct proto_field *value, unsigned depth);

static bool emit_struct(struct emitter *t, struct reel_bytes bytes, unsigned depth) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f, value;
    struct pair pair;
    bool goes_on = visit_begin_map(t->v);
    while (goes_on && proto_next(&at, &f)) {
        if (proto_is(&f, MAP_ENTRY, PROTO_BYTES)) {
            goes_on = nanover_payload_legacy_read_pair(t, f.bytes, &pair) &&
                      nanover_payload_legacy_read_value(t, pair.value, &value) && visit_key(t->v, pair.key) &&
                      emit_value(t, &value, depth);
        }
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, bytes) && visit_end_map(t->v);
}

static bool emit_list(struct emitter *t, struct reel_bytes bytes, unsigned depth) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f, value;
    bool goes_on = visit_begin_list(t->v);
    while (goes_on && proto_next(&at, &f)) {
        if (proto_is(&f, LIST_ITEM, PROTO_BYTES)) {
            goes_on = nanover_payload_legacy_read_value(t, f.bytes, &value) && emit_value(t, &value, depth);
        }
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, bytes) && visit_end_list(t->v);
}

static bool emit_value(struct emitter *t, const struct proto_field *value, unsigned depth) {
    if (depth == 0) {
        return reel_fail(t->err, REEL_LIMIT, "a value is nested more than %d levels deep", VALUE_DEPTH_MAX);
    }
    switch (value->number) {
    case VALUE_NUMBER:
        return visit_real(t->v, f64_of(value->value));
    case VALUE_STRING:
        return visit_text(t->v, value->bytes);
    case VALUE_BOOL:
        return visit_boolean(t->v, value->value != 0);
    case VALUE_STRUCT:
        return emit_struct(t, value->bytes, depth - 1);
    case VALUE_LIST:
        return emit_list(t, value->bytes, depth - 1);
    default:
        return visit_null(t->v);
    }
}

/* ---- arrays */

/* Emits the numbers of a list in rows. */
struct rows {
    unsigned columns, column;
};
static bool emit_number(struct emitter *t, struct rows *rows, bool floats, uint64_t bits) {
    if (rows->columns > 1 && rows->column == 0 && !visit_begin_list(t->v)) {
        return false;
    }
    uint32_t low = (uint32_t)bits;
    rows->column = (rows->column + 1) % rows->columns;
    return (floats ? visit_real32(t->v, f32_of(low)) : visit_natural(t->v, low)) &&
           (rows->columns == 1 || rows->column > 0 || visit_end_list(t->v));
}

static bool emit_run(struct emitter *t, struct rows *rows, bool floats, struct reel_bytes run) {
    struct cursor at = cursor_of(run);
    bool goes_on = true;
    while (goes_on && !cursor_done(&at)) {
        uint64_t bits = floats ? cursor_u32le(&at) : proto_varint(&at);
        goes_on = nanover_payload_legacy_walked(t, &at, run) && emit_number(t, rows, floats, bits);
    }
    return goes_on;
}

/* True when the array is a single run of floats, as all known writers emit it: it is passed on whole. */
static bool is_one_run(struct reel_bytes array, struct reel_bytes *run) {
    struct cursor at = cursor_of(array);
    struct proto_field f;
    bool one = proto_next(&at, &f) && proto_is(&f, LIST_ITEM, PROTO_BYTES) && cursor_done(&at) &&
               f.bytes.size % sizeof(float) == 0;
    *run = one ? f.bytes : bytes_of("", 0);
    return one || array.size == 0;
}

static bool emit_numbers(struct emitter *t, struct reel_bytes array, bool floats, unsigned columns) {
    struct reel_bytes run;
    if (floats && is_one_run(array, &run)) {
        return visit_numbers(t->v, REEL_F32, run, columns);
    }
    struct cursor at = cursor_of(array);
    struct proto_field f;
    struct rows rows = {.columns = columns};
    bool goes_on = visit_begin_list(t->v);
    while (goes_on && proto_next(&at, &f)) {
        if (proto_is(&f, LIST_ITEM, PROTO_BYTES)) {
            goes_on = emit_run(t, &rows, floats, f.bytes);
        } else if (proto_is(&f, LIST_ITEM, floats ? PROTO_32 : PROTO_VARINT)) {
            goes_on = emit_number(t, &rows, floats, f.value);
        }
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, array) && (rows.column == 0 || visit_end_list(t->v)) &&
           visit_end_list(t->v);
}

static bool emit_strings(struct emitter *t, struct reel_bytes array) {
    struct cursor at = cursor_of(array);
    struct proto_field f;
    bool goes_on = visit_begin_list(t->v);
    while (goes_on && proto_next(&at, &f)) {
        goes_on = !proto_is(&f, LIST_ITEM, PROTO_BYTES) || visit_text(t->v, f.bytes);
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, array) && visit_end_list(t->v);
}

static bool emit_array(struct emitter *t, const struct pair *pair) {
    struct cursor at = cursor_of(pair->value);
    struct proto_field f, array = {.number = ARRAY_STRING};
    array.bytes = bytes_of("", 0);
    while (proto_next(&at, &f)) {
        if (f.wire == PROTO_BYTES && f.number >= ARRAY_FLOAT && f.number <= ARRAY_STRING) {
            array = f;
        }
    }
    if (!nanover_payload_legacy_walked(t, &at, pair->value)) {
        return false;
    }
    return array.number == ARRAY_STRING
               ? emit_strings(t, array.bytes)
               : emit_numbers(t, array.bytes, array.number == ARRAY_FLOAT, nanover_packed_columns(pair->key));
}

/* ---- messages */

static bool emit_frame_value(struct emitter *t, const struct pair *pair) {
    struct proto_field value;
    if (!nanover_payload_legacy_read_value(t, pair->value, &value)) {
        return false;
    }
    double number = value.number == VALUE_NUMBER ? trunc(f64_of(value.value)) : NAN;
    return nanover_is_count(pair->key) && fabs(number) < 0x1p63 ? visit_integer(t->v, (int64_t)number)
                                                                : emit_value(t, &value, VALUE_DEPTH_MAX);
}

static bool emit_data(struct emitter *t, struct reel_bytes data) {
    struct cursor at = cursor_of(data);
    struct proto_field f;
    struct pair pair;
    bool goes_on = true;
    while (goes_on && proto_next(&at, &f)) {
        bool value = proto_is(&f, DATA_VALUES, PROTO_BYTES), array = proto_is(&f, DATA_ARRAYS, PROTO_BYTES);
        if (!value && !array) {
            continue;
        }
        goes_on = nanover_payload_legacy_read_pair(t, f.bytes, &pair) &&
                  (bytes_is(pair.key, NANOVER_FRAME_INDEX) || /* the message's own index is used instead */
                   (visit_key(t->v, pair.key) && (value ? emit_frame_value(t, &pair) : emit_array(t, &pair))));
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, data);
}

static bool emit_frame(struct emitter *t) {
    struct cursor at = cursor_of(t->payload);
    struct proto_field f;
    uint32_t index = 0;
    while (proto_next(&at, &f)) {
        index = proto_is(&f, FRAME_INDEX, PROTO_VARINT) ? (uint32_t)f.value : index;
    }
    bool goes_on = nanover_payload_legacy_walked(t, &at, t->payload) && visit_begin_map(t->v) &&
                   visit_key_text(t->v, "frame") && visit_begin_map(t->v) &&
                   visit_key_text(t->v, NANOVER_FRAME_INDEX) && visit_natural(t->v, index);
    for (at = cursor_of(t->payload); goes_on && proto_next(&at, &f);) {
        goes_on = !proto_is(&f, FRAME_DATA, PROTO_BYTES) || emit_data(t, f.bytes);
    }
    return goes_on && visit_end_map(t->v) && visit_end_map(t->v);
}

static bool emit_bare(struct emitter *t) {
    return visit_begin_map(t->v) && visit_key_text(t->v, "frame") && visit_begin_map(t->v) &&
           emit_data(t, t->payload) && visit_end_map(t->v) && visit_end_map(t->v);
}

/* Emits either the removals or the other changes. */
static bool emit_changes(struct emitter *t, struct reel_bytes changed, bool removals) {
    struct cursor at = cursor_of(changed);
    struct proto_field f, value;
    struct pair pair;
    bool goes_on = true;
    while (goes_on && proto_next(&at, &f)) {
        if (!proto_is(&f, MAP_ENTRY, PROTO_BYTES)) {
            continue;
        }
        if (!nanover_payload_legacy_read_pair(t, f.bytes, &pair) ||
            !nanover_payload_legacy_read_value(t, pair.value, &value)) {
            return false;
        }
        if (is_null(&value) == removals) {
            goes_on = removals ? visit_text(t->v, pair.key)
                               : visit_key(t->v, pair.key) && emit_value(t, &value, VALUE_DEPTH_MAX);
        }
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, changed);
}
static bool emit_all_changes(struct emitter *t, bool removals) {
    struct cursor at = cursor_of(t->payload);
    struct proto_field f;
    bool goes_on = true;
    while (goes_on && proto_next(&at, &f)) {
        goes_on = !proto_is(&f, STATE_CHANGED, PROTO_BYTES) || emit_changes(t, f.bytes, removals);
    }
    return goes_on && nanover_payload_legacy_walked(t, &at, t->payload);
}

static bool emit_state(struct emitter *t) {
    return visit_begin_map(t->v) && visit_key_text(t->v, "state") && visit_begin_map(t->v) &&
           visit_key_text(t->v, "updates") && visit_begin_map(t->v) && emit_all_changes(t, false) &&
           visit_end_map(t->v) && visit_key_text(t->v, "removals") && visit_begin_list(t->v) &&
           emit_all_changes(t, true) && visit_end_list(t->v) && visit_end_map(t->v) && visit_end_map(t->v);
}

/* ---- the encoding */

static const enum legacy_kind kinds[] = {
    [LEGACY_FRAME] = LEGACY_FRAME, [LEGACY_STATE] = LEGACY_STATE, [LEGACY_BARE] = LEGACY_BARE};

static bool legacy_open(const struct reel_channel *channel, void **state, struct reel_error *err) {
    enum legacy_kind kind = legacy_channel_kind(channel);
    *state = (void *)&kinds[kind];
    return kind != LEGACY_NONE ||
           reel_fail(err, REEL_UNSUPPORTED, "\"%.64s\" is not a message of NanoVer's older format", channel->type);
}
static void legacy_close(void *state) {
    (void)state;
}

static bool legacy_decode(const void *state, struct reel_bytes payload, struct reel_visitor *v,
                          struct reel_error *err) {
    struct emitter t = {.payload = payload, .v = v, .err = err};
    enum legacy_kind kind = *(const enum legacy_kind *)state;
    return kind == LEGACY_FRAME ? emit_frame(&t) : kind == LEGACY_BARE ? emit_bare(&t) : emit_state(&t);
}

static bool legacy_fields(const void *state, reel_field_visit visit, void *context) {
    return *(const enum legacy_kind *)state == LEGACY_STATE ? nanover_state_fields(visit, context)
                                                            : nanover_frame_fields(visit, context);
}

const struct reel_encoding reel_encoding_nanover_legacy = {
    .name = NANOVER_LEGACY_ENCODING,
    .open = legacy_open,
    .close = legacy_close,
    .decode = legacy_decode,
    .fields = legacy_fields,
    .state_at = nanover_state_at,
    .version = 1,
};
