/* See arrow.h. A batch is described first, then its buffers follow from where the rows were filled. */
#include "tables/arrow/arrow.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

enum { BUFFERS_PER_COLUMN = 3, BITS_AT_ONCE = 512 };

static void batch_put_message(const struct grow *metadata, struct reel_sink *out) {
    reel_sink_u32le(out, UINT32_MAX);
    reel_sink_u32le(out, (uint32_t)metadata->size);
    reel_sink_put(out, metadata->data, metadata->size);
}

bool arrow_put_schema(const struct columns *columns, const struct columns_about *about, uint32_t n_about,
                      struct reel_sink *out, struct reel_error *err) {
    AUTO_STRUCT(grow_done) struct grow metadata = {0};
    arrow_schema_metadata(columns, about, n_about, &metadata);
    if (metadata.failed) {
        return reel_fail_memory(err);
    }
    batch_put_message(&metadata, out);
    return true;
}

void arrow_put_end(struct reel_sink *out) {
    reel_sink_u32le(out, UINT32_MAX);
    reel_sink_u32le(out, 0);
}

/* ---- batches */

struct batch {
    struct arrow_node *nodes;
    struct arrow_buffer *buffers;
    size_t n_nodes, n_buffers;
    uint64_t body;
};
static void arrow_batch_batch_done(struct batch *b) {
    free(b->nodes);
    free(b->buffers);
}

static void add_buffer(struct batch *b, uint64_t size) {
    b->buffers[b->n_buffers++] = (struct arrow_buffer){.offset = b->body, .size = size};
    b->body += (size + 7) / 8 * 8;
}

static uint64_t bits_size(uint64_t n) {
    return (n + 7) / 8;
}

static void batch_describe(struct batch *b, const struct column *column, const struct column_data *data) {
    b->nodes[b->n_nodes++] = (struct arrow_node){.length = data->length, .nulls = data->nulls};
    add_buffer(b, data->nulls > 0 ? bits_size(data->length) : 0);
    if (column->kind == COLUMN_LIST || column_is_bytes(column)) {
        add_buffer(b, (data->length + 1) * 4);
    }
    if (column->kind == COLUMN_BOOL) {
        add_buffer(b, bits_size(data->length));
    } else if (column_is_leaf(column)) {
        add_buffer(b, data->values.size);
    }
}

static void put_padding(struct reel_sink *out, uint64_t size) {
    reel_sink_fill(out, 0, (8 - size % 8) % 8);
}

static void put_bits(const uint8_t *bytes, uint64_t n, struct reel_sink *out) {
    uint8_t bits[BITS_AT_ONCE / 8];
    for (uint64_t at = 0; at < n; at += BITS_AT_ONCE) {
        uint64_t some = n - at < BITS_AT_ONCE ? n - at : BITS_AT_ONCE;
        memset(bits, 0, sizeof bits);
        for (uint64_t i = 0; i < some; i++) {
            bits[i / 8] |= (uint8_t)((bytes[at + i] != 0) << i % 8);
        }
        reel_sink_put(out, bits, bits_size(some));
    }
    put_padding(out, bits_size(n));
}

static void put_buffers(const struct column *column, const struct column_data *data, struct reel_sink *out) {
    if (data->nulls > 0) {
        put_bits(data->valid.data, data->length, out);
    }
    if (column->kind == COLUMN_LIST || column_is_bytes(column)) {
        reel_sink_u32le(out, 0);
        reel_sink_put_bytes(out, bytes_of(data->offsets.data, data->length * 4));
        put_padding(out, (data->length + 1) * 4);
    }
    if (column->kind == COLUMN_BOOL) {
        put_bits(data->values.data, data->length, out);
    } else if (column_is_leaf(column)) {
        reel_sink_put_bytes(out, bytes_of(data->values.data, data->values.size));
        put_padding(out, data->values.size);
    }
}

bool arrow_put_batch(const struct columns *columns, const struct columns_fill *fill, struct reel_sink *out,
                     struct reel_error *err) {
    AUTO_STRUCT(arrow_batch_batch_done)
    struct batch b = {.nodes = calloc((size_t)columns->n + 1, sizeof *b.nodes),
                      .buffers = calloc(BUFFERS_PER_COLUMN * (size_t)columns->n + 1, sizeof *b.buffers)};
    AUTO_STRUCT(grow_done) struct grow metadata = {0};
    if (!b.nodes || !b.buffers) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < columns->n; i++) {
        batch_describe(&b, columns->all[i], &fill->data[i]);
    }
    arrow_batch_metadata(fill->rows, b.body, b.nodes, b.n_nodes, b.buffers, b.n_buffers, &metadata);
    if (metadata.failed) {
        return reel_fail_memory(err);
    }
    batch_put_message(&metadata, out);
    for (uint32_t i = 0; i < columns->n; i++) {
        put_buffers(columns->all[i], &fill->data[i], out);
    }
    return true;
}
