/* Arrow IPC streams: a message with the schema, messages with a batch of rows each, an end. A message is ffffffff, the
 * size of its metadata, the metadata (a FlatBuffer) and its body; all sizes are multiples of 8, and nothing holds a
 * position in the file. */
#ifndef REEL_TABLES_ARROW_ARROW_H
#define REEL_TABLES_ARROW_ARROW_H

#include "base/sink.h"
#include "tables/columns/messages.h"

enum { ARROW_BATCH_BYTES = 4 << 20 }; /* values of a batch */

bool arrow_put_schema(const struct columns *columns, const struct columns_about *about, uint32_t n_about,
                      struct reel_sink *out, struct reel_error *err);
bool arrow_put_batch(const struct columns *columns, const struct columns_fill *fill, struct reel_sink *out,
                     struct reel_error *err);
void arrow_put_end(struct reel_sink *out);

/* ---- flatbuffer.c: the metadata, written front to back: parents first, then what they refer to */

struct arrow_buffer {
    uint64_t offset, size;
};
struct arrow_node {
    uint64_t length, nulls;
};
void arrow_schema_metadata(const struct columns *columns, const struct columns_about *about, uint32_t n_about,
                           struct grow *out);
void arrow_batch_metadata(uint64_t rows, uint64_t body, const struct arrow_node *nodes, size_t n_nodes,
                          const struct arrow_buffer *buffers, size_t n_buffers, struct grow *out);

#endif
