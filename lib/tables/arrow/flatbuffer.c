/* FlatBuffers by hand: a table is a vtable (where each slot is, 0: absent) and its fields; references are counted from
 * their own position forward. Slots are those of Arrow's Message.fbs and Schema.fbs. */
#include "tables/arrow/arrow.h"

#include <string.h>

#include "base/bytes.h"

enum { SLOTS = 6, VERSION_5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3, UNIT_NS = 3 };
enum {
    TYPE_INT = 2,
    TYPE_FLOAT,
    TYPE_BINARY,
    TYPE_TEXT,
    TYPE_BOOL,
    TYPE_TIMESTAMP = 10,
    TYPE_LIST = 12,
    TYPE_STRUCT,
    TYPE_DURATION = 18
};

static void pad(struct grow *g, size_t more, size_t align) {
    static const uint8_t zeros[8] = {0};
    grow_put(g, zeros, (align - (g->size + more) % align) % align);
}
static void flatbuffer_put_u16(struct grow *g, size_t value) {
    uint8_t bytes[2];
    store_u16le(bytes, (uint16_t)value);
    grow_put(g, bytes, sizeof bytes);
}
static void set(struct grow *g, size_t at, uint64_t value, size_t size) {
    uint8_t bytes[8];
    store_u64le(bytes, value);
    if (!g->failed) {
        memcpy(g->data + at, bytes, size);
    }
}
/* The reference at `at` means what comes next. */
static void refer(struct grow *g, size_t at) {
    set(g, at, g->size - at, 4);
}

/* A table with fields of these sizes (0: absent), all zero; where[i]: the position of a field. */
static void put_table(struct grow *g, size_t at, const uint8_t sizes[SLOTS], unsigned n, size_t where[SLOTS]) {
    size_t inside[SLOTS] = {0}, size = 4;
    for (unsigned i = 0; i < n; i++) {
        size = sizes[i] == 8 ? 8 : size; /* behind the table's own reference */
    }
    for (unsigned width = 8; width > 0; width /= 2) {
        for (unsigned i = 0; i < n; i++) {
            if (sizes[i] == width) {
                inside[i] = size;
                size += width;
            }
        }
    }
    size = (size + 3) / 4 * 4;
    pad(g, 4 + 2 * (size_t)n, 8);
    flatbuffer_put_u16(g, 4 + 2 * (size_t)n);
    flatbuffer_put_u16(g, size);
    for (unsigned i = 0; i < n; i++) {
        flatbuffer_put_u16(g, inside[i]);
    }
    refer(g, at);
    size_t begins = g->size;
    uint8_t *room = grow_take(g, size);
    if (room) {
        memset(room, 0, size);
    }
    set(g, begins, 4 + 2 * (size_t)n, 4);
    for (unsigned i = 0; i < n; i++) {
        where[i] = begins + inside[i];
    }
}

static void flatbuffer_put_text(struct grow *g, size_t at, const char *text) {
    pad(g, 0, 4);
    refer(g, at);
    grow_u32(g, (uint32_t)strlen(text));
    grow_put(g, text, strlen(text) + 1);
}

/* A vector of references; returns the position of the first. */
static size_t put_references(struct grow *g, size_t at, size_t n) {
    pad(g, 0, 4);
    refer(g, at);
    grow_u32(g, (uint32_t)n);
    size_t first = g->size;
    for (size_t i = 0; i < n; i++) {
        grow_u32(g, 0);
    }
    return first;
}

/* A vector of pairs of numbers. */
static void flatbuffer_put_pairs(struct grow *g, size_t at, const uint64_t (*pairs)[2], size_t n) {
    pad(g, 4, 8);
    refer(g, at);
    grow_u32(g, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        grow_u64(g, pairs[i][0]);
        grow_u64(g, pairs[i][1]);
    }
}

/* ---- the schema */

static uint8_t flatbuffer_type_of(const struct column *column) {
    static const uint8_t types[] = {
        [COLUMN_STRUCT] = TYPE_STRUCT,  [COLUMN_LIST] = TYPE_LIST,        [COLUMN_BOOL] = TYPE_BOOL,
        [COLUMN_INTEGER] = TYPE_INT,    [COLUMN_FLOAT] = TYPE_FLOAT,      [COLUMN_DOUBLE] = TYPE_FLOAT,
        [COLUMN_TEXT] = TYPE_TEXT,      [COLUMN_JSON] = TYPE_TEXT,        [COLUMN_BYTES] = TYPE_BINARY,
        [COLUMN_TIME] = TYPE_TIMESTAMP, [COLUMN_DURATION] = TYPE_DURATION};
    return types[column->kind];
}

static void flatbuffer_put_type(struct grow *g, size_t at, const struct column *column) {
    size_t where[SLOTS];
    switch (column->kind) {
    case COLUMN_INTEGER:
        put_table(g, at, (const uint8_t[SLOTS]){4, 1}, 2, where);
        set(g, where[0], column->bits, 4);
        set(g, where[1], column->is_signed, 1);
        return;
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
        put_table(g, at, (const uint8_t[SLOTS]){2}, 1, where);
        set(g, where[0], column->kind == COLUMN_FLOAT ? 1 : 2, 2);
        return;
    case COLUMN_TIME:
        put_table(g, at, (const uint8_t[SLOTS]){2, 4}, 2, where);
        set(g, where[0], UNIT_NS, 2);
        flatbuffer_put_text(g, where[1], "UTC");
        return;
    case COLUMN_DURATION:
        put_table(g, at, (const uint8_t[SLOTS]){2}, 1, where);
        set(g, where[0], UNIT_NS, 2);
        return;
    default:
        put_table(g, at, (const uint8_t[SLOTS]){0}, 0, where);
    }
}

static void put_fields(struct grow *g, size_t at, const struct column *parent);

static void flatbuffer_put_field(struct grow *g, size_t at, const struct column *column) {
    enum { NAME, NULLABLE, TYPE_ID, TYPE, DICTIONARY, CHILDREN };
    size_t where[SLOTS];
    put_table(g, at, (const uint8_t[SLOTS]){[NAME] = 4, [NULLABLE] = 1, [TYPE_ID] = 1, [TYPE] = 4, [CHILDREN] = 4}, 6,
              where);
    set(g, where[NULLABLE], column->optional, 1);
    set(g, where[TYPE_ID], flatbuffer_type_of(column), 1);
    flatbuffer_put_text(g, where[NAME], column->name);
    flatbuffer_put_type(g, where[TYPE], column);
    put_fields(g, where[CHILDREN], column);
}

static void put_fields(struct grow *g, size_t at, const struct column *parent) {
    size_t first = put_references(g, at, parent->n_children);
    for (uint32_t i = 0; i < parent->n_children; i++) {
        flatbuffer_put_field(g, first + 4 * (size_t)i, parent->children[i]);
    }
}

static void flatbuffer_put_message(struct grow *g, uint8_t header, uint64_t body, size_t *at) {
    enum { VERSION, HEADER_TYPE, HEADER, BODY };
    size_t where[SLOTS];
    grow_u32(g, 0);
    put_table(g, 0, (const uint8_t[SLOTS]){[VERSION] = 2, [HEADER_TYPE] = 1, [HEADER] = 4, [BODY] = 8}, 4, where);
    set(g, where[VERSION], VERSION_5, 2);
    set(g, where[HEADER_TYPE], header, 1);
    set(g, where[BODY], body, 8);
    *at = where[HEADER];
}

void arrow_schema_metadata(const struct columns *columns, const struct columns_about *about, uint32_t n_about,
                           struct grow *out) {
    enum { ENDIANNESS, FIELDS, METADATA };
    size_t where[SLOTS], pair[SLOTS], at;
    flatbuffer_put_message(out, HEADER_SCHEMA, 0, &at);
    put_table(out, at, (const uint8_t[SLOTS]){[FIELDS] = 4, [METADATA] = 4}, 3, where);
    put_fields(out, where[FIELDS], columns->root);
    size_t first = put_references(out, where[METADATA], n_about);
    for (uint32_t i = 0; i < n_about; i++) {
        put_table(out, first + 4 * (size_t)i, (const uint8_t[SLOTS]){4, 4}, 2, pair);
        flatbuffer_put_text(out, pair[0], about[i].key);
        flatbuffer_put_text(out, pair[1], about[i].value);
    }
    pad(out, 0, 8);
}

void arrow_batch_metadata(uint64_t rows, uint64_t body, const struct arrow_node *nodes, size_t n_nodes,
                          const struct arrow_buffer *buffers, size_t n_buffers, struct grow *out) {
    enum { LENGTH, NODES, BUFFERS };
    size_t where[SLOTS], at;
    flatbuffer_put_message(out, HEADER_BATCH, body, &at);
    put_table(out, at, (const uint8_t[SLOTS]){[LENGTH] = 8, [NODES] = 4, [BUFFERS] = 4}, 3, where);
    set(out, where[LENGTH], rows, 8);
    flatbuffer_put_pairs(out, where[NODES], (const uint64_t(*)[2])(const void *)nodes, n_nodes);
    flatbuffer_put_pairs(out, where[BUFFERS], (const uint64_t(*)[2])(const void *)buffers, n_buffers);
    pad(out, 0, 8);
}
