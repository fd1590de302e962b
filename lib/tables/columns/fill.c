/* See fill.h. */
#include "tables/columns/fill.h"

#include <inttypes.h>
#include <stdio.h>

#include "syntax/utf8.h"
#include "syntax/visitor.h"

enum { KEPT = 1 << 20 /* memory kept for a column between batches */ };

static struct columns_fill *fill_self(struct reel_visitor *v) {
    return (struct columns_fill *)v;
}
static struct column_data *data_of(const struct columns_fill *f, const struct column *column) {
    return &f->data[column->index];
}

/* ---- slots */

static void put_slot(struct columns_fill *f, const struct column *column, struct column_data *data, bool present) {
    data->length++;
    if (column->optional) {
        grow_u8(&data->valid, present);
        data->nulls += !present;
        f->bytes++;
    }
}

static void put_offset(struct columns_fill *f, struct column_data *data, uint64_t end) {
    grow_u32(&data->offsets, (uint32_t)end);
    f->bytes += 4;
}

static void put_fixed(struct columns_fill *f, const struct column *column, const void *value) {
    struct column_data *data = data_of(f, column);
    uint32_t width = column_width(column);
    put_slot(f, column, data, true);
    uint8_t *room = grow_take(&data->values, width);
    if (room) {
        memcpy(room, value, width);
    }
    f->bytes += width;
}

/* A slot without a value, and those below it. */
static void put_missing(struct columns_fill *f, const struct column *column) {
    struct column_data *data = data_of(f, column);
    put_slot(f, column, data, false);
    if (column->kind == COLUMN_LIST) {
        put_offset(f, data, f->data[column->children[0]->index].length);
    } else if (column_is_bytes(column)) {
        put_offset(f, data, data->values.size);
    } else if (column_is_leaf(column)) {
        uint8_t *room = grow_take(&data->values, column_width(column));
        if (room) {
            memset(room, 0, column_width(column));
        }
        f->bytes += column_width(column);
    } else {
        for (uint32_t i = 0; i < column->n_children; i++) {
            put_missing(f, column->children[i]);
        }
    }
}

/* Readers refuse a text that is not UTF-8. */
static void put_utf8(struct grow *to, struct reel_bytes text) {
    if (utf8_valid(text)) {
        grow_put(to, text.data, text.size);
        return;
    }
    for (size_t at = 0, size; at<text.size; at += size> 0 ? size : 1) {
        size = utf8_length(text.data + at, text.size - at);
        if (size > 0) {
            grow_put(to, text.data + at, size);
        } else {
            grow_put(to, "\xef\xbf\xbd", 3);
        }
    }
}

void columns_put_text(struct columns_fill *f, const struct column *column, struct reel_bytes text) {
    struct column_data *data = data_of(f, column);
    size_t before = data->values.size;
    put_slot(f, column, data, true);
    if (column->kind == COLUMN_BYTES) {
        grow_put(&data->values, text.data, text.size);
    } else {
        put_utf8(&data->values, text);
    }
    put_offset(f, data, data->values.size);
    f->bytes += data->values.size - before;
}

void columns_put_integer(struct columns_fill *f, const struct column *column, int64_t value) {
    uint8_t bytes[8];
    store_u64le(bytes, (uint64_t)value);
    put_fixed(f, column, bytes);
}

/* ---- JSON */

/* Does the value that comes belong to a column of JSON? It is written by json_out then, from beginning to end. */
static bool begins_json(struct columns_fill *f, const struct column *column) {
    if (column->kind != COLUMN_JSON) {
        return false;
    }
    struct column_data *data = data_of(f, column);
    put_slot(f, column, data, true);
    f->json = column;
    f->json_out = json_out_to(&data->values, SIZE_MAX);
    f->json_depth = 0;
    f->bytes -= data->values.size;
    return true;
}
static bool ends_json(struct columns_fill *f) {
    if (f->json_depth == 0) {
        struct column_data *data = data_of(f, f->json);
        f->bytes += data->values.size;
        put_offset(f, data, data->values.size);
        f->json = NULL;
    }
    return true;
}

/* ---- single values */

/* The column of the value that comes; NULL: not wanted. Counts members. */
static const struct column *fill_target(struct columns_fill *f) {
    if (f->skipped > 0) {
        return NULL;
    }
    if (f->depth == 0) {
        return f->columns->payload;
    }
    struct fill_level *level = &f->levels[f->depth - 1];
    return level->is_list ? level->column->children[0] : f->next;
}

/* Declares the column of a single value that is not null. Returns from the callback when it is a part of JSON, or not
 * wanted. */
#define SCALAR(f, what, ...)                                                                                           \
    const struct column *column = NULL;                                                                                \
    if ((f)->json || ((column = fill_target(f)) && begins_json((f), column))) {                                        \
        visit_##what(&(f)->json_out.visitor __VA_OPT__(, ) __VA_ARGS__);                                               \
        return ends_json(f);                                                                                           \
    }                                                                                                                  \
    if (!column) {                                                                                                     \
        return true;                                                                                                   \
    }

static bool put_double(struct columns_fill *f, const struct column *column, double value) {
    float single = (float)value;
    put_fixed(f, column, column->kind == COLUMN_FLOAT ? (const void *)&single : (const void *)&value);
    return true;
}

/* A number, as the column has it. False: it cannot be there; the tree was not made from these values. */
static bool fill_put_number(struct columns_fill *f, const struct column *column, int64_t value, bool huge) {
    char text[24];
    switch (column->kind) {
    case COLUMN_DOUBLE:
    case COLUMN_FLOAT:
        return put_double(f, column, huge ? (double)(uint64_t)value : (double)value);
    case COLUMN_TEXT: /* an enum's number without a name */
        columns_put_text(f, column, bytes_of(text, (size_t)snprintf(text, sizeof text, "%" PRId64, value)));
        return true;
    case COLUMN_INTEGER:
        columns_put_integer(f, column, value);
        return true;
    default:
        return false;
    }
}

static bool fill_null(struct reel_visitor *v) {
    struct columns_fill *f = fill_self(v);
    if (f->json) {
        visit_null(&f->json_out.visitor);
        return ends_json(f);
    }
    const struct column *column = fill_target(f);
    if (column && column->parent) {
        put_missing(f, column);
    }
    return true;
}
static bool fill_integer(struct reel_visitor *v, int64_t value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, integer, value)
    return fill_put_number(f, column, value, false);
}
static bool fill_natural(struct reel_visitor *v, uint64_t value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, natural, value)
    return fill_put_number(f, column, (int64_t)value, true);
}
static bool fill_boolean(struct reel_visitor *v, bool value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, boolean, value)
    uint8_t byte = value;
    if (column->kind == COLUMN_BOOL) {
        put_fixed(f, column, &byte);
    }
    return column->kind == COLUMN_BOOL;
}
static bool fill_real(struct reel_visitor *v, double value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, real, value)
    return (column->kind == COLUMN_DOUBLE || column->kind == COLUMN_FLOAT) && put_double(f, column, value);
}
static bool fill_real32(struct reel_visitor *v, float value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, real32, value)
    return (column->kind == COLUMN_DOUBLE || column->kind == COLUMN_FLOAT) && put_double(f, column, (double)value);
}
static bool fill_text(struct reel_visitor *v, struct reel_bytes value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, text, value)
    if (column->kind == COLUMN_TEXT) {
        columns_put_text(f, column, value);
    }
    return column->kind == COLUMN_TEXT;
}
static bool fill_binary(struct reel_visitor *v, struct reel_bytes value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, binary, value)
    if (column->kind == COLUMN_BYTES) {
        columns_put_text(f, column, value);
    }
    return column->kind == COLUMN_BYTES;
}
static bool fill_stamp(struct reel_visitor *v, const struct reel_stamp *value) {
    struct columns_fill *f = fill_self(v);
    SCALAR(f, stamp, value)
    if (column->kind == COLUMN_TIME || column->kind == COLUMN_DURATION) {
        columns_put_integer(f, column, columns_fill_stamp(*value));
    }
    return column->kind == COLUMN_TIME || column->kind == COLUMN_DURATION;
}

/* ---- maps and lists */

static bool fill_begin(struct columns_fill *f, bool is_list) {
    const struct column *column = NULL;
    if (f->json || ((column = fill_target(f)) && begins_json(f, column))) {
        f->json_depth++;
        return is_list ? visit_begin_list(&f->json_out.visitor) : visit_begin_map(&f->json_out.visitor);
    }
    if (!column) {
        f->skipped++;
        return true;
    }
    if (column->kind != (is_list ? COLUMN_LIST : COLUMN_STRUCT)) {
        return false;
    }
    if (column->parent) { /* the payload's own members are columns of the table */
        put_slot(f, column, data_of(f, column), true);
    }
    f->levels[f->depth++] = (struct fill_level){.column = column, .is_list = is_list};
    return true;
}
static bool fill_begin_map(struct reel_visitor *v) {
    return fill_begin(fill_self(v), false);
}
static bool fill_begin_list(struct reel_visitor *v) {
    return fill_begin(fill_self(v), true);
}

static void put_absent(struct columns_fill *f, const struct column *column, uint64_t slots) {
    for (uint32_t i = 0; i < column->n_children; i++) {
        if (f->data[column->children[i]->index].length < slots) {
            put_missing(f, column->children[i]);
        }
    }
}
static bool fill_end(struct columns_fill *f, bool is_list) {
    if (f->json) {
        f->json_depth--;
        return (is_list ? visit_end_list(&f->json_out.visitor) : visit_end_map(&f->json_out.visitor)) && ends_json(f);
    }
    if (f->skipped > 0) {
        f->skipped--;
        return true;
    }
    const struct fill_level *level = &f->levels[--f->depth];
    const struct column *column = level->column;
    if (is_list) {
        put_offset(f, data_of(f, column), f->data[column->children[0]->index].length);
    } else if (level->seen < column->n_children) {
        put_absent(f, column, column->parent ? data_of(f, column)->length : f->rows + 1);
    }
    return true;
}
static bool fill_end_map(struct reel_visitor *v) {
    return fill_end(fill_self(v), false);
}
static bool fill_end_list(struct reel_visitor *v) {
    return fill_end(fill_self(v), true);
}

static bool fill_key(struct reel_visitor *v, struct reel_bytes name) {
    struct columns_fill *f = fill_self(v);
    if (f->json) {
        return visit_key(&f->json_out.visitor, name);
    }
    if (f->skipped > 0) {
        return true;
    }
    struct fill_level *level = &f->levels[f->depth - 1];
    const struct column *outer = level->column, *column = column_find(outer, name, &level->hint);
    uint64_t slots = outer->parent ? f->data[outer->index].length : f->rows + 1;
    f->next = column && f->data[column->index].length < slots ? column : NULL; /* of equal keys the first counts */
    level->seen += f->next != NULL;
    return true;
}

bool columns_fill_is_packed(const struct column *column, enum reel_number type) {
    static const uint8_t bits[] = {0, 8, 8, 16, 16, 32, 32, 64, 64, 0, 0};
    static const bool is_signed[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0};
    return column->kind == COLUMN_FLOAT    ? type == REEL_F32
           : column->kind == COLUMN_DOUBLE ? type == REEL_F64
                                           : column->kind == COLUMN_INTEGER && type != REEL_BOOL && type < REEL_F32 &&
                                                 column->bits == bits[type] && column->is_signed == is_signed[type];
}
static bool fill_numbers(struct reel_visitor *v, enum reel_number type, struct reel_bytes data, unsigned columns) {
    struct columns_fill *f = fill_self(v);
    const struct column *column = f->json ? NULL : fill_target(f);
    if (!column || columns > 1 || column->kind != COLUMN_LIST || !columns_fill_is_packed(column->children[0], type)) {
        return column || f->json ? reel_numbers_expand(v, type, data, columns) : true;
    }
    struct column_data *items = data_of(f, column->children[0]);
    size_t n = data.size / reel_number_size(type);
    put_slot(f, column, data_of(f, column), true);
    grow_put(&items->values, data.data, n * reel_number_size(type));
    if (column->children[0]->optional) {
        uint8_t *valid = grow_take(&items->valid, n);
        if (valid) {
            memset(valid, 1, n);
        }
    }
    items->length += n;
    f->bytes += data.size;
    put_offset(f, data_of(f, column), items->length);
    return true;
}

static const struct reel_visitor_ops fill_ops = {
    .begin_map = fill_begin_map,
    .key = fill_key,
    .end_map = fill_end_map,
    .begin_list = fill_begin_list,
    .end_list = fill_end_list,
    .null = fill_null,
    .boolean = fill_boolean,
    .integer = fill_integer,
    .natural = fill_natural,
    .real = fill_real,
    .real32 = fill_real32,
    .text = fill_text,
    .binary = fill_binary,
    .numbers = fill_numbers,
    .stamp = fill_stamp,
    .members = columns_fill_members,
};

/* ---- rows */

bool columns_fill_open(struct columns_fill *f, const struct columns *columns, struct reel_error *err) {
    f->visitor.ops = &fill_ops;
    f->columns = columns;
    f->data = calloc((size_t)columns->n + 1, sizeof *f->data);
    return f->data || reel_fail_memory(err);
}

void column_data_free(struct column_data *data) {
    free(data->valid.data);
    free(data->offsets.data);
    free(data->values.data);
    *data = (struct column_data){0};
}

void columns_fill_close(struct columns_fill *f) {
    for (uint32_t i = 0; f->data && i < f->columns->n; i++) {
        column_data_free(&f->data[i]);
    }
    free(f->data);
    columns_fill_forget_tables(f);
}

void columns_fill_clear(struct columns_fill *f) {
    for (uint32_t i = 0; i < f->columns->n; i++) {
        struct column_data *data = &f->data[i];
        if (data->values.capacity > KEPT || data->offsets.capacity > KEPT || data->valid.capacity > KEPT) {
            column_data_free(data);
        }
        data->length = data->nulls = 0;
        data->valid.size = data->offsets.size = data->values.size = 0;
    }
    f->rows = f->bytes = 0;
}

void columns_fill_start(struct columns_fill *f) {
    f->depth = f->skipped = 0;
    f->next = f->json = NULL;
}

void columns_fill_bytes(struct columns_fill *f, struct reel_bytes payload) {
    columns_put_text(f, f->columns->data, payload);
}

void columns_fill_end(struct columns_fill *f) {
    put_absent(f, f->columns->root, ++f->rows);
}

bool columns_fill_check(const struct columns_fill *f, struct reel_error *err) {
    for (uint32_t i = 0; i < f->columns->n; i++) {
        const struct column_data *data = &f->data[i];
        if (data->valid.failed || data->offsets.failed || data->values.failed) {
            return reel_fail_memory(err);
        }
    }
    return true;
}
