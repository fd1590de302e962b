/* See json_out.h. The output is valid JSON whatever the values are. */
#include "syntax/json_out.h"

#include <math.h>

#include "base/bytes.h"
#include "base/hex.h"
#include "base/shortest_number.h"
#include "syntax/base64.h"
#include "syntax/utf8.h"

#define EXACT_MAX (UINT64_C(1) << 53)

/* ---- single values */

static void json_out_put_text(struct grow *to, const char *text) {
    grow_put(to, text, strlen(text));
}

/* A byte that must be escaped in a JSON string: a control character, a quote, a backslash, or one that is not UTF-8
 * (shown as \xNN, as in the model). */
static void json_out_put_escaped(struct grow *to, uint8_t c) {
    char hex[2];
    hex_byte(c, hex);
    if (c == '"' || c == '\\') {
        grow_put(to, (char[]){'\\', (char)c}, 2);
    } else if (c < 0x20) {
        grow_put(to, (char[]){'\\', 'u', '0', '0', hex[0], hex[1]}, 6);
    } else {
        grow_put(to, (char[]){'\\', '\\', 'x', hex[0], hex[1]}, 5);
    }
}

/* fast path: almost no text needs escapes */
static bool json_out_is_plain(struct reel_bytes text) {
    bool plain = true;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        plain &= c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
    }
    return plain;
}

void json_put_string(struct grow *to, struct reel_bytes text) {
    uint8_t *room = json_out_is_plain(text) ? grow_take(to, text.size + 2) : NULL;
    if (room) {
        room[0] = room[text.size + 1] = '"';
        if (text.size > 0) {
            memcpy(room + 1, text.data, text.size);
        }
        return;
    }
    grow_put(to, "\"", 1);
    for (size_t at = 0, plain = 0; at <= text.size;) {
        uint8_t c = at < text.size ? text.data[at] : 0;
        size_t length = at == text.size ? 0 : c < 0x80 ? 1 : utf8_length(text.data + at, text.size - at);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\') {
            at += length;
            continue;
        }
        if (at > plain) {
            grow_put(to, text.data + plain, at - plain);
        }
        if (at < text.size) {
            json_out_put_escaped(to, c);
        }
        plain = ++at;
    }
    grow_put(to, "\"", 1);
}

static const char *not_finite(double value) {
    return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

void reel_number_text(double value, char out[REEL_NUMBER_TEXT]) {
    if (isfinite(value)) {
        out[shortest_double(value, out)] = '\0'; /* at most 24 characters */
    } else {
        strcpy(out, not_finite(value));
    }
}

void reel_number_text32(float value, char out[REEL_NUMBER_TEXT]) {
    if (isfinite(value)) {
        out[shortest_float(value, out)] = '\0';
    } else {
        strcpy(out, not_finite((double)value));
    }
}

/* These write into NUMBER_ROOM bytes and return what they wrote, which is less. */

enum { NUMBER_ROOM = SHORTEST_ROOM };

static size_t not_finite_text(double value, char *out) {
    const char *name = not_finite(value);
    size_t size = strlen(name);
    out[0] = out[size + 1] = '"';
    memcpy(out + 1, name, size);
    return size + 2;
}
static inline size_t real_text(double value, char *out) {
    return isfinite(value) ? shortest_double(value, out) : not_finite_text(value, out);
}
static inline size_t real32_text(float value, char *out) {
    return isfinite(value) ? shortest_float(value, out) : not_finite_text((double)value, out);
}

static size_t whole_text(bool negative, uint64_t value, char *out) {
    char *at = out;
    bool quoted = value > EXACT_MAX;
    *at = '"';
    at += quoted;
    *at = '-';
    at += negative;
    at += whole_digits(value, at);
    *at = '"';
    at += quoted;
    return (size_t)(at - out);
}
static inline size_t integer_text(int64_t value, char *out) {
    return whole_text(value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, out);
}

void json_put_real(struct grow *to, double value) {
    uint8_t *room = grow_room(to, NUMBER_ROOM);
    to->size += room ? real_text(value, (char *)room) : 0;
}
void json_put_real32(struct grow *to, float value) {
    uint8_t *room = grow_room(to, NUMBER_ROOM);
    to->size += room ? real32_text(value, (char *)room) : 0;
}
void json_put_integer(struct grow *to, int64_t value) {
    uint8_t *room = grow_room(to, NUMBER_ROOM);
    to->size += room ? integer_text(value, (char *)room) : 0;
}
void json_put_natural(struct grow *to, uint64_t value) {
    uint8_t *room = grow_room(to, NUMBER_ROOM);
    to->size += room ? whole_text(false, value, (char *)room) : 0;
}

void json_put_base64(struct grow *to, struct reel_bytes data) {
    char *out = (char *)grow_take(to, BASE64_TEXT(data.size));
    if (out) {
        base64_write(data, out);
    }
}

/* ---- the visitor */

static struct json_out *json_out_self(struct reel_visitor *v) {
    return (struct json_out *)v;
}

static bool json_out_goes_on(struct json_out *j) {
    j->too_long = j->too_long || j->to->size > j->max;
    return !j->too_long && !j->to->failed;
}

/* Writes the comma before a value or key. */
static void part(struct json_out *j) {
    if (j->after_key) {
        j->after_key = false;
    } else if (j->follows[j->depth]) {
        grow_u8(j->to, ',');
    }
    j->follows[j->depth] = true;
}

static bool json_out_begin(struct reel_visitor *v, char bracket) {
    struct json_out *j = json_out_self(v);
    part(j);
    grow_u8(j->to, (uint8_t)bracket);
    if (j->depth == JSON_DEPTH_MAX) {
        j->too_long = true;
        return false;
    }
    j->follows[++j->depth] = false;
    return json_out_goes_on(j);
}
static bool json_out_end(struct reel_visitor *v, char bracket) {
    struct json_out *j = json_out_self(v);
    j->depth -= j->depth > 0;
    grow_u8(j->to, (uint8_t)bracket);
    return json_out_goes_on(j);
}
static bool json_out_begin_map(struct reel_visitor *v) {
    return json_out_begin(v, '{');
}
static bool json_out_end_map(struct reel_visitor *v) {
    return json_out_end(v, '}');
}
static bool json_out_begin_list(struct reel_visitor *v) {
    return json_out_begin(v, '[');
}
static bool end_list(struct reel_visitor *v) {
    return json_out_end(v, ']');
}

static bool json_out_key(struct reel_visitor *v, struct reel_bytes name) {
    struct json_out *j = json_out_self(v);
    part(j);
    json_put_string(j->to, name);
    grow_u8(j->to, ':');
    j->after_key = true;
    return json_out_goes_on(j);
}

static bool json_out_null(struct reel_visitor *v) {
    part(json_out_self(v));
    json_out_put_text(json_out_self(v)->to, "null");
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_boolean(struct reel_visitor *v, bool value) {
    part(json_out_self(v));
    json_out_put_text(json_out_self(v)->to, value ? "true" : "false");
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_integer(struct reel_visitor *v, int64_t value) {
    part(json_out_self(v));
    json_put_integer(json_out_self(v)->to, value);
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_natural(struct reel_visitor *v, uint64_t value) {
    part(json_out_self(v));
    json_put_natural(json_out_self(v)->to, value);
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_real(struct reel_visitor *v, double value) {
    part(json_out_self(v));
    json_put_real(json_out_self(v)->to, value);
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_real32(struct reel_visitor *v, float value) {
    part(json_out_self(v));
    json_put_real32(json_out_self(v)->to, value);
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_text(struct reel_visitor *v, struct reel_bytes value) {
    part(json_out_self(v));
    json_put_string(json_out_self(v)->to, value);
    return json_out_goes_on(json_out_self(v));
}
static bool json_out_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct json_out *j = json_out_self(v);
    part(j);
    json_out_put_text(j->to, "{\"$base64\":\"");
    json_put_base64(j->to, value);
    json_out_put_text(j->to, "\"}");
    return json_out_goes_on(j);
}

/* Flat arrays of these two types are most of what large messages hold: written without a call per value. */
static bool put_reals(struct json_out *j, enum reel_number type, struct reel_bytes data) {
    enum { BLOCK = 64 };
    struct grow *to = j->to;
    size_t size = reel_number_size(type), n = data.size / size;
    grow_u8(to, '[');
    for (size_t from = 0; from < n && json_out_goes_on(j); from += BLOCK) {
        uint8_t *room = grow_room(to, BLOCK * (NUMBER_ROOM + 1)), *out = room;
        for (size_t i = from; room && i < n && i < from + BLOCK; i++) {
            const uint8_t *at = data.data + i * size;
            *out = ',';
            out += i > 0;
            out += type == REEL_F32 ? real32_text(load_f32le(at), (char *)out) : real_text(load_f64le(at), (char *)out);
        }
        to->size += (size_t)(out - room);
    }
    grow_u8(to, ']');
    return json_out_goes_on(j);
}
static bool json_out_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    struct json_out *j = json_out_self(v);
    if (columns > 1 || (type != REEL_F32 && type != REEL_F64)) {
        return reel_numbers_expand(v, type, data, columns);
    }
    part(j);
    return put_reals(j, type, data);
}

/* ---- members of a fixed size, whose keys are text already */

static size_t number_text(enum reel_number type, const uint8_t *at, char *out) {
    switch (type) {
    case REEL_BOOL:
        memcpy(out, *at ? "true" : "false", 5);
        return *at ? 4 : 5;
    case REEL_I8:
        return integer_text((int8_t)*at, out);
    case REEL_U8:
        return whole_text(false, *at, out);
    case REEL_I16:
        return integer_text((int16_t)load_u16le(at), out);
    case REEL_U16:
        return whole_text(false, load_u16le(at), out);
    case REEL_I32:
        return integer_text((int32_t)load_u32le(at), out);
    case REEL_U32:
        return whole_text(false, load_u32le(at), out);
    case REEL_I64:
        return integer_text((int64_t)load_u64le(at), out);
    case REEL_U64:
        return whole_text(false, load_u64le(at), out);
    case REEL_F32:
        return real32_text(load_f32le(at), out);
    case REEL_F64:
        return real_text(load_f64le(at), out);
    }
    return 0;
}

/* Writes the key, with the comma before it if `comma`; room for it and for a number stays. NULL: no memory. */
static uint8_t *put_member_key(struct grow *to, const struct reel_member *m, bool comma) {
    enum { STEP = 16 };
    const uint8_t *key = m->json.data + !comma;
    size_t size = m->json.size - !comma;
    uint8_t *room = grow_room(to, m->json.size + STEP + NUMBER_ROOM);
    for (size_t at = 0; room && at < size; at += STEP) {
        memcpy(room + at, key + at, STEP);
    }
    to->size += room ? size : 0;
    return room ? room + size : NULL;
}

/* As reel_stamp_expand(). */
static void put_stamp(struct grow *to, const struct reel_stamp *value) {
    static const char sec[] = "{\"sec\":";
    size_t name = strlen(value->nanoseconds_name);
    uint8_t *room = grow_room(to, sizeof sec + name + 2 * NUMBER_ROOM + sizeof ",\"\":}"), *out = room;
    if (room) {
        memcpy(out, sec, sizeof sec - 1);
        out += sizeof sec - 1;
        out += integer_text(value->seconds, (char *)out);
        memcpy(out, ",\"", 2);
        memcpy(out + 2, value->nanoseconds_name, name);
        memcpy(out + 2 + name, "\":", 2);
        out += name + 4;
        out += integer_text(value->nanoseconds, (char *)out);
        *out++ = '}';
        to->size += (size_t)(out - room);
    }
}

static bool json_out_members(struct reel_visitor *v, const struct reel_members *members, const uint8_t *at) {
    struct json_out *j = json_out_self(v);
    bool comma = j->follows[j->depth];
    for (const struct reel_member *m = members->items, *end = m + members->n; m < end; m++) {
        uint8_t *room = m->kind == REEL_MEMBER_END ? NULL : put_member_key(j->to, m, comma);
        const struct reel_bytes array = bytes_of(at + m->offset, (size_t)m->count * reel_number_size(m->number));
        comma = true;
        if (m->kind == REEL_MEMBER_NUMBER) {
            j->to->size += room ? number_text(m->number, array.data, (char *)room) : 0;
        } else if (m->kind == REEL_MEMBER_TIME || m->kind == REEL_MEMBER_DURATION) {
            const struct reel_stamp stamp = reel_member_stamp(members, m, at);
            put_stamp(j->to, &stamp);
        } else if (m->kind == REEL_MEMBER_MAP) {
            grow_u8(j->to, '{');
            comma = false;
        } else if (m->kind == REEL_MEMBER_END) {
            grow_u8(j->to, '}');
        } else if (m->kind == REEL_MEMBER_NUMBERS && (m->number == REEL_F32 || m->number == REEL_F64)) {
            if (!put_reals(j, m->number, array)) {
                return false;
            }
        } else {
            j->after_key = true;
            if (!reel_member_visit(v, members, m, at)) {
                return false;
            }
        }
    }
    j->follows[j->depth] = comma;
    return json_out_goes_on(j);
}

static const struct reel_visitor_ops ops = {
    .begin_map = json_out_begin_map,
    .key = json_out_key,
    .end_map = json_out_end_map,
    .begin_list = json_out_begin_list,
    .end_list = end_list,
    .null = json_out_null,
    .boolean = json_out_boolean,
    .integer = json_out_integer,
    .natural = json_out_natural,
    .real = json_out_real,
    .real32 = json_out_real32,
    .text = json_out_text,
    .binary = json_out_binary,
    .numbers = json_out_numbers,
    .members = json_out_members,
};

struct json_out json_out_to(struct grow *to, size_t max) {
    return (struct json_out){.visitor.ops = &ops, .to = to, .max = max};
}
