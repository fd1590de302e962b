/* Formats: the fields of each, its size, and its definition in the language of ROS 1. The bytes of a D message are
 * those of a ROS 1 message: little-endian values back to back, arrays of fixed length. */
#include "formats/ulog/container.h"

#include "base/bytes.h"
#include "base/cleanup.h"

#include <stdio.h>

static const struct basic {
    const char *name, *ros;
    uint32_t size;
} basics[] = {
    {"uint64_t", "uint64", 8}, {"float", "float32", 4}, {"uint8_t", "uint8", 1},   {"bool", "bool", 1},
    {"uint32_t", "uint32", 4}, {"int32_t", "int32", 4}, {"uint16_t", "uint16", 2}, {"int16_t", "int16", 2},
    {"int8_t", "int8", 1},     {"int64_t", "int64", 8}, {"double", "float64", 8},  {"char", "char", 1},
};

static const struct basic *basic_of(struct reel_bytes type) {
    for (size_t i = 0; i < sizeof basics / sizeof *basics; i++) {
        if (bytes_is(type, basics[i].name)) {
            return &basics[i];
        }
    }
    return NULL;
}

uint32_t ulog_type_size(struct reel_bytes type) {
    const struct basic *b = basic_of(type);
    return b ? b->size : 0;
}

/* ---- reading */

/* The specification allows letters, digits, _, - and /; others are read, too. */
static bool is_name(struct reel_bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c <= ' ' || c > '~' || c == ':' || c == ';') {
            return false;
        }
    }
    return text.size > 0;
}

/* Splits at the first `c`; false: there is none. */
static bool split(struct reel_bytes text, char c, struct reel_bytes *before, struct reel_bytes *after) {
    const uint8_t *at = text.size > 0 ? memchr(text.data, c, text.size) : NULL;
    if (!at) {
        return false;
    }
    size_t n = (size_t)(at - text.data);
    *before = bytes_of(text.data, n);
    *after = bytes_of(at + 1, text.size - n - 1);
    return true;
}

static bool read_count(struct reel_bytes digits, uint32_t *out) {
    *out = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9' || *out > ULOG_DATA_MAX) {
            return false;
        }
        *out = *out * 10 + (digits.data[i] - '0');
    }
    return digits.size > 0;
}

bool ulog_field_read(struct reel_bytes text, struct ulog_field *field) {
    struct reel_bytes base, rest;
    *field = (struct ulog_field){.count = 1};
    if (!split(text, ' ', &field->type, &field->name) || !is_name(field->name)) {
        return false;
    }
    if (split(field->type, '[', &base, &rest)) {
        field->is_array = true;
        if (rest.size < 2 || rest.data[rest.size - 1] != ']' ||
            !read_count(bytes_of(rest.data, rest.size - 1), &field->count)) {
            return false;
        }
        field->type = base;
    }
    return is_name(field->type);
}

bool ulog_field_next(struct reel_bytes *rest, struct ulog_field *field, bool *bad) {
    struct reel_bytes text = bytes_of("", 0);
    while (text.size == 0 && rest->size > 0) { /* the last one may lack its ";", and there may be more than one */
        if (!split(*rest, ';', &text, rest)) {
            text = *rest;
            *rest = bytes_of("", 0);
        }
    }
    *bad = text.size > 0 && !ulog_field_read(text, field);
    return text.size > 0;
}

bool ulog_format_read(struct reel_bytes data, struct reel_bytes *name, struct reel_bytes *fields) {
    return split(data, ':', name, fields) && is_name(*name) && !basic_of(*name);
}

struct ulog_format *ulog_format_find(const struct ulog *u, struct reel_bytes name) {
    uintptr_t found = hash_table_get(&u->format_names, hash_key_bytes(name));
    return found > 0 ? u->formats[found - 1] : NULL;
}

static bool keep(struct ulog *u, struct reel_bytes from, struct reel_bytes *to, struct reel_error *err) {
    const uint8_t *copy = arena_copy(&u->arena, from.data, from.size);
    *to = bytes_of(copy ? copy : (const uint8_t *)"", copy ? from.size : 0);
    return copy || from.size == 0 || arena_fail(&u->arena, err);
}

bool ulog_format_add(struct ulog *u, const struct ulog_message *m, struct reel_error *err) {
    struct reel_bytes name, fields;
    if (!ulog_format_read(m->data, &name, &fields) || ulog_format_find(u, name) || u->n_formats == ULOG_FORMATS_MAX) {
        return true; /* of two formats of one name the first is used */
    }
    struct ulog_format *f = arena_alloc(&u->arena, sizeof *f);
    if (!f || !GROW_ARRAY(u->formats, u->n_formats, u->cap_formats)) {
        return f ? reel_fail_memory(err) : arena_fail(&u->arena, err);
    }
    f->time = f->utc = -1;
    if (!keep(u, name, &f->name, err) || !keep(u, fields, &f->fields, err)) {
        return false;
    }
    u->formats[u->n_formats++] = f;
    return hash_table_set(&u->format_names, hash_key_bytes(f->name), u->n_formats, err);
}

/* ---- sizes */

static const char too_deep[] = "formats are nested too deep";

static bool resolve(struct ulog *u, struct ulog_format *f, unsigned depth);

/* Bytes of one value; 0: unknown, with f->why. */
static uint32_t value_size(struct ulog *u, struct ulog_format *f, const struct ulog_field *field, unsigned depth) {
    const struct basic *b = basic_of(field->type);
    struct ulog_format *nested = b ? NULL : ulog_format_find(u, field->type);
    if (b) {
        return b->size;
    }
    if (!nested || nested->state == ULOG_RESOLVING || depth == ULOG_NESTED_MAX) {
        f->why = !nested                           ? "it has a field of a type without a format"
                 : nested->state == ULOG_RESOLVING ? "it contains itself"
                                                   : too_deep;
        return 0;
    }
    if (!resolve(u, nested, depth + 1)) {
        f->why = nested->why;
        return 0;
    }
    if (nested->depth == ULOG_NESTED_MAX) { /* it was resolved before, by itself */
        f->why = too_deep;
        return 0;
    }
    f->depth = f->depth > nested->depth ? f->depth : nested->depth + 1;
    return nested->size;
}

static void add_field(struct ulog_format *f, const struct ulog_field *field, uint32_t size) {
    bool is_time = !field->is_array && bytes_is(field->type, "uint64_t");
    if (is_time && bytes_is(field->name, "timestamp")) {
        f->time = (int32_t)f->size;
    } else if (is_time && bytes_is(field->name, "time_utc_usec")) {
        f->utc = (int32_t)f->size;
    }
    f->size += size;
    f->shorter = ulog_is_padding(field->name) ? f->shorter : f->size;
}

static bool sum_up(struct ulog *u, struct ulog_format *f, unsigned depth) {
    struct reel_bytes rest = f->fields;
    struct ulog_field field;
    bool bad;
    while (ulog_field_next(&rest, &field, &bad)) {
        uint64_t size = bad ? 0 : value_size(u, f, &field, depth);
        if (size == 0) {
            f->why = bad ? "it has something that is no field" : f->why;
            return false;
        }
        if (field.count == 0 || size * field.count > ULOG_DATA_MAX - f->size) {
            f->why = field.count == 0 ? "it has an array without values" : "it is larger than a message";
            return false;
        }
        add_field(f, &field, (uint32_t)size * field.count);
    }
    f->why = "it has no fields";
    return f->size > 0;
}

static bool resolve(struct ulog *u, struct ulog_format *f, unsigned depth) {
    if (f->state == ULOG_NEW) {
        f->state = ULOG_RESOLVING;
        f->state = sum_up(u, f, depth) ? ULOG_GOOD : ULOG_BAD;
    }
    return f->state == ULOG_GOOD;
}

bool ulog_format_resolve(struct ulog *u, struct ulog_format *f) {
    return resolve(u, f, 0);
}

/* ---- definitions */

static void put_letters(struct reel_bytes name, struct grow *out) {
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        grow_u8(out, letter ? c : '_');
    }
}

void ulog_ros_name(struct reel_bytes name, struct grow *out) {
    grow_text(out, "ulog/");
    put_letters(name, out);
}

/* Some readers of ROS refuse names that begin with something other than a letter. */
static void put_field_name(struct reel_bytes name, struct grow *out) {
    uint8_t c = name.data[0];
    grow_text(out, c == '_' ? "ulog" : c >= '0' && c <= '9' ? "ulog_" : "");
    put_letters(name, out);
}

static void put_field(const struct ulog_field *field, struct grow *out) {
    const struct basic *b = basic_of(field->type);
    char count[16];
    if (b) {
        grow_text(out, b->ros);
    } else {
        ulog_ros_name(field->type, out);
    }
    if (field->is_array) {
        snprintf(count, sizeof count, "[%u]", field->count);
        grow_text(out, count);
    }
    grow_text(out, " ");
    put_field_name(field->name, out);
    grow_text(out, "\n");
}

/* The lines of a format of `size` bytes: those of the padding at its end may be left out. */
static void put_fields(struct ulog *u, const struct ulog_format *f, uint32_t size, struct grow *out) {
    struct reel_bytes rest = f->fields;
    struct ulog_field field;
    bool bad;
    for (uint32_t at = 0; at < size && ulog_field_next(&rest, &field, &bad);) {
        const struct basic *b = basic_of(field.type);
        put_field(&field, out);
        at += field.count * (b ? b->size : ulog_format_find(u, field.type)->size);
    }
}

/* The formats that `f` needs, each once. */
static void put_nested(struct ulog *u, const struct ulog_format *f, struct grow *out) {
    struct reel_bytes rest = f->fields;
    struct ulog_field field;
    bool bad;
    while (ulog_field_next(&rest, &field, &bad) && out->size <= REEL_SCHEMA_MAX) {
        struct ulog_format *nested = ulog_format_find(u, field.type);
        if (basic_of(field.type) || !nested || nested->used == u->definitions) {
            continue;
        }
        nested->used = u->definitions;
        grow_text(out, "================================================================================\nMSG: ");
        ulog_ros_name(nested->name, out);
        grow_text(out, "\n");
        put_fields(u, nested, nested->size, out);
        put_nested(u, nested, out);
    }
}

bool ulog_definition(struct ulog *u, struct ulog_format *f, struct grow *out) {
    out->size = 0;
    f->used = ++u->definitions;
    put_fields(u, f, f->shorter, out);
    put_nested(u, f, out);
    return !out->failed;
}
