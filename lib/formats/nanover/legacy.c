/* Converts one message of the older NanoVer form to MessagePack, with the meaning that the official converter gives it.
 * Protobuf's rules apply (the last of equal keys and of alternatives, unknown fields are skipped); each byte is visited
 * a constant number of times and the nesting depth is limited. */
#include "formats/nanover/legacy.h"
#include "base/bytes.h"
#include "syntax/protobuf.h"

#include <math.h>
#include <msgpack.h>

/* Maximum depth of nested values; outside of them are the maps of the message, the frame or state, and the updates. */
enum { VALUE_DEPTH_MAX = REEL_DEPTH_MAX - 4 };

struct legacy_pair {
    struct reel_bytes key, value;
    uint32_t position; /* position in the message */
    bool array;        /* value is a ValueArray */
};

enum legacy_kind legacy_channel_kind(const struct reel_channel *channel) {
    return strcmp(channel->encoding, NANOVER_LEGACY_ENCODING) != 0 ? LEGACY_NONE
           : strcmp(channel->type, "GetFrameResponse") == 0        ? LEGACY_FRAME
           : strcmp(channel->type, "StateUpdate") == 0             ? LEGACY_STATE
           : strcmp(channel->type, "FrameData") == 0               ? LEGACY_BARE
                                                                   : LEGACY_NONE;
}

void legacy_converter_done(struct legacy_converter *c) {
    free(c->out.data);
    free(c->pairs);
    *c = (struct legacy_converter){.n_pairs = 0};
}

static bool bad(struct legacy_converter *c, const char *why) {
    c->why = c->why ? c->why : why;
    return false;
}
static bool good(const struct legacy_converter *c) {
    return !c->why && !c->no_memory;
}

static int nanover_legacy_put(void *converter, const char *data, size_t size) {
    grow_put(&((struct legacy_converter *)converter)->out, data, size);
    return 0;
}
static msgpack_packer packer(struct legacy_converter *c) {
    msgpack_packer pk;
    msgpack_packer_init(&pk, c, nanover_legacy_put);
    return pk;
}
static void nanover_put_text(struct legacy_converter *c, struct reel_bytes text) {
    msgpack_packer pk = packer(c);
    msgpack_pack_str_with_body(&pk, text.data, text.size);
}
static void put_map(struct legacy_converter *c, size_t pairs) {
    msgpack_packer pk = packer(c);
    msgpack_pack_map(&pk, pairs);
}
static void put_array(struct legacy_converter *c, size_t items) {
    msgpack_packer pk = packer(c);
    msgpack_pack_array(&pk, items);
}

/* Ends a walk over fields. */
static bool nanover_legacy_walked(struct legacy_converter *c, const struct cursor *at) {
    return !at->failed || bad(c, "is not a valid protobuf message: a field does not fit");
}

/* --- maps --- */

static void nanover_legacy_read_pair(struct legacy_converter *c, struct reel_bytes entry, struct legacy_pair *pair) {
    struct cursor at = cursor_of(entry);
    struct proto_field f;
    pair->key = pair->value = bytes_of("", 0);
    while (proto_next(&at, &f)) {
        if (proto_is(&f, MAP_KEY, PROTO_BYTES)) {
            pair->key = f.bytes;
        } else if (proto_is(&f, MAP_VALUE, PROTO_BYTES)) {
            pair->value = f.bytes;
        } else {
            c->unknown = true;
        }
    }
    nanover_legacy_walked(c, &at);
}

static bool nanover_add_pair(struct legacy_converter *c, struct reel_bytes entry, bool array) {
    if (c->n_pairs == UINT32_MAX || !GROW_ARRAY(c->pairs, c->n_pairs, c->cap_pairs)) {
        c->no_memory = true;
        return false;
    }
    struct legacy_pair *pair = &c->pairs[c->n_pairs];
    *pair = (struct legacy_pair){.position = (uint32_t)c->n_pairs++, .array = array};
    nanover_legacy_read_pair(c, entry, pair);
    return good(c);
}

static int compare_pairs(const void *a, const void *b) {
    const struct legacy_pair *x = a, *y = b;
    int order = bytes_compare(x->key, y->key);
    return order != 0 ? order : (x->position > y->position) - (x->position < y->position);
}

static int nanover_legacy_compare_positions(const void *a, const void *b) {
    const struct legacy_pair *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Sorts the pairs from `base` on and keeps the last of equal keys, in the order of the message. */
static void drop_duplicates(struct legacy_converter *c, size_t base) {
    size_t n = c->n_pairs - base, kept = 0;
    if (n < 2) {
        return;
    }
    struct legacy_pair *pairs = c->pairs + base;
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || !bytes_equal(pairs[i].key, pairs[i + 1].key)) {
            pairs[kept++] = pairs[i];
        }
    }
    c->n_pairs = base + kept;
    qsort(pairs, kept, sizeof *pairs, nanover_legacy_compare_positions);
}

/* --- values --- */

struct value {     /* of a google.protobuf.Value */
    uint32_t kind; /* 0: no field was set, which means null */
    uint64_t bits;
    struct reel_bytes bytes;
};

static bool is_value_wire(uint32_t kind, enum proto_wire wire) {
    switch (kind) {
    case VALUE_NULL:
    case VALUE_BOOL:
        return wire == PROTO_VARINT;
    case VALUE_NUMBER:
        return wire == PROTO_64;
    case VALUE_STRING:
    case VALUE_STRUCT:
    case VALUE_LIST:
        return wire == PROTO_BYTES;
    default:
        return false;
    }
}

static struct value nanover_legacy_read_value(struct legacy_converter *c, struct reel_bytes bytes) {
    struct value v = {.kind = 0};
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    while (proto_next(&at, &f)) {
        if (is_value_wire(f.number, f.wire)) {
            v = (struct value){.kind = f.number, .bits = f.value, .bytes = f.bytes};
        } else {
            c->unknown = true;
        }
    }
    nanover_legacy_walked(c, &at);
    return v;
}
static bool is_null(const struct value *v) {
    return v->kind == 0 || v->kind == VALUE_NULL;
}

static void nanover_put_value(struct legacy_converter *c, const struct value *v, unsigned depth);

static void put_struct(struct legacy_converter *c, struct reel_bytes bytes, unsigned depth) {
    size_t base = c->n_pairs;
    struct cursor at = cursor_of(bytes);
    struct proto_field f;
    while (good(c) && proto_next(&at, &f)) {
        if (proto_is(&f, MAP_ENTRY, PROTO_BYTES)) {
            nanover_add_pair(c, f.bytes, false);
        } else {
            c->unknown = true;
        }
    }
    nanover_legacy_walked(c, &at);
    drop_duplicates(c, base);
    put_map(c, c->n_pairs - base);
    for (size_t i = base, end = c->n_pairs; i < end && good(c); i++) {
        struct value v = nanover_legacy_read_value(c, c->pairs[i].value);
        nanover_put_text(c, c->pairs[i].key);
        nanover_put_value(c, &v, depth);
    }
    c->n_pairs = base;
}

static size_t count_items(struct legacy_converter *c, struct reel_bytes list) {
    struct cursor at = cursor_of(list);
    struct proto_field f;
    size_t n = 0;
    while (proto_next(&at, &f)) {
        n += proto_is(&f, LIST_ITEM, PROTO_BYTES);
        c->unknown |= !proto_is(&f, LIST_ITEM, PROTO_BYTES);
    }
    nanover_legacy_walked(c, &at);
    return n;
}

static void nanover_put_list(struct legacy_converter *c, struct reel_bytes list, unsigned depth) {
    put_array(c, count_items(c, list));
    struct cursor at = cursor_of(list);
    struct proto_field f;
    while (good(c) && proto_next(&at, &f)) {
        if (proto_is(&f, LIST_ITEM, PROTO_BYTES)) {
            struct value v = nanover_legacy_read_value(c, f.bytes);
            nanover_put_value(c, &v, depth);
        }
    }
}

static void nanover_put_value(struct legacy_converter *c, const struct value *v, unsigned depth) {
    msgpack_packer pk = packer(c);
    if (depth == 0) {
        bad(c, "is nested too deeply");
        return;
    }
    switch (v->kind) {
    case VALUE_NUMBER:
        msgpack_pack_double(&pk, f64_of(v->bits));
        break;
    case VALUE_STRING:
        nanover_put_text(c, v->bytes);
        break;
    case VALUE_BOOL:
        v->bits != 0 ? msgpack_pack_true(&pk) : msgpack_pack_false(&pk);
        break;
    case VALUE_STRUCT:
        put_struct(c, v->bytes, depth - 1);
        break;
    case VALUE_LIST:
        nanover_put_list(c, v->bytes, depth - 1);
        break;
    default:
        msgpack_pack_nil(&pk);
    }
}

/* --- arrays --- */

struct numbers { /* the elements of a FloatArray or IndexArray, packed or not */
    struct cursor fields, run;
    bool floats, unknown;
};
static struct numbers numbers_of(struct reel_bytes bytes, bool floats) {
    return (struct numbers){.fields = cursor_of(bytes), .run = cursor_of(bytes_of("", 0)), .floats = floats};
}

/* Reads every float and uint32 as a double. False at the end, and for invalid bytes: then n->fields.failed. */
static bool numbers_next(struct numbers *n, double *out) {
    struct proto_field f;
    while (cursor_done(&n->run)) {
        if (!proto_next(&n->fields, &f)) {
            return false;
        }
        if (proto_is(&f, LIST_ITEM, n->floats ? PROTO_32 : PROTO_VARINT)) {
            *out = n->floats ? (double)f32_of((uint32_t)f.value) : (double)(uint32_t)f.value;
            return true;
        }
        if (proto_is(&f, LIST_ITEM, PROTO_BYTES)) {
            n->run = cursor_of(f.bytes);
        } else {
            n->unknown = true;
        }
    }
    uint64_t bits = n->floats ? cursor_u32le(&n->run) : proto_varint(&n->run);
    *out = n->floats ? (double)f32_of((uint32_t)bits) : (double)(uint32_t)bits;
    n->fields.failed |= n->run.failed;
    return !n->run.failed;
}

/* Counts them, and checks that each fits an unsigned integer up to `most` (fractions are truncated, as in the official
 * converter). */
static size_t count_numbers(struct legacy_converter *c, struct reel_bytes array, bool floats, double most, bool *fits) {
    struct numbers n = numbers_of(array, floats);
    size_t count = 0;
    double number;
    *fits = true;
    while (numbers_next(&n, &number)) {
        count++;
        *fits = *fits && number > -1 && number < most + 1;
    }
    nanover_legacy_walked(c, &n.fields);
    c->unknown |= n.unknown;
    return count;
}

static void put_numbers(struct legacy_converter *c, struct reel_bytes array, bool floats, size_t count) {
    struct numbers n = numbers_of(array, floats);
    msgpack_packer pk = packer(c);
    double number;
    msgpack_pack_array(&pk, count);
    while (numbers_next(&n, &number)) {
        floats ? msgpack_pack_double(&pk, number) : msgpack_pack_uint32(&pk, (uint32_t)number);
    }
}

static void put_packed(struct legacy_converter *c, struct reel_bytes array, bool floats, size_t count,
                       enum nanover_packed type) {
    struct numbers n = numbers_of(array, floats);
    msgpack_packer pk = packer(c);
    size_t element = type == NANOVER_U8 ? 1 : 4;
    msgpack_pack_bin(&pk, count * element);
    uint8_t *at = grow_take(&c->out, count * element);
    double number;
    for (; at && numbers_next(&n, &number); at += element) {
        if (type == NANOVER_U8) {
            *at = (uint8_t)number;
        } else if (type == NANOVER_U32) {
            store_u32le(at, (uint32_t)number);
        } else {
            store_u32le(at, f32_bits((float)number));
        }
    }
}

static void put_strings(struct legacy_converter *c, struct reel_bytes array) {
    put_array(c, count_items(c, array));
    struct cursor at = cursor_of(array);
    struct proto_field f;
    while (proto_next(&at, &f)) {
        if (proto_is(&f, LIST_ITEM, PROTO_BYTES)) {
            nanover_put_text(c, f.bytes);
        }
    }
}

/* When a number does not fit the packed type of its key, the array becomes a list: nothing is lost, and readers accept
 * both. */
static void put_value_array(struct legacy_converter *c, struct reel_bytes key, struct reel_bytes bytes) {
    struct cursor at = cursor_of(bytes);
    struct proto_field f, array = {.number = 0};
    while (proto_next(&at, &f)) {
        if (f.wire == PROTO_BYTES && f.number >= ARRAY_FLOAT && f.number <= ARRAY_STRING) {
            array = f;
        } else {
            c->unknown = true;
        }
    }
    enum nanover_packed type = nanover_packed_key(key);
    if (!nanover_legacy_walked(c, &at) || array.number == ARRAY_STRING) {
        put_strings(c, array.bytes);
        return;
    }
    bool floats = array.number == ARRAY_FLOAT, fits;
    size_t count = count_numbers(c, array.bytes, floats, type == NANOVER_U8 ? UINT8_MAX : UINT32_MAX, &fits);
    if (type == NANOVER_F32 || (type != NANOVER_UNPACKED && fits)) {
        put_packed(c, array.bytes, floats, count, type);
    } else {
        put_numbers(c, array.bytes, floats, count);
    }
}

/* --- messages --- */

/* A frame may come in several pieces, which are merged. */
static void add_frame_pairs(struct legacy_converter *c, struct reel_bytes data) {
    struct cursor at = cursor_of(data);
    struct proto_field f;
    while (good(c) && proto_next(&at, &f)) {
        if (proto_is(&f, DATA_VALUES, PROTO_BYTES) || proto_is(&f, DATA_ARRAYS, PROTO_BYTES)) {
            nanover_add_pair(c, f.bytes, f.number == DATA_ARRAYS);
        } else {
            c->unknown = true;
        }
    }
    nanover_legacy_walked(c, &at);
}

static void put_frame_value(struct legacy_converter *c, const struct legacy_pair *pair) {
    nanover_put_text(c, pair->key);
    if (pair->array) {
        put_value_array(c, pair->key, pair->value);
        return;
    }
    struct value v = nanover_legacy_read_value(c, pair->value);
    double number = v.kind == VALUE_NUMBER ? trunc(f64_of(v.bits)) : NAN;
    if (nanover_is_count(pair->key) && fabs(number) < 0x1p63) {
        msgpack_packer pk = packer(c);
        msgpack_pack_int64(&pk, (int64_t)number);
    } else {
        nanover_put_value(c, &v, VALUE_DEPTH_MAX);
    }
}

/* Collects the pairs of a GetFrameResponse; returns its index. */
static uint32_t add_response(struct legacy_converter *c, struct reel_bytes message) {
    struct cursor at = cursor_of(message);
    struct proto_field f;
    uint32_t index = 0;
    while (good(c) && proto_next(&at, &f)) {
        if (proto_is(&f, FRAME_INDEX, PROTO_VARINT)) {
            index = (uint32_t)f.value;
        } else if (proto_is(&f, FRAME_DATA, PROTO_BYTES)) {
            add_frame_pairs(c, f.bytes);
        } else {
            c->unknown = true;
        }
    }
    nanover_legacy_walked(c, &at);
    return index;
}

static void convert_frame(struct legacy_converter *c, struct reel_bytes message, bool bare) {
    uint32_t index = bare ? (add_frame_pairs(c, message), 0) : add_response(c, message);
    drop_duplicates(c, 0);
    size_t own = 0; /* the message's frame.index overrides one among the values */
    for (size_t i = 0; i < c->n_pairs; i++) {
        own += bytes_is(c->pairs[i].key, NANOVER_FRAME_INDEX);
    }
    put_map(c, 1);
    nanover_put_text(c, bytes_text("frame"));
    put_map(c, c->n_pairs - own + !bare);
    if (!bare) {
        nanover_put_text(c, bytes_text(NANOVER_FRAME_INDEX));
        msgpack_packer pk = packer(c);
        msgpack_pack_uint32(&pk, index);
    }
    for (size_t i = 0, end = c->n_pairs; i < end && good(c); i++) {
        struct legacy_pair pair = c->pairs[i]; /* nested maps may move them */
        if (!bytes_is(pair.key, NANOVER_FRAME_INDEX)) {
            put_frame_value(c, &pair);
        }
    }
}

static void add_state_pairs(struct legacy_converter *c, struct reel_bytes message) {
    struct cursor at = cursor_of(message), fields;
    struct proto_field f, entry;
    while (good(c) && proto_next(&at, &f)) {
        if (!proto_is(&f, STATE_CHANGED, PROTO_BYTES)) {
            c->unknown = true;
            continue;
        }
        for (fields = cursor_of(f.bytes); good(c) && proto_next(&fields, &entry);) {
            if (proto_is(&entry, MAP_ENTRY, PROTO_BYTES)) {
                nanover_add_pair(c, entry.bytes, false);
            } else {
                c->unknown = true;
            }
        }
        nanover_legacy_walked(c, &fields);
    }
    nanover_legacy_walked(c, &at);
}

static void convert_state(struct legacy_converter *c, struct reel_bytes message) {
    add_state_pairs(c, message);
    drop_duplicates(c, 0);
    size_t removed = 0, n = c->n_pairs;
    for (size_t i = 0; i < n; i++) {
        struct value v = nanover_legacy_read_value(c, c->pairs[i].value);
        removed += is_null(&v);
    }
    put_map(c, 1);
    nanover_put_text(c, bytes_text("state"));
    put_map(c, 2);
    nanover_put_text(c, bytes_text("updates"));
    put_map(c, n - removed);
    for (size_t i = 0; i < n && good(c); i++) {
        struct value v = nanover_legacy_read_value(c, c->pairs[i].value);
        if (!is_null(&v)) {
            nanover_put_text(c, c->pairs[i].key);
            nanover_put_value(c, &v, VALUE_DEPTH_MAX);
        }
    }
    nanover_put_text(c, bytes_text("removals"));
    put_array(c, removed);
    for (size_t i = 0; i < n && good(c); i++) {
        struct value v = nanover_legacy_read_value(c, c->pairs[i].value);
        if (is_null(&v)) {
            nanover_put_text(c, c->pairs[i].key);
        }
    }
}

bool legacy_convert(struct legacy_converter *c, enum legacy_kind kind, struct reel_bytes message,
                    struct reel_bytes *out, struct reel_error *err) {
    c->out.size = 0;
    c->n_pairs = 0;
    c->why = NULL;
    c->unknown = c->no_memory = false;
    kind == LEGACY_STATE ? convert_state(c, message) : convert_frame(c, message, kind == LEGACY_BARE);
    if (c->no_memory || c->out.failed) {
        c->out.failed = false;
        return reel_fail_memory(err);
    }
    if (c->why) {
        return reel_fail(err, REEL_DAMAGED, "%s", c->why);
    }
    *out = bytes_of(c->out.data, c->out.size);
    return true;
}
